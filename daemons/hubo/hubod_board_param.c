/* hubod_board_param.c: what is known of the parameters that boards have stored, published as NAME-board-param.
 *
 * Of a number that was never read, that a command may have changed since, or whose board was silent, nothing is known.
 */
#include <math.h>

#include "channels/msg/msg.h"
#include "daemons/hubo/hubod.h"

#define PUT_NS 1000000000   /* at least so often */
#define UNKNOWN (-1)	    /* of numbers that are not negative */
#define BOARD_LETTERS 0x1C0 /* G, H, I */
#define MOTORS_ALONE 2	    /* on boards with more of them motors share what is set */
#define BIT(number) (1u << (number))
#define EVERYTHING (BIT(JMC_NUMBERS) - 1)

/* What a command changes. */
static const struct {
	enum jmc_command command;
	const char *numbers; /* "": all */
} changes[] = {
	{ JMC_POSITION_GAINS, "kp ki kd" },
	{ JMC_CURRENT_GAINS, "current-kp current-kd current-kf" },
	{ JMC_DEAD_ZONE, "dead-zone" },
	{ JMC_HOME_SEARCH, "search-turns home-direction home-offset" },
	{ JMC_ENCODER_RESOLUTION, "encoder" },
	{ JMC_MOTION_LIMITS, "acceleration velocity" },
	{ JMC_LOWER_LIMIT, "lower" },
	{ JMC_UPPER_LIMIT, "upper" },
	{ JMC_HOME_MOTION, "home-acceleration home-to-limit home-to-offset home-mode jam-duty" },
	{ JMC_JAM_LIMITS, "jam-time saturation-time saturation-duty jam-duty" },
	{ JMC_ERROR_LIMITS, "input-difference error" },
	{ JMC_INITIALIZE, "" },
};

/* ---- in declare ---- */

static uint32_t numbers_of(const char *names)
{
	uint32_t numbers = 0;

	for (size_t len; *names; names += len + (names[len] != '\0')) {
		char name[MSG_NAME_SIZE];

		len = strcspn(names, " ");
		snprintf(name, sizeof(name), "%.*s", (int)len, names);
		numbers |= BIT(jmc_parameter_find(name));
	}
	return numbers ? numbers : EVERYTHING;
}

/* A number has the place of its name. */
static int place_number(struct hubod *h, unsigned int number, struct error_sink *errors)
{
	const struct msg_type *type = msg_type_by_number(msg_board_param_number);
	char path[MSG_NAME_SIZE], error[128];
	struct msg_place place;

	snprintf(path, sizeof(path), "%s", jmc_parameter_about(number).name);
	for (char *at = path; *at; at++)
		*at = (char)(*at == '-' ? '_' : *at);
	if (msg_find(type, path, &place, error, sizeof(error)))
		return error_refuse(errors, -1, "board-param: %s", error);
	h->param.place[number].at = place.offset;
	h->param.place[number].real = place.field->kind == MSG_f64;
	return 0;
}

void hubod_board_param_declare(struct hubod *h, struct drv *drv, struct error_sink *errors)
{
	char channel[TEXT_NAME_MAX + 16];

	for (unsigned int i = 0; i < JMC_NUMBERS; i++)
		place_number(h, i, errors);
	for (unsigned int i = 0; i < sizeof(changes) / sizeof(*changes); i++)
		h->param.changed_by[changes[i].command] = numbers_of(changes[i].numbers);
	snprintf(channel, sizeof(channel), "%s-board-param", drv_name(drv));
	h->param.output = drv_add_output(drv, channel, msg_board_param_number, errors);
	for (int i = 0; i < HUBO_JOINTS && h->settings.read_parameters; i++)
		h->param.unread |= h->joints[i].active ? 1ull << i : 0;
}

/* ---- what is known ---- */

void hubod_board_param_took(struct hubod *h, int joint, uint16_t letters, const struct jmc_parameters *values,
			    int64_t t_ns)
{
	for (int i = 0; i < HUBO_JOINTS; i++) {
		struct hubod_stored *s = &h->param.joints[i];

		if (!h->joints[i].active || h->joints[i].board != h->joints[joint].board)
			continue;
		for (unsigned int k = 0; k < JMC_NUMBERS; k++) {
			const uint16_t in = jmc_parameter_about(k).letters;

			if (in & ~letters || (i != joint && in & ~BOARD_LETTERS))
				continue;
			s->value[k] = (int32_t)jmc_parameter_value(values, k);
			s->known |= BIT(k);
			s->t_ns = t_ns;
		}
	}
	h->param.is_new = true;
}

/* Forgets parameters of this motor, and those of the whole board for its other motors; HUBO_NONE: of all motors. */
static void forget(struct hubod *h, unsigned int board, int motor, uint32_t numbers)
{
	for (int i = 0; i < HUBO_JOINTS; i++) {
		const struct hubod_joint *j = &h->joints[i];
		uint32_t gone = numbers;

		if (!j->active || j->board != board)
			continue;
		for (unsigned int k = 0; k < JMC_NUMBERS && motor != HUBO_NONE && motor != (int)j->motor; k++)
			if (jmc_parameter_about(k).letters & ~BOARD_LETTERS)
				gone &= ~BIT(k);
		if (!gone)
			continue;
		h->param.joints[i].known &= ~gone;
		h->param.unread |= h->settings.read_parameters ? 1ull << i : 0;
		h->param.is_new = true;
	}
}

void hubod_board_param_changed(struct hubod *h, unsigned int board, enum jmc_command command, unsigned int motor)
{
	const bool alone = jmc_command_about(command).motors && h->boards[board].table->motors <= MOTORS_ALONE;

	if (h->param.changed_by[command])
		hubod_read_again(h, board);
	forget(h, board, alone ? (int)motor : HUBO_NONE, h->param.changed_by[command]);
}

void hubod_board_param_forget(struct hubod *h, unsigned int board)
{
	forget(h, board, HUBO_NONE, EVERYTHING);
}

/* ---- published ---- */

static void fill(const struct hubod *h, struct msg_board_param *msg, int joint)
{
	const struct hubod_stored *s = &h->param.joints[joint];
	const struct hubo_joint *table = h->joints[joint].table;
	const char *name = hubo_joint_name(joint);

	if (name)
		snprintf(msg->joint[joint], sizeof(msg->joint[joint]), "%s", name);
	else
		snprintf(msg->joint[joint], sizeof(msg->joint[joint]), "unused%d", joint);
	msg->board[joint] = table->line ? h->table.boards[table->board].number : UNKNOWN;
	msg->t_read_ns[joint] = s->t_ns;
	if (s->t_ns && (!msg->header.t_sample_ns || s->t_ns < msg->header.t_sample_ns))
		msg->header.t_sample_ns = s->t_ns;
	for (unsigned int k = 0; k < JMC_NUMBERS; k++) {
		const bool known = s->known & BIT(k);
		const double real = known ? s->value[k] : NAN;
		const int32_t whole = known ? s->value[k] : UNKNOWN;
		char *at = (char *)msg + h->param.place[k].at;

		if (h->param.place[k].real)
			memcpy(at + (size_t)joint * sizeof(real), &real, sizeof(real));
		else
			memcpy(at + (size_t)joint * sizeof(whole), &whole, sizeof(whole));
	}
}

void hubod_board_param_put(struct hubod *h, struct drv *drv, int64_t now_ns)
{
	struct msg_board_param msg;

	if (!h->param.is_new && h->param.put_ns && now_ns - h->param.put_ns < PUT_NS)
		return;
	h->param.is_new = false;
	h->param.put_ns = now_ns;
	msg_init(&msg, msg_type_by_number(msg_board_param_number));
	msg.count = HUBO_JOINTS;
	for (int i = 0; i < HUBO_JOINTS; i++)
		fill(h, &msg, i);
	drv_put(drv, (unsigned int)h->param.output, &msg, now_ns);
}
