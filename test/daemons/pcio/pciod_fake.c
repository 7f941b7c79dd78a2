/* pciod_fake.c: a module that answers what one driver asks of it. */
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "unity.h"

#include "test/daemons/pcio/pciod_fake.h"

#define NUMBER 15

void fake_start(struct fake *f)
{
	memset(f, 0, sizeof(*f));
	f->state = PCIO_STATE_HOMED;
	f->config = 0x00000118;
	f->position = 1.5f;
	f->min_position = -2;
	f->max_position = 2;
	f->max_velocity = 0.5f;
	f->max_acceleration = 2;
	f->max_current = 10;
	f->reset_helps = f->config_stays = true;
	f->status = 0x64;
	f->settings = (struct pciod_settings){ .reply_late_ns = 20 * MS,
					       .reply_lost_ns = 100 * MS,
					       .silent_after_ns = 50 * MS,
					       .watchdog_ns = 50 * MS,
					       .ack_ok = 0x64,
					       .margin = 0.02,
					       .gain_s = 10 };
	f->limits = drv_ref_no_limits;
	f->now_ns = 1000 * MS;
	f->input = (struct pciod_tick_input){ .resets = true, .limits = &f->limits, .dt_s = 0.005, .verify_max = 16 };
	fake_restart(f, &(struct pciod_actuator_before){ .known = true, .halted_by_us = true });
}

/* ---- the matcher of its driver ---- */

/* The numbers of its rows are those of enum pcio_send; so are those of the questions. */
void fake_forget(struct fake *f)
{
	memset(&f->asks, 0, sizeof(f->asks));
	for (enum pcio_send kind = 0; kind < PCIO_SENDS; kind++) {
		const bool two = kind == PCIO_SEND_GET || kind == PCIO_SEND_MOVE;
		const struct drv_question question = { .send = kind,
						       .echo = { { 0, 0, 0xFF }, { 1, 1, two ? 0xFF : 0 } },
						       .late_ns = f->settings.reply_late_ns,
						       .lost_ns = f->settings.reply_lost_ns };

		drv_ask_add(&f->asks, &question);
	}
	f->m.asked = 0;
}

static enum pcio_send row_of(enum pciod_question question)
{
	switch (pciod_questions[question].command) {
	case PCIO_GET:
		return PCIO_SEND_GET;
	case PCIO_MOVE:
		return PCIO_SEND_MOVE;
	case PCIO_HOME:
		return PCIO_SEND_HOME;
	default:
		return PCIO_SEND_COMMAND;
	}
}

static struct frame request(enum pciod_question question)
{
	return (struct frame){ .len = 2,
			       .data = { pciod_questions[question].command, pciod_questions[question].parameter } };
}

static void due(struct fake *f)
{
	struct drv_ask_answer answer;

	while (drv_ask_due(&f->asks, f->now_ns, &answer) == DRV_ASK_UNANSWERED)
		pciod_module_unanswered(&f->m, answer.tag, answer.asked_ns);
}

static enum pciod_news hear(struct fake *f, const struct frame *frame, int64_t t_ns)
{
	struct drv_ask_answer answer;

	switch (drv_ask_reply(&f->asks, 0, frame, t_ns, &answer)) {
	case DRV_ASK_ANSWER:
		return pciod_module_answer(&f->m, answer.tag, frame, answer.asked_ns, t_ns);
	case DRV_ASK_NOTHING:
		return pciod_module_stray(&f->m, frame, t_ns);
	default:
		pciod_module_heard(&f->m, t_ns);
		return PCIOD_NEWS_NONE;
	}
}

void fake_reset_sent(struct fake *f)
{
	const struct frame frame = request(PCIOD_Q_RESET);

	drv_ask_sent(&f->asks, PCIO_SEND_COMMAND, &frame, f->now_ns);
	pciod_module_reset_sent(&f->m, f->now_ns);
}

void fake_reset_lost(struct fake *f)
{
	const struct frame frame = request(PCIOD_Q_RESET);

	drv_ask_lost(&f->asks, PCIO_SEND_COMMAND, &frame, true);
	pciod_module_event(&f->m, PCIOD_ACTUATOR_ON_RESET_LOST, f->m.a.state_ns);
}

/* ---- commands ---- */

void fake_restart(struct fake *f, const struct pciod_actuator_before *before)
{
	fake_forget(f);
	pciod_module_init(&f->m, &f->settings, NUMBER, 0, before, f->now_ns + 5 * MS); /* in the first tick */
}

static void record(struct fake *f, const char *what, double value)
{
	size_t len = strlen(f->commands);

	snprintf(f->commands + len, sizeof(f->commands) - len, isnan(value) ? "%s%s" : "%s%s %.9g", len ? "; " : "",
		 what, value);
}

static bool put(struct fake *f, enum pciod_question question)
{
	const struct frame frame = request(question);
	const enum pcio_send row = row_of(question);

	if (drv_ask_may(&f->asks, row, &frame))
		return false;
	drv_ask_put(&f->asks, row, &frame, question, f->now_ns);
	pciod_module_put(&f->m, question, f->now_ns);
	if (f->stands & 1u << question)
		return true;
	if (question == PCIOD_Q_RESET)
		fake_reset_sent(f);
	else
		drv_ask_sent(&f->asks, row, &frame, f->now_ns);
	f->asked |= 1u << question;
	return true;
}

static void set_config(struct fake *f)
{
	char text[32];

	if (!put(f, PCIOD_Q_SET_CONFIG))
		return;
	snprintf(text, sizeof(text), "config %08X", f->m.config_wanted);
	record(f, text, NAN);
	if (f->config_stays)
		f->config = f->m.config_wanted;
}

static void move(struct fake *f, const struct pciod_tick_output *d)
{
	const bool current = d->move.motion == PCIO_CURRENT_STATE;

	if (d->what == PCIOD_DO_MOVE && put(f, current ? PCIOD_Q_MOVE_CURRENT : PCIOD_Q_MOVE_VELOCITY)) {
		record(f, current ? "c" : "v", d->move.value);
		f->output.ask &= ~(uint32_t)PCIOD_Q_BIT_POSITION;
	} else {
		record(f, current ? "C" : "V", d->move.value);
	}
}

void fake_ask(struct fake *f)
{
	const struct pciod_tick_output *d = &f->output;

	f->now_ns += 5 * MS;
	f->asked = 0;
	f->input.now_ns = f->now_ns;
	due(f);
	pciod_module_tick(&f->m, &f->input, &f->output);
	switch (d->what) {
	case PCIOD_DO_NOTHING:
		break;
	case PCIOD_DO_HALT:
		record(f, "halt", NAN);
		if (f->deaf_to_halt)
			break;
		f->m.a.halt_ns = f->now_ns - 1; /* before what is asked in this tick */
		f->state |= PCIO_STATE_HALTED | PCIO_STATE_BRAKE;
		if (!f->brakes_slowly)
			f->state &= ~(uint32_t)PCIO_STATE_MOVING;
		break;
	case PCIOD_DO_MOVE:
	case PCIOD_DO_STAND:
		move(f, d);
		break;
	case PCIOD_DO_RESET:
		if (!put(f, PCIOD_Q_RESET))
			break;
		record(f, "reset", NAN);
		if (f->reset_helps && !(f->stands & PCIOD_Q_BIT_RESET))
			f->state &= PCIO_STATE_HOMED;
		break;
	case PCIOD_DO_HOME:
		if (put(f, PCIOD_Q_HOME))
			record(f, "home", NAN);
		break;
	}
	if (d->set_config)
		set_config(f);
	for (unsigned int q = 0; q < PCIOD_Q_N; q++)
		if (d->ask & 1u << q)
			put(f, q);
}

/* ---- answers ---- */

static void real(struct frame *frame, float value)
{
	memcpy(frame->data + 2, &value, sizeof(value)); /* the tests run on little-endian machines */
	frame->len = 6;
}

static void word(struct frame *frame, uint32_t value)
{
	memcpy(frame->data + 2, &value, sizeof(value));
	frame->len = 6;
}

void fake_answer(struct fake *f, enum pciod_question question, int64_t t_ns)
{
	const float reals[PCIOD_Q_N] = { [PCIOD_Q_POSITION] = f->position,
					 [PCIOD_Q_VELOCITY] = f->velocity,
					 [PCIOD_Q_CURRENT] = f->current,
					 [PCIOD_Q_MIN_POSITION] = f->min_position,
					 [PCIOD_Q_MAX_POSITION] = f->max_position,
					 [PCIOD_Q_MAX_VELOCITY] = f->max_velocity,
					 [PCIOD_Q_MAX_ACCELERATION] = f->max_acceleration,
					 [PCIOD_Q_MAX_CURRENT] = f->max_current,
					 [PCIOD_Q_HOME_OFFSET] = 0.125f,
					 [PCIOD_Q_HOME_OFFSET_89] = 0.25f,
					 [PCIOD_Q_MOVE_VELOCITY] = f->position,
					 [PCIOD_Q_MOVE_CURRENT] = f->position };
	struct frame frame = { .id = 0x0A0 + NUMBER };

	frame.data[0] = pciod_questions[question].command;
	frame.data[1] = pciod_questions[question].parameter;
	switch (question) {
	case PCIOD_Q_STATE:
		word(&frame, f->state);
		break;
	case PCIOD_Q_CONFIG:
		word(&frame, f->config);
		break;
	case PCIOD_Q_SERIAL:
		word(&frame, 1015);
		break;
	case PCIOD_Q_VERSION:
		memcpy(frame.data + 2, "\x01\x25", 2);
		frame.len = 4;
		break;
	case PCIOD_Q_SET_CONFIG:
		frame.data[2] = f->status;
		frame.len = 3;
		break;
	case PCIOD_Q_RESET:
	case PCIOD_Q_HOME:
		frame.len = 1;
		break;
	case PCIOD_Q_MOVE_VELOCITY:
	case PCIOD_Q_MOVE_CURRENT:
		real(&frame, reals[question]);
		frame.len = 8;
		break;
	default:
		real(&frame, reals[question]);
	}
	TEST_ASSERT_EQUAL(PCIOD_NEWS_NONE, hear(f, &frame, t_ns));
}

enum pciod_news fake_reply(struct fake *f, const char *hex, int64_t t_ns)
{
	struct frame frame = { .id = 0x0A0 + NUMBER };
	unsigned int byte;

	for (; sscanf(hex, "%2x", &byte) == 1; hex += 2)
		frame.data[frame.len++] = (uint8_t)byte;
	return hear(f, &frame, t_ns);
}

/* The last question is answered first. */
void fake_tick(struct fake *f)
{
	fake_ask(f);
	for (unsigned int q = PCIOD_Q_N; q-- && !f->mute;)
		if (f->asked & ~f->deaf_to & 1u << q)
			fake_answer(f, q, f->now_ns + MS);
	pciod_actuator_latch(&f->m.a, f->m.phase == PCIOD_UP && !f->m.wrong, f->m.wrong);
}

void fake_ticks(struct fake *f, unsigned int n)
{
	while (n--)
		fake_tick(f);
}

const char *fake_commands(struct fake *f)
{
	static char commands[FAKE_COMMANDS_MAX];

	memcpy(commands, f->commands, sizeof(commands));
	*f->commands = '\0';
	return commands;
}

void fake_up(struct fake *f)
{
	for (unsigned int i = 0; i < 20 && !(f->m.phase == PCIOD_UP); i++)
		fake_tick(f);
	TEST_ASSERT_TRUE_MESSAGE((f->m.phase == PCIOD_UP), "it is not up after 20 ticks");
}
