/* log_put.h: a log that is written, and what its format puts into it.
 *
 * Drivers, whose formats come with their writers, have this much of it, and no compression.
 */
#pragma once

#include "can/log/log.h"

#define LOG_WRITER_BUSES_MAX 64
#define LOG_WRITER_BYTES (1 << 17)

struct log_output;

struct log_writer {
	const struct log_format *format;
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
	bool dated;		   /* stamps are since the epoch, not since the start of a recording */
	int64_t start_ns;	   /* from here stamps count, if the format has a start */
	int64_t last_ns;
	uint64_t total;	      /* bytes before compression */
	unsigned int said;    /* LOG_NO_ that were reported */
	unsigned int channel; /* of the record that is put */
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

/* To the file, through the compressor if there is one. */
void log_put_flush(struct log_writer *w, bool last);

void log_put(struct log_writer *w, const void *bytes, size_t n);
void log_put_text(struct log_writer *w, const char *fmt, ...) __attribute__((format(printf, 2, 3)));

/* Replaces the first n bytes of the file, if it can be read from there again: not of a pipe, nor if it is
 * compressed. */
void log_put_again(struct log_writer *w, const void *bytes, size_t n);

int64_t log_put_since(const struct log_writer *w, int64_t t_ns); /* start_ns; not below 0 */
void log_put_data(struct log_writer *w, const struct frame *f);	 /* " 01 02 03" */
