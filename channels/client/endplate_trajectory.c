/* endplate_trajectory.c: devices, joints, waypoints and conditions of a trajectory. */
#include <math.h>

#include "channels/client/endplate_trajectory.h"

#define LEAD_TICKS 2  /* one until the driver reads a reference, one until the joint is there */
#define VALID_TICKS 4 /* where the driver does not say how long it takes one */

/* ---- opening ---- */

int endplate_trajectory_open(struct endplate *robot, struct endplate_trajectory **t)
{
	*t = calloc(1, sizeof(**t));
	if (!*t)
		return -ENOMEM;
	(*t)->robot = robot;
	(*t)->share = 1;
	(*t)->ended = -ENODATA;
	snprintf((*t)->why, sizeof((*t)->why), "start it first");
	return 0;
}

static void free_path(struct trajectory_path *path)
{
	free(path->waypoints);
	free(path->states);
	*path = (struct trajectory_path){ 0 };
}

void endplate_trajectory_close(struct endplate_trajectory *t)
{
	if (!t)
		return;
	free_path(&t->added);
	free_path(&t->path);
	free(t);
}

int endplate_trajectory_shape(struct endplate_trajectory *t, enum endplate_shape shape)
{
	if (shape != ENDPLATE_QUINTIC && shape != ENDPLATE_TRAPEZOID)
		return endplate_refuse(-EINVAL, "shape %d: ENDPLATE_QUINTIC or ENDPLATE_TRAPEZOID", (int)shape);
	t->shape = shape == ENDPLATE_TRAPEZOID ? PLAN_TRAPEZOID : PLAN_QUINTIC;
	return 0;
}

int endplate_trajectory_share(struct endplate_trajectory *t, double share)
{
	if (!(share > 0 && share <= 1))
		return endplate_refuse(-EDOM, "share %g: above 0, at most 1", share);
	t->share = share;
	return 0;
}

/* ---- devices and joints ---- */

static struct trajectory_device *device_of(struct endplate_trajectory *t, struct endplate_device *device)
{
	for (size_t i = 0; i < t->devices_n; i++)
		if (t->devices[i].device == device)
			return &t->devices[i];
	if (t->devices_n == TRAJECTORY_DEVICES)
		return NULL;
	t->devices[t->devices_n].device = device;
	return &t->devices[t->devices_n++];
}

/* Planning needs limits that the driver keeps as well: as the robot file has them. */
static int check_limits(const struct trajectory_column *c)
{
	const char *device = c->of->device->name, *wrong = plan_wrong(&c->limits);

	if (!wrong)
		return 0;
	return endplate_refuse(-EDOM,
			       "%s: joint %s has no limit of %s that a motion can be planned with; write limits: {%s: "
			       "...} for it in the robot file",
			       device, c->name, wrong, wrong);
}

/* As the driver says. */
static int fill_column(struct trajectory_column *c)
{
	const struct msg_device_info *info = &c->of->device->info;
	const int joint = endplate_joint(c->of->device, c->name);

	if (joint < 0)
		return joint;
	c->joint = (unsigned int)joint;
	c->ramp_rad_s2 = info->acceleration[joint];
	c->limits = (struct motion_limits){ info->position_min[joint], info->position_max[joint], info->velocity[joint],
					    info->acceleration[joint], info->jerk[joint] };
	if (!(info->modes[joint] & MSG_MODE_BIT_POSITION))
		return endplate_refuse(-EOPNOTSUPP, "%s: joint %s takes no positions", c->of->device->name, c->name);
	return check_limits(c);
}

static void fill_times(struct endplate_trajectory *t, struct trajectory_device *of)
{
	const struct msg_device_info *info = &of->device->info;

	of->period_ns = info->period_ns;
	of->valid_ns = info->valid_max_ns > 0 ? info->valid_max_ns : VALID_TICKS * info->period_ns;
	of->valid_ns = num_min(of->valid_ns, ENDPLATE_VALID_MAX_NS);
	t->lead_ns = num_max(t->lead_ns, LEAD_TICKS * of->period_ns);
	t->valid_ns = num_min(t->valid_ns, of->valid_ns);
}

int trajectory_renew(struct endplate_trajectory *t)
{
	int status = 0;

	t->lead_ns = 0;
	t->valid_ns = ENDPLATE_VALID_MAX_NS;
	for (size_t i = 0; i < t->columns_n && !status; i++)
		status = fill_column(&t->columns[i]);
	for (size_t i = 0; i < t->devices_n; i++) {
		struct trajectory_device *d = &t->devices[i];

		d->incarnation = d->view.incarnation;
		if (!d->moves)
			continue;
		fill_times(t, d);
		memset(&d->ref, 0, sizeof(d->ref));
	}
	return status;
}

static int add_column(struct endplate_trajectory *t, struct trajectory_device *of, unsigned int joint)
{
	struct trajectory_column *c = &t->columns[t->columns_n];
	int status;

	for (size_t i = 0; i < t->columns_n; i++)
		if (t->columns[i].of == of && t->columns[i].joint == joint)
			return endplate_refuse(-EEXIST, "%s: joint %s is a column already", of->device->name,
					       t->columns[i].name);
	*c = (struct trajectory_column){ .of = of };
	memcpy(c->name, of->device->info.joint[joint], sizeof(c->name));
	status = fill_column(c);
	if (status)
		return status;
	of->moves = true;
	return (int)t->columns_n++;
}

int endplate_trajectory_joint(struct endplate_trajectory *t, struct endplate_device *device, const char *joint)
{
	struct trajectory_device *of;
	int index;

	if (t->added.n || t->path.n)
		return endplate_refuse(-EBUSY, "%s: name all joints before the first waypoint", joint);
	if (t->columns_n == TRAJECTORY_JOINTS)
		return endplate_refuse(-ENOBUFS, "at most %d joints", TRAJECTORY_JOINTS);
	index = endplate_joint(device, joint);
	if (index < 0)
		return index;
	of = device_of(t, device);
	if (!of)
		return endplate_refuse(-ENOBUFS, "at most %d devices", TRAJECTORY_DEVICES);
	return add_column(t, of, (unsigned int)index);
}

/* ---- waypoints ---- */

static bool make_room(const struct endplate_trajectory *t, struct trajectory_path *path)
{
	return (path->n < path->room || grow(&path->waypoints, &path->room, path->n + 1, sizeof(*path->waypoints))) &&
	       ((path->n + 1) * t->columns_n <= path->states_room ||
		grow(&path->states, &path->states_room, (path->n + 1) * t->columns_n, sizeof(*path->states)));
}

static int check_value(const struct trajectory_column *c, const char *what, double value, double min, double max)
{
	if (isinf(value) || fabs(value) > PLAN_RAD_MAX)
		return endplate_refuse(-EDOM, "%s: joint %s: %s %g", c->of->device->name, c->name, what, value);
	if (value < min || value > max)
		return endplate_refuse(-ERANGE, "%s: joint %s: %s %g is outside its range, %g to %g",
				       c->of->device->name, c->name, what, value, min, max);
	return 0;
}

static int add(struct endplate_trajectory *t, const double *rad, const double *rad_s, const double *rad_s2,
	       const struct trajectory_waypoint *waypoint)
{
	struct trajectory_path *path = &t->added;
	struct motion_state *row;
	int status;

	if (!t->columns_n)
		return endplate_refuse(-ENODATA, "name the joints before the first waypoint");
	if (path->n == TRAJECTORY_WAYPOINTS)
		return endplate_refuse(-ENOBUFS, "at most %d waypoints", TRAJECTORY_WAYPOINTS);
	if (!(waypoint->seconds >= 0 && waypoint->seconds <= PLAN_RAD_MAX))
		return endplate_refuse(-EDOM, "waypoint %zu: %g seconds", path->n, waypoint->seconds);
	if (path->n && path->waypoints[path->n - 1].passed && !(waypoint->seconds > 0))
		return endplate_refuse(-EINVAL, "waypoint %zu needs seconds: the one before it is passed", path->n);
	if (!make_room(t, path))
		return -ENOMEM;
	row = &path->states[path->n * t->columns_n];
	for (size_t i = 0; i < t->columns_n; i++) {
		const struct trajectory_column *c = &t->columns[i];

		row[i] = (struct motion_state){ rad[i], rad_s ? rad_s[i] : NAN, rad_s2 ? rad_s2[i] : NAN };
		if (!waypoint->passed)
			row[i].rad_s = row[i].rad_s2 = 0;
		status = check_value(c, "position", rad[i], c->limits.min_rad, c->limits.max_rad);
		if (!status)
			status = check_value(c, "velocity", row[i].rad_s, -INFINITY, INFINITY);
		if (!status)
			status = check_value(c, "acceleration", row[i].rad_s2, -INFINITY, INFINITY);
		if (status)
			return status;
	}
	path->waypoints[path->n++] = *waypoint;
	return 0;
}

int endplate_trajectory_add(struct endplate_trajectory *t, const double *position_rad, double seconds)
{
	return add(t, position_rad, NULL, NULL, &(struct trajectory_waypoint){ .seconds = seconds });
}

int endplate_trajectory_pass(struct endplate_trajectory *t, const double *position_rad, const double *velocity_rad_s,
			     const double *acceleration_rad_s2, double seconds)
{
	if (!(seconds > 0))
		return endplate_refuse(-EINVAL, "waypoint %zu is passed: after how many seconds?", t->added.n);
	return add(t, position_rad, velocity_rad_s, acceleration_rad_s2,
		   &(struct trajectory_waypoint){ .seconds = seconds, .passed = true, .timed = true });
}

void endplate_trajectory_clear(struct endplate_trajectory *t)
{
	t->added.n = 0;
}

/* ---- conditions ---- */

int endplate_trajectory_until(struct endplate_trajectory *t, struct endplate_device *device, const char *field,
			      double above)
{
	struct trajectory_condition *c = &t->conditions[t->conditions_n];
	const struct msg_type *type = device->type ? device->type : msg_type_by_number(device->number);
	char error[MSG_TEXT_SIZE] = "";

	if (t->conditions_n == TRAJECTORY_CONDITIONS)
		return endplate_refuse(-ENOBUFS, "at most %d conditions", TRAJECTORY_CONDITIONS);
	if (!type)
		return endplate_refuse(-ENODATA, "%s: no state seen yet, and its type is not known", device->name);
	if (!(above >= 0))
		return endplate_refuse(-EINVAL, "%s: above %g: a number that is not negative", field, above);
	if (msg_find(type, field, &c->place, error, sizeof(error)))
		return endplate_refuse(-EINVAL, "%s: %s", device->name, error);
	if (c->place.field->kind == MSG_group || c->place.field->kind == MSG_name || c->place.field->kind == MSG_text)
		return endplate_refuse(-EINVAL, "%s: %s is not a number", device->name, field);
	c->of = device_of(t, device);
	if (!c->of)
		return endplate_refuse(-ENOBUFS, "at most %d devices", TRAJECTORY_DEVICES);
	snprintf(c->field, sizeof(c->field), "%s", field);
	c->above = above;
	t->conditions_n++;
	return 0;
}

/* ---- start ---- */

int endplate_trajectory_start(struct endplate_trajectory *t)
{
	const bool runs = t->phase == TRAJECTORY_RUNS || t->phase == TRAJECTORY_STOPS;
	struct motion_state from[TRAJECTORY_JOINTS];
	const struct trajectory_path former = t->path;
	struct trajectory_device *lost;
	int status;

	if (!t->added.n)
		return endplate_refuse(-ENODATA, "add a waypoint first");
	trajectory_look(t);
	status = runs ? 0 : trajectory_renew(t);
	lost = status ? NULL : trajectory_lost(t);
	if (lost)
		status = trajectory_say_lost(lost);
	if (!status && runs)
		memcpy(from, t->now, sizeof(from));
	else if (!status)
		trajectory_measured(t, from);
	if (!status)
		status = trajectory_plan(t, &t->added, from);
	t->path = status ? t->path : t->added;
	if (!status)
		t->added = former;
	t->added.n = 0;
	if (status)
		return status;
	if (!runs)
		trajectory_remember(t);
	t->goal = 0;
	t->goes_on = false;
	t->phase = TRAJECTORY_RUNS;
	trajectory_enter(t, from, runs ? t->now_ns : 0);
	return 0;
}
