/* writer_inside.h: between the files of the writer: what its caller and its thread share. */
#pragma once

#include <limits.h>
#include <pthread.h>

#include "channels/rec/writer.h"

#define WRITER_CHUNK_ITEMS 4096

/* Items of one piece, for one write. */
struct writer_chunk {
	struct writer_chunk *next;
	unsigned int piece, items;
	bool begins;	  /* with what options.begin wrote */
	int64_t began_ns; /* in real time, which is the thread's */
	int64_t t_ns;	  /* of its first item */
	size_t len, room;
	size_t done;	      /* bytes in the file */
	unsigned int written; /* items */
	struct {
		uint32_t end : 31, counts : 1;
	} item[WRITER_CHUNK_ITEMS];
	_Alignas(uint64_t) char bytes[];
};

struct writer {
	struct writer_options options;
	struct error_sink *errors;
	bool pieces;

	/* the caller's */
	unsigned int piece;
	int64_t piece_bytes, piece_end_ns, end_ns;
	bool begun, ending, given_up;

	/* both, under lock */
	pthread_mutex_t lock;
	pthread_cond_t more, freed;
	struct writer_chunk *now;	    /* being filled; NULL: none */
	struct writer_chunk *first, **last; /* to be written */
	size_t memory;			    /* of all chunks */
	bool finish, removed;		    /* the piece was */
	struct writer_stats stats;

	/* the thread's */
	pthread_t thread;
	bool started;
	int fd;			 /* -1: no file is open */
	unsigned int file_piece; /* the open one */
	bool unnamed;		 /* it is in the hidden file */
	char path[PATH_MAX], hidden[PATH_MAX];
	int ended_fd;
	int error; /* read after ended_fd became readable */
	bool idle; /* options.convert knows that there are no items */
	uint64_t items_before;
};

/* Opens the only file, or finds the number of the first piece.  0, or -errno and why. */
int writer_open_first(struct writer *w, const char **why);
int writer_close_file(struct writer *w); /* 0 or -errno */

/* Under lock: the chunk being filled is to be written. */
void writer_hand_over(struct writer *w);
struct writer_chunk *writer_take_first(struct writer *w);
void writer_free_chunk(struct writer *w, struct writer_chunk *c);

/* The thread, until there are no more chunks or a write fails. */
void *writer_run(void *writer);
