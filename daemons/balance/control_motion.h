/* control_motion.h: the motion of one joint that follows from a command.
 *
 * It is planned from what was commanded last, so that a new command changes nothing suddenly; and from what is measured
 * at the begin, after the device stopped following (its driver was restarted, say), and when the joint is far behind
 * (another source moved it): then it goes on to the same end.  A driver's ramp could stop at every target, and is
 * therefore v^2 / 2a behind one that moves: for a joint found moving the motion begins that far ahead of it.  Begun at
 * the joint itself, it would make the ramp stop first.  Pure.
 */
#pragma once

#include "channels/plan/trapezoid.h"
#include "daemons/balance/control.h"

struct control_motion {
	struct control_command command; /* stop: nothing is under way */
	struct trapezoid_limits limits;
	double ramp_rad_s2; /* acceleration limit of the joint's driver; infinite: none */
	unsigned int goal;  /* which of the command's angles */
	bool planned;
	struct trapezoid way;
	int64_t begun_ns;
	double position_rad, velocity_rad_s; /* to command now */
};

/* limits: within those of the joint, and the speed of the command; ramp_rad_s2: of the joint alone. */
void control_motion_begin(struct control_motion *m, const struct control_command *command,
			  const struct trapezoid_limits *limits, double ramp_rad_s2, int64_t now_ns);
void control_motion_end(struct control_motion *m);
static inline bool control_motion_is_on(const struct control_motion *m)
{
	return m->command.verb != CONTROL_STOP;
}

/* follows: the device would follow a reference now.  true: position_rad and velocity_rad_s are to be commanded.  A move
 * has ended once the joint is there, or has had its time. */
bool control_motion_tick(struct control_motion *m, bool follows, double measured_rad, double measured_rad_s,
			 int64_t now_ns);
