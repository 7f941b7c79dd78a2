/* hubod_io.c: what the boards reply, and what is published of it. */
#include <math.h>

#include "channels/clock/clock.h"
#include "daemons/hubo/hubod.h"

#define CELSIUS_K 273.15
#define RAD (M_PI / 180)

/* ---- joints ---- */

static void take_position(struct hubod_joint *j, enum jmc_kind kind, int32_t counts, int64_t t_ns)
{
	const double rad = kind == JMC_NECK ? jmc_neck_rad(counts) : counts / j->table->counts_per_rad;

	/* By the time that has really passed: a reply may have been missed in between. */
	if (j->t_ns && t_ns > j->t_ns)
		j->velocity_rad_s = (rad - j->position_rad) / ((double)(t_ns - j->t_ns) / 1e9);
	j->counts = counts;
	j->position_rad = rad;
	j->t_ns = t_ns;
}

/* A board that did not reply in the last cycle is not waited for: it would make every state partial. */
static bool all_there(const struct hubod *h)
{
	for (unsigned int i = 0; i < h->boards_n; i++)
		if (h->boards[i].due && h->boards[i].kept)
			return false;
	return true;
}

static bool take_encoders(struct hubod *h, struct drv *drv, unsigned int board, const struct bus_frame *got)
{
	struct hubod_board *b = &h->boards[board];
	struct jmc_encoders e;
	unsigned int half;

	if (jmc_decode_encoders(&e, b->kind, &got->frame))
		return false;
	half = e.first > 0;
	for (unsigned int m = e.first; m < e.first + e.n; m++)
		if (b->table->joint[m] != HUBO_NONE)
			take_position(&h->joints[b->table->joint[m]], b->kind, e.counts[m], got->t_ns);
	b->half_ns[half] = got->t_ns;
	hubod_missed_reply(h, b->encoder[half], got->t_ns, b->due & 1u << half);
	if (!(b->due & 1u << half))
		return false;
	b->due &= (uint8_t) ~(1u << half);
	hubod_ask_next(h, drv, board);
	if (b->due)
		return false;
	b->heard_ns = b->halves > 1 && b->half_ns[1] < b->half_ns[0] ? b->half_ns[1] : b->half_ns[0];
	return all_there(h);
}

static bool is_home(const struct hubod *h, int joint, uint8_t flag)
{
	const struct hubod_settings *s = &h->settings;
	const bool wrist_roll = joint == hubo_joint_find("RWR") || joint == hubo_joint_find("LWR");

	return (s->home_flags_n > 0 && flag == s->home_flags[0]) ||
	       (wrist_roll && s->home_flags_n > 1 && flag == s->home_flags[1]);
}

static void take_status(struct hubod *h, struct drv *drv, struct hubod_board *b, const struct frame *frame)
{
	struct jmc_status s;
	bool faulty = false, driver_on = false;

	if (jmc_decode_status(&s, b->kind, frame))
		return;
	b->status_known = b->is_on = true;
	for (unsigned int k = 0; k < b->joints_n; k++) {
		const unsigned int joint = b->joints[k];
		struct hubod_joint *j = &h->joints[joint];
		const uint32_t flags = s.flags[j->motor];
		const bool open_loop = j->finger || b->comply != HUBOD_RIGID || b->holds_left;
		const uint32_t needed = JMC_DRIVER_ON | (open_loop ? 0 : JMC_CONTROL_IS_ON);

		if (flags & JMC_FAULTS && !(j->flags & JMC_FAULTS))
			drv_fault(drv, joint, "motor", "%s: its board reports %s%s%s%s%s (status 0x%04X)",
				  hubo_joint_name((int)joint), flags & JMC_JAM ? "jam " : "",
				  flags & JMC_PWM_SATURATED ? "saturation " : "",
				  flags & JMC_BIG_ERROR ? "big error " : "",
				  flags & JMC_TEMPERATURE ? "temperature " : "",
				  flags & (JMC_ENCODER_ERROR | JMC_DRIVER_FAULT | JMC_MOTOR_FAIL_0 | JMC_MOTOR_FAIL_1)
					  ? "failure"
					  : "",
				  flags);
		else if (!(flags & JMC_FAULTS) && j->flags & JMC_FAULTS)
			drv_fault_clear(drv, joint, "motor");
		j->flags = flags;
		j->on = (flags & needed) == needed;
		b->is_on &= j->on;
		faulty |= flags & JMC_FAULTS;
		driver_on |= flags & JMC_DRIVER_ON;
		j->home = s.home[j->motor];
		if (s.home[j->motor] != JMC_HOME_UNKNOWN)
			j->homed = is_home(h, (int)joint, s.home[j->motor]);
	}
	if (b->is_on)
		hubod_set_off(drv, b, false);
	if (!faulty)
		hubod_home_status(h, drv, (unsigned int)(b - h->boards), driver_on);
	if (h->home.on) /* it may end with control off; looked at afterwards */
		return;
	if (b->was_on && !b->is_on && !faulty) /* a motor that trips is off, too, and says why */
		hubod_set_off(drv, b, true);
	b->was_on = b->is_on;
}

bool hubod_answer(void *self, struct drv *drv, const struct drv_ask_answer *answer, const struct bus_frame *reply)
{
	struct hubod *h = self;
	const unsigned int board = answer->tag & ~HUBOD_TAG_PARAMETER;
	struct hubod_board *b = &h->boards[board];
	struct jmc_currents c;

	b->late += !reply;
	if (reply)
		clock_bus_received(&h->bus[b->bus], reply);
	if (answer->tag & HUBOD_TAG_PARAMETER) {
		hubod_read_answer(h, drv, board, reply);
		return false;
	}
	if (!reply)
		return false;
	hubod_ask_next(h, drv, board);
	if (jmc_decode_currents(&c, b->kind, &reply->frame))
		return false;
	for (unsigned int k = 0; k < b->joints_n; k++) {
		struct hubod_joint *j = &h->joints[b->joints[k]];

		j->current_a = c.current_a[j->motor];
		j->temperature_k = c.temperature_c + CELSIUS_K;
	}
	return false;
}

/* ---- sensors ---- */

static void put_force(struct hubod *h, struct drv *drv, struct hubod_sensor *s, const struct bus_frame *got)
{
	const int64_t now_ns = clock_now_ns();
	double value[JMC_MEASURED_MAX];
	struct msg_ft msg;

	if (jmc_decode_measured(value, JMC_IS_FORCE, &got->frame))
		return;
	hubod_missed_reply(h, (unsigned int)s->ask_force, got->t_ns, s->force_due);
	s->force_due = false;
	msg_init(&msg, msg_type_by_number(msg_ft_number));
	msg.header.t_sample_ns = got->t_ns;
	msg.age_ns = now_ns - got->t_ns;
	for (int i = 0; i < 3; i++)
		msg.force[i] = msg.torque[i] = NAN; /* two torques and one force are measured */
	msg.torque[0] = value[0] * s->table->sign[0];
	msg.torque[1] = value[1] * s->table->sign[1];
	msg.force[2] = value[2] * s->table->sign[2];
	drv_put(drv, (unsigned int)s->force, &msg, now_ns);
}

/* The quaternion w x y z of roll and pitch, with a yaw of 0. */
static void orientation(double q[4], double roll, double pitch)
{
	q[0] = cos(roll / 2) * cos(pitch / 2);
	q[1] = sin(roll / 2) * cos(pitch / 2);
	q[2] = cos(roll / 2) * sin(pitch / 2);
	q[3] = -sin(roll / 2) * sin(pitch / 2);
}

static void put_tilt(struct hubod *h, struct drv *drv, struct hubod_sensor *s, bool imu, const struct bus_frame *got)
{
	const int64_t now_ns = clock_now_ns();
	double value[JMC_MEASURED_MAX];
	struct msg_imu msg;

	if (jmc_decode_measured(value, imu ? JMC_IS_IMU : JMC_IS_TILT, &got->frame))
		return;
	hubod_missed_reply(h, (unsigned int)s->ask_tilt, got->t_ns, s->tilt_due);
	s->tilt_due = false;
	msg_init(&msg, msg_type_by_number(msg_imu_number));
	msg.header.t_sample_ns = got->t_ns;
	msg.age_ns = now_ns - got->t_ns;
	msg.samples = 1;
	msg.temperature = NAN;
	for (int k = 0; k < 3; k++)
		msg.acceleration[k] = msg.rate[k] = NAN;
	for (int k = 0; k < 2 && imu; k++)
		msg.rate[k] = value[2 + k] * RAD;
	orientation(msg.orientation, value[0] * RAD, value[1] * RAD);
	drv_put(drv, (unsigned int)s->tilt, &msg, now_ns);
}

static void put_power(struct hubod *h, struct drv *drv, const struct bus_frame *got)
{
	const int64_t now_ns = clock_now_ns();
	double value[JMC_MEASURED_MAX];
	struct msg_battery msg;

	if (jmc_decode_measured(value, JMC_IS_POWER, &got->frame))
		return;
	hubod_missed_reply(h, (unsigned int)h->ask_power, got->t_ns, h->power_due);
	h->power_due = false;
	msg_init(&msg, msg_type_by_number(msg_battery_number));
	msg.header.t_sample_ns = got->t_ns;
	msg.age_ns = now_ns - got->t_ns;
	msg.voltage = value[0];
	msg.current = -value[1]; /* positive charges */
	msg.charge = msg.health = msg.temperature = msg.current_limit = NAN;
	drv_put(drv, (unsigned int)h->power, &msg, now_ns);
}

/* ---- frames ---- */

bool hubod_rx(void *self, struct drv *drv, unsigned int row, const struct bus_frame *got)
{
	struct hubod *h = self;
	const unsigned int of = row < HUBOD_RECEIVES_MAX ? h->receives[row].of : 0;

	clock_bus_received(&h->bus[drv_row_bus(drv, row)], got);
	switch (row < HUBOD_RECEIVES_MAX ? h->receives[row].what : HUBOD_NOTHING) {
	case HUBOD_ENCODER:
		return take_encoders(h, drv, of, got);
	case HUBOD_STATUS:
		take_status(h, drv, &h->boards[of], &got->frame);
		hubod_ask_next(h, drv, of);
		break;
	case HUBOD_FORCE:
		put_force(h, drv, &h->sensors[of], got);
		hubod_ask_tilt(h, drv, of);
		break;
	case HUBOD_TILT:
		put_tilt(h, drv, &h->sensors[of], of >= HUBO_IMU0, got);
		break;
	case HUBOD_POWER:
		put_power(h, drv, got);
		break;
	default: /* currents that were not asked for, or too late: not even which they are is known */
		break;
	}
	return false;
}

void hubod_sent(void *self, struct drv *drv, unsigned int send, const struct frame *frame, int64_t t_ns)
{
	struct hubod *h = self;

	clock_bus_sent(&h->bus[drv_send_bus(drv, send)], frame, t_ns);
	hubod_comply_sent(h, send, frame);
	hubod_missed_sent(h, send, t_ns);
}

/* ---- published ---- */

static uint32_t status_of(const struct hubod *h, const struct hubod_joint *j)
{
	const bool moves = fabs(j->velocity_rad_s) > 0.01;

	return (j->homed ? MSG_JOINT_HOMED : 0) | (j->flags & JMC_CONTROL_IS_ON ? MSG_JOINT_ENABLED : 0) |
	       (moves ? MSG_JOINT_MOVING : 0) |
	       (j->flags & JMC_FAULTS || h->boards[j->board].off ? MSG_JOINT_FAULT : 0) |
	       (j->flags & JMC_BELOW_LOWER ? MSG_JOINT_LIMIT_LOW : 0) |
	       (j->flags & JMC_ABOVE_UPPER ? MSG_JOINT_LIMIT_HIGH : 0) |
	       (h->boards[j->board].silent ? MSG_JOINT_SILENT : 0) |
	       (h->boards[j->board].comply != HUBOD_RIGID ? MSG_JOINT_COMPLIANT : 0);
}

int64_t hubod_fill(void *self, struct drv *drv, void *state, int64_t now_ns)
{
	struct hubod *h = self;
	struct msg_joint_state *s = state;
	int64_t oldest_ns = 0;

	(void)drv;
	h->filled++;
	for (int i = 0; i < HUBO_JOINTS; i++) {
		const struct hubod_joint *j = &h->joints[i];
		const bool there = j->active && j->t_ns;

		s->position[i] = there ? j->position_rad : NAN;
		s->velocity[i] = there ? j->velocity_rad_s : NAN;
		s->current[i] = there ? j->current_a : NAN;
		s->temperature[i] = there && j->temperature_k > 0 ? j->temperature_k : NAN;
		s->age_ns[i] = there ? now_ns - j->t_ns : INT64_MAX;
		s->status[i] = j->active ? status_of(h, j) : 0;
		s->state_word[i] = j->active ? j->flags | (uint32_t)j->home << 16 : 0;
		if (there && !h->boards[j->board].silent && (!oldest_ns || j->t_ns < oldest_ns))
			oldest_ns = j->t_ns;
	}
	return oldest_ns;
}

void hubod_put_clock(struct hubod *h, struct drv *drv, int64_t now_ns)
{
	struct msg_clock msg;

	msg_init(&msg, msg_type_by_number(msg_clock_number));
	msg.header.t_sample_ns = h->began_ns;
	msg.cycle = clock_grid_at(h->began_ns, h->period_ns);
	msg.t_cycle_ns = h->began_ns;
	msg.period_ns = h->period_ns;
	msg.late_ns = h->late_ns;
	msg.bus_count = HUBO_BUSES;
	for (unsigned int b = 0; b < HUBO_BUSES; b++)
		clock_bus_fill(&h->bus[b], drv, b, &msg.bus[b]);
	drv_put(drv, (unsigned int)h->clock, &msg, now_ns);
}
