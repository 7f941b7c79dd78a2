/* ros_encode.c: Endplate messages as the types that ROS users expect.  Checked: covered. */
#include <math.h>

#include "channels/ros/ros_inside.h"

/* ---- joint-state ---- */

static uint32_t joints(const struct msg_joint_state *s)
{
	return s->count < MSG_JOINTS ? s->count : MSG_JOINTS;
}

/* A list of which no element was measured is empty. */
static void put_measured(struct cdr_out *o, const double *values, uint32_t n)
{
	bool any = false;

	for (uint32_t i = 0; i < n; i++)
		any |= !isnan(values[i]);
	cdr_put_u32(o, any ? n : 0);
	cdr_put(o, values, sizeof(*values), any ? n : 0);
}

void ros_put_joint_state(struct cdr_out *o, const struct msg_type *type, const void *msg, const struct ros_context *c)
{
	const struct msg_joint_state *s = msg;
	const uint32_t n = joints(s);

	(void)type;
	ros_put_header(o, msg, c);
	cdr_put_u32(o, n);
	for (uint32_t i = 0; i < n; i++) {
		char name[MSG_TEXT_SIZE];

		ros_put_text(o, ros_joint(name, s, i, c), sizeof(name));
	}
	put_measured(o, s->position, n);
	put_measured(o, s->velocity, n);
	cdr_put_u32(o, 0); /* effort */
}

/* ---- imu ---- */

/* sensor_msgs/Imu behind its header: numbers only.  A covariance of 0 is unknown. */
struct imu_numbers {
	double orientation[4], orientation_covariance[9]; /* x y z w */
	double rate[3], rate_covariance[9];
	double acceleration[3], acceleration_covariance[9];
};

void ros_put_imu(struct cdr_out *o, const struct msg_type *type, const void *msg, const struct ros_context *c)
{
	const struct msg_imu *s = msg;
	const double *q = s->orientation; /* w x y z */
	const bool known = !isnan(q[0]) && !isnan(q[1]) && !isnan(q[2]) && !isnan(q[3]);
	struct imu_numbers n = { .orientation = { 0, 0, 0, 1 }, .orientation_covariance = { known ? 0 : -1 } };

	(void)type;
	for (size_t i = 0; i < 4 && known; i++)
		n.orientation[i] = q[(i + 1) % 4];
	memcpy(n.rate, s->rate, sizeof(n.rate));
	memcpy(n.acceleration, s->acceleration, sizeof(n.acceleration));
	ros_put_header(o, msg, c);
	cdr_put(o, &n, sizeof(double), sizeof(n) / sizeof(double));
}

void ros_put_temperature(struct cdr_out *o, const struct msg_type *type, const void *msg, const struct ros_context *c)
{
	const struct msg_imu *s = msg;

	(void)type;
	ros_put_header(o, msg, c);
	cdr_put_f64(o, s->temperature - KELVIN);
	cdr_put_f64(o, 0); /* variance: unknown */
}

/* ---- force-torque ---- */

void ros_put_wrench(struct cdr_out *o, const struct msg_type *type, const void *msg, const struct ros_context *c)
{
	const struct msg_ft *s = msg;

	(void)type;
	ros_put_header(o, msg, c);
	cdr_put(o, s->force, sizeof(*s->force), 3);
	cdr_put(o, s->torque, sizeof(*s->torque), 3);
}

/* ---- battery ---- */

/* POWER_SUPPLY_STATUS_: unknown, charging, discharging, not charging */
static uint8_t supply_status(double current)
{
	return isnan(current) ? 0 : current > 0 ? 1 : current < 0 ? 2 : 3;
}

/* POWER_SUPPLY_HEALTH_: good, overheat, overvoltage, cold, unspecified failure */
static uint8_t supply_health(uint32_t alarms)
{
	static const struct {
		uint32_t alarm;
		uint8_t health;
	} rows[] = { { MSG_ALARM_OVER_TEMPERATURE, 2 },
		     { MSG_ALARM_OVER_VOLTAGE, 4 },
		     { MSG_ALARM_UNDER_TEMPERATURE, 6 } };

	for (size_t i = 0; i < sizeof(rows) / sizeof(*rows); i++)
		if (alarms & rows[i].alarm)
			return rows[i].health;
	return alarms ? 5 : 1;
}

void ros_put_battery(struct cdr_out *o, const struct msg_type *type, const void *msg, const struct ros_context *c)
{
	const struct msg_battery *s = msg;
	const uint32_t cells = s->cell_count < MSG_CELLS ? s->cell_count : MSG_CELLS;
	const float numbers[] = { (float)s->voltage, (float)(s->temperature - KELVIN), (float)s->current, NAN, NAN, NAN,
				  (float)s->charge };

	(void)type;
	ros_put_header(o, msg, c);
	cdr_put(o, numbers, sizeof(*numbers), sizeof(numbers) / sizeof(*numbers));
	cdr_put_u8(o, supply_status(s->current));
	cdr_put_u8(o, supply_health(s->alarms));
	cdr_put_u8(o, 0); /* technology: unknown */
	cdr_put_u8(o, 1); /* present */
	cdr_put_u32(o, cells);
	for (uint32_t i = 0; i < cells; i++)
		cdr_put_f32(o, s->cell[i]);
	cdr_put_u32(o, 0);				 /* cell_temperature */
	cdr_put_string(o, ros_device(c), MSG_TEXT_SIZE); /* location */
	cdr_put_string(o, "", 0);			 /* serial_number */
}

/* ---- event ---- */

void ros_put_log(struct cdr_out *o, const struct msg_type *type, const void *msg, const struct ros_context *c)
{
	static const uint8_t levels[] = { [MSG_SEVERITY_INFO] = 20,
					  [MSG_SEVERITY_WARNING] = 30,
					  [MSG_SEVERITY_ERROR] = 40,
					  [MSG_SEVERITY_FATAL] = 50 };
	const struct msg_event *e = msg;

	(void)type;
	ros_put_stamp(o, msg, c);
	cdr_put_u8(o, e->severity < sizeof(levels) ? levels[e->severity] : levels[MSG_SEVERITY_ERROR]);
	ros_put_text(o, e->source, sizeof(e->source));
	ros_put_text(o, e->text, sizeof(e->text));
	cdr_put_string(o, "", 0); /* file */
	ros_put_text(o, e->code, sizeof(e->code));
	cdr_put_u32(o, 0); /* line */
}
