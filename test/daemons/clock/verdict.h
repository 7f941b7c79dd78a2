/* verdict.h: what was seen of a robot whose clock was killed again and again, and whether its driver minded.
 *
 * The driver ticks on every fifth cycle.  Messages, frames and their stamps alone are checked. */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define VERDICT_CYCLE_NS 1000000
#define VERDICT_PERIOD_NS 5000000 /* of the driver */

#define VERDICT_MESSAGES_MAX 200000
#define VERDICT_STATES_MAX 40000
#define VERDICT_FRAMES_MAX 40000

struct verdict_record {
	struct verdict_message {
		int64_t t_publish_ns, t_cycle_ns, period_ns;
		uint64_t cycle;
		uint32_t incarnation;
		bool missed; /* some before it were not seen */
	} clock[VERDICT_MESSAGES_MAX];
	size_t clock_n;
	struct verdict_state {
		int64_t t_publish_ns;
		uint64_t sequence, ticks, skipped;
		uint64_t unsent; /* references that did not leave: replaced, expired, lost */
		bool freerun, active, missed;
	} state[VERDICT_STATES_MAX];
	size_t state_n;
	struct verdict_reference {
		int64_t t_ns;
		int value; /* one more at each tick of the driver */
	} reference[VERDICT_FRAMES_MAX];
	size_t reference_n;
	int64_t frame_ns[VERDICT_FRAMES_MAX]; /* clock frames */
	size_t frame_n;
};

/* Prints what is wrong, and how much was looked at.  How many things are wrong. */
int verdict(const struct verdict_record *record, uint32_t kills);
