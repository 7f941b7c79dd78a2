/* jmc_path.h: the set-points of one motor between references, pure.
 *
 * At each tick the board takes the newest reference and goes to it in equal sub-steps, so that it is there at the next
 * tick: one period behind the references.  A reference that comes after its tick is reached in the sub-steps that are
 * left; without a new one the last one is held.
 *
 *	jmc_path_reference(&path, counts);	a reference came
 *	jmc_path_step(&path);			a sub-step is over: the set-point is in path.at
 *	jmc_path_tick(&path, 5);		... and it was the last of a period
 *
 * Ripple is what makes the motor hum: by how much steps differ from the equal steps between the last two references.
 */
#pragma once

#include "config/base/base.h"

struct jmc_path {
	double at, to;	    /* counts: the set-point, and the reference it goes to */
	double newest;	    /* reference */
	bool fresh;	    /* and not taken yet */
	unsigned int left;  /* sub-steps to go */
	unsigned int until; /* the next tick, sub-steps */
	bool begun;	    /* there was a reference since it stood */
	bool late;	    /* the tick found no reference */
	double sub_steps;   /* of a period */
	double gap;	    /* periods without one before the newest */
	double equal;	    /* step between the last two references */
	uint64_t steps, held;
	double squares, max; /* of the differences, counts */
};

void jmc_path_start(struct jmc_path *path, double at); /* stands there */
void jmc_path_reference(struct jmc_path *path, double counts);
/* Measured: its difference counts. */
void jmc_path_step(struct jmc_path *path, bool measured);
void jmc_path_tick(struct jmc_path *path, unsigned int sub_steps);
double jmc_path_rms(const struct jmc_path *path); /* counts */
