/* writer_file.h: the file that a writer writes, or one piece after another (rec_rotate.h). */
#ifndef CHANNELS_REC_WRITER_FILE_H
#define CHANNELS_REC_WRITER_FILE_H

#include <limits.h>

#include "channels/rec/writer.h"

struct writer_file {
	const struct writer_options *options;
	int fd;		    /* -1: none is open */
	unsigned int piece; /* the open one */
	bool unnamed;	    /* it is in the hidden file */
	char path[PATH_MAX], hidden[PATH_MAX];
};

/* The only file.  0, or -errno and why. */
int writer_file_open(struct writer_file *f, const char **why);

/* The number behind those of the pieces that are there. */
unsigned int writer_file_next_piece(const struct writer_file *f);
/* Opens a piece, when older ones have made room for it.  One that has a beginning gets its name when that is written:
 * a process killed before leaves no piece.  0 or -errno. */
int writer_file_open_piece(struct writer_file *f, unsigned int piece);
int writer_file_give_name(struct writer_file *f); /* 0 or -errno */
/* Removes the piece that has no name, since its beginning could not be written: it is tried again. */
void writer_file_drop(struct writer_file *f);

/* Is there room for len bytes beside what is left to others? */
bool writer_file_has_room(const struct writer_file *f, size_t len);
/* From *at on, which is then the end of what was written.  0 or -errno. */
int writer_file_write(int fd, const char *bytes, size_t len, size_t *at);
/* Takes that many bytes off the end, if it is a regular file. */
void writer_file_cut(int fd, size_t bytes);

int writer_file_close(struct writer_file *f); /* 0 or -errno */

#endif
