/* joyd.c: a joystick as a source of references, with a dead-man switch and a stop button. */
#include <linux/input-event-codes.h>
#include <math.h>

#include "daemons/drv/drv_output.h"
#include "daemons/joy/joy_device.h"

#define RETRY_NS 1000000000
#define OWN_TICKS 3    /* validity of a reference, in ticks of joyd */
#define DEVICE_TICKS 4 /* and of the device, which takes references for five */

/* ---- settings ---- */

enum { JOINT, BALANCE };

struct joyd_settings {
	char output[MSG_NAME_SIZE], source[MSG_NAME_SIZE], device[200], axes[200], deadman[32], stop[32];
	int type, level;
	double dead_zone, expo;
	bool centre;
	int64_t idle_ns, frozen_ns;
};

static const char *const type_words[] = { "joint", "balance", NULL };
static const char *const level_words[] = { "hold", "estop", NULL };

static const char *button_form(const char *text)
{
	return joy_device_code(EV_KEY, text) > 0 ? NULL : "the name of a button, such as BTN_TL";
}

static const char *stop_form(const char *text)
{
	return strcmp(text, "none") ? button_form(text) : NULL;
}

static const char axes_is[] = "1 to 8 of what is moved, the axis and the value at its end: [speed=ABS_Y*-0.5]";

/* "speed=ABS_Y*-0.5", of len bytes. */
static bool parse_axis(struct joy_axis *axis, char target[MSG_NAME_SIZE], const char *text, size_t len)
{
	char one[80], *equals, *times, *end;
	int code;

	if (len >= sizeof(one))
		return false;
	memcpy(one, text, len);
	one[len] = 0;
	equals = strchr(one, '=');
	times = equals ? strchr(equals, '*') : NULL;
	if (!times)
		return false;
	*equals = *times = 0;
	code = joy_device_code(EV_ABS, equals + 1);
	axis->scale = strtod(times + 1, &end);
	if (!text_is_name(one) || strlen(one) >= MSG_NAME_SIZE || code < 0 || end == times + 1 || *end ||
	    !isfinite(axis->scale))
		return false;
	axis->code = (uint16_t)code;
	memcpy(target, one, strlen(one) + 1);
	return true;
}

/* How many, or -1. */
static int parse_axes(struct joy_axis axes[JOY_AXES_MAX], char targets[JOY_AXES_MAX][MSG_NAME_SIZE], const char *text)
{
	int n = 0;

	for (const char *end; *(text += strspn(text, ", ")); text = end) {
		end = text + strcspn(text, ", ");
		if (n == JOY_AXES_MAX || !parse_axis(&axes[n], targets[n], text, (size_t)(end - text)))
			return -1;
		for (int i = 0; i < n; i++)
			if (!strcmp(targets[i], targets[n]))
				return -1;
		n++;
	}
	return n ? n : -1;
}

static const char *axes_form(const char *text)
{
	struct joy_axis axes[JOY_AXES_MAX] = { 0 };
	char targets[JOY_AXES_MAX][MSG_NAME_SIZE];

	return parse_axes(axes, targets, text) < 0 ? axes_is : NULL;
}

#define ROW(TYPE, key, ...) SETTINGS_##TYPE(key, struct joyd_settings, __VA_ARGS__)
static const struct settings_row rows[] = {
	ROW(TEXT, "output", output, SETTINGS_REQUIRED, "the device that it moves", .check = text_name_form),
	ROW(TEXT, "source", source, "joy", "its name among the sources of a refmuxd; none: there is no refmuxd",
	    .check = text_name_form),
	ROW(WORD, "type", type, type_words, "joint", "of the references: joint velocities, or balance"),
	ROW(TEXT, "device", device, SETTINGS_REQUIRED, "/dev/input/by-id/...-event-joystick, or file:PATH"),
	ROW(TEXT, "axes", axes, SETTINGS_REQUIRED,
	    "[speed=ABS_Y*-0.5]: joint, speed or turn, its axis, and the value at the end of its range",
	    .check = axes_form, .joined = true),
	ROW(TEXT, "deadman", deadman, "BTN_TL", "the button that is held while it moves", .check = button_form),
	ROW(TEXT, "stop", stop, "BTN_EAST", "the button that raises the e-stop, or none", .check = stop_form),
	ROW(WORD, "stop_level", level, level_words, "estop", "to which it is raised"),
	ROW(REAL, "dead_zone", dead_zone, "", "0.1", "0", "0.9", "of the way from the middle to the end"),
	ROW(REAL, "expo", expo, "", "0.3", "0", "1", "0: straight; 1: cubic, finer near the middle"),
	ROW(BOOL, "centre", centre, "yes", "all axes have to be centred once after the dead-man switch is pressed"),
	ROW(DURATION, "idle", idle_ns, "5s", "50ms", "60s", "time without an event that counts as released"),
	ROW(DURATION, "frozen", frozen_ns, "100ms", "10ms", "1s", "time between two looks that counts as released",
	    .ticks = 2),
	SETTINGS_END,
};

struct joyd {
	struct joyd_settings settings; /* first: the loop fills them in */
	struct joy joy;
	char targets[JOY_AXES_MAX][MSG_NAME_SIZE]; /* of the axes */
	struct joy_device *device;
	int64_t retry_ns;
	enum joy_state state;
	double command[JOY_AXES_MAX];
	bool put; /* a reference in the last tick: it has to be taken back */
	uint64_t puts;
	struct drv_output output;
	union {
		struct msg_joint_state joints;
		struct msg_balance_state balance;
	} out;
};

/* ---- before the loop ---- */

static void plan_axes(struct joyd *j, struct error_sink *errors)
{
	j->joy.axes_n = (unsigned int)parse_axes(j->joy.axes, j->targets, j->settings.axes);
	for (unsigned int i = 0; i < j->joy.axes_n && j->settings.type == BALANCE; i++)
		if (strcmp(j->targets[i], "speed") != 0 && strcmp(j->targets[i], "turn") != 0)
			error_add(errors, "axes: %s: with type balance there are speed and turn", j->targets[i]);
}

static int declare(void *self, struct drv *drv, struct error_sink *errors)
{
	struct joyd *j = self;
	const struct joyd_settings *s = &j->settings;

	j->output.name = s->output;
	j->output.source = s->source;
	drv_output_declare(&j->output, drv, "output", errors);
	j->joy.rules = (struct joy_rules){
		.deadman = (uint16_t)joy_device_code(EV_KEY, s->deadman),
		.stop = (uint16_t)(strcmp(s->stop, "none") ? joy_device_code(EV_KEY, s->stop) : JOY_NO_BUTTON),
		.dead_zone = s->dead_zone,
		.expo = s->expo,
		.centre = s->centre,
		.idle_ns = s->idle_ns,
		.frozen_ns = s->frozen_ns,
	};
	if (j->joy.rules.deadman == j->joy.rules.stop)
		error_add(errors, "stop: %s is the dead-man switch already", s->stop);
	plan_axes(j, errors);
	return errors->count ? -EINVAL : 0;
}

static int open_output(void *self, struct drv *drv, struct error_sink *errors)
{
	struct joyd *j = self;

	(void)drv;
	return drv_output_open(&j->output,
			       j->settings.type == JOINT ? msg_joint_state_number : msg_balance_state_number, errors);
}

static void close_all(void *self)
{
	struct joyd *j = self;

	joy_device_close(j->device);
	endplate_close(j->output.robot);
}

/* ---- the joystick ---- */

/* To open one allocates and takes milliseconds; without one there is nothing that joyd could delay. */
static void open_joystick(struct joyd *j, struct drv *drv, int64_t now_ns)
{
	int status;

	if (now_ns < j->retry_ns)
		return;
	j->retry_ns = now_ns + RETRY_NS;
	status = joy_device_open(&j->device, j->settings.device, &j->joy, now_ns);
	if (!status)
		drv_event(drv, MSG_SEVERITY_INFO, "plugged", "%s is there", j->settings.device);
	else if (status == -ENOTSUP)
		drv_event(drv, MSG_SEVERITY_WARNING, "other-joystick", "%s lacks a button or an axis of the settings",
			  j->settings.device);
	else if (status != -ENOENT && status != -ENODEV)
		drv_event(drv, MSG_SEVERITY_WARNING, "unable", "unable to open %s: %s", j->settings.device,
			  strerror(-status));
}

static void read_joystick(struct joyd *j, struct drv *drv, int64_t now_ns)
{
	int status;

	if (!j->device)
		open_joystick(j, drv, now_ns);
	if (!j->device)
		return;
	status = joy_device_read(j->device, &j->joy, now_ns);
	if (!status)
		return;
	drv_event(drv, MSG_SEVERITY_WARNING, "unplugged", "%s is gone: %s", j->settings.device, strerror(-status));
	joy_device_close(j->device);
	j->device = NULL;
	j->retry_ns = now_ns + RETRY_NS;
}

static void raise_if_asked(struct joyd *j, struct drv *drv, const struct drv_orders *orders)
{
	const enum msg_level level = MSG_LEVEL_HOLD + (enum msg_level)j->settings.level;

	if (!joy_stop_asked(&j->joy) || orders->level >= level)
		return;
	if (endplate_raise(j->output.robot, level, "the stop button of the joystick"))
		drv_event(drv, MSG_SEVERITY_ERROR, "raise", "unable to raise the e-stop");
}

/* ---- references ---- */

static void command_joints(const struct joyd *j, struct msg_joint_ref *ref, bool active)
{
	ref->count = j->out.joints.count;
	for (unsigned int axis = 0; axis < j->joy.axes_n && active; axis++)
		for (unsigned int i = 0; i < ref->count && i < MSG_JOINTS; i++)
			if (!strncmp(j->out.joints.joint[i], j->targets[axis], MSG_NAME_SIZE)) {
				ref->mode[i] = MSG_MODE_VELOCITY;
				ref->velocity[i] = j->command[axis];
			}
}

static void command_balance(const struct joyd *j, struct msg_balance_ref *ref)
{
	for (unsigned int axis = 0; axis < j->joy.axes_n; axis++)
		if (!strcmp(j->targets[axis], "speed"))
			ref->speed = j->command[axis];
		else
			ref->turn_rate = j->command[axis];
}

/* active false: nothing is asked for, for one tick, in the place of what was asked for before.  So refmuxd passes on to
 * the next source at its next tick, and does not wait until the last reference expires. */
static int put(struct joyd *j, struct drv *drv, bool active)
{
	union {
		struct msg_joint_ref joints;
		struct msg_balance_ref balance;
	} ref = { 0 };
	const int64_t theirs_ns =
		DEVICE_TICKS * j->out.joints.common.period_ns; /* every state has it in the same place */
	int64_t valid_ns = (active ? OWN_TICKS : 1) * drv_period_ns(drv);

	if (theirs_ns > 0)
		valid_ns = num_min(valid_ns, theirs_ns);
	if (j->settings.type == JOINT)
		command_joints(j, &ref.joints, active);
	else
		command_balance(j, &ref.balance);
	return drv_output_put(&j->output, drv, &ref,
			      j->settings.type == JOINT ? sizeof(ref.joints) : sizeof(ref.balance), valid_ns);
}

static void send(struct joyd *j, struct drv *drv)
{
	const bool active = j->state == JOY_ACTIVE && drv_output_follows(&j->output);

	if (!active && !j->put)
		return;
	j->put = !put(j, drv, active) && active;
	j->puts += j->put;
}

/* ---- in a tick ---- */

static void report(struct drv *drv, enum joy_state before, enum joy_state now)
{
	static const char *const codes[] = { "no-joystick", "released", "idle", "off-centre", "held" };
	static const char *const words[] = { "there is no joystick", "the dead-man switch is released",
					     "no event for too long: the dead-man switch counts as released",
					     "the dead-man switch is pressed, and an axis was not centred yet",
					     "the dead-man switch is held" };

	if (now != before)
		drv_event(drv, MSG_SEVERITY_INFO, codes[now], "%s", words[now]);
}

static void tick(void *self, struct drv *drv, const struct drv_orders *orders)
{
	struct joyd *j = self;
	const enum joy_state before = j->state;

	read_joystick(j, drv, orders->now_ns);
	raise_if_asked(j, drv, orders);
	j->state = joy_command(&j->joy, j->command);
	drv_output_read(&j->output, drv, &j->out,
			j->settings.type == JOINT ? sizeof(j->out.joints) : sizeof(j->out.balance));
	send(j, drv);
	report(drv, before, j->state);
	drv_complete(drv);
}

static enum drv_step start(void *self, struct drv *drv, const struct drv_orders *orders)
{
	tick(self, drv, orders);
	return drv_output_step(&((struct joyd *)self)->output);
}

/* Withdraws its reference before the process ends. */
static enum drv_step stop(void *self, struct drv *drv, const struct drv_orders *orders)
{
	struct joyd *j = self;

	(void)orders;
	j->state = JOY_RELEASED;
	send(j, drv);
	return DRV_DONE;
}

/* The joystick is the one source. */
static int64_t fill(void *self, struct drv *drv, void *state, int64_t now_ns)
{
	static const enum msg_source words[] = { MSG_SOURCE_ABSENT, MSG_SOURCE_READY, MSG_SOURCE_STALE,
						 MSG_SOURCE_REFUSED, MSG_SOURCE_IN_CHARGE };
	const struct joyd *j = self;
	struct msg_mux_state *s = state;

	(void)drv;
	memcpy(s->output, j->settings.output, sizeof(s->output));
	memset(s->in_charge, 0, sizeof(s->in_charge));
	if (j->put)
		memcpy(s->in_charge, j->settings.source, sizeof(s->in_charge));
	s->source_count = 1;
	memcpy(s->source[0], j->settings.source, sizeof(s->source[0]));
	s->state[0] = words[j->state];
	s->age_ns[0] = j->joy.event_ns ? now_ns - j->joy.event_ns : INT64_MAX;
	s->taken[0] = j->puts;
	return j->output.seen ? now_ns : 0;
}

static const struct drv_driver driver = {
	.program = "joyd",
	.about = "moves a device by a joystick, with a dead-man switch and a stop button",
	.size = sizeof(struct joyd),
	.settings = rows,
	.tick_preset = "clock",
	.state = msg_mux_state_number,
	.no_bus = true,
	.opens_early = true,
	.declare = declare,
	.open = open_output,
	.close = close_all,
	.start = start,
	.tick = tick,
	.fill = fill,
	.stop = stop,
};

int main(int argc, char **argv)
{
	return drv_main(&driver, argc, argv);
}
