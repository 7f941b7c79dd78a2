/* pciod_module.c: questions and commands for a module. */
#include <math.h>

#include "daemons/pcio/pciod_module.h"

#define STANDS_RAD_S 0.005  /* slower than this it stands, whatever it says of moving */
#define JUMP_RAD 0.05	    /* farther than this and twice the velocity limit it does not get */
#define PROBE_NS 1000000000 /* a module that is silent for longer is asked this often */

#define REQUIRED                                                                                    \
	(PCIOD_Q_BIT_CONFIG | PCIOD_Q_BIT_VERSION | PCIOD_Q_BIT_SERIAL | PCIOD_Q_BIT_MIN_POSITION | \
	 PCIOD_Q_BIT_MAX_POSITION | PCIOD_Q_BIT_MAX_VELOCITY | PCIOD_Q_BIT_MAX_ACCELERATION | PCIOD_Q_BIT_MAX_CURRENT)

#define QUESTION(NAME, command, parameter) { PCIO_##command, parameter },
const struct pciod_question_row pciod_questions[PCIOD_Q_N] = { PCIOD_QUESTIONS(QUESTION) };

/* ---- life ---- */

struct pciod_actuator_word pciod_module_word(uint32_t state)
{
	return (struct pciod_actuator_word){
		.halted = state & PCIO_STATE_HALTED,
		.fault = pcio_faults(state),
		.unfed = state & PCIO_STATE_COMM_ERROR,
		.excusable = pcio_only_comm_error(state),
		.homed = state & PCIO_STATE_HOMED,
		.moving = state & PCIO_STATE_MOVING,
	};
}

/* From here on its state is unknown; the last measurements stay, with their age. */
void pciod_module_forget(struct pciod_module *m, int64_t now_ns)
{
	m->phase = PCIOD_ASKING;
	m->phase_ns = now_ns;
	m->known = 0;
	m->wrong = 0;
	m->reset_ns = 0;
	m->config_ns = 0;
	m->config_writes = 0;
	m->home_offset_rad = NAN;
	m->unreported = false;
}

void pciod_module_init(struct pciod_module *m, const struct pciod_settings *settings, unsigned int number,
		       uint32_t state, const struct pciod_actuator_before *before, int64_t now_ns)
{
	memset(m, 0, sizeof(*m));
	m->number = number;
	m->settings = settings;
	m->state = state; /* to be shown until it says another */
	m->position_rad = m->velocity_rad_s = m->current_a = NAN;
	m->heard_ns = now_ns;
	pciod_actuator_init(&m->a, before, settings->reply_lost_ns, now_ns);
	m->a.word = pciod_module_word(state);
	pciod_module_forget(m, now_ns);
}

uint32_t pciod_module_event(struct pciod_module *m, enum pciod_actuator_event event, int64_t t_ns)
{
	const uint32_t actions = pciod_actuator_event(&m->a, event, t_ns);

	if (actions & PCIOD_ACTUATOR_DO_TAKE_OVER)
		pciod_module_forget(m, t_ns);
	return actions;
}

static void notice_silence(struct pciod_module *m, int64_t now_ns, int64_t paused_ns)
{
	/* By the time since it was asked: a driver that was stopped itself has heard nothing either. */
	if (!m->waiting_ns || now_ns - m->waiting_ns - paused_ns <= m->settings->silent_after_ns)
		return;
	if (pciod_actuator_silence(&m->a, now_ns) & PCIOD_ACTUATOR_DO_TAKE_OVER)
		pciod_module_forget(m, now_ns);
}

void pciod_module_heard(struct pciod_module *m, int64_t t_ns)
{
	/* It did not hear us either, perhaps. */
	if (pciod_actuator_silent(&m->a) && t_ns - m->heard_ns > m->settings->watchdog_ns / 2)
		pciod_actuator_excuse(&m->a, t_ns);
	pciod_module_event(m, PCIOD_ACTUATOR_ON_HEARD, t_ns);
	m->heard_ns = t_ns > m->heard_ns ? t_ns : m->heard_ns;
	m->waiting_ns = 0;
}

/* ---- questions ---- */

static unsigned int home_offset(const struct pciod_module *m)
{
	return m->settings->home_offset ? PCIOD_Q_HOME_OFFSET_89 : PCIOD_Q_HOME_OFFSET;
}

/* Questions of the verification that are still open. */
static uint32_t unverified(const struct pciod_module *m)
{
	const unsigned int offset = home_offset(m);
	uint32_t ask = REQUIRED;

	if (m->config_ns == INT64_MAX) /* not before the writing is confirmed */
		ask &= ~(uint32_t)PCIOD_Q_BIT_CONFIG;
	if (!(m->unanswered & 1u << offset)) /* a module may not know it */
		ask |= 1u << offset;
	return ask & ~m->known;
}

static uint32_t some_of(uint32_t bits, unsigned int max)
{
	uint32_t some = 0;

	for (; bits && max; max--) {
		some |= bits & -bits;
		bits &= bits - 1;
	}
	return some;
}

/* Is it time to ask a module that does not answer? */
static bool probe(struct pciod_module *m, int64_t now_ns)
{
	if (now_ns - m->heard_ns > PROBE_NS && now_ns - m->probe_ns < PROBE_NS)
		return false;
	m->probe_ns = now_ns;
	return true;
}

/* ---- commands ---- */

static struct pciod_move commanded(const struct drv_ref_command *command, bool stand)
{
	const bool current = command->mode == MSG_MODE_CURRENT && !stand;
	const double value = current ? command->current_a : command->track_rad_s;

	return (struct pciod_move){ .motion = current ? PCIO_CURRENT_STATE : PCIO_VELOCITY_STATE,
				    .value = isfinite(value) ? value : 0,
				    .stops = command->stops || stand };
}

static void carry_out(struct pciod_module *m, uint32_t actions, const struct pciod_tick_input *input,
		      struct pciod_tick_output *output)
{
	if (actions & PCIOD_ACTUATOR_DO_HALT)
		output->what = PCIOD_DO_HALT;
	if (actions & (PCIOD_ACTUATOR_DO_STAND | PCIOD_ACTUATOR_DO_BRAKE)) {
		output->what = actions & PCIOD_ACTUATOR_DO_STAND ? PCIOD_DO_STAND : PCIOD_DO_MOVE;
		output->move = (struct pciod_move){ PCIO_VELOCITY_STATE, 0, true };
	}
	if (actions & PCIOD_ACTUATOR_DO_DRIVE) {
		output->what = PCIOD_DO_MOVE;
		output->move = commanded(input->command, input->stand);
		m->driven_rad = m->position_rad;
		m->driven_ns = m->t_ns[PCIOD_Q_POSITION];
	}
	if (actions & PCIOD_ACTUATOR_DO_RESET)
		output->what = PCIOD_DO_RESET;
	if (actions & PCIOD_ACTUATOR_DO_HOME)
		output->what = PCIOD_DO_HOME;
	if (actions & PCIOD_ACTUATOR_DO_TAKE_OVER)
		pciod_module_forget(m, input->now_ns);
}

/* It lost its power and counts from elsewhere, or homing has given it another zero. */
static bool jumped(const struct pciod_module *m, const struct pciod_tick_input *input)
{
	const double s = input->dt_s + (double)(m->t_ns[PCIOD_Q_POSITION] - m->driven_ns) / 1e9;

	return fabs(m->position_rad - m->driven_rad) > JUMP_RAD + 2 * input->limits->velocity_rad_s * s;
}

static void live(struct pciod_module *m, const struct pciod_tick_input *input, struct pciod_tick_output *output)
{
	const struct pciod_actuator_goal w = {
		.now_ns = input->now_ns,
		.halt = input->halt,
		.resets = input->resets,
		.resettable = m->known & PCIOD_Q_BIT_POSITION,
		.stands = pciod_module_stands(m),
		.jumped = jumped(m, input),
		.drive = m->phase == PCIOD_UP && pciod_module_knows(m) && input->command,
		.following = input->following,
	};

	carry_out(m, pciod_actuator_tick(&m->a, &w), input, output);
}

/* ---- the tick ---- */

void pciod_module_tick(struct pciod_module *m, const struct pciod_tick_input *input, struct pciod_tick_output *output)
{
	memset(output, 0, sizeof(*output));
	m->fresh = 0;
	m->paused_ns = input->sample_paused_ns;
	notice_silence(m, input->now_ns, input->paused_ns);
	if (pciod_actuator_silent(&m->a) && !probe(m, input->now_ns))
		return;
	live(m, input, output);
	output->ask = PCIOD_SAMPLE;
	if (pciod_actuator_silent(&m->a) && input->now_ns - m->heard_ns > PROBE_NS)
		output->ask = PCIOD_Q_BIT_STATE;
	if (m->phase == PCIOD_VERIFYING) {
		output->ask |= some_of(unverified(m) & ~m->asked, input->verify_max);
		output->set_config = m->known & PCIOD_Q_BIT_CONFIG && !m->wrong && !m->a.reset_failed &&
				     m->config != m->config_wanted && !m->config_ns;
	}
	output->ask &= ~m->asked;
}

void pciod_module_put(struct pciod_module *m, enum pciod_question question, int64_t now_ns)
{
	m->asked |= 1u << question;
	if (!m->waiting_ns)
		m->waiting_ns = now_ns;
	switch (question) {
	case PCIOD_Q_RESET:
		pciod_module_event(m, PCIOD_ACTUATOR_ON_RESET_PUT, now_ns);
		break;
	case PCIOD_Q_HOME:
		pciod_module_event(m, PCIOD_ACTUATOR_ON_HOME_PUT, now_ns);
		break;
	case PCIOD_Q_SET_CONFIG:
		m->config_writes++;
		m->config_ns = INT64_MAX;
		break;
	default:
		break;
	}
}

void pciod_module_was_reset(struct pciod_module *m, int64_t t_ns)
{
	pciod_module_event(m, PCIOD_ACTUATOR_ON_RESET_ANSWERED, t_ns);
	m->reset_ns = t_ns;
	m->known &= ~(uint32_t)PCIOD_Q_BIT_POSITION;
}

void pciod_module_reset_sent(struct pciod_module *m, int64_t t_ns)
{
	if (m->asked & PCIOD_Q_BIT_RESET)
		pciod_module_event(m, PCIOD_ACTUATOR_ON_RESET_SENT, t_ns);
	else if (m->a.state == PCIOD_ACTUATOR_RESET_PUT)
		pciod_module_was_reset(m, t_ns); /* its reply does not count, but the state word does */
}

void pciod_module_unanswered(struct pciod_module *m, enum pciod_question question, int64_t now_ns)
{
	m->asked &= ~(1u << question);
	m->unanswered |= 1u << question;
	if (question == PCIOD_Q_RESET)
		pciod_module_event(m, PCIOD_ACTUATOR_ON_RESET_UNANSWERED, now_ns);
	else if (question == PCIOD_Q_HOME)
		pciod_module_event(m, PCIOD_ACTUATOR_ON_HOME_UNANSWERED, now_ns);
	else if (question == PCIOD_Q_SET_CONFIG)
		m->config_ns = 0; /* perhaps it was written, perhaps not: once more */
}

/* ---- how it is ---- */

bool pciod_module_knows(const struct pciod_module *m)
{
	return (m->known & PCIOD_SAMPLE) == PCIOD_SAMPLE;
}

bool pciod_module_verified(const struct pciod_module *m)
{
	return !unverified(m) && !m->wrong && !m->a.reset_failed && m->config == m->config_wanted;
}

bool pciod_module_stands(const struct pciod_module *m)
{
	return !(m->state & PCIO_STATE_MOVING) || fabs(m->velocity_rad_s) < STANDS_RAD_S;
}

int64_t pciod_module_oldest_ns(const struct pciod_module *m)
{
	int64_t oldest_ns = 0;

	for (unsigned int q = 0; q < PCIOD_SAMPLES; q++)
		if (m->t_ns[q] && (!oldest_ns || m->t_ns[q] < oldest_ns))
			oldest_ns = m->t_ns[q];
	return oldest_ns;
}
