/* bridge_trajectory.h: a device that follows trajectories of ROS: trajectory_msgs/JointTrajectory.
 *
 * A trajectory is followed from its reception, through its points at their times: a new one replaces it, an empty one
 * stops it within the limits.  One that cannot be followed is refused as a whole, in one line, and what ran goes on.
 */
#pragma once

#include "launch/achdds/bridge.h"

struct bridge_trajectory {
	struct endplate_trajectory *motion; /* NULL: none was received */
	uint32_t joints_n;
	msg_name joints[MSG_JOINTS]; /* its columns */
	bool runs;
	int64_t step_ns, period_ns; /* the next step */
};

/* state: the newest of the device.  0, or -1 and one line in error. */
int bridge_trajectory_take(struct bridge_trajectory *t, struct endplate *robot, struct endplate_device *device,
			   const struct msg_joint_state *state, const struct dds_node_sample *sample, char *error,
			   size_t error_size);
/* Steps if it is time for that.  0, or -errno and endplate_errstr: it has ended otherwise than by arriving. */
int bridge_trajectory_step(struct bridge_trajectory *t, int64_t now_ns);
void bridge_trajectory_close(struct bridge_trajectory *t);
