/* log_writer.h: writes recorded frames in any format, by the suffix of the file.
 *
 *	struct log_writer w;
 *
 *	if (log_writer_open(&w, "drive.blf", flags, &errors))
 *		...
 *	log_writer_put(&w, &record);
 *	if (log_writer_close(&w))
 *		...
 *
 * A format that numbers its buses gives canN the number N + 1, and other names the lowest free numbers, with a line.
 * A record that a format cannot hold is refused with a line, or with LOG_LENIENT left out, reported once and counted:
 * frames of a kind that it does not have, the second bus, that a frame was sent, which error an error frame is about.
 */
#ifndef CAN_LOG_LOG_WRITER_H
#define CAN_LOG_LOG_WRITER_H

#include "can/log/log.h"

#define LOG_REPLACE 2 /* an existing file */
#define LOG_LENIENT 4 /* leave out what the format cannot hold */

#define LOG_WRITER_BUSES_MAX 64
#define LOG_WRITER_BYTES (1 << 17)

struct log_output;

struct log_writer {
	enum log_format format;
	uint64_t records;  /* written */
	uint64_t left_out; /* frames that the format has no place for */
	uint64_t changed;  /* frames that were written without something: their bus, that they were sent, ... */

	/* private */
	const char *path;
	char *replacement; /* the file that becomes path when it is complete; NULL: path itself */
	int flags;
	struct error_sink *errors;
	int fd;
	int failed;
	struct log_output *output; /* compresses; NULL: nothing to do */
	int64_t start_ns;	   /* stamps count from here */
	int64_t last_ns;
	uint64_t total;	   /* bytes before compression */
	unsigned int said; /* LOG_NO_ that were reported */
	size_t buses_n;
	struct {
		char name[LOG_BUS_MAX];
		unsigned int channel;
	} buses[LOG_WRITER_BUSES_MAX];
	size_t interfaces_n; /* pcapng, MCAP: buses that are described */
	struct mcap_writer *mcap;
	uint64_t unpacked; /* BLF: bytes of objects */
	size_t held;	   /* BLF: bytes in the container */
	size_t n;
	unsigned char bytes[LOG_WRITER_BYTES];
	unsigned char container[LOG_WRITER_BYTES];
};

/* The format of a name, ".gz" and ".zst" apart; "-", standard output, is candump -L.  0, or -EINVAL with a line in
 * errors. */
int log_writer_format(const char *path, enum log_format *format, struct error_sink *errors);

/* 0, or -errno with a line in errors.  errors and path are kept. */
int log_writer_open(struct log_writer *w, const char *path, int flags, struct error_sink *errors);

/* 0; -EMEDIUMTYPE: the format has no place for it, and the writer is not lenient; other -errno: it cannot be
 * written; with a line in errors. */
int log_writer_put(struct log_writer *w, const struct log_record *r);

/* 0 or -errno with a line in errors.  remove: the file as well, because it is not complete. */
int log_writer_close(struct log_writer *w, bool remove);

/* ---- for formats ---- */

void log_writer_add(struct log_writer *w, const void *bytes, size_t n);
void log_writer_print(struct log_writer *w, const char *fmt, ...) __attribute__((format(printf, 2, 3)));

/* Replaces the first n bytes of the file, if it can be read from there again: not of a pipe, nor if it is
 * compressed. */
void log_writer_again(struct log_writer *w, const void *bytes, size_t n);

bool log_writer_dated(int64_t t_ns);				    /* a stamp since the epoch, not since the start */
int64_t log_writer_since(const struct log_writer *w, int64_t t_ns); /* start_ns; not below 0 */
void log_writer_data(struct log_writer *w, const struct frame *f);  /* " 01 02 03" */

#endif
