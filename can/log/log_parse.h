/* log_parse.h: shared by the readers of log lines.  Only for log*.c. */
#pragma once

#include <time.h>

#include "can/log/log.h"

/* A line without blanks around it, or a part of one. */
struct log_text {
	const char *at, *end;
};

/* A reader returns NULL: a record, all of *r but line is set; log_nothing: a comment, a header, an event that is not a
 * frame; log_end: the end of a binary file; else what is wrong. */
extern const char log_nothing[], log_end[];

/* A line of candump without -L: it may begin with a time in brackets, as one with -L does. */
bool log_screen_probe(struct log_text line);

/* ---- bytes of a binary file ---- */

/* The next n, at most sizeof(log->buffer), which stay; NULL: the file ends before. */
const unsigned char *log_bytes(struct log *log, size_t n);

/* Takes n off.  false: the file ends before. */
bool log_skip(struct log *log, uint64_t n);

/* Nothing more can be read: where the next record begins is not known.  Returns why. */
const char *log_stop(struct log *log, const char *why);

static inline uint64_t log_le64(const unsigned char *b)
{
	return (uint64_t)frame_le32(b) | (uint64_t)frame_le32(b + 4) << 32;
}

/* ---- pieces of a line ---- */

static inline bool log_blank(char c)
{
	return c == ' ' || c == '\t';
}

static inline bool log_digit(char c)
{
	return c >= '0' && c <= '9';
}

static inline void log_skip_blanks(struct log_text *t)
{
	while (t->at < t->end && log_blank(*t->at))
		t->at++;
}

/* The next word, taken off; an empty one at the end of the line. */
static inline struct log_text log_word(struct log_text *t)
{
	struct log_text word;

	log_skip_blanks(t);
	word.at = t->at;
	while (t->at < t->end && !log_blank(*t->at))
		t->at++;
	word.end = t->at;
	return word;
}

bool log_is(struct log_text word, const char *text);		     /* upper or lower case */
bool log_begins(struct log_text line, const char *text);	     /* the same */
bool log_begins_any(struct log_text line, const char *const *texts); /* of a list that ends with NULL */

/* All of the word is a number, at most max. */
bool log_number(struct log_text word, unsigned int base, uint32_t max, uint32_t *number);

/* Takes "12.345" off the line; unit_ns is a second's or a millisecond's.  Fractions of a nanosecond are dropped. */
bool log_time(struct log_text *t, int64_t unit_ns, int64_t *ns);

/* All of the text is hours, at most hours_max, minutes, and less than a minute's seconds, 60 or with leap seconds 61:
 * 06:17:32.249. */
bool log_clock(struct log_text text, uint32_t hours_max, unsigned int seconds, int64_t *ns);

/* ---- pieces of a record: NULL, or the reason ---- */

void log_clear(struct log_record *r); /* a frame of can0 whose direction is not known */

const char *log_set_name(struct log_record *r, struct log_text name);	/* of the interface */
const char *log_set_bus(struct log_record *r, struct log_text channel); /* from 1 */
const char *log_set_channel(struct log_record *r, uint32_t channel);	/* from 1 */
const char *log_set_time(struct log_record *r, int64_t start_ns, int64_t ns);
const char *log_set_id(struct frame *f, uint32_t id, bool extended);
const char *log_set_code(struct frame *f, uint32_t code); /* the length by its code on the wire */
const char *log_set_data(struct frame *f, struct log_text *t, unsigned int base); /* frame_data_len(f) bytes */
const char *log_known_frame(const struct frame *f);				  /* frame_valid */
const char *log_set_error(struct log_record *r);				  /* an error on the bus; always NULL */

/* A frame of SocketCAN as pcap has it, cut by nothing: len bytes. */
const char *log_set_socketcan(struct log_record *r, const unsigned char *bytes, size_t len);

/* The epoch's time of a day and what its wall clock shows, or 0 if there is none. */
int64_t log_local_ns(struct tm day, int64_t clock_ns);
