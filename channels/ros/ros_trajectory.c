/* ros_trajectory.c: trajectory_msgs/JointTrajectory.  Checked: covered. */
#include <math.h>

#include "channels/ros/ros_inside.h"
#include "channels/ros/ros_trajectory.h"

#define POINT_BYTES 24 /* of the shortest: four empty lists and a duration */

static int cut(char *error, size_t size)
{
	return text_refuse(error, size, "the message is cut off or not of its type");
}

/* A name that a message cannot hold is cut: then no joint has it. */
static void get_name(struct cdr_in *in, msg_name name)
{
	size_t len;
	const char *text = cdr_get_string(in, &len);

	snprintf(name, MSG_NAME_SIZE, "%s", text);
	utf8_clean(name);
}

int ros_trajectory_begin(struct ros_trajectory *t, const void *cdr, size_t len, char *error, size_t error_size)
{
	*t = (struct ros_trajectory){ .in = cdr_in(cdr, len), .time_s = -1 };
	ros_skip_header(&t->in);
	t->joints_n = cdr_get_length(&t->in, 4);
	if (t->joints_n > MSG_JOINTS)
		return text_refuse(error, error_size, "%u joints, at most %d", t->joints_n, MSG_JOINTS);
	for (uint32_t i = 0; i < t->joints_n; i++)
		get_name(&t->in, t->joints[i]);
	t->points_n = cdr_get_length(&t->in, POINT_BYTES);
	if (t->in.bad)
		return cut(error, error_size);
	if ((uint64_t)t->points_n * t->joints_n > ROS_TRAJECTORY_POSITIONS)
		return text_refuse(error, error_size, "%u points of %u joints are more than %d positions", t->points_n,
				   t->joints_n, ROS_TRAJECTORY_POSITIONS);
	return t->points_n && !t->joints_n ? text_refuse(error, error_size, "there are points, but no joint_names") : 0;
}

static int get_list(struct ros_trajectory *t, const char *what, double values[MSG_JOINTS], char *error, size_t size)
{
	const uint32_t n = cdr_get_length(&t->in, sizeof(double));

	if (n && n != t->joints_n)
		return text_refuse(error, size, "points[%u]: %s has length %u, but there are %u joints", t->done, what,
				   n, t->joints_n);
	cdr_get(&t->in, values, sizeof(*values), n);
	for (uint32_t i = 0; i < n; i++)
		if (!isfinite(values[i]))
			return text_refuse(error, size, "points[%u]: %s[%u] is not a finite number", t->done, what, i);
	for (uint32_t i = n; i < t->joints_n; i++)
		values[i] = NAN;
	return 0;
}

int ros_trajectory_next(struct ros_trajectory *t, struct ros_trajectory_point *p, char *error, size_t error_size)
{
	double effort[MSG_JOINTS];

	if (t->done == t->points_n)
		return 0;
	if (get_list(t, "positions", p->position_rad, error, error_size) ||
	    get_list(t, "velocities", p->velocity_rad_s, error, error_size) ||
	    get_list(t, "accelerations", p->acceleration_rad_s2, error, error_size) ||
	    get_list(t, "effort", effort, error, error_size))
		return -1;
	p->time_s = cdr_get_i32(&t->in);
	p->time_s += (double)cdr_get_u32(&t->in) / 1e9;
	if (t->in.bad)
		return cut(error, error_size);
	if (isnan(p->position_rad[0]))
		return text_refuse(error, error_size, "points[%u] has no positions", t->done);
	if (!(p->time_s >= 0 && p->time_s > t->time_s))
		return text_refuse(error, error_size,
				   "points[%u]: time_from_start %.10g s is not after the point before", t->done,
				   p->time_s);
	t->time_s = p->time_s;
	t->done++;
	return 1;
}
