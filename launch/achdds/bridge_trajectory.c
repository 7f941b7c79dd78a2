/* bridge_trajectory.c: trajectories of ROS, followed. */
#include <math.h>

#include "launch/achdds/bridge_trajectory.h"

#define NEAR_RAD 0.02 /* of a first point at time 0 from where its joint is */

void bridge_trajectory_close(struct bridge_trajectory *t)
{
	endplate_trajectory_close(t->motion);
	*t = (struct bridge_trajectory){ 0 };
}

static int say(char *error, size_t size)
{
	return text_refuse(error, size, "%s", endplate_errstr());
}

/* A motion of these joints: that which runs, if it has them. */
static int open_motion(struct bridge_trajectory *t, struct endplate *robot, struct endplate_device *device,
		       const struct ros_trajectory *ros, char *error, size_t size)
{
	if (t->motion && t->joints_n == ros->joints_n &&
	    !memcmp(t->joints, ros->joints, ros->joints_n * sizeof(msg_name)))
		return 0;
	if (t->runs)
		return text_refuse(error, size, "other joints than those of the trajectory that is followed");
	bridge_trajectory_close(t);
	if (endplate_trajectory_open(robot, &t->motion))
		return text_refuse(error, size, "out of memory");
	for (uint32_t i = 0; i < ros->joints_n; i++)
		if (endplate_trajectory_joint(t->motion, device, ros->joints[i]) < 0) {
			say(error, size);
			bridge_trajectory_close(t);
			return -1;
		}
	t->joints_n = ros->joints_n;
	memcpy(t->joints, ros->joints, sizeof(t->joints));
	return 0;
}

/* The first point may say where the joints are, at time 0. */
static int check_begin(const struct ros_trajectory *ros, const struct ros_trajectory_point *p,
		       struct endplate_device *device, const struct msg_joint_state *state, char *error, size_t size)
{
	for (uint32_t i = 0; i < ros->joints_n; i++) {
		const int joint = endplate_joint(device, ros->joints[i]);
		const double at_rad = joint < 0 ? NAN : state->position[joint];

		if (!(fabs(p->position_rad[i] - at_rad) <= NEAR_RAD))
			return text_refuse(error, size, "points[0] is to be reached in no time, but %s is at %.4g rad",
					   ros->joints[i], at_rad);
	}
	return 0;
}

static int check_end(const struct ros_trajectory *ros, const struct ros_trajectory_point *p, char *error, size_t size)
{
	for (uint32_t i = 0; i < ros->joints_n; i++)
		if (fabs(p->velocity_rad_s[i]) > 0)
			return text_refuse(error, size, "the last point has a velocity; a trajectory ends at rest");
	return 0;
}

static int add_points(struct bridge_trajectory *t, struct ros_trajectory *ros, struct endplate_device *device,
		      const struct msg_joint_state *state, char *error, size_t size)
{
	struct ros_trajectory_point p;
	double before_s = 0;
	int r;

	while ((r = ros_trajectory_next(ros, &p, error, size)) > 0) {
		if (p.time_s == 0 && ros->points_n > 1) {
			r = check_begin(ros, &p, device, state, error, size);
		} else if (endplate_trajectory_pass(t->motion, p.position_rad, p.velocity_rad_s, p.acceleration_rad_s2,
						    p.time_s - before_s)) {
			r = say(error, size);
		}
		if (r < 0)
			return -1;
		before_s = p.time_s;
	}
	return r ? -1 : check_end(ros, &p, error, size);
}

int bridge_trajectory_take(struct bridge_trajectory *t, struct endplate *robot, struct endplate_device *device,
			   const struct msg_joint_state *state, const struct dds_node_sample *sample, char *error,
			   size_t error_size)
{
	struct ros_trajectory ros;

	if (ros_trajectory_begin(&ros, sample->cdr, sample->len, error, error_size))
		return -1;
	if (!ros.points_n)
		return t->runs ? endplate_trajectory_stop(t->motion) : 0;
	if (state->common.period_ns <= 0)
		return text_refuse(error, error_size, "the driver says no period of its ticks");
	if (open_motion(t, robot, device, &ros, error, error_size))
		return -1;
	endplate_trajectory_clear(t->motion);
	if (add_points(t, &ros, device, state, error, error_size))
		return -1;
	if (endplate_trajectory_start(t->motion))
		return say(error, error_size);
	t->runs = true;
	t->period_ns = state->common.period_ns;
	t->step_ns = 0;
	return 0;
}

int bridge_trajectory_step(struct bridge_trajectory *t, int64_t now_ns)
{
	int status;

	/* A step that is far ahead was due on another clock. */
	if (!t->runs || (now_ns < t->step_ns && t->step_ns - now_ns <= t->period_ns))
		return 0;
	t->step_ns = now_ns - now_ns % t->period_ns + t->period_ns;
	status = endplate_trajectory_step(t->motion);
	t->runs = status == 1;
	return status < 0 ? status : 0;
}
