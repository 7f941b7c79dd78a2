/* pciod_ask.h: which reply belongs to which request.
 *
 *	if (pciod_ask_free(&ask, &times, now_ns) && !drv_send(...))
 *		pciod_ask_put(&ask, now_ns);
 *	pciod_ask_sent(&ask, t_ns);			its echo: it was on the wire
 *	if (pciod_ask_reply(&ask, &times, t_ns))	a reply with its key is the answer to it
 *		value = ...;
 *
 * One struct pciod_ask for each module, command and parameter (or motion): that is all a reply tells of its request.
 * So at most one of them is under way.  A reply that has not come within times.late_ns is given up, but it is still
 * owed: until it comes, or until times.lost_ns, nothing new is asked with this key, and when it comes it is dropped.
 * Were the next question asked at once, a reply that was lost for good would put each answer to the question before
 * it, for ever.
 *
 * A reply that was on the wire before its request, by the stamps of both, never belongs to it.  One that is delivered
 * before the echo of its request does, if it is not older than the putting of it: the echo that follows, or does not on
 * an interface that has none, changes nothing then.
 *
 * Pure.  Times are nanoseconds of CLOCK_MONOTONIC, those of frames when they were on the wire.
 */
#ifndef PCIOD_ASK_H
#define PCIOD_ASK_H

#include <stdbool.h>
#include <stdint.h>

enum pciod_ask_phase {
	PCIOD_ASK_FREE,
	PCIOD_ASK_PUT,	/* handed over, not yet confirmed */
	PCIOD_ASK_SENT, /* it was on the wire: the reply may come */
	PCIOD_ASK_OWED, /* given up, and may come all the same */
};

struct pciod_ask {
	enum pciod_ask_phase phase;
	unsigned int owed;  /* replies that may come while owed */
	int64_t since_ns;   /* put: when; sent, owed: when it was on the wire, as far as known */
	bool unanswered;    /* the last one was given up */
	unsigned int early; /* replies that came before the echo: so many echoes are to be passed over */
};

struct pciod_ask_times {
	int64_t late_ns; /* given up */
	int64_t lost_ns; /* will not come any more; not less than late_ns */
};

/* May it be asked?  Ages it: what has arrived must have been told before. */
bool pciod_ask_free(struct pciod_ask *ask, const struct pciod_ask_times *times, int64_t now_ns);
void pciod_ask_put(struct pciod_ask *ask, int64_t now_ns);
void pciod_ask_sent(struct pciod_ask *ask, int64_t t_ns);
/* It will not be sent; or perhaps it was. */
void pciod_ask_lost(struct pciod_ask *ask);
/* Is it the answer?  Then since_ns is still when the request was on the wire. */
bool pciod_ask_reply(struct pciod_ask *ask, const struct pciod_ask_times *times, int64_t t_ns);

#endif
