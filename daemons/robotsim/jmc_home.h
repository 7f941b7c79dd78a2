/* jmc_home.h: how a simulated Hubo joint board looks for the zero of a joint, pure.
 *
 * It drives the joint in the search direction until the limit switch closes (first off the switch if it is closed),
 * back to the index of the motor's encoder, and by the offset from there: that place is 0.  The order is assumed; what
 * is known is that switch, index and offset are used, and that the home flag is 6 in the end.
 *
 *	jmc_home_start(&home, &order, counts);
 *	velocity = jmc_home_step(&home, &sensed);	counts/s, every sub-step
 *	if (home.phase == JMC_HOME_DONE)
 *		...					home.zero is the place of 0
 */
#pragma once

#include "config/base/base.h"

enum jmc_home_phase {
	JMC_HOME_IDLE,
	JMC_HOME_OFF,
	JMC_HOME_SEEK,
	JMC_HOME_INDEX,
	JMC_HOME_OFFSET,
	JMC_HOME_DONE,
	JMC_HOME_FAILED
};

enum jmc_home_mode { JMC_HOME_BY_INDEX, JMC_HOME_BY_SWITCH, JMC_HOME_BY_JAM };

/* As the board has it stored, in counts. */
struct jmc_home_order {
	enum jmc_home_mode mode;
	int direction;		    /* 1, -1 */
	double offset;		    /* from the place found to 0 */
	double search;		    /* farthest way to the switch, and back off it */
	double to_limit, to_offset; /* counts/s */
};

struct jmc_home_sense {
	double counts;	     /* of the encoder, of the same origin all the time */
	bool closed;	     /* the switch */
	bool stalled;	     /* against an end, or jammed */
	bool index;	     /* its pulse came in this step */
	double index_counts; /* there */
	double step_s;
};

struct jmc_home {
	enum jmc_home_phase phase;
	struct jmc_home_order order;
	double from; /* counts: where this phase began */
	double zero;
};

void jmc_home_start(struct jmc_home *home, const struct jmc_home_order *order, double counts);
double jmc_home_step(struct jmc_home *home, const struct jmc_home_sense *sense);
bool jmc_home_runs(const struct jmc_home *home);
