/* console_run.c: carries out the calls of hubo-console. */
#include "launch/hubo/console_run.h"

#include <math.h>

#include "channels/msg/msg.h"
#include "daemons/hubo/hubo_table.h"
#include "daemons/hubo/jmc.h"

#define ASK_NS 10000000000
#define MOTION_NS 300000000000
#define TICK_NS 5000000
#define LOOK_NS 50000000
#define VALID_NS 25000000
#define GOTO_TICKS 4000 /* 20 s */
#define NEAR_RAD 0.002
#define SOFT_NS 200000000 /* a joint that may be compliant is, by then */

static enum console_end fail(const struct console *c, const char *what, const char *why)
{
	fprintf(c->err, "hubo-console: %s: %s\n", what, why);
	return CONSOLE_FAILED;
}

/* ---- requests ---- */

static enum console_end ask(struct console *c, enum msg_verb verb, const char *key, const char *value,
			    struct msg_reply *reply)
{
	const bool moves = verb == MSG_VERB_HOME || verb == MSG_VERB_ACTIVATE;
	const int status = endplate_ask(c->robot, c->name, verb, key, value, moves ? MOTION_NS : ASK_NS, reply);

	if (!status)
		return CONSOLE_DONE;
	return fail(c, c->name,
		    *reply->error	 ? reply->error
		    : *endplate_errstr() ? endplate_errstr()
					 : strerror(-status));
}

static enum console_end run_ask(struct console *c, const struct console_call *call)
{
	char key[MSG_NAME_SIZE], value[MSG_TEXT_SIZE];
	struct msg_reply reply = { 0 };
	enum console_end end;

	console_request(call, key, value);
	end = ask(c, call->verb->verb, key, value, &reply);
	if (end == CONSOLE_DONE)
		fprintf(c->out, "%s\n", *reply.value ? reply.value : "done");
	return end;
}

static bool is_active(const struct msg_joint_state *s, unsigned int joint)
{
	return s->lifecycle[joint] != MSG_LIFE_DOWN;
}

static enum console_end run_reset_all(struct console *c, const struct msg_joint_state *s)
{
	struct msg_reply reply = { 0 };
	enum console_end end = CONSOLE_DONE;

	for (unsigned int i = 0; i < s->count && end == CONSOLE_DONE; i++)
		if (is_active(s, i))
			end = ask(c, MSG_VERB_RESET, s->joint[i], "", &reply);
	if (end == CONSOLE_DONE)
		fprintf(c->out, "done\n");
	return end;
}

/* A sensor that the driver does not know is not fitted. */
static enum console_end run_sensors(struct console *c)
{
	struct msg_reply reply = { 0 };
	unsigned int done = 0;

	for (int i = 0; i < HUBO_SENSORS; i++) {
		const int status =
			endplate_ask(c->robot, c->name, MSG_VERB_RESET, hubo_sensor_names[i], "", ASK_NS, &reply);

		if (status && status != -ENOENT)
			return fail(c, hubo_sensor_names[i], *reply.error ? reply.error : strerror(-status));
		done += !status;
	}
	fprintf(c->out, "%u sensors initialized\n", done);
	return CONSOLE_DONE;
}

static enum console_end run_parameters(struct console *c, const char *joint)
{
	enum console_end end = CONSOLE_DONE;

	for (unsigned int i = 0; jmc_parameter_about(i).name && end == CONSOLE_DONE; i++) {
		const char *name = jmc_parameter_about(i).name;
		struct msg_reply reply = { 0 };
		char key[MSG_NAME_SIZE];

		snprintf(key, sizeof(key), "%.3s.%.19s", joint, name);
		end = ask(c, MSG_VERB_GET, key, "", &reply);
		if (end == CONSOLE_DONE)
			fprintf(c->out, "%s %s\n", name, reply.value);
	}
	return end;
}

/* ---- states ---- */

static int place(const struct msg_joint_state *s, const char *joint)
{
	for (unsigned int i = 0; i < s->count; i++)
		if (!strncmp(s->joint[i], joint, MSG_NAME_SIZE))
			return (int)i;
	return -1;
}

static void print_number(const struct console *c, const char *name, double value, const char *unit)
{
	if (isfinite(value))
		fprintf(c->out, " %s %.4f %s", name, value, unit);
}

static void print_joint(const struct console *c, const struct msg_joint_state *s, unsigned int i)
{
	fprintf(c->out, "%s", s->joint[i]);
	print_number(c, "position", s->position[i], "rad");
	print_number(c, "velocity", s->velocity[i], "rad/s");
	print_number(c, "current", s->current[i], "A");
	print_number(c, "temperature", s->temperature[i] - KELVIN, "C");
	fprintf(c->out, "\n");
}

static void print_status(const struct console *c, const struct msg_joint_state *s, unsigned int i)
{
	static const struct {
		uint32_t bit;
		const char *word;
	} flags[] = {
		{ JMC_DRIVER_ON, "driver" },
		{ JMC_CONTROL_IS_ON, "control" },
		{ JMC_CURRENT_MODE, "current-mode" },
		{ JMC_LIMIT_SWITCH, "switch" },
		{ JMC_JAM, "JAM" },
		{ JMC_PWM_SATURATED, "SATURATED" },
		{ JMC_BIG_ERROR, "BIG-ERROR" },
		{ JMC_ENCODER_ERROR, "ENCODER-ERROR" },
		{ JMC_DRIVER_FAULT, "DRIVER-FAULT" },
		{ JMC_MOTOR_FAIL_0 | JMC_MOTOR_FAIL_1, "MOTOR-FAIL" },
		{ JMC_BELOW_LOWER, "below-lower" },
		{ JMC_ABOVE_UPPER, "above-upper" },
		{ JMC_VELOCITY, "velocity" },
		{ JMC_ACCELERATION, "acceleration" },
		{ JMC_TEMPERATURE, "TEMPERATURE" },
	};

	fprintf(c->out, "%-3s %-8s %s", s->joint[i], msg_life_word(s->lifecycle[i]),
		s->status[i] & MSG_JOINT_HOMED ? "homed" : "not-homed");
	if (s->status[i] & MSG_JOINT_SILENT)
		fprintf(c->out, " SILENT");
	if (s->status[i] & MSG_JOINT_COMPLIANT)
		fprintf(c->out, " compliant");
	for (size_t k = 0; k < sizeof(flags) / sizeof(*flags); k++)
		if (s->state_word[i] & flags[k].bit)
			fprintf(c->out, " %s", flags[k].word);
	fprintf(c->out, "\n");
}

static enum console_end run_update(struct console *c, const struct msg_joint_state *s)
{
	struct msg_reply missed = { 0 }, why = { 0 };
	enum console_end end = ask(c, MSG_VERB_GET, "missed", "", &missed);

	if (end == CONSOLE_DONE)
		end = ask(c, MSG_VERB_GET, "missed-why", "", &why);
	if (end == CONSOLE_DONE)
		fprintf(c->out, "%s, level %s, %s replies missed: %s\n", msg_life_word(s->common.lifecycle),
			msg_level_word(s->common.level), missed.value, why.value);
	return end;
}

/* ---- motion ---- */

/* The state of the next tick: which of its joints this one is.  -1: it cannot follow, and a line was printed. */
static int next_state(struct console *c, const char *joint, struct msg_joint_state *s)
{
	struct endplate_view view;
	int at, status = endplate_wait(c->robot, TICK_NS, NULL);

	if (!status)
		status = endplate_state(c->device, s, sizeof(*s), &view);
	if (status) {
		fail(c, joint, endplate_strerror(status));
		return -1;
	}
	at = place(s, joint);
	if (!view.follows || at < 0 || s->lifecycle[at] == MSG_LIFE_FAULT) {
		fail(c, joint, "it cannot follow: the robot was stopped, or its board has failed");
		return -1;
	}
	return at;
}

static int put_ref(struct console *c, const struct msg_joint_state *s, int at, enum msg_mode mode, double rad)
{
	struct msg_joint_ref ref = { .count = s->count };

	ref.mode[at] = (uint8_t)mode;
	ref.position[at] = rad;
	return endplate_put(c->device, &ref, sizeof(ref), VALID_NS);
}

/* The driver ramps to it within the limits, and holds the joint there afterwards. */
static enum console_end run_goto(struct console *c, const char *joint, double rad)
{
	struct msg_joint_state s;
	unsigned int reached = 0;

	for (int tick = 0; tick < GOTO_TICKS; tick++) {
		const int at = next_state(c, joint, &s);
		int status;

		if (at < 0)
			return CONSOLE_FAILED;
		reached = fabs(s.position[at] - rad) < NEAR_RAD ? reached + 1 : 0;
		if (reached == 3) {
			fprintf(c->out, "%s at %.4f rad\n", joint, s.position[at]);
			return CONSOLE_DONE;
		}
		status = put_ref(c, &s, at, MSG_MODE_POSITION, rad);
		if (status)
			return fail(c, joint, endplate_strerror(status));
	}
	return fail(c, joint, "not reached within 20 s; it may lie beyond the limits of the robot file");
}

/* It gives way for that time; when the references end the driver makes it rigid where it is. */
static enum console_end run_comply(struct console *c, const char *joint, double rad, double time_s)
{
	const int64_t until_ns = endplate_now_ns() + (int64_t)(time_s * 1e9);
	const int64_t soft_by_ns = endplate_now_ns() + SOFT_NS;
	struct msg_joint_state s;
	int at;

	do {
		int status;

		at = next_state(c, joint, &s);
		if (at < 0)
			return CONSOLE_FAILED;
		if (endplate_now_ns() > soft_by_ns && !(s.status[at] & MSG_JOINT_COMPLIANT))
			return fail(c, joint, "it stays rigid; achctl events says why");
		status = put_ref(c, &s, at, MSG_MODE_COMPLIANT, rad);
		if (status)
			return fail(c, joint, endplate_strerror(status));
	} while (endplate_now_ns() < until_ns);
	fprintf(c->out, "%s at %.4f rad\n", joint, s.position[at]);
	return CONSOLE_DONE;
}

static enum console_end run_raise(struct console *c, const char *level)
{
	const int status =
		endplate_raise(c->robot, !strcmp(level, "hold") ? MSG_LEVEL_HOLD : MSG_LEVEL_ESTOP, "by hubo-console");

	if (status)
		return fail(c, level, endplate_strerror(status));
	fprintf(c->out, "level %s\n", level);
	return CONSOLE_DONE;
}

/* ---- a line ---- */

static enum console_end run_joint(struct console *c, const struct console_call *call, const struct msg_joint_state *s)
{
	const int at = place(s, call->word);

	if (at < 0 || !is_active(s, (unsigned int)at))
		return fail(c, call->word, "this robot does not have it, or it is inactive in the joint table");
	switch (call->verb->does) {
	case CONSOLE_GET:
		print_joint(c, s, (unsigned int)at);
		return CONSOLE_DONE;
	case CONSOLE_STATUS:
		print_status(c, s, (unsigned int)at);
		return CONSOLE_DONE;
	case CONSOLE_GOTO:
		return run_goto(c, call->word, call->number);
	case CONSOLE_COMPLY:
		return run_comply(c, call->word, call->number, call->time_s);
	default:
		return run_parameters(c, call->word);
	}
}

/* The state in which it is not refused; false: there is none, and why. */
static bool is_possible(struct console *c, const struct console_call *call, struct msg_joint_state *s, char *why,
			size_t size)
{
	struct endplate_view view;
	const int status = endplate_state(c->device, s, sizeof(*s), &view);

	if (status)
		snprintf(why, size, "%s", endplate_strerror(status));
	else if (view.doubts & ENDPLATE_SILENT)
		snprintf(why, size, "the driver publishes nothing");
	else
		return !console_allowed(call, s->common.lifecycle, why, size);
	return false;
}

static enum console_end run(struct console *c, const struct console_call *call)
{
	const int64_t by_ns = endplate_now_ns() + c->within_ns;
	struct msg_joint_state s;
	char why[160];

	if (call->verb->does == CONSOLE_RAISE)
		return run_raise(c, call->verb->name);
	while (!is_possible(c, call, &s, why, sizeof(why)))
		if (endplate_now_ns() >= by_ns || endplate_wait(c->robot, LOOK_NS, NULL))
			return fail(c, c->name, why);
	switch (call->verb->does) {
	case CONSOLE_ASK:
		return run_ask(c, call);
	case CONSOLE_STATUS_ALL:
		for (unsigned int i = 0; i < s.count; i++)
			if (is_active(&s, i))
				print_status(c, &s, i);
		return CONSOLE_DONE;
	case CONSOLE_UPDATE:
		return run_update(c, &s);
	case CONSOLE_RESET_ALL:
		return run_reset_all(c, &s);
	case CONSOLE_SENSORS:
		return run_sensors(c);
	default:
		return run_joint(c, call, &s);
	}
}

enum console_end console_run(struct console *c, const char *line)
{
	struct console_call call;
	char why[160];

	if (console_parse(&call, line, why, sizeof(why)))
		return fail(c, c->name, why);
	if (!call.verb)
		return CONSOLE_DONE;
	if (call.verb->does == CONSOLE_QUIT)
		return CONSOLE_ENDS;
	if (call.verb->does != CONSOLE_HELP)
		return run(c, &call);
	for (const struct console_verb *v = console_verbs; v->name; v++)
		fprintf(c->out, "%-13s %s\n", v->name, v->about);
	return CONSOLE_DONE;
}
