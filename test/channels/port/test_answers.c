/* test_answers.c: what ach_get and ach_put answer, as a table.
 *
 * A row is a channel and a script of puts and gets with the status, the frame
 * size and the cursor each must leave.  Every row is played on every kind of
 * channel and handle (places below).  Message k, counted from 1, has bytes
 * that only message k has, so a get that answers OK is also known to have
 * given the right message: the one the cursor says.
 */
#define _GNU_SOURCE
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "test/lib/lib.h"
#include "unity.h"

#define UNTOUCHED ((size_t)-1)
#define ANY ((size_t)-2)
#define STEPS 20
#define BYTES 64 /* of the reader's buffer: more than the largest message in the table */

enum op {
	END = 0,
	OP_PUT,
	OP_PUT_NULL,
	OP_GET,
	OP_GET_NULL,	   /* buf NULL */
	OP_GET_NULL_FRAME, /* frame_size NULL */
	OP_FLUSH,
	OP_CANCEL,
	OP_UNCANCEL,
	OP_PUT_LATER,	 /* another process puts once the reader sleeps */
	OP_SIGNALS_LATER /* the same, but sends SIGNALS signals before */
};

enum when {
	NEVER = 0, /* no deadline: NULL */
	PAST,	   /* absolute, a second ago */
	EPOCH,	   /* absolute, 0: as far in the past as can be */
	SOON,	   /* absolute, in 20 ms */
	FAR,	   /* absolute, not before we would call it a hang */
	REL_ZERO,
	REL_SOON,
	REL_FAR
};

struct step {
	enum op op;
	size_t size;
	int options;
	enum when when;
	enum ach_status status;
	size_t frame;
	uint64_t cursor;
};

struct row {
	const char *what;
	size_t cnt, size;
	struct step steps[STEPS];
};

#define FIRST ACH_O_FIRST
#define LAST ACH_O_LAST
#define COPY ACH_O_COPY
#define WAIT ACH_O_WAIT
#define RELTIME ACH_O_RELTIME

#define PUT(len)                                        \
	{                                               \
		OP_PUT, len, 0, NEVER, ACH_OK, ANY, ANY \
	}
#define PUT_BAD(len, status)                            \
	{                                               \
		OP_PUT, len, 0, NEVER, status, ANY, ANY \
	}
#define PUT_NULL(len, status)                                \
	{                                                    \
		OP_PUT_NULL, len, 0, NEVER, status, ANY, ANY \
	}
#define PUT_LATER(len)                                        \
	{                                                     \
		OP_PUT_LATER, len, 0, NEVER, ACH_OK, ANY, ANY \
	}
#define SIGNALS_THEN_PUT(len)                                     \
	{                                                         \
		OP_SIGNALS_LATER, len, 0, NEVER, ACH_OK, ANY, ANY \
	}
#define GET(options, status, frame, cursor)                          \
	{                                                            \
		OP_GET, BYTES, options, NEVER, status, frame, cursor \
	}
#define GET_INTO(size, options, status, frame, cursor)              \
	{                                                           \
		OP_GET, size, options, NEVER, status, frame, cursor \
	}
#define GET_UNTIL(when, options, status, frame, cursor)             \
	{                                                           \
		OP_GET, BYTES, options, when, status, frame, cursor \
	}
#define GET_NULL(size, status, frame, cursor)                      \
	{                                                          \
		OP_GET_NULL, size, 0, NEVER, status, frame, cursor \
	}
#define GET_NULL_FRAME(size, status, cursor)                                 \
	{                                                                    \
		OP_GET_NULL_FRAME, size, 0, NEVER, status, UNTOUCHED, cursor \
	}
#define FLUSH(status, cursor)                              \
	{                                                  \
		OP_FLUSH, 0, 0, NEVER, status, ANY, cursor \
	}
#define CANCEL                                           \
	{                                                \
		OP_CANCEL, 0, 0, NEVER, ACH_OK, ANY, ANY \
	}
#define UNCANCEL                                           \
	{                                                  \
		OP_UNCANCEL, 0, 0, NEVER, ACH_OK, ANY, ANY \
	}

/* clang-format off: a table */
static const struct row rows[] = {
	{ "empty: nothing, with or without COPY and LAST",
	  4,
	  8,
	  { GET(FIRST, ACH_EAGAIN, UNTOUCHED, 0), GET(COPY, ACH_EAGAIN, UNTOUCHED, 0),
	    GET(LAST, ACH_EAGAIN, UNTOUCHED, 0), GET(LAST | COPY, ACH_EAGAIN, UNTOUCHED, 0),
	    GET_NULL(0, ACH_EAGAIN, UNTOUCHED, 0), GET_NULL_FRAME(BYTES, ACH_EAGAIN, 0) } },
	{ "empty, waiting: TIMEOUT",
	  4,
	  8,
	  { GET_UNTIL(PAST, WAIT, ACH_TIMEOUT, UNTOUCHED, 0), GET_UNTIL(PAST, WAIT | COPY, ACH_TIMEOUT, UNTOUCHED, 0),
	    GET_UNTIL(SOON, WAIT, ACH_TIMEOUT, UNTOUCHED, 0), GET_UNTIL(SOON, WAIT | LAST, ACH_TIMEOUT, UNTOUCHED, 0),
	    GET_UNTIL(REL_SOON, WAIT | COPY | RELTIME, ACH_TIMEOUT, UNTOUCHED, 0) } },
	{ "a deadline without WAIT means nothing",
	  4,
	  8,
	  { GET_UNTIL(FAR, FIRST, ACH_EAGAIN, UNTOUCHED, 0), GET_UNTIL(REL_FAR, RELTIME, ACH_EAGAIN, UNTOUCHED, 0),
	    PUT(3), GET_UNTIL(PAST, FIRST, ACH_OK, 3, 1) } },
	{ "default: one after the other",
	  4,
	  8,
	  { PUT(1), PUT(5), GET(FIRST, ACH_OK, 1, 1), PUT(2), GET(FIRST, ACH_OK, 5, 2), GET(FIRST, ACH_OK, 2, 3),
	    GET(FIRST, ACH_EAGAIN, UNTOUCHED, 3), GET(FIRST, ACH_EAGAIN, UNTOUCHED, 3) } },
	{ "default: a new handle sees the retained history",
	  4,
	  8,
	  { PUT(1), PUT(2), PUT(3), PUT(4), GET(FIRST, ACH_OK, 1, 1), GET(FIRST, ACH_OK, 2, 2),
	    GET(FIRST, ACH_OK, 3, 3), GET(FIRST, ACH_OK, 4, 4), GET(FIRST, ACH_EAGAIN, UNTOUCHED, 4) } },
	{ "default, overwritten by count: the oldest retained, MISSED once",
	  4,
	  8,
	  { PUT(1), GET(FIRST, ACH_OK, 1, 1), PUT(2), PUT(3), PUT(4), PUT(5), PUT(6), PUT(7),
	    GET(FIRST, ACH_MISSED_FRAME, 4, 4), GET(FIRST, ACH_OK, 5, 5), GET(FIRST, ACH_OK, 6, 6),
	    GET(FIRST, ACH_OK, 7, 7), GET(FIRST, ACH_EAGAIN, UNTOUCHED, 7) } },
	{ "default, overwritten before the first get of a new handle: MISSED",
	  2,
	  8,
	  { PUT(1), PUT(2), PUT(3), GET(FIRST, ACH_MISSED_FRAME, 2, 2), GET(FIRST, ACH_OK, 3, 3) } },
	{ "default, overwritten by bytes",
	  4,
	  4,
	  { PUT(10), PUT(10), GET(FIRST, ACH_MISSED_FRAME, 10, 2), PUT(8), PUT(8), GET(FIRST, ACH_OK, 8, 3),
	    GET(FIRST, ACH_OK, 8, 4), GET(FIRST, ACH_EAGAIN, UNTOUCHED, 4) } },
	{ "retention by bytes is exact",
	  4,
	  4,
	  { PUT(8), PUT(8), GET(FIRST, ACH_OK, 8, 1), PUT(1), GET(FIRST, ACH_OK, 8, 2), PUT(8), PUT(8),
	    GET(FIRST, ACH_MISSED_FRAME, 8, 4), GET(FIRST, ACH_OK, 8, 5) } },
	{ "a full-size message drops all others",
	  4,
	  4,
	  { PUT(1), PUT(1), PUT(16), GET(FIRST, ACH_MISSED_FRAME, 16, 3), PUT(16), GET(FIRST, ACH_OK, 16, 4), PUT(16),
	    PUT(16), GET(FIRST, ACH_MISSED_FRAME, 16, 6) } },
	{ "LAST: the newest, MISSED if something was skipped, a new handle included",
	  4,
	  8,
	  { PUT(1), PUT(2), PUT(3), GET(LAST, ACH_MISSED_FRAME, 3, 3), GET(LAST, ACH_EAGAIN, UNTOUCHED, 3), PUT(4),
	    GET(LAST, ACH_OK, 4, 4), PUT(5), PUT(6), GET(LAST, ACH_MISSED_FRAME, 6, 6),
	    GET(FIRST, ACH_EAGAIN, UNTOUCHED, 6) } },
	{ "LAST: a new handle and one message: OK", 4, 8, { PUT(7), GET(LAST, ACH_OK, 7, 1) } },
	{ "LAST after overwriting",
	  2,
	  8,
	  { PUT(1), GET(LAST, ACH_OK, 1, 1), PUT(2), PUT(3), PUT(4), PUT(5), GET(LAST, ACH_MISSED_FRAME, 5, 5) } },
	{ "COPY, something unseen: as without",
	  4,
	  8,
	  { PUT(1), PUT(2), GET(COPY, ACH_OK, 1, 1), GET(COPY, ACH_OK, 2, 2), PUT(3), PUT(4), PUT(5), PUT(6), PUT(7),
	    GET(COPY, ACH_MISSED_FRAME, 4, 4), GET(COPY | LAST, ACH_MISSED_FRAME, 7, 7) } },
	{ "COPY, all seen: the newest again, OK",
	  4,
	  8,
	  { PUT(1), PUT(2), GET(LAST, ACH_MISSED_FRAME, 2, 2), GET(COPY, ACH_OK, 2, 2), GET(COPY, ACH_OK, 2, 2),
	    GET(COPY | LAST, ACH_OK, 2, 2), GET(FIRST, ACH_EAGAIN, UNTOUCHED, 2), PUT(3), GET(COPY, ACH_OK, 3, 3),
	    GET(COPY, ACH_OK, 3, 3) } },
	{ "WAIT, something unseen: at once, whatever the deadline",
	  4,
	  8,
	  { PUT(1), PUT(2), PUT(3), PUT(4), GET(WAIT, ACH_OK, 1, 1), GET_UNTIL(PAST, WAIT, ACH_OK, 2, 2),
	    GET_UNTIL(FAR, WAIT | COPY, ACH_OK, 3, 3), GET_UNTIL(REL_ZERO, WAIT | RELTIME, ACH_OK, 4, 4), PUT(5),
	    PUT(6), GET(WAIT | LAST, ACH_MISSED_FRAME, 6, 6), PUT(7), GET_UNTIL(EPOCH, WAIT | LAST, ACH_OK, 7, 7) } },
	{ "WAIT, all seen: TIMEOUT at the deadline, COPY too",
	  4,
	  8,
	  { PUT(1), GET(FIRST, ACH_OK, 1, 1), GET_UNTIL(SOON, WAIT, ACH_TIMEOUT, UNTOUCHED, 1),
	    GET_UNTIL(SOON, WAIT | COPY, ACH_TIMEOUT, UNTOUCHED, 1),
	    GET_UNTIL(SOON, WAIT | COPY | LAST, ACH_TIMEOUT, UNTOUCHED, 1),
	    GET_UNTIL(REL_SOON, WAIT | RELTIME, ACH_TIMEOUT, UNTOUCHED, 1),
	    GET_UNTIL(REL_SOON, WAIT | LAST | RELTIME, ACH_TIMEOUT, UNTOUCHED, 1),
	    GET_UNTIL(REL_ZERO, WAIT | RELTIME, ACH_TIMEOUT, UNTOUCHED, 1),
	    GET_UNTIL(PAST, WAIT, ACH_TIMEOUT, UNTOUCHED, 1), GET_UNTIL(EPOCH, WAIT, ACH_TIMEOUT, UNTOUCHED, 1),
	    GET(COPY, ACH_OK, 1, 1) } },
	{ "WAIT for ever: a message of another process ends it",
	  4,
	  8,
	  { PUT_LATER(5), GET(WAIT, ACH_OK, 5, 1), PUT_LATER(6), GET(WAIT | LAST, ACH_OK, 6, 2), PUT_LATER(7),
	    GET(WAIT | COPY, ACH_OK, 7, 3), PUT_LATER(8), GET(WAIT | RELTIME, ACH_OK, 8, 4) } },
	{ "WAIT with a deadline: a message of another process ends it",
	  4,
	  8,
	  { PUT_LATER(5), GET_UNTIL(FAR, WAIT, ACH_OK, 5, 1), PUT_LATER(6),
	    GET_UNTIL(REL_FAR, WAIT | RELTIME | LAST, ACH_OK, 6, 2) } },
	{ "WAIT: a message that does not fit ends it too, and stays",
	  4,
	  8,
	  { PUT_LATER(9), GET_INTO(8, WAIT, ACH_OVERFLOW, 9, 0), GET_INTO(9, WAIT, ACH_OK, 9, 1) } },
	{ "WAIT: signals do not surface",
	  4,
	  8,
	  { SIGNALS_THEN_PUT(5), GET(WAIT, ACH_OK, 5, 1), SIGNALS_THEN_PUT(6), GET_UNTIL(FAR, WAIT, ACH_OK, 6, 2),
	    SIGNALS_THEN_PUT(7), GET_UNTIL(REL_FAR, WAIT | RELTIME, ACH_OK, 7, 3) } },
	{ "OVERFLOW: the size needed, cursor unchanged, a retry works",
	  4,
	  8,
	  { PUT(10), PUT(3), GET_INTO(9, FIRST, ACH_OVERFLOW, 10, 0), GET_INTO(1, FIRST, ACH_OVERFLOW, 10, 0),
	    GET_INTO(0, FIRST, ACH_OVERFLOW, 10, 0), GET_INTO(10, FIRST, ACH_OK, 10, 1),
	    GET_INTO(3, FIRST, ACH_OK, 3, 2) } },
	{ "OVERFLOW with LAST, COPY, WAIT",
	  4,
	  8,
	  { PUT(1), PUT(9), PUT(4), GET_INTO(3, LAST, ACH_OVERFLOW, 4, 0), GET_INTO(0, COPY, ACH_OVERFLOW, 1, 0),
	    GET_INTO(0, WAIT, ACH_OVERFLOW, 1, 0), GET_INTO(1, FIRST, ACH_OK, 1, 1),
	    GET_INTO(3, LAST, ACH_OVERFLOW, 4, 1), GET_INTO(8, FIRST, ACH_OVERFLOW, 9, 1),
	    GET_INTO(4, LAST, ACH_MISSED_FRAME, 4, 3), GET_INTO(3, COPY, ACH_OVERFLOW, 4, 3),
	    GET_INTO(4, COPY, ACH_OK, 4, 3) } },
	{ "OVERFLOW of the oldest retained, then MISSED",
	  2,
	  8,
	  { PUT(1), PUT(5), PUT(2), GET_INTO(4, FIRST, ACH_OVERFLOW, 5, 0), GET_INTO(5, FIRST, ACH_MISSED_FRAME, 5, 2),
	    GET(FIRST, ACH_OK, 2, 3) } },
	{ "buf NULL: OVERFLOW with size 0, EINVAL if it would fit",
	  4,
	  8,
	  { PUT(6), GET_NULL(0, ACH_OVERFLOW, 6, 0), GET_NULL(6, ACH_EINVAL, ANY, 0),
	    GET_NULL(BYTES, ACH_EINVAL, ANY, 0), GET(FIRST, ACH_OK, 6, 1) } },
	{ "frame_size NULL", 4, 8, { PUT(6), GET_NULL_FRAME(5, ACH_OVERFLOW, 0), GET_NULL_FRAME(6, ACH_OK, 1) } },
	{ "put of nothing: EINVAL, and the channel as before",
	  4,
	  8,
	  { PUT_BAD(0, ACH_EINVAL), PUT_NULL(0, ACH_EINVAL), PUT_NULL(4, ACH_EINVAL),
	    GET(FIRST, ACH_EAGAIN, UNTOUCHED, 0), PUT(2), PUT_BAD(0, ACH_EINVAL), GET(FIRST, ACH_OK, 2, 1) } },
	{ "put of more than cnt*size: OVERFLOW, and the channel as before",
	  4,
	  8,
	  { PUT_BAD(33, ACH_OVERFLOW), PUT_BAD((size_t)1 << 40, ACH_OVERFLOW), PUT_BAD(SIZE_MAX, ACH_OVERFLOW),
	    GET(FIRST, ACH_EAGAIN, UNTOUCHED, 0), PUT(32), PUT_BAD(33, ACH_OVERFLOW), GET(FIRST, ACH_OK, 32, 1),
	    GET(FIRST, ACH_EAGAIN, UNTOUCHED, 1) } },
	{ "flush: this handle's cursor to the newest",
	  4,
	  8,
	  { FLUSH(ACH_OK, 0), PUT(1), PUT(2), FLUSH(ACH_OK, 2), GET(FIRST, ACH_EAGAIN, UNTOUCHED, 2),
	    GET(COPY, ACH_OK, 2, 2), PUT(3), GET(FIRST, ACH_OK, 3, 3), FLUSH(ACH_OK, 3), FLUSH(ACH_OK, 3) } },
	{ "cancel: every get and flush CANCELED until taken back, put not",
	  4,
	  8,
	  { PUT(1), PUT(2), GET(FIRST, ACH_OK, 1, 1), CANCEL, GET(FIRST, ACH_CANCELED, UNTOUCHED, 1),
	    GET(COPY, ACH_CANCELED, UNTOUCHED, 1), GET(LAST, ACH_CANCELED, UNTOUCHED, 1),
	    GET(WAIT, ACH_CANCELED, UNTOUCHED, 1), GET_UNTIL(PAST, WAIT, ACH_CANCELED, UNTOUCHED, 1), PUT(3),
	    FLUSH(ACH_CANCELED, 1), CANCEL, UNCANCEL, GET(FIRST, ACH_OK, 2, 2), GET(FIRST, ACH_OK, 3, 3) } },
	{ "cancel on an empty channel",
	  4,
	  8,
	  { CANCEL, GET(FIRST, ACH_CANCELED, UNTOUCHED, 0), GET(WAIT, ACH_CANCELED, UNTOUCHED, 0), UNCANCEL,
	    GET(FIRST, ACH_EAGAIN, UNTOUCHED, 0) } },
};
/* clang-format on */

/* ---- where a row is played ---- */

enum place {
	NAMED,
	REALTIME,  /* a named channel with that clock */
	READ_ONLY, /* the reader may only read the files */
	NO_BELL,   /* nor ring the bell */
	ANONYMOUS,
	ZERO_COPY, /* reserve and commit for put, peek for get */
	PLACES
};

static const char *const place_names[PLACES] = {
	"named", "REALTIME", "read-only", "no bell", "anonymous", "zero-copy"
};

static const struct row *row;
static enum place place;

struct player {
	ach_channel_t writer, reader;
	clockid_t clock;
	uint64_t sent;	       /* messages put so far */
	size_t len[STEPS + 1]; /* len[k]: of message k */
	pid_t later;
};

static void fill(uint8_t *bytes, size_t len, uint64_t number)
{
	for (size_t i = 0; i < len; i++)
		bytes[i] = (uint8_t)(number * 37 + i);
}

static void open_player(struct player *p)
{
	ach_create_attr_t create;
	ach_attr_t attr;
	char name[LIB_NAME_LEN];

	ach_create_attr_init(&create);
	ach_attr_init(&attr);
	p->clock = place == REALTIME ? CLOCK_REALTIME : CLOCK_MONOTONIC;
	LIB_STATUS(ACH_OK, ach_create_attr_set_clock(&create, p->clock));
	if (place == ANONYMOUS) {
		struct ach_header *shm;

		LIB_STATUS(ACH_OK, ach_create_attr_set_map(&create, ACH_MAP_ANON));
		LIB_STATUS(ACH_OK, ach_create(NULL, row->cnt, row->size, &create));
		LIB_STATUS(ACH_OK, ach_create_attr_get_shm(&create, &shm));
		LIB_STATUS(ACH_OK, ach_attr_set_shm(&attr, shm));
		LIB_STATUS(ACH_OK, ach_open(&p->writer, NULL, &attr));
		LIB_STATUS(ACH_OK, ach_open(&p->reader, NULL, &attr));
		return;
	}
	LIB_STATUS(ACH_OK, ach_create(lib_name(name, "answers"), row->cnt, row->size, &create));
	LIB_STATUS(ACH_OK, ach_open(&p->writer, name, &attr));
	if (place == READ_ONLY || place == NO_BELL) {
		LIB_STATUS(ACH_OK, ach_chmod(&p->writer, 0444));
		LIB_CHECK(lib_bell(name) >= 0);
		if (place == NO_BELL)
			lib_segment_chmod(lib_bell(name), 0400);
	}
	if (place == READ_ONLY || place == NO_BELL)
		lib_nobody_begin();
	LIB_STATUS(ACH_OK, ach_open(&p->reader, name, &attr));
	if (place == READ_ONLY || place == NO_BELL) {
		lib_nobody_end();
		LIB_STATUS(ACH_EACCES, ach_put(&p->reader, "x", 1)); /* or the row would prove nothing */
	}
	LIB_STATUS(ACH_OK, ach_unlink(name)); /* a failure below ends this process without cleaning up */
}

/* ---- steps ---- */

static void complain(size_t step, const char *what, long long expected, long long got)
{
	fprintf(stderr, "%s, \"%s\", step %zu: %s is %lld instead of %lld\n", place_names[place], row->what, step, what,
		got, expected);
	_exit(LIB_FAILED);
}

static void expect_status(size_t step, enum ach_status expected, enum ach_status got)
{
	if (expected == got)
		return;
	fprintf(stderr, "%s, \"%s\", step %zu: %s instead of %s (%s)\n", place_names[place], row->what, step,
		ach_result_to_string(got), ach_result_to_string(expected), ach_errstr());
	_exit(LIB_FAILED);
}

static enum ach_status put(struct player *p, const struct step *step)
{
	uint8_t bytes[BYTES];
	void *room;
	enum ach_status status;

	fill(bytes, step->size < BYTES ? step->size : BYTES, p->sent + 1);
	if (step->op == OP_PUT_NULL)
		status = ach_put(&p->writer, NULL, step->size);
	else if (place == ZERO_COPY && step->size) {
		status = ach_reserve(&p->writer, step->size, &room);
		if (status == ACH_OK) {
			memcpy(room, bytes, step->size);
			status = ach_commit(&p->writer, step->size);
		}
	} else
		status = ach_put(&p->writer, bytes, step->size);
	if (status == ACH_OK)
		p->len[++p->sent] = step->size;
	return status;
}

static int put_child(void *arg)
{
	struct player *p = arg;

	lib_until_asleep(getppid());
	fill((uint8_t *)(p + 1), p->len[p->sent], p->sent);
	LIB_STATUS(ACH_OK, ach_put(&p->writer, p + 1, p->len[p->sent]));
	return 0;
}

#define SIGNALS 3
static volatile sig_atomic_t signals;

static void count_signal(int sig)
{
	(void)sig;
	signals = signals + 1;
}

static int signals_child(void *arg)
{
	for (int i = 0; i < SIGNALS; i++) {
		lib_until_asleep(getppid());
		/* a real-time signal is counted even if the one before it has not been handled yet */
		LIB_CHECK(kill(getppid(), SIGRTMIN) == 0);
	}
	return put_child(arg);
}

/* *timeout for ach_get, and in *earliest the time before which it must not answer TIMEOUT. */
static const struct timespec *deadline(const struct player *p, enum when when, struct timespec *t, int64_t *earliest)
{
	int64_t now = lib_now_ns(p->clock);

	*earliest = 0;
	switch (when) {
	case NEVER:
		return NULL;
	case PAST:
		*t = lib_after_ms(p->clock, -1000);
		break;
	case EPOCH:
		*t = lib_rel_ms(0);
		break;
	case SOON:
		*t = lib_after_ms(p->clock, 20);
		*earliest = (int64_t)t->tv_sec * 1000000000 + t->tv_nsec;
		break;
	case FAR:
		*t = lib_after_ms(p->clock, LIB_HANG_S * 1000);
		break;
	case REL_ZERO:
		*t = lib_rel_ms(0);
		break;
	case REL_SOON:
		*t = lib_rel_ms(20);
		*earliest = now + 20000000;
		break;
	case REL_FAR:
		*t = lib_rel_ms(LIB_HANG_S * 1000);
		break;
	}
	return t;
}

static enum ach_status read_message(struct player *p, const struct step *step, uint8_t *buf, size_t *frame,
				    const struct timespec *timeout)
{
	const void *message;
	enum ach_status status;
	size_t len = UNTOUCHED;

	/* peek has no buffer that could be too small */
	if (place != ZERO_COPY || step->op != OP_GET || step->status == ACH_OVERFLOW)
		return ach_get(&p->reader, step->op == OP_GET_NULL ? NULL : buf, step->size,
			       step->op == OP_GET_NULL_FRAME ? NULL : frame, timeout, step->options);
	status = ach_peek(&p->reader, &message, &len, timeout, step->options);
	*frame = len;
	if (status == ACH_OK || status == ACH_MISSED_FRAME) {
		LIB_CHECK(len <= BYTES);
		memcpy(buf, message, len);
		LIB_STATUS(ACH_OK, ach_peek_end(&p->reader));
	}
	return status;
}

static void get(struct player *p, size_t i, const struct step *step)
{
	uint8_t bytes[BYTES], expected[BYTES];
	size_t frame = UNTOUCHED;
	struct timespec t;
	int64_t earliest;
	const struct timespec *timeout = deadline(p, step->when, &t, &earliest);
	enum ach_status status;

	memset(bytes, 0xee, sizeof bytes);
	status = read_message(p, step, bytes, &frame, timeout);
	if (status == ACH_TIMEOUT && lib_now_ns(p->clock) < earliest)
		complain(i, "a deadline that passed", 1, 0);
	expect_status(i, step->status, status);
	if (step->frame != ANY && step->frame != frame)
		complain(i, "frame_size", (long long)step->frame, (long long)frame);
	if (p->reader.seq_num != step->cursor)
		complain(i, "cursor", (long long)step->cursor, (long long)p->reader.seq_num);
	memset(expected, 0xee, sizeof expected);
	if (status == ACH_OK || status == ACH_MISSED_FRAME)
		fill(expected, p->len[step->cursor], step->cursor);
	if (memcmp(bytes, expected, sizeof bytes))
		complain(i, "content", 1, 0);
}

static void play_step(struct player *p, size_t i, const struct step *step)
{
	switch (step->op) {
	case END:
		break;
	case OP_PUT:
	case OP_PUT_NULL:
		expect_status(i, step->status, put(p, step));
		break;
	case OP_PUT_LATER:
	case OP_SIGNALS_LATER:
		p->len[++p->sent] = step->size;
		p->later = lib_child(step->op == OP_PUT_LATER ? put_child : signals_child, p);
		break;
	case OP_GET:
	case OP_GET_NULL:
	case OP_GET_NULL_FRAME:
		signals = 0;
		get(p, i, step);
		if (p->later && lib_join(p->later))
			complain(i, "the other process", 0, 1);
		if (p->later && step[-1].op == OP_SIGNALS_LATER && signals != SIGNALS)
			complain(i, "number of signals", SIGNALS, signals);
		p->later = 0;
		break;
	case OP_FLUSH:
		expect_status(i, step->status, ach_flush(&p->reader));
		if (p->reader.seq_num != step->cursor)
			complain(i, "cursor", (long long)step->cursor, (long long)p->reader.seq_num);
		break;
	case OP_CANCEL:
		expect_status(i, step->status, ach_cancel(&p->reader, NULL));
		break;
	case OP_UNCANCEL:
		p->reader.cancel = 0;
		break;
	}
}

static int play(void *arg)
{
	struct player *p = calloc(1, sizeof *p + BYTES);
	struct sigaction action = { .sa_handler = count_signal }; /* no SA_RESTART: the kernel must not help */

	(void)arg;
	LIB_CHECK(p != NULL && sigaction(SIGRTMIN, &action, NULL) == 0);
	open_player(p);
	if (p->reader.seq_num)
		complain(0, "cursor of a new handle", 0, (long long)p->reader.seq_num);
	for (size_t i = 0; i < STEPS && row->steps[i].op; i++)
		play_step(p, i, &row->steps[i]);
	expect_status(STEPS, ACH_OK, ach_close(&p->reader));
	expect_status(STEPS, ACH_OK, ach_close(&p->writer));
	free(p);
	return 0;
}

static void test_row(void)
{
	/* in a process of its own: a row that goes wrong leaves nothing to the next */
	TEST_ASSERT_EQUAL_INT_MESSAGE(0, lib_join(lib_child(play, NULL)), row->what);
}

void setUp(void)
{
	lib_watchdog(Unity.CurrentTestName, LIB_HANG_S);
}

int main(void)
{
	char name[256];

	UNITY_BEGIN();
	for (place = 0; place < PLACES; place++) {
		for (row = rows; row < rows + sizeof rows / sizeof *rows; row++) {
			snprintf(name, sizeof name, "%s: %s", place_names[place], row->what);
			UnityDefaultTestRun(test_row, name, __LINE__);
		}
	}
	return UNITY_END();
}
