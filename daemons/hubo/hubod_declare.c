/* hubod_declare.c: boards, joints and frames from the tables. */
#include <limits.h>

#include "daemons/hubo/hubod.h"

#define PERIOD_MIN_NS 2000000

/* ---- tables ---- */

static const char *path_of(char path[PATH_MAX], const struct drv *drv, const char *key, const char *name)
{
	const struct robot *robot = drv_robot(drv);
	const struct robot_device *device = robot ? robot_device(robot, drv_name(drv)) : NULL;

	return !*name || hubo_table_path_of(path, PATH_MAX, device, key, name) ? name : path;
}

static int read_tables(struct hubod *h, const struct drv *drv, struct error_sink *errors)
{
	const struct hubod_settings *s = &h->settings;
	char joints[PATH_MAX], sensors[PATH_MAX], home[PATH_MAX];

	return hubo_table_read(&h->table, path_of(joints, drv, "joints", s->joints),
			       path_of(sensors, drv, "sensors", s->sensors), path_of(home, drv, "home", s->home),
			       errors);
}

/* ---- frames ---- */

struct asked { /* a request */
	unsigned int bus;
	uint32_t id, reply_id;
	uint8_t len;
	int64_t period_ns, deadline_ns;
};

/* Requests are harmless: they prove a bus, and nothing comes of one that is late. */
static unsigned int add_ask(struct drv *drv, const struct asked *a, struct error_sink *errors)
{
	const struct drv_send send = {
		.bus = a->bus,
		.row = { .id = a->id,
			 .key = { 0xFF, 0xFF, 0xFF },
			 .class = SLOTS_QUEUE,
			 .period_ns = a->period_ns,
			 .deadline_ns = a->deadline_ns,
			 .harmless = true },
		.len = a->len,
		.answered = a->reply_id,
		.reply_id = a->reply_id,
		.reply_within_ns = a->deadline_ns,
	};

	return (unsigned int)drv_add_send(drv, &send, errors);
}

static int add_receive(struct hubod *h, struct drv *drv, const struct drv_receive *receive, enum hubod_what what,
		       unsigned int of, struct error_sink *errors)
{
	const int row = drv_add_receive(drv, receive, errors);

	if (row >= 0 && row < HUBOD_RECEIVES_MAX) {
		h->receives[row].what = what;
		h->receives[row].of = of;
	}
	return row;
}

static unsigned int boards_on(const struct hubo_table *t, int bus)
{
	unsigned int n = 0;

	for (int i = 0; i < t->boards_n; i++)
		n += t->boards[i].active && t->boards[i].bus == bus;
	return n;
}

static void declare_reference(const struct hubod *h, struct drv *drv, struct hubod_board *b, struct error_sink *errors)
{
	const struct drv_send send = {
		.bus = b->bus,
		.row = { .id = b->kind == JMC_HAND ? JMC_COMMAND : JMC_REFERENCE + (unsigned int)b->table->number,
			 .key = { b->kind == JMC_HAND ? 0xFF : 0, b->kind == JMC_HAND ? 0xFF : 0 },
			 .class = SLOTS_LATEST,
			 .period_ns = h->period_ns,
			 .deadline_ns = h->period_ns,
			 /* Hands' references, on the identifier of commands, would overtake all others. */
			 .step = b->kind == JMC_HAND },
		.len = b->kind == JMC_HAND    ? 8
		       : b->kind == JMC_WRIST ? 5
					      : 6,
		.moves = true,
	};

	b->reference = (unsigned int)drv_add_send(drv, &send, errors);
}

/* Instead of references.  Without a period: a bus never carries both. */
static void declare_duty(const struct hubod *h, struct drv *drv, struct hubod_board *b, struct error_sink *errors)
{
	const struct drv_send send = {
		.bus = b->bus,
		.row = { .id = JMC_COMMAND,
			 .key = { 0xFF, 0xFF },
			 .class = SLOTS_LATEST,
			 .deadline_ns = h->period_ns,
			 .step = true },
		.len = 7,
		.moves = true,
	};

	b->complies = b->kind == JMC_ONE || b->kind == JMC_TWO;
	if (b->complies)
		b->duty = (unsigned int)drv_add_send(drv, &send, errors);
}

static struct drv_send command_row(const struct hubod *h, unsigned int bus)
{
	return (struct drv_send){
		.bus = bus,
		.row = { .id = JMC_COMMAND,
			 .key = { 0xFF, 0xFF, 0xFF },
			 .class = SLOTS_COMMAND,
			 .deadline_ns = 10 * h->period_ns },
		.len = 8,
	};
}

static void declare_board(struct hubod *h, struct drv *drv, unsigned int board, struct error_sink *errors)
{
	struct hubod_board *b = &h->boards[board];
	const uint32_t number = (uint32_t)b->table->number;
	/* In rotation: each board's turn comes so often. */
	const int64_t slow_ns = h->period_ns * h->settings.slow_every * boards_on(&h->table, b->table->bus);
	const struct asked asked[] = {
		{ b->bus, JMC_COMMAND, JMC_ENCODER + number, 3, h->period_ns, h->period_ns },
		{ b->bus, JMC_COMMAND, JMC_STATUS + number, 3, slow_ns, h->period_ns },
		{ b->bus, JMC_COMMAND, JMC_VALUES + number, 3, slow_ns, h->period_ns },
	};
	struct drv_receive receive = {
		.bus = b->bus,
		.id = JMC_ENCODER + number,
		.len_min = 4,
		.len_max = 8,
		.from = b->table->name,
	};
	struct drv_send command = command_row(h, b->bus);
	struct drv_question question = { .late_ns = h->settings.reply_late_ns,
					 .lost_ns = h->settings.reply_late_ns,
					 .exclusive = true };

	declare_reference(h, drv, b, errors);
	declare_duty(h, drv, b, errors);
	for (unsigned int i = 0; i < b->halves; i++)
		b->encoder[i] = add_ask(drv, &asked[0], errors);
	b->status = add_ask(drv, &asked[1], errors);
	question.send = add_ask(drv, &asked[2], errors);
	b->command = (unsigned int)drv_add_send(drv, &command, errors);
	command.moves = true;
	b->home = (unsigned int)drv_add_send(drv, &command, errors);
	add_receive(h, drv, &receive, HUBOD_ENCODER, board, errors);
	receive.id = JMC_STATUS + number;
	receive.len_min = 3;
	add_receive(h, drv, &receive, HUBOD_STATUS, board, errors);
	receive.id = JMC_VALUES + number;
	question.receive = (unsigned int)add_receive(h, drv, &receive, HUBOD_VALUES, board, errors);
	if (!errors->count)
		b->values = (unsigned int)drv_add_question(drv, &question, errors);
}

static void plan_sensor(struct hubod *h, struct drv *drv, unsigned int sensor, struct error_sink *errors)
{
	struct hubod_sensor *s = &h->sensors[sensor];
	const bool imu = sensor >= HUBO_IMU0, foot = sensor == HUBO_RFFT || sensor == HUBO_LFFT;
	const uint32_t number = (uint32_t)s->table->number;
	const char *name = hubo_sensor_names[sensor];
	char channel[TEXT_NAME_MAX + 16], lower[8];
	struct drv_receive receive = { .bus = s->bus, .from = name };
	struct asked asked = { s->bus, JMC_SENSOR, 0, imu ? 3 : 2, h->period_ns, h->period_ns };

	s->ask_force = s->ask_tilt = s->force = s->tilt = -1;
	for (unsigned int i = 0; i <= strlen(name); i++)
		lower[i] = (char)(name[i] >= 'A' && name[i] <= 'Z' ? name[i] + 'a' - 'A' : name[i]);
	if (!imu) {
		asked.reply_id = receive.id = JMC_FORCE + number;
		receive.len_min = receive.len_max = 6;
		s->ask_force = (int)add_ask(drv, &asked, errors);
		add_receive(h, drv, &receive, HUBOD_FORCE, sensor, errors);
		snprintf(channel, sizeof(channel), "%s-%s", drv_name(drv), lower);
		s->force = drv_add_output(drv, channel, msg_ft_number, errors);
	}
	if (imu || foot) {
		asked.reply_id = receive.id = JMC_INCLINE + number;
		receive.len_min = receive.len_max = imu ? 8 : 6;
		s->ask_tilt = (int)add_ask(drv, &asked, errors);
		add_receive(h, drv, &receive, HUBOD_TILT, sensor, errors);
		snprintf(channel, sizeof(channel), imu ? "%s-%s" : "%s-%.1stilt", drv_name(drv), lower);
		s->tilt = drv_add_output(drv, channel, msg_imu_number, errors);
	}
}

static void plan_power(struct hubod *h, struct drv *drv, struct error_sink *errors)
{
	const struct drv_receive receive = {
		.bus = 1, .id = JMC_POWER, .len_min = 6, .len_max = 8, .from = "the power board"
	};
	const int64_t slow_ns = h->period_ns * h->settings.slow_every;
	const struct asked asked = { 1, JMC_COMMAND, JMC_POWER, 2, slow_ns, h->period_ns };
	char channel[TEXT_NAME_MAX + 16];

	h->ask_power = h->power = -1;
	if (!h->settings.power)
		return;
	h->ask_power = (int)add_ask(drv, &asked, errors);
	add_receive(h, drv, &receive, HUBOD_POWER, 0, errors);
	snprintf(channel, sizeof(channel), "%s-power", drv_name(drv));
	h->power = drv_add_output(drv, channel, msg_battery_number, errors);
}

/* ---- joints ---- */

/* Every place of upstream's arrays is one of the messages; where there is no joint, nothing can be commanded. */
static void plan_joint(struct hubod *h, struct drv *drv, int joint, struct error_sink *errors)
{
	struct hubod_joint *j = &h->joints[joint];
	const struct hubo_joint *table = &h->table.joints[joint];
	const char *name = hubo_joint_name(joint);
	char unused[MSG_NAME_SIZE];
	int number;

	snprintf(unused, sizeof(unused), "unused%d", joint);
	number = drv_add_joint(drv, name ? name : unused, errors);
	if (number < 0)
		return;
	j->table = table;
	j->active = table->line && table->active;
	if (!j->active) {
		drv_joint_absent(drv, (unsigned int)number);
		return;
	}
	j->board = (unsigned int)table->board;
	j->motor = (unsigned int)table->motor;
	j->homed = table->zeroed;
	j->finger = h->boards[j->board].kind == JMC_HAND || (h->boards[j->board].kind == JMC_WRIST && j->motor > 0);
	drv_joint_bus(drv, (unsigned int)number, h->boards[j->board].bus);
	drv_joint_group(drv, (unsigned int)number, 1 + j->board);
}

/* The active joints of each limb, if it has any. */
static void plan_limbs(const struct hubod *h, struct drv *drv, struct error_sink *errors)
{
	for (int limb = 0; limb < HUBO_LIMBS && h->settings.limbs; limb++) {
		unsigned int joints[HUBO_JOINTS], n = 0;

		for (unsigned int i = 0; i < HUBO_JOINTS; i++)
			if (h->joints[i].active && hubo_joint_limb((int)i) == (enum hubo_limb)limb)
				joints[n++] = i;
		if (n)
			drv_add_part(drv, hubo_limb_names[limb], joints, n, errors);
	}
}

int hubod_declare(void *self, struct drv *drv, struct error_sink *errors)
{
	struct hubod *h = self;

	h->period_ns = drv_period_ns(drv);
	if (drv_buses(drv) != HUBO_BUSES)
		return error_refuse(errors, -EINVAL, "%u buses; Hubo has %d: write bus: [lower, upper]", drv_buses(drv),
				    HUBO_BUSES);
	if (h->period_ns < PERIOD_MIN_NS)
		return error_refuse(errors, -EINVAL, "tick: the buses do not carry a period below 2ms");
	if (read_tables(h, drv, errors))
		return -EINVAL;
	for (unsigned int b = 0; b < HUBO_BUSES; b++) {
		const struct robot_bus *described = drv_robot_bus(drv, b);

		/* Not even one of another identifier: the references are the clock of these boards. */
		if (described && *described->clock)
			yaml_error(errors, yaml_find(described->node, "clock"),
				   "a bus of Hubo has no clock frame: its references are the clock; remove it");
		else
			clock_bus_declare(&h->bus[b], drv, b, h->period_ns, errors);
	}
	h->clock = drv_add_output(drv, "clock", msg_clock_number, errors);
	drv_add_claim(drv, DRV_CHANNEL, "clock", errors);
	h->boards_n = (unsigned int)h->table.boards_n;
	for (unsigned int i = 0; i < h->boards_n; i++) {
		struct hubod_board *b = &h->boards[i];

		b->table = &h->table.boards[i];
		b->kind = jmc_kind((unsigned int)b->table->number, (unsigned int)b->table->motors);
		b->bus = (unsigned int)b->table->bus;
		b->active = b->table->active;
		b->halves = b->kind == JMC_HAND ? 2 : 1;
		if (b->active)
			declare_board(h, drv, i, errors);
	}
	for (int i = 0; i < HUBO_JOINTS; i++)
		plan_joint(h, drv, i, errors);
	for (struct hubod_board *b = h->boards; b < h->boards + h->boards_n; b++)
		for (int m = 0; m < b->table->motors; m++)
			if (b->table->joint[m] != HUBO_NONE && h->joints[b->table->joint[m]].active)
				b->joints[b->joints_n++] = (unsigned int)b->table->joint[m];
	hubod_comply_declare(h, errors);
	plan_limbs(h, drv, errors);
	for (unsigned int i = 0; i < HUBO_SENSORS; i++) {
		struct hubod_sensor *s = &h->sensors[i];

		s->table = &h->table.sensors[i];
		s->bus = (unsigned int)s->table->bus;
		if (s->table->line && s->table->active)
			plan_sensor(h, drv, i, errors);
	}
	for (unsigned int b = 0; b < HUBO_BUSES; b++) {
		const struct drv_send send = command_row(h, b);

		h->sensor_command[b] = (unsigned int)drv_add_send(drv, &send, errors);
	}
	plan_power(h, drv, errors);
	hubod_board_param_declare(h, drv, errors);
	return errors->count ? -EINVAL : 0;
}
