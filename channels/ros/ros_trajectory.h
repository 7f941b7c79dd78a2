/* ros_trajectory.h: trajectory_msgs/JointTrajectory, point by point.
 *
 *	if (ros_trajectory_begin(&t, cdr, len, error, sizeof(error)))
 *		return -1;
 *	while ((r = ros_trajectory_next(&t, &point, error, sizeof(error))) > 0)
 *		...
 *
 * Effort is left out, and so is the stamp of the header.  Pure: nothing is copied before it is asked for.
 */
#pragma once

#include "channels/msg/types.h"
#include "channels/ros/cdr.h"

#define ROS_TRAJECTORY "trajectory_msgs/msg/JointTrajectory"
#define ROS_TRAJECTORY_POSITIONS 10000 /* of all points together */

struct ros_trajectory {
	uint32_t joints_n, points_n, done;
	msg_name joints[MSG_JOINTS];
	double time_s; /* of the point before; negative: there was none */
	struct cdr_in in;
};

struct ros_trajectory_point {
	double time_s; /* from the start; later than that of the point before */
	double position_rad[MSG_JOINTS];
	double velocity_rad_s[MSG_JOINTS], acceleration_rad_s2[MSG_JOINTS]; /* NaN: not given */
};

/* 0, or -1 and one line in error. */
int ros_trajectory_begin(struct ros_trajectory *t, const void *cdr, size_t len, char *error, size_t error_size);
/* 1: the next point; 0: there are no more; -1 and one line in error. */
int ros_trajectory_next(struct ros_trajectory *t, struct ros_trajectory_point *point, char *error, size_t error_size);
