/* joints.h: the joints of the robot, one after the other, by the newest states of their devices.  Pure. */
#pragma once

#include "launch/view/robot_channels.h"
#include "launch/view/status.h"

#define JOINTS_MAX 256
#define JOINTS_DOUBT_MAX 64

/* Unknown numbers are NAN. */
struct joint {
	char device[ACH_CHAN_NAME_MAX], name[MSG_NAME_SIZE];
	double position_rad, velocity_rad_s, current_a, temperature_k;
	double at; /* position between its limits, 0: the lower one; NAN: it has none */
	bool old;  /* the state is */
	enum status_rank rank;
	char doubt[JOINTS_DOUBT_MAX]; /* what is not as usual: "fault", "limit-low"; "": nothing */
};

/* How many there are.  Joints that the robot does not have, of a driver that knows more, are left out; and so is the
 * state of a limb, whose joints are in the state of the whole. */
size_t joints_list(const struct robot_channels *channels, struct joint joints[JOINTS_MAX]);
