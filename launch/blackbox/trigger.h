/* trigger.h: what makes an incident: a death, a kill by the watchdog, a stop, an overrun.  Pure.
 *
 *	struct trigger t = { .skipped_max = 5 };
 *
 *	if (trigger_event(&t, &event, why) || trigger_estop(&t, &estop, why) || trigger_skipped(&t, i, skipped, why))
 *		...
 */
#ifndef LAUNCH_BLACKBOX_TRIGGER_H
#define LAUNCH_BLACKBOX_TRIGGER_H

#include <stdbool.h>
#include <stdint.h>

#include "channels/msg/msg.h"

#define TRIGGER_WHY_MAX 256
#define TRIGGER_STATES_MAX 128

struct trigger {
	uint64_t skipped_max; /* ticks that a driver may skip between two looks; 0: any number */

	/* private */
	bool armed;
	struct trigger_state {
		char name[64];
		uint32_t incarnation;
		uint64_t skipped;
	} states[TRIGGER_STATES_MAX];
	unsigned int states_n;
};

/* Each: true if that is an incident, and why in words. */
bool trigger_event(struct trigger *t, const struct msg_event *event, char why[TRIGGER_WHY_MAX]);
/* A raise counts only behind a lowering to run: a robot comes up stopped. */
bool trigger_estop(struct trigger *t, const struct msg_estop *estop, char why[TRIGGER_WHY_MAX]);
/* The count of a state, by the name of its device. */
bool trigger_skipped(struct trigger *t, const char *name, uint32_t incarnation, uint64_t skipped,
		     char why[TRIGGER_WHY_MAX]);

#endif
