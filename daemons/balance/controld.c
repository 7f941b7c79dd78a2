/* controld.c: moves a joint along trajectories, by commands. */
#include <math.h>

#include "daemons/balance/control_motion.h"
#include "daemons/drv/drv_output.h"

#define VALID_TICKS 4 /* of the driver, which takes references for five */

/* ---- settings ---- */

struct controld_settings {
	char device[MSG_NAME_SIZE], joint[MSG_NAME_SIZE], source[MSG_NAME_SIZE], first[MSG_TEXT_SIZE];
	double velocity_rad_s, acceleration_rad_s2;
	int64_t sign;
};

/* "swing 0.3 1.2" */
static const char *read_first(struct control_command *command, const char *text)
{
	const size_t len = strcspn(text, " ");

	for (int verb = CONTROL_MOVE; control_words[verb]; verb++)
		if (strlen(control_words[verb]) == len && !strncmp(text, control_words[verb], len))
			return control_parse(command, (enum control_verb)verb, text + len);
	return "none, or a command: move ANGLE, swing ANGLE ANGLE";
}

static const char *first_form(const char *text)
{
	return strcmp(text, "none") ? read_first(&(struct control_command){ 0 }, text) : NULL;
}

#define ROW(TYPE, key, ...) SETTINGS_##TYPE(key, struct controld_settings, __VA_ARGS__)
static const struct settings_row rows[] = {
	ROW(TEXT, "device", device, SETTINGS_REQUIRED, "the device that it moves", .check = text_name_form),
	ROW(TEXT, "joint", joint, "only", "which of its joints, where a command names none; only: it has one",
	    .check = text_name_form),
	ROW(TEXT, "source", source, "control", "its name among the sources of a refmuxd; none: there is no refmuxd",
	    .check = text_name_form),
	ROW(REAL, "velocity", velocity_rad_s, "rad/s", "0.2", "0.001", "100", "of commands without a speed"),
	ROW(REAL, "acceleration", acceleration_rad_s2, "rad/s^2", "1", "0.001", "1000", "at most"),
	ROW(INT, "sign", sign, "", "1", "-1", "1", "-1: angles of commands have the other sign than the device's"),
	ROW(TEXT, "first", first, "none", "a command that is carried out once the robot is armed: swing 0.3 1.2",
	    .check = first_form),
	SETTINGS_END,
};

struct controld {
	struct controld_settings settings;  /* first: the loop fills them in */
	const struct robot_device *limited; /* the device in the robot file; NULL: none */
	struct control_motion motion;
	struct control_command first; /* stop: there is none, or it was carried out */
	unsigned int joint;
	struct drv_output output;
	struct msg_joint_state state;
};

/* ---- before the loop ---- */

static int declare(void *self, struct drv *drv, struct error_sink *errors)
{
	struct controld *c = self;

	if (drv_robot(drv))
		c->limited = robot_device(drv_robot(drv), c->settings.device);
	c->output.name = c->settings.device;
	c->output.source = c->settings.source;
	drv_output_declare(&c->output, drv, "device", errors);
	if (!c->settings.sign)
		error_add(errors, "sign: 0 is neither 1 nor -1");
	if (strcmp(c->settings.first, "none") != 0)
		read_first(&c->first, c->settings.first);
	return errors->count ? -EINVAL : 0;
}

static int open_device(void *self, struct drv *drv, struct error_sink *errors)
{
	struct controld *c = self;

	(void)drv;
	return drv_output_open(&c->output, msg_joint_state_number, errors);
}

static void close_device(void *self)
{
	endplate_close(((struct controld *)self)->output.robot);
}

/* ---- commands ---- */

static int find_joint(const struct controld *c, struct drv *drv, const char *given)
{
	const char *name = *given ? given : c->settings.joint;
	const bool only = !strcmp(name, "only");

	if (only && c->state.count == 1)
		return 0;
	for (unsigned int i = 0; i < c->state.count && i < MSG_JOINTS; i++)
		if (!strncmp(c->state.joint[i], name, MSG_NAME_SIZE))
			return (int)i;
	return drv_refuse(drv, -EINVAL, only ? "%s has several joints: name one" : "%s has no joint %s",
			  c->settings.device, name);
}

/* Angles of the device, within the limits of the robot file.  0, or -errno with drv_why. */
static int bound(const struct controld *c, struct drv *drv, const char *joint, struct control_command *command,
		 struct trapezoid_limits *limits, double *ramp_rad_s2)
{
	static const struct robot_limits none = { .position = { -INFINITY, INFINITY },
						  .velocity = INFINITY,
						  .acceleration = INFINITY };
	const struct robot_limits *l = c->limited ? robot_limits(c->limited, joint) : &none;
	const unsigned int angles = (unsigned int)command->verb;

	limits->velocity_rad_s =
		isnan(command->speed_rad_s) ? fmin(c->settings.velocity_rad_s, l->velocity) : command->speed_rad_s;
	*ramp_rad_s2 = l->acceleration;
	limits->acceleration_rad_s2 = fmin(c->settings.acceleration_rad_s2, l->acceleration);
	for (unsigned int i = 0; i < angles; i++) {
		const double sign = (double)c->settings.sign, given_rad = command->angle_rad[i];

		command->angle_rad[i] *= sign;
		if (command->angle_rad[i] >= l->position[0] && command->angle_rad[i] <= l->position[1])
			continue;
		return drv_refuse(drv, -ERANGE, "%g rad is beyond the limits of %s, %g to %g rad", given_rad, joint,
				  sign * l->position[sign < 0], sign * l->position[sign > 0]);
	}
	if (limits->velocity_rad_s <= l->velocity)
		return 0;
	return drv_refuse(drv, -ERANGE, "%g rad/s is above the limit of %s, %g rad/s", limits->velocity_rad_s, joint,
			  l->velocity);
}

static int begin(struct controld *c, struct drv *drv, struct control_command *command, int64_t now_ns)
{
	const int joint = command->verb == CONTROL_STOP ? (int)c->joint : find_joint(c, drv, command->joint);
	struct trapezoid_limits limits;
	double ramp_rad_s2;
	int status;

	if (joint < 0)
		return joint;
	if (command->verb == CONTROL_STOP) {
		control_motion_end(&c->motion);
		drv_why(drv, "stopped");
		return 0;
	}
	status = bound(c, drv, c->state.joint[joint], command, &limits, &ramp_rad_s2);
	if (status)
		return status;
	if ((unsigned int)joint != c->joint)
		control_motion_end(&c->motion);
	c->joint = (unsigned int)joint;
	control_motion_begin(&c->motion, command, &limits, ramp_rad_s2, now_ns);
	return 0;
}

static const struct drv_verb verbs[] = { { .verb = MSG_VERB_SET, .moves = true }, { .verb = MSG_VERB_GET }, { 0 } };

static int request(void *self, struct drv *drv, uint32_t handle, const struct msg_request *request, int64_t now_ns)
{
	struct controld *c = self;
	struct control_command command;
	const char *wrong;
	int verb = 0;

	(void)handle;
	if (request->verb == MSG_VERB_GET && !strcmp(request->key, "goal")) {
		drv_why(drv, "%s", control_words[c->motion.command.verb]);
		return 0;
	}
	while (control_words[verb] && strcmp(control_words[verb], request->key) != 0)
		verb++;
	if (request->verb == MSG_VERB_GET || !control_words[verb])
		return -EOPNOTSUPP;
	wrong = control_parse(&command, (enum control_verb)verb, request->value);
	if (!wrong)
		return begin(c, drv, &command, now_ns);
	return drv_refuse(drv, -EINVAL, "expected %s", wrong);
}

/* ---- in a tick ---- */

static void put(struct controld *c, struct drv *drv)
{
	struct msg_joint_ref ref = { .count = c->state.count };

	ref.mode[c->joint] = MSG_MODE_POSITION;
	ref.position[c->joint] = c->motion.position_rad;
	ref.velocity[c->joint] = c->motion.velocity_rad_s;
	drv_output_put(&c->output, drv, &ref, sizeof(ref), VALID_TICKS * c->state.common.period_ns);
}

static void obey(struct controld *c, struct drv *drv, const struct drv_orders *orders)
{
	if (orders->level == MSG_LEVEL_RUN || !control_motion_is_on(&c->motion))
		return;
	control_motion_end(&c->motion);
	drv_event(drv, MSG_SEVERITY_INFO, "stopped", "the motion has ended: level %s",
		  orders->level == MSG_LEVEL_HOLD ? "hold" : "estop");
}

static void begin_first(struct controld *c, struct drv *drv, const struct drv_orders *orders)
{
	struct control_command command = c->first;

	if (c->first.verb == CONTROL_STOP || orders->level != MSG_LEVEL_RUN || !c->output.view.follows)
		return;
	c->first.verb = CONTROL_STOP;
	if (begin(c, drv, &command, orders->now_ns))
		drv_event(drv, MSG_SEVERITY_WARNING, "first", "refused: %s", c->settings.first);
}

static void tick(void *self, struct drv *drv, const struct drv_orders *orders)
{
	struct controld *c = self;
	bool follows;

	drv_output_read(&c->output, drv, &c->state, sizeof(c->state));
	follows = drv_output_follows(&c->output);
	obey(c, drv, orders);
	if (follows)
		begin_first(c, drv, orders);
	if (c->joint < c->state.count && control_motion_tick(&c->motion, follows, c->state.position[c->joint],
							     c->state.velocity[c->joint], orders->now_ns))
		put(c, drv);
	drv_complete(drv);
}

static enum drv_step start(void *self, struct drv *drv, const struct drv_orders *orders)
{
	struct controld *c = self;

	if (drv_previous(drv)) /* nothing begins again by itself */
		c->first.verb = CONTROL_STOP;
	tick(self, drv, orders);
	return drv_output_step(&c->output);
}

/* What it commands; NaN for a joint that it does not move. */
static int64_t fill(void *self, struct drv *drv, void *state, int64_t now_ns)
{
	const struct controld *c = self;
	struct msg_joint_state *s = state;
	const bool on = control_motion_is_on(&c->motion);

	(void)drv;
	s->count = c->state.count < MSG_JOINTS ? c->state.count : MSG_JOINTS;
	memcpy(s->joint, c->state.joint, sizeof(s->joint));
	for (unsigned int i = 0; i < s->count; i++) {
		const bool moves = on && i == c->joint;

		s->position[i] = moves ? c->motion.position_rad : NAN;
		s->velocity[i] = moves ? c->motion.velocity_rad_s : NAN;
		s->lifecycle[i] = s->common.lifecycle;
		s->status[i] = moves ? MSG_JOINT_MOVING : 0;
		s->age_ns[i] = moves ? 0 : INT64_MAX;
	}
	return c->output.seen ? now_ns : 0;
}

static const struct drv_driver driver = {
	.program = "controld",
	.about = "moves a joint along trajectories, by commands",
	.size = sizeof(struct controld),
	.settings = rows,
	.tick_preset = "clock",
	.state = msg_joint_state_number,
	.no_bus = true,
	.opens_early = true,
	.declare = declare,
	.open = open_device,
	.close = close_device,
	.start = start,
	.tick = tick,
	.fill = fill,
	.verbs = verbs,
	.request = request,
};

int main(int argc, char **argv)
{
	return drv_main(&driver, argc, argv);
}
