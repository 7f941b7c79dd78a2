/* observe.h: the status of a robot without achstart: what its channels say, and what achstart left in $RUN/state. */
#pragma once

#include "launch/view/robot_channels.h"
#include "launch/view/status.h"

/* How many daemons it found. */
size_t observe_robot(struct status *status, const struct robot_channels *channels);
/* Level, epoch, who and why, as robot_level_read found them. */
void observe_level(struct status *status, const struct estop *estop, const struct robot_channels *channels);
/* Age, rate and phase of each daemon, of which the channels are newer than achstart's answer. */
void observe_ages(struct status *status, const struct robot_channels *channels);

/* From beside the robot: does its clock stand still?  wait: it is watched for 0.5 s, unless it moves. */
void observe_clock(struct status *status, bool wait);
