/* ros_decode.c: what may come from outside: references, and raising the e-stop.  Checked: covered. */
#include <math.h>

#include "channels/ros/ros_inside.h"
#include "channels/ros/ros_own.h"

struct decode {
	struct cdr_in in;
	const struct ros_context *c;
	const struct msg_type *into;
	char *error;
	size_t error_size;
};

#define refuse(d, ...) text_refuse((d)->error, (d)->error_size, __VA_ARGS__)

static int cut(struct decode *d)
{
	return refuse(d, "the message is cut off or not of its type");
}

/* ---- joint-ref ---- */

static int check_finite(struct decode *d, const char *what, size_t i, double v)
{
	return isfinite(v) ? 0 : refuse(d, "%s[%zu] is not a finite number", what, i);
}

static void start_ref(struct decode *d, struct msg_joint_ref *ref)
{
	ref->count = (uint32_t)(d->c->joints_n < MSG_JOINTS ? d->c->joints_n : MSG_JOINTS);
}

/* The place of the named joint; -1: there is none of that name. */
static int place_of(const struct decode *d, const char *name, size_t len, uint32_t n)
{
	for (uint32_t i = 0; i < n; i++)
		if (strlen(d->c->joints[i]) == len && !memcmp(d->c->joints[i], name, len))
			return (int)i;
	return -1;
}

/* Where each of the n values goes. */
static int get_names(struct decode *d, const struct msg_joint_ref *ref, int places[MSG_JOINTS], uint32_t *n)
{
	char quoted[TEXT_QUOTED_MAX], name[TEXT_QUOTED_MAX];
	uint64_t seen = 0;

	_Static_assert(MSG_JOINTS <= 64, "a bit for each joint");
	*n = cdr_get_length(&d->in, 4);
	if (*n > ref->count)
		return refuse(d, "%u joints, but the device has %u", *n, ref->count);
	for (uint32_t i = 0; i < *n; i++) {
		size_t len;
		const char *text = cdr_get_string(&d->in, &len);

		if (d->in.bad)
			return cut(d);
		places[i] = place_of(d, text, len, ref->count);
		snprintf(name, sizeof(name), "%s", text);
		if (places[i] < 0)
			return refuse(d, "%s is not a joint of the device", text_quote(quoted, name));
		if (seen & UINT64_C(1) << places[i])
			return refuse(d, "%s is named twice", text_quote(quoted, name));
		seen |= UINT64_C(1) << places[i];
	}
	return 0;
}

/* A list of the message: of n values, or empty. */
static int get_values(struct decode *d, const char *what, uint32_t n, double values[MSG_JOINTS], uint32_t *given)
{
	*given = cdr_get_length(&d->in, sizeof(double));
	if (d->in.bad)
		return cut(d);
	if (*given && *given != n)
		return refuse(d, "%s has length %u, but there are %u names", what, *given, n);
	cdr_get(&d->in, values, sizeof(*values), *given);
	for (uint32_t i = 0; i < *given; i++)
		if (check_finite(d, what, i, values[i]))
			return -1;
	return d->in.bad ? cut(d) : 0;
}

static int from_joint_state(struct decode *d, void *msg)
{
	struct msg_joint_ref *ref = msg;
	double position[MSG_JOINTS], velocity[MSG_JOINTS];
	uint32_t n, positions, velocities;
	int places[MSG_JOINTS];

	ros_skip_header(&d->in);
	start_ref(d, ref);
	if (get_names(d, ref, places, &n) || get_values(d, "position", n, position, &positions) ||
	    get_values(d, "velocity", n, velocity, &velocities))
		return -1;
	if (!positions && !velocities)
		return refuse(d, "neither position nor velocity is given");
	for (uint32_t i = 0; i < n; i++) {
		ref->mode[places[i]] = positions ? MSG_MODE_POSITION : MSG_MODE_VELOCITY;
		if (positions)
			ref->position[places[i]] = position[i];
		else
			ref->velocity[places[i]] = velocity[i];
	}
	return 0;
}

static int from_array(struct decode *d, void *msg)
{
	struct msg_joint_ref *ref = msg;
	uint32_t n;

	start_ref(d, ref);
	for (uint32_t dims = cdr_get_length(&d->in, 12); dims; dims--) {
		size_t len;

		cdr_get_string(&d->in, &len);
		cdr_get_u32(&d->in);
		cdr_get_u32(&d->in);
	}
	if (cdr_get_u32(&d->in))
		return refuse(d, "data_offset is not 0");
	n = cdr_get_length(&d->in, sizeof(double));
	if (d->in.bad)
		return cut(d);
	if (n != ref->count)
		return refuse(d, "data has length %u, but the device has %u joints", n, ref->count);
	cdr_get(&d->in, ref->position, sizeof(*ref->position), n);
	for (uint32_t i = 0; i < n; i++) {
		ref->mode[i] = MSG_MODE_POSITION;
		if (check_finite(d, "data", i, ref->position[i]))
			return -1;
	}
	return d->in.bad ? cut(d) : 0;
}

/* ---- balance-ref ---- */

static int from_twist(struct decode *d, void *msg)
{
	static const char *const names[6] = { NULL, "linear.y", "linear.z", "angular.x", "angular.y", NULL };
	struct msg_balance_ref *ref = msg;
	double v[6];

	cdr_get(&d->in, v, sizeof(*v), 6);
	if (d->in.bad)
		return cut(d);
	for (size_t i = 0; i < 6; i++) {
		if (!isfinite(v[i]))
			return refuse(d, "a component of the twist is not a finite number");
		if (names[i] && v[i] != 0)
			return refuse(d, "%s is not 0, but the robot moves by linear.x and angular.z only", names[i]);
	}
	ref->speed = v[0];
	ref->turn_rate = v[5];
	return 0;
}

/* ---- estop ---- */

/* The text is cut to the room that there is: a reason that is too long must not keep the robot from stopping. */
static void get_why(struct decode *d, struct msg_estop *stop)
{
	size_t len;
	const char *why = cdr_get_string(&d->in, &len);

	memcpy(stop->why, why, len < sizeof(stop->why) ? len : sizeof(stop->why) - 1);
	if (len >= sizeof(stop->why))
		utf8_mend(stop->why);
	utf8_clean(stop->why);
}

static int from_string(struct decode *d, void *msg)
{
	struct msg_estop *stop = msg;

	stop->kind = MSG_ESTOP_RAISE;
	stop->level = MSG_LEVEL_ESTOP;
	get_why(d, stop);
	return d->in.bad ? cut(d) : 0;
}

static int from_raise(struct decode *d, void *msg)
{
	struct msg_estop *stop = msg;

	stop->kind = MSG_ESTOP_RAISE;
	stop->level = cdr_get_u32(&d->in);
	get_why(d, stop);
	if (d->in.bad)
		return cut(d);
	if (stop->level != MSG_LEVEL_HOLD && stop->level != MSG_LEVEL_ESTOP)
		return refuse(d, "level %u is neither hold (1) nor estop (2)", stop->level);
	return 0;
}

/* ---- own types of references ---- */

static int check_numbers(struct decode *d, const struct msg_group *group, const uint8_t *base)
{
	const struct msg_field *f = group->fields;
	const uint8_t *at = base;

	for (size_t left = group->n; left; left--, at += msg_field_size(f), f++)
		for (size_t i = 0; f->kind == MSG_f64 && i < msg_used(group, f, base); i++)
			if (check_finite(d, f->name, i, msg_any(f, at + i * f->size).f64))
				return -1;
	return 0;
}

static int from_own(struct decode *d, void *msg)
{
	/* stamps and validity are the caller's */
	const struct msg_header fresh = { .type = d->into->number,
					  .version = d->into->version,
					  .size = (uint32_t)d->into->body->size };

	if (ros_own_decode(d->in.bytes, d->in.len, d->into, ROS_UNUSED_ZERO, msg))
		return cut(d);
	if (check_numbers(d, d->into->body, msg))
		return -1;
	memcpy(msg, &fresh, sizeof(fresh));
	return 0;
}

/* ---- the table ---- */

static const struct row {
	const char *type;
	uint32_t into;
	int (*decode)(struct decode *d, void *msg);
} rows[] = {
	{ "sensor_msgs/msg/JointState", msg_joint_ref_number, from_joint_state },
	{ "std_msgs/msg/Float64MultiArray", msg_joint_ref_number, from_array },
	{ "geometry_msgs/msg/Twist", msg_balance_ref_number, from_twist },
	{ "std_msgs/msg/String", msg_estop_number, from_string },
	{ "endplate_msgs/msg/EstopRaise", msg_estop_number, from_raise },
	{ "endplate_msgs/msg/JointRef", msg_joint_ref_number, from_own },
	{ "endplate_msgs/msg/GripperRef", msg_gripper_ref_number, from_own },
	{ "endplate_msgs/msg/BalanceRef", msg_balance_ref_number, from_own },
};

static const struct row *row_of(const struct ros_type *type, const struct msg_type *into)
{
	for (const struct row *row = rows; row < rows + sizeof(rows) / sizeof(*rows); row++)
		if (row->into == into->number && !strcmp(row->type, type->name))
			return row;
	return NULL;
}

bool ros_decodes(const struct ros_type *type, const struct msg_type *into)
{
	return row_of(type, into);
}

int ros_decode(const struct ros_type *type, const void *cdr, size_t len, const struct ros_context *c,
	       const struct msg_type *into, void *msg, char *error, size_t error_size)
{
	const struct row *row = row_of(type, into);
	struct decode d = { cdr_in(cdr, len), c, into, error, error_size };

	if (!row)
		return refuse(&d, "%s does not become %s", type->name, into->name);
	if (d.in.bad)
		return refuse(&d, "not plain CDR");
	msg_init(msg, into);
	return row->decode(&d, msg);
}
