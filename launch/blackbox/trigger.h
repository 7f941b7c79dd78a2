/* trigger.h: what makes an incident: a death, a kill by the watchdog, a stop, an overrun, a late frame.  Pure.
 *
 *	struct trigger t = { .skipped_max = 5 };
 *
 *	if (trigger_event(&t, &event, why) || trigger_estop(&t, &estop, why) || trigger_skipped(&t, &ticks, why))
 *		...
 *
 * An overrun or a late frame that lasts is one incident, however often it is reported: the next one of the same driver
 * counts after TRIGGER_AGAIN_NS without a report.
 */
#ifndef LAUNCH_BLACKBOX_TRIGGER_H
#define LAUNCH_BLACKBOX_TRIGGER_H

#include <stdbool.h>
#include <stdint.h>

#include "channels/msg/msg.h"

#define TRIGGER_WHY_MAX 256
#define TRIGGER_STATES_MAX 128
#define TRIGGER_AGAIN_NS 60000000000

struct trigger {
	uint64_t skipped_max; /* ticks that a driver may skip between two looks; 0: any number */

	/* private */
	bool armed;
	struct trigger_state { /* of a state, or of a driver whose frames are late */
		char name[64];
		uint32_t incarnation;
		uint64_t skipped;
		int64_t last_ns; /* report; 0: none */
	} states[TRIGGER_STATES_MAX];
	unsigned int states_n;
};

/* The ticks that a state counts. */
struct trigger_ticks {
	const char *name; /* of the channel */
	uint32_t incarnation;
	uint64_t skipped;
	int64_t t_ns; /* now */
};

/* Each: true if that is an incident, and why in words. */
bool trigger_event(struct trigger *t, const struct msg_event *event, char why[TRIGGER_WHY_MAX]);
/* A raise counts only behind a lowering to run: a robot comes up stopped. */
bool trigger_estop(struct trigger *t, const struct msg_estop *estop, char why[TRIGGER_WHY_MAX]);
bool trigger_skipped(struct trigger *t, const struct trigger_ticks *ticks, char why[TRIGGER_WHY_MAX]);

#endif
