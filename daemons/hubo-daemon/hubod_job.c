/* hubod_job.c: requests: homing, and commands to single boards. */
#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "config/text.h"
#include "daemons/hubo-daemon/hubod.h"

const struct drv_verb hubod_verbs[] = {
	{ .verb = MSG_VERB_HOME, .moves = true, .alone = true },
	{ .verb = MSG_VERB_ACTIVATE, .moves = true },
	{ .verb = MSG_VERB_RESET, .alone = true },
	{ .verb = MSG_VERB_CLEAR },
	{ .verb = MSG_VERB_BIAS },
	{ .verb = MSG_VERB_SET },
	{ .verb = MSG_VERB_GET },
	{ 0 },
};

#define BIT(joint) (1ull << (joint))

/* ---- homing ---- */

enum stage { STAGE_FINGERS, STAGE_WRISTS, STAGE_NECK, STAGE_ARMS, STAGE_WAIST, STAGE_LEGS, STAGES };

static enum stage stage_of(int joint)
{
	switch (hubo_joint_limb(joint)) {
	case HUBO_LHAND:
	case HUBO_RHAND:
		return STAGE_FINGERS;
	case HUBO_NECK:
		return STAGE_NECK;
	case HUBO_WAIST:
		return STAGE_WAIST;
	case HUBO_LLEG:
	case HUBO_RLEG:
		return STAGE_LEGS;
	default:
		return hubo_joint_name(joint)[1] == 'W' ? STAGE_WRISTS : STAGE_ARMS;
	}
}

/* The joints of a request: "" all, a limb, or a joint. */
static uint64_t joints_of(const struct hubod *h, const char *key)
{
	uint64_t joints = 0;

	for (int i = 0; i < HUBO_JOINTS; i++)
		if (h->joints[i].active &&
		    (!*key || !strcmp(key, hubo_joint_name(i)) || !strcmp(key, hubo_limb_names[hubo_joint_limb(i)])))
			joints |= BIT(i);
	return joints;
}

static uint64_t legs(void)
{
	uint64_t joints = 0;

	for (int i = 0; i < HUBO_JOINTS; i++)
		if (hubo_joint_name(i) && stage_of(i) == STAGE_LEGS)
			joints |= BIT(i);
	return joints;
}

/* The joints of the next stage that has any get their command. */
static void begin_stage(struct hubod *h, struct drv *drv, int64_t now_ns)
{
	struct hubod_home *home = &h->home;

	home->now = 0;
	for (int stage = 0; stage < STAGES && !home->now; stage++)
		for (int i = 0; i < HUBO_JOINTS; i++)
			if (home->left & BIT(i) && stage_of(i) == (enum stage)stage)
				home->now |= BIT(i);
	for (int i = 0; i < HUBO_JOINTS; i++) {
		const int32_t motor = (int32_t)h->joints[i].motor + 1;

		if (!(home->now & BIT(i)))
			continue;
		h->joints[i].homed = false;
		if (!h->boards[h->joints[i].board].is_on)
			hubod_enable(h, drv, h->joints[i].board);
		hubod_command(h, drv, h->joints[i].board, JMC_HOME, 0, &motor);
	}
	home->left &= ~home->now;
	home->began_ns = now_ns;
	hubod_quiet(h, now_ns + h->settings.quiet_home_ns);
}

/* No command ends a homing; without control a motor stops at once. */
static void abort_all(struct hubod *h, struct drv *drv)
{
	for (int i = 0; i < HUBO_JOINTS; i++)
		if (h->home.now & BIT(i))
			hubod_command(h, drv, h->joints[i].board, JMC_CONTROL_OFF, 0, NULL);
}

static void end(struct hubod *h, struct drv *drv, int result, const char *words)
{
	h->home.on = false;
	drv_homing(drv, false);
	if (result) {
		abort_all(h, drv);
		drv_latch(drv, MSG_LATCH_HOMING_ABORTED, "homing-aborted",
			  "%s: control is off; the request home ends it", words);
	} else {
		drv_unlatch(drv, MSG_LATCH_HOMING_ABORTED | MSG_LATCH_POSITION_UNKNOWN);
	}
	drv_reply(drv, h->home.handle, result, "%s", words);
}

static bool is_at_home(const struct hubod *h, const struct hubod_joint *j)
{
	if (fabs(j->position_rad) > h->settings.home_tolerance_rad)
		return false;
	return j->home == JMC_HOME_UNKNOWN ? !(j->flags & JMC_FAULTS) : j->homed;
}

/* NULL: it goes well. */
static const char *trouble_of(const struct hubod *h, const struct hubod_joint *j, const struct drv_orders *orders)
{
	if (!orders->armed)
		return "the robot is not armed any more";
	if (h->boards[j->board].silent)
		return "its board does not reply";
	if (j->flags & JMC_FAULTS)
		return "its board reports a fault";
	if (orders->now_ns - h->home.began_ns > h->settings.home_time_ns)
		return "it did not come home in time (home_time)";
	return NULL;
}

void hubod_home_step(struct hubod *h, struct drv *drv, const struct drv_orders *orders)
{
	struct hubod_home *home = &h->home;
	bool done = orders->now_ns - home->began_ns > h->settings.quiet_home_ns;
	char words[80];

	if (!home->on)
		return;
	for (int i = 0; i < HUBO_JOINTS; i++) {
		const struct hubod_joint *j = &h->joints[i];
		const char *trouble;

		if (!(home->now & BIT(i)))
			continue;
		trouble = trouble_of(h, j, orders);
		if (trouble) {
			snprintf(words, sizeof(words), "%s: %s", hubo_joint_name(i), trouble);
			end(h, drv, -EIO, words);
			return;
		}
		done &= is_at_home(h, j);
	}
	if (!done)
		return;
	for (int i = 0; i < HUBO_JOINTS; i++)
		if (home->now & BIT(i))
			h->joints[i].homed = true;
	if (home->left)
		begin_stage(h, drv, orders->now_ns);
	else
		end(h, drv, 0, "homed");
}

static int request_home(struct hubod *h, struct drv *drv, uint32_t handle, const char *key, int64_t now_ns)
{
	uint64_t joints = joints_of(h, key);

	if (!joints) {
		drv_why(drv, "\"%.20s\" is neither a limb nor an active joint", key);
		return -ENOENT;
	}
	if (!*key && !h->settings.hung)
		joints &= ~legs();
	if (joints & legs() && !h->settings.hung) {
		drv_why(drv, "legs are homed only when the robot hangs: set hung");
		return -EPERM;
	}
	h->home = (struct hubod_home){ .on = true, .handle = handle, .wanted = joints, .left = joints };
	drv_homing(drv, true);
	begin_stage(h, drv, now_ns);
	return DRV_LATER;
}

int hubod_cancel(void *self, struct drv *drv, uint32_t handle, int why)
{
	struct hubod *h = self;

	(void)handle;
	if (!h->home.on)
		return 0;
	end(h, drv, why, why == -ECANCELED ? "homing cancelled" : "homing took too long");
	return DRV_LATER;
}

/* ---- commands ---- */

static int request_activate(struct hubod *h, struct drv *drv, const char *key)
{
	const uint64_t joints = joints_of(h, key);
	unsigned int last = HUBO_BOARDS_MAX;

	if (!joints) {
		drv_why(drv, "\"%.20s\" is neither a limb nor an active joint", key);
		return -ENOENT;
	}
	for (int i = 0; i < HUBO_JOINTS; i++) {
		if (!(joints & BIT(i)) || h->joints[i].board == last)
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

/* Those that hubod sends itself, or that would take a board off the bus. */
static bool is_ours(int command)
{
	return command <= JMC_GET_POWER || command == JMC_HOME || command == JMC_BOARD_NUMBER || command == JMC_ZERO ||
	       (command >= JMC_NULL_FORCE && command <= JMC_NULL_IMU) || command == JMC_INITIALIZE_SENSOR;
}

/* JOINT.COMMAND, with its values. */
static int request_set(struct hubod *h, struct drv *drv, const struct msg_request *request)
{
	int32_t values[JMC_VALUES_MAX] = { 0 };
	const size_t len = strcspn(request->key, ".");
	struct jmc_command_about about;
	char joint[MSG_NAME_SIZE];
	int at, command, n, status;

	snprintf(joint, sizeof(joint), "%.*s", (int)len, request->key);
	at = hubo_joint_find(joint);
	command = request->key[len] ? jmc_command_find(request->key + len + 1) : -1;
	if (at == HUBO_NONE || !h->joints[at].active) {
		drv_why(drv, "\"%.20s\" is not an active joint; write RHY.fet", joint);
		return -ENOENT;
	}
	if (command < 0 || is_ours(command)) {
		drv_why(drv, "\"%.24s\" is not a command that can be set; write RHY.fet", request->key);
		return -EINVAL;
	}
	about = jmc_command_about((enum jmc_command)command);
	n = read_values(request->value, values);
	if (n != (int)about.values) {
		drv_why(drv, "%s needs %u numbers", about.name, about.values);
		return -EINVAL;
	}
	status = hubod_command(h, drv, h->joints[at].board, (enum jmc_command)command,
			       about.motors ? h->joints[at].motor : 0, values);
	if (status == -ERANGE || status == -EINVAL)
		drv_why(drv, "%s: a number is out of its limits, or the board has no such motor", about.name);
	return status;
}

/* The encoder is 0 here, and faults are cleared: no reference until the new position was measured. */
static int request_reset(struct hubod *h, struct drv *drv, const char *key, int64_t now_ns)
{
	const int joint = hubo_joint_find(key);
	int32_t motor;

	if (joint == HUBO_NONE || !h->joints[joint].active) {
		drv_why(drv, "\"%.20s\" is not an active joint", key);
		return -ENOENT;
	}
	if (drv_may_move(drv)) {
		drv_why(drv, "the zero of %s would move under its reference: disarm the robot first", key);
		return -EBUSY;
	}
	motor = (int32_t)h->joints[joint].motor;
	hubod_quiet(h, now_ns + h->settings.quiet_start_ns);
	return hubod_command(h, drv, h->joints[joint].board, JMC_ZERO, 0, &motor);
}

/* A sensor: here is zero. */
static int request_bias(struct hubod *h, struct drv *drv, const char *key)
{
	for (unsigned int i = 0; i < HUBO_SENSORS; i++) {
		const struct hubod_sensor *s = &h->sensors[i];
		struct frame frame;

		if (strcmp(key, hubo_sensor_names[i]) != 0 || !s->table->line || !s->table->active)
			continue;
		jmc_encode(&frame, JMC_SENSOR_BOARD + (unsigned int)s->table->number,
			   i >= HUBO_IMU0 ? JMC_NULL_IMU : JMC_NULL_FORCE, 0, NULL);
		return drv_send(drv, h->sensor_command[s->bus], &frame);
	}
	drv_why(drv, "\"%.20s\" is not an active sensor; write RFFT", key);
	return -ENOENT;
}

static int request_get(const struct hubod *h, struct drv *drv, const char *key)
{
	if (!strcmp(key, "missed")) {
		drv_why(drv, "%llu", (unsigned long long)h->missed);
		return 0;
	}
	for (unsigned int i = 0; i < h->boards_n; i++)
		if (!strcmp(key, h->boards[i].table->name)) {
			drv_why(drv, "missed %llu late %llu", (unsigned long long)h->boards[i].missed,
				(unsigned long long)h->boards[i].late);
			return 0;
		}
	drv_why(drv, "\"%.20s\" is not known; write missed, or a board such as JMC0", key);
	return -ENOENT;
}

int hubod_request(void *self, struct drv *drv, uint32_t handle, const struct msg_request *request, int64_t now_ns)
{
	struct hubod *h = self;

	switch (request->verb) {
	case MSG_VERB_HOME:
		return request_home(h, drv, handle, request->key, now_ns);
	case MSG_VERB_ACTIVATE:
		return request_activate(h, drv, request->key);
	case MSG_VERB_RESET:
		return request_reset(h, drv, request->key, now_ns);
	case MSG_VERB_BIAS:
		return request_bias(h, drv, request->key);
	case MSG_VERB_SET:
		return request_set(h, drv, request);
	case MSG_VERB_GET:
		return request_get(h, drv, request->key);
	default: /* clear: what is latched besides an aborted homing, which homing ends */
		drv_unlatch(drv, drv_latched(drv) & ~(uint32_t)MSG_LATCH_HOMING_ABORTED);
		return 0;
	}
}
