/* sim_base.h: what most units have in common, at the beginning of their states: power, random numbers, frames that wait
 * for their time, and the faults that spoil them.
 *
 *	struct gauge {
 *		struct sim_base base;
 *		...
 *	};
 *	static const struct sim_fault faults[] = { SIM_BASE_SILENT, SIM_BASE_GARBAGE, ..., { 0 } };
 *	const struct sim_kind gauge_kind = {
 *		SIM_BASE_SENDS, .boot = boot, .faults = faults, ...
 *	};
 */
#pragma once

#include "daemons/robotsim/sim.h"
#include "daemons/robotsim/sim_queue.h"

/* Begins as zeros. */
struct sim_base {
	bool off; /* it has no power */
	bool silent, garbage, is_short;
	double lose; /* share of the frames */
	uint64_t random;
	struct sim_queue queue;
	uint64_t sent, lost; /* frames; lost: by silence, at random, or because too many waited */
};

/* Rows of a table of faults. */
#define SIM_BASE_SILENT SIM_FAULT("silent", struct sim_base, silent)
#define SIM_BASE_GARBAGE SIM_FAULT("garbage", struct sim_base, garbage)
#define SIM_BASE_SHORT SIM_FAULT("short", struct sim_base, is_short)

/* For the kind's table; the state begins with a struct sim_base. */
int64_t sim_base_next_ns(const void *state);
bool sim_base_send(void *state, int64_t now_ns, struct frame *frame);
bool sim_base_has_power(const void *state);
#define SIM_BASE_SENDS .next_ns = sim_base_next_ns, .send = sim_base_send, .has_power = sim_base_has_power

/* Is the next frame lost, or do room frames wait already? */
bool sim_base_loses(struct sim_base *base, unsigned int room);
/* Queues the frame, as its faults leave it, that many times. */
void sim_base_put(struct sim_base *base, struct frame frame, unsigned int times, int64_t t_ns);
/* The whole number nearest to the value, in 16 bits. */
uint16_t sim_base_i16(double value);
/* Is it time for what happens every so often?  *next_ns moves on, behind now_ns. */
bool sim_base_due(int64_t *next_ns, int64_t every_ns, int64_t now_ns);
