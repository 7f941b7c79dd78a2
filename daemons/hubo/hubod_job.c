/* hubod_job.c: requests: commands to boards and sensors. */
#include "daemons/hubo/hubod.h"

const struct drv_verb hubod_verbs[] = {
	{ .verb = MSG_VERB_HOME, .moves = true, .exclusive = true },
	{ .verb = MSG_VERB_ACTIVATE, .moves = true },
	{ .verb = MSG_VERB_RESET, .exclusive = true },
	{ .verb = MSG_VERB_CLEAR },
	{ .verb = MSG_VERB_BIAS },
	{ .verb = MSG_VERB_SET },
	{ .verb = MSG_VERB_GET },
	{ 0 },
};

uint64_t hubod_joints_of(const struct hubod *h, const char *key)
{
	uint64_t joints = 0;

	for (int i = 0; i < HUBO_JOINTS; i++)
		if (h->joints[i].active &&
		    (!*key || !strcmp(key, hubo_joint_name(i)) || !strcmp(key, hubo_limb_names[hubo_joint_limb(i)])))
			joints |= HUBOD_BIT(i);
	return joints;
}

uint64_t hubod_joints_at(const struct hubod *h, const char *place)
{
	return *place ? hubod_joints_of(h, strcmp(place, "all") ? place : "") : 0;
}

const char *hubod_split(char place[MSG_NAME_SIZE], const char *key)
{
	const size_t len = strcspn(key, ".");

	snprintf(place, MSG_NAME_SIZE, "%.*s", (int)len, key);
	return key + len + (key[len] == '.');
}

static int request_activate(struct hubod *h, struct drv *drv, const char *key)
{
	const uint64_t joints = hubod_joints_of(h, key);
	unsigned int last = HUBO_BOARDS_MAX;

	if (!joints)
		return drv_refuse(drv, -ENOENT, "\"%.20s\" is neither a limb nor an active joint", key);
	if (!drv_may_move(drv)) /* the loop lets it pass: a homing would end it */
		return drv_refuse(drv, -EPERM, "a homing was aborted: home first");
	for (int i = 0; i < HUBO_JOINTS; i++) {
		if (!(joints & HUBOD_BIT(i)) || h->joints[i].board == last)
			continue;
		last = h->joints[i].board;
		hubod_enable(h, drv, last);
	}
	return 0;
}

/* "400,0,200" into values; how many, or -EINVAL. */
static int read_values(const char *text, int32_t values[JMC_VALUES_MAX])
{
	char word[TEXT_VALUE_MAX];
	int n = 0;

	while (*text) {
		const size_t len = strcspn(text, ", ");
		int64_t value;

		snprintf(word, sizeof(word), "%.*s", (int)len, text);
		if (n == JMC_VALUES_MAX || text_int(word, &value) || value < INT32_MIN || value > INT32_MAX)
			return -EINVAL;
		values[n++] = (int32_t)value;
		text += len + (text[len] != '\0');
	}
	return n;
}

/* hubod sends it itself, or it would take a board off the bus. */
static bool is_ours(int command)
{
	return command <= JMC_GET_POWER || command == JMC_HOME || command == JMC_BOARD_NUMBER || command == JMC_ZERO ||
	       (command >= JMC_NULL_FORCE && command <= JMC_NULL_IMU) || command == JMC_INITIALIZE_SENSOR;
}

/* After it a joint that is driven would move, or count, otherwise than its references say. */
static bool needs_rest(enum jmc_command command)
{
	return command == JMC_INITIALIZE || command == JMC_MODE || command == JMC_ENCODER_RESOLUTION ||
	       command == JMC_FREEWHEEL;
}

/* To the motors of these joints, or once to each of their boards. */
static int command_all(struct hubod *h, struct drv *drv, uint64_t joints, enum jmc_command command,
		       const int32_t *values)
{
	const bool motors = jmc_command_about(command).motors;
	uint32_t boards = 0;
	int status = 0;

	for (int i = 0; i < HUBO_JOINTS && !status; i++) {
		const struct hubod_joint *j = &h->joints[i];

		if (!(joints & HUBOD_BIT(i)) || (!motors && boards & 1u << j->board))
			continue;
		boards |= 1u << j->board;
		if (command == JMC_CONTROL_OFF || (command == JMC_FET && !values[0]))
			hubod_comply_drop(h, &h->boards[j->board]);
		status = hubod_command(h, drv, j->board, command, motors ? j->motor : 0, values);
	}
	return status;
}

/* JOINT.COMMAND, with its values, LIMB.COMMAND, all.COMMAND; or the home file. */
static int request_set(struct hubod *h, struct drv *drv, uint32_t handle, const struct msg_request *request)
{
	int32_t values[JMC_VALUES_MAX] = { 0 };
	char place[MSG_NAME_SIZE];
	const char *name = hubod_split(place, request->key);
	const int command = jmc_command_find(name), gain = comply_find(name);
	const uint64_t joints = hubod_joints_at(h, place);
	struct jmc_command_about about;
	int n, status;

	if (!strcmp(request->key, "home-file"))
		return hubod_write_home(h, drv, handle, request->value);
	if (!joints)
		return drv_refuse(drv, -ENOENT, "\"%.20s\" is neither an active joint nor a limb; write RHY.fet",
				  place);
	if (gain >= 0)
		return hubod_comply_set(h, drv, joints, (enum comply_gain)gain, request->value);
	if (command < 0 || is_ours(command))
		return drv_refuse(drv, -EINVAL, "\"%.24s\" is not a command that can be set; write RHY.fet",
				  request->key);
	about = jmc_command_about((enum jmc_command)command);
	if (needs_rest((enum jmc_command)command) && drv_may_move(drv))
		return drv_refuse(drv, -EBUSY,
				  "%s changes how the board follows its references: disarm the robot first",
				  about.name);
	n = read_values(request->value, values);
	if (n != (int)about.values)
		return drv_refuse(drv, -EINVAL, "%s needs %u numbers", about.name, about.values);
	status = command_all(h, drv, joints, (enum jmc_command)command, values);
	if (status == -ERANGE || status == -EINVAL)
		drv_why(drv, "%s: a number is out of its limits, or the board has no such motor", about.name);
	return status;
}

/* The active sensor of that name; HUBO_SENSORS: there is none. */
static unsigned int sensor_of(const struct hubod *h, const char *name, size_t len)
{
	unsigned int i = 0;

	while (i < HUBO_SENSORS &&
	       (strlen(hubo_sensor_names[i]) != len || strncmp(name, hubo_sensor_names[i], len) != 0 ||
		!h->sensors[i].table->line || !h->sensors[i].table->active))
		i++;
	return i;
}

static int command_sensor(struct hubod *h, struct drv *drv, unsigned int sensor, enum jmc_command command)
{
	const struct hubod_sensor *s = &h->sensors[sensor];
	struct frame frame;

	jmc_encode(&frame, JMC_SENSOR_BOARD + (unsigned int)s->table->number, command, 0, NULL);
	return drv_send(drv, h->sensor_command[s->bus], &frame);
}

/* A sensor board is initialized.  The encoder of a joint is 0 here, and faults are cleared: no reference until the new
 * position was measured. */
static int request_reset(struct hubod *h, struct drv *drv, const char *key, int64_t now_ns)
{
	const unsigned int sensor = sensor_of(h, key, strlen(key));
	const int joint = hubo_joint_find(key);
	int32_t motor;

	if (sensor < HUBO_SENSORS)
		return command_sensor(h, drv, sensor, JMC_INITIALIZE_SENSOR);
	if (joint == HUBO_NONE || !h->joints[joint].active)
		return drv_refuse(drv, -ENOENT, "\"%.20s\" is neither an active joint nor an active sensor", key);
	if (drv_may_move(drv))
		return drv_refuse(drv, -EBUSY, "the zero of %s would move under its reference: disarm the robot first",
				  key);
	if (hubod_comply_busy(h, drv))
		return -EBUSY;
	motor = (int32_t)h->joints[joint].motor;
	hubod_quiet(h, now_ns + h->settings.quiet_start_ns);
	return hubod_command(h, drv, h->joints[joint].board, JMC_ZERO, 0, &motor);
}

/* A sensor: here is zero; SENSOR.tilt: that of a foot. */
static int request_bias(struct hubod *h, struct drv *drv, const char *key)
{
	const size_t len = strcspn(key, ".");
	const unsigned int sensor = sensor_of(h, key, len);
	const bool tilt = !strcmp(key + len, ".tilt");

	if (sensor == HUBO_SENSORS || (key[len] && !tilt) || (tilt && h->sensors[sensor].ask_tilt < 0))
		return drv_refuse(drv, -ENOENT, "\"%.20s\" is not an active sensor; write RFFT, or RFFT.tilt", key);
	if (sensor >= HUBO_IMU0)
		return command_sensor(h, drv, sensor, JMC_NULL_IMU);
	return command_sensor(h, drv, sensor, tilt ? JMC_NULL_TILT : JMC_NULL_FORCE);
}

/* JOINT.comply-kp and the like; -ENOENT: it is not one of those. */
static int get_gain(const struct hubod *h, struct drv *drv, const char *key)
{
	char name[MSG_NAME_SIZE];
	const int gain = comply_find(hubod_split(name, key)), joint = hubo_joint_find(name);

	if (gain < 0 || joint == HUBO_NONE || !h->joints[joint].active)
		return -ENOENT;
	drv_why(drv, "%g", h->joints[joint].gains[gain]);
	return 0;
}

static int request_get(struct hubod *h, struct drv *drv, uint32_t handle, const char *key)
{
	const unsigned int sensor = sensor_of(h, key, strlen(key));
	unsigned int board = 0;

	if (!get_gain(h, drv, key))
		return 0;
	if (strchr(key, '.'))
		return hubod_read_parameter(h, drv, handle, key);
	while (board < h->boards_n && strcmp(key, h->boards[board].table->name) != 0)
		board++;
	if (!strcmp(key, "missed"))
		drv_why(drv, "%llu", (unsigned long long)h->missed.all);
	else if (!strcmp(key, "missed-why"))
		drv_why(drv, "unsent %llu late %llu lost %llu", (unsigned long long)h->missed.unsent,
			(unsigned long long)h->missed.late, (unsigned long long)h->missed.lost);
	else if (board < h->boards_n)
		drv_why(drv, "missed %llu late %llu", (unsigned long long)h->boards[board].missed,
			(unsigned long long)h->boards[board].late);
	else if (sensor < HUBO_SENSORS)
		drv_why(drv, "missed %llu", (unsigned long long)h->sensors[sensor].missed);
	else
		return drv_refuse(drv, -ENOENT,
				  "\"%.20s\" is not known; write missed, a board such as JMC0 or RFFT, or RHY.kp", key);
	return 0;
}

int hubod_request(void *self, struct drv *drv, uint32_t handle, const struct msg_request *request, int64_t now_ns)
{
	struct hubod *h = self;

	switch (request->verb) {
	case MSG_VERB_HOME:
		return hubod_home(h, drv, handle, request->key, now_ns);
	case MSG_VERB_ACTIVATE:
		return request_activate(h, drv, request->key);
	case MSG_VERB_RESET:
		return request_reset(h, drv, request->key, now_ns);
	case MSG_VERB_BIAS:
		return request_bias(h, drv, request->key);
	case MSG_VERB_SET:
		return request_set(h, drv, handle, request);
	case MSG_VERB_GET:
		return request_get(h, drv, handle, request->key);
	default: /* clear: what is latched besides an aborted homing, which homing ends */
		drv_unlatch(drv, drv_latched(drv) & ~(uint32_t)MSG_LATCH_HOMING_ABORTED);
		return 0;
	}
}
