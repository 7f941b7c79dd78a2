/* trigger.h: what makes an incident: a death, a kill by the watchdog, a stop, an overrun, a late frame.  Pure.
 *
 *	struct trigger t = { .skipped_max = 5, .repeat_after_ns = 600000000000 };
 *
 *	if ((kind = trigger_event(&t, &event, why)) || (kind = trigger_estop(&t, &estop, why)) ||
 *	    (kind = trigger_skipped(&t, &ticks, why)))
 *		...trigger_begins(&t, kind, t_ns)...
 *
 * An overrun or a late frame that lasts is one cause, however often it is reported: the next one of the same driver
 * counts after TRIGGER_AGAIN_NS without a report.  On a machine that is loaded from time to time they would still fill
 * the room for incidents with equal ones, so such a kind begins one after repeat_after_ns at the earliest.
 */
#pragma once

#include "channels/msg/msg.h"
#include "config/base/base.h"

#define TRIGGER_WHY_MAX 256
#define TRIGGER_STATES_MAX 128
#define TRIGGER_AGAIN_NS 60000000000

enum trigger_kind {
	TRIGGER_NONE, /* no cause */
	TRIGGER_ONCE, /* a death, a stop: each counts */
	TRIGGER_LATE, /* frames */
	TRIGGER_OVERRUN,
};
#define TRIGGER_KINDS 4

struct trigger {
	uint64_t skipped_max;	 /* ticks that a driver may skip between two looks; 0: any number */
	int64_t repeat_after_ns; /* from an incident by late frames, or by an overrun, to the next such one */

	/* private */
	bool armed;
	struct trigger_state { /* of a state, or of a driver whose frames are late */
		char name[64];
		uint32_t incarnation;
		uint64_t skipped;
		int64_t last_ns; /* report; 0: none */
	} states[TRIGGER_STATES_MAX];
	unsigned int states_n;
	int64_t began_ns[TRIGGER_KINDS]; /* the last incident of that kind; 0: none */
};

/* The ticks that a state counts. */
struct trigger_ticks {
	const char *name; /* of the channel */
	uint32_t incarnation;
	uint64_t skipped;
	int64_t t_ns; /* now */
};

/* Each: what kind of cause that is, and why in words. */
enum trigger_kind trigger_event(struct trigger *t, const struct msg_event *event, char why[TRIGGER_WHY_MAX]);
/* A raise counts only behind a lowering to run: a robot comes up stopped. */
enum trigger_kind trigger_estop(struct trigger *t, const struct msg_estop *estop, char why[TRIGGER_WHY_MAX]);
enum trigger_kind trigger_skipped(struct trigger *t, const struct trigger_ticks *ticks, char why[TRIGGER_WHY_MAX]);

/* May the cause begin an incident?  If so, it has: to be asked if none is being recorded, and all else allows one. */
bool trigger_begins(struct trigger *t, enum trigger_kind kind, int64_t t_ns);
