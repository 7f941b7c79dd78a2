/* drv_ask.h: which reply belongs to which request.
 *
 *	static const struct drv_question get = {
 *		.send = 3, .receive = 1,
 *		.echo = { { .request = 0, .reply = 0, .mask = 0xFF }, { 1, 1, 0xFF } },
 *		.late_ns = 20000000, .lost_ns = 100000000, .tries = 3,
 *	};
 *
 * A question is a row that is sent and a row that is received.  The bytes of the request that the device repeats in its
 * reply (echo) are the key: one request for each key may be under way, requests with different keys may be under way
 * at the same time.  Every reply whose repeated bytes are the same belongs to the key, whatever its other bytes are: an
 * SDO abort answers as a value does.
 *
 * A reply that has not come late_ns after its request was on the wire is late: the request is sent again, tries times
 * in all, and any reply to one of the tries is the answer.  After the last try the request is unanswered.  Its replies
 * are then still owed: until they come, or until lost_ns after the last try was on the wire, nothing is asked with this
 * key, and a reply that comes is dropped.  If the next request left at once, one reply that was lost would put each
 * answer to the request before it, for ever.
 *
 * A reply that was on the wire before its request, by the stamps of both, never belongs to it.  A reply that is
 * delivered before the confirmation of its request does, if it is not older than drv_ask_put; the confirmation that
 * follows, or does not follow on an interface without any, changes nothing then.
 *
 * Of the time that a reply may take, a pause of this process or of the wire does not count.
 *
 * Pure; no allocation.  drv_ask_reply looks at the requests of the questions of one received row only.  Times are
 * nanoseconds of CLOCK_MONOTONIC, those of frames when they were on the wire.
 */
#pragma once

#include "can/bus/frame.h"
#include "can/slots/pauses.h"

#define DRV_ASK_ECHOES_MAX 8
#define DRV_ASK_QUESTIONS_MAX 512
#define DRV_ASK_ROWS_MAX 4608 /* numbers of rows that are sent or received are below it */
#define DRV_ASK_MAX 640	      /* requests under way or owed: 31 modules with 19 keys each, and some */

struct drv_ask_echo {
	uint8_t request, reply; /* where the byte is in each */
	uint8_t mask;		/* bits of it that are repeated; 0 ends the list */
};

struct drv_ask_only {
	uint8_t at;	     /* a byte of the request */
	uint8_t mask, value; /* its bits that make it a request; mask 0: every frame of the row is one */
};

struct drv_question {
	unsigned int send;    /* the row of the request; one question for each */
	unsigned int receive; /* the row of the replies; several questions may have the same */
	struct drv_ask_only only;
	struct drv_ask_echo echo[DRV_ASK_ECHOES_MAX];
	bool exclusive;		  /* one request under way, whatever its key: an SDO server */
	unsigned int replies;	  /* frames that make an answer; 0: one */
	int64_t late_ns, lost_ns; /* lost_ns: not less than late_ns */
	unsigned int tries;	  /* 0: one */
};

struct drv_ask_answer {
	unsigned int question; /* number */
	uint32_t tag;	       /* as it was asked with */
	struct frame request;
	int64_t asked_ns;   /* when the first try was on the wire, as far as known; else when it was put */
	unsigned int tries; /* so far */
	unsigned int left;  /* frames of this answer that are still to come */
	unsigned int entry; /* for drv_ask_again */
};

enum drv_ask_phase {
	DRV_ASK_FREE,
	DRV_ASK_ASKED,	/* the reply may come */
	DRV_ASK_FAILED, /* this try has no answer; the next one, or the end, is due */
	DRV_ASK_OVER,	/* answered or not; a reply is owed (expected) or a confirmation is still to come (unsure) */
};

struct drv_ask { /* private */
	struct {
		struct drv_question row;
		uint16_t next;	/* of the same received row, + 1; 0: none */
		uint16_t first; /* entry, + 1 */
	} questions[DRV_ASK_QUESTIONS_MAX];
	unsigned int questions_n;
	uint16_t by_send[DRV_ASK_ROWS_MAX], by_receive[DRV_ASK_ROWS_MAX]; /* questions, + 1 */

	struct drv_ask_entry {
		enum drv_ask_phase phase;
		uint16_t question, next; /* next of the question, or of the free ones, + 1 */
		uint64_t key;
		uint32_t tag;
		unsigned int tries, left;
		unsigned int expected; /* replies that may come, of all tries */
		unsigned int unsure;   /* tries that are not yet confirmed */
		unsigned int early;    /* confirmations to be passed over: their request was answered before */
		int64_t asked_ns;      /* the first try, as in struct drv_ask_answer */
		int64_t since_ns;      /* the last try: put, or on the wire */
		int64_t due_ns;	       /* the next timeout */
		struct frame request;
	} entries[DRV_ASK_MAX];
	unsigned int entries_n; /* how many were ever used */
	uint16_t free;		/* + 1 */
	int64_t next_ns;	/* nothing is due until after it */
	int64_t soonest_ns;	/* the same, of those that drv_ask_due has passed */
	unsigned int at;	/* where it goes on */
	struct pauses pauses;
};

/* Begins as zeros. */

/* Its number; -ENOSPC, or -EINVAL: no times, or its send row has a question. */
int drv_ask_add(struct drv_ask *a, const struct drv_question *question);

/* May it be asked now?  0; -EBUSY: one with this key is under way or owed; -ENOSPC: too many are; -EINVAL: no such
 * question, or the request is too short for its key. */
int drv_ask_may(const struct drv_ask *a, unsigned int question, const struct frame *request);
/* It was handed over; after drv_ask_may. */
void drv_ask_put(struct drv_ask *a, unsigned int question, const struct frame *request, uint32_t tag, int64_t now_ns);

/* A frame of this row was on the wire; or was lost, and perhaps it was on the wire.  Rows without a question are
 * ignored. */
void drv_ask_sent(struct drv_ask *a, unsigned int send, const struct frame *frame, int64_t t_ns);
void drv_ask_lost(struct drv_ask *a, unsigned int send, const struct frame *frame, bool perhaps_sent);

enum drv_ask_what {
	DRV_ASK_NOTHING, /* drv_ask_reply: it belongs to no request; drv_ask_due: nothing else is due */
	DRV_ASK_LATE,	 /* a reply to be dropped */
	DRV_ASK_ANSWER,	 /* *answer says to which request */
	DRV_ASK_AGAIN,	 /* send answer->request once more, then call drv_ask_again */
	DRV_ASK_UNANSWERED,
};

/* A frame of a received row. */
enum drv_ask_what drv_ask_reply(struct drv_ask *a, unsigned int receive, const struct frame *frame, int64_t t_ns,
				struct drv_ask_answer *answer);

/* This process, or the wire, was paused. */
void drv_ask_paused(struct drv_ask *a, int64_t from_ns, int64_t to_ns);

/* What the time brings; to be called until it returns DRV_ASK_NOTHING, after all that has arrived was passed on. */
enum drv_ask_what drv_ask_due(struct drv_ask *a, int64_t now_ns, struct drv_ask_answer *answer);
/* The next try was handed over; or refused: then it counts as a try that was not sent. */
void drv_ask_again(struct drv_ask *a, unsigned int entry, bool handed, int64_t now_ns);
int64_t drv_ask_next_ns(const struct drv_ask *a); /* when to call drv_ask_due; INT64_MAX: not yet */
