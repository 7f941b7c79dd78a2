/* pciod_module.c: what is asked of a module, and what it is told. */
#include <math.h>
#include <string.h>

#include "daemons/pcio/pciod_module.h"

#define STANDS_RAD_S 0.005  /* slower than this it stands, whatever it says of moving */
#define JUMP_RAD 0.05	    /* farther than this and twice the velocity limit it does not get */
#define PROBE_NS 1000000000 /* a module silent for so long is asked so often */
#define REST_NS 1000000000  /* one that was halted comes to rest first, if it does within so long */

#define REQUIRED                                                                                    \
	(PCIOD_Q_BIT_CONFIG | PCIOD_Q_BIT_VERSION | PCIOD_Q_BIT_SERIAL | PCIOD_Q_BIT_MIN_POSITION | \
	 PCIOD_Q_BIT_MAX_POSITION | PCIOD_Q_BIT_MAX_VELOCITY | PCIOD_Q_BIT_MAX_ACCELERATION | PCIOD_Q_BIT_MAX_CURRENT)

#define QUESTION(NAME, command, parameter) { PCIO_##command, parameter },
const struct pciod_question_row pciod_questions[PCIOD_Q_N] = { PCIOD_QUESTIONS(QUESTION) };

/* ---- life ---- */

/* From here on nothing is known of it; what it measured last stays to be shown, with its age. */
static void take_over(struct pciod_module *m, int64_t now_ns)
{
	m->phase = PCIOD_ASKING;
	m->phase_ns = now_ns;
	m->known = 0;
	m->wrong = 0;
	m->found = 0;
	m->ours_ns = m->ours_ns ? 1 : 0; /* a halt of before the take-over */
	m->clear_ns = 0;
	m->reset_asked = false;
	m->excused_ns = 0;
	m->reset_ns = 0;
	m->config_ns = 0;
	m->config_writes = 0;
	m->home_offset_rad = NAN;
	m->from_rest = false;
	m->untold = 0;
}

void pciod_module_init(struct pciod_module *m, unsigned int number, const struct pciod_before *before, int64_t now_ns)
{
	memset(m, 0, sizeof(*m));
	m->number = number;
	m->state = before->state; /* to be shown until it says another */
	if (before->known)
		m->zero = before->state & PCIO_STATE_HOMED ? PCIOD_ZERO_HOMED : PCIOD_ZERO_NOT_HOMED;
	m->ours_ns = before->halted_by_us;
	m->latches = before->latches;
	m->position_rad = m->velocity_rad_s = m->current_a = NAN;
	m->heard_ns = now_ns;
	m->life = PCIOD_LIFE_UNKNOWN;
	pciod_module_forgive(m, now_ns); /* no driver was there before */
	take_over(m, now_ns);
}

void pciod_module_forgive(struct pciod_module *m, int64_t t_ns)
{
	m->excuse_ns = t_ns;
}

static void keep_books(struct pciod_module *m, uint32_t actions, int64_t t_ns)
{
	if (actions & PCIOD_ACT_TAKE_OVER)
		take_over(m, t_ns);
	if (actions & PCIOD_ACT_EXCUSE && !m->reset_asked && pcio_only_comm_error(m->state)) {
		m->excused_ns = m->excuse_ns;
		m->excuse_ns = 0;
	}
	if (actions & PCIOD_ACT_GIVE_BACK && m->excused_ns && !m->excuse_ns)
		m->excuse_ns = m->excused_ns;
	if (actions & PCIOD_ACT_FAIL_RESET)
		m->wrong |= PCIOD_WRONG_NOT_RESET;
	if (actions & PCIOD_ACT_END_RESET) {
		m->ours_ns = 0;
		m->untold |= m->excused_ns ? PCIOD_UNTOLD_COMM_CLEARED : 0;
	}
	if (actions & (PCIOD_ACT_GIVE_BACK | PCIOD_ACT_FAIL_RESET | PCIOD_ACT_END_RESET | PCIOD_ACT_DROP_RESET))
		m->excused_ns = 0;
	if (actions & (PCIOD_ACT_FAIL_RESET | PCIOD_ACT_END_RESET | PCIOD_ACT_DROP_RESET))
		m->reset_asked = false;
	if (actions & PCIOD_ACT_LATCH_HOME)
		m->latches |= MSG_LATCH_HOMING_ABORTED;
	if (actions & PCIOD_ACT_END_HOME)
		m->latches &= ~(uint32_t)(MSG_LATCH_POSITION_UNKNOWN | MSG_LATCH_HOMING_ABORTED);
}

uint32_t pciod_module_event(struct pciod_module *m, enum pciod_event event, int64_t t_ns)
{
	const struct pciod_row *row = pciod_life_row(m->life, event);

	if (!row)
		return 0;
	if (row->next != PCIOD_LIFE_SAME && row->next != m->life) {
		m->life = row->next;
		m->life_ns = t_ns;
	}
	keep_books(m, row->actions, t_ns);
	return row->actions;
}

static void notice_silence(struct pciod_module *m, const struct pciod_rules *rules, int64_t now_ns)
{
	const bool moves = m->known & PCIOD_Q_BIT_STATE && m->state & PCIO_STATE_MOVING;

	/* By the time since it was asked: a driver that was stopped itself has heard nothing either. */
	if (m->waiting_ns && now_ns - m->waiting_ns > rules->silent_after_ns)
		pciod_module_event(m, moves ? PCIOD_EVENT_SILENCE_MOVING : PCIOD_EVENT_SILENCE, now_ns);
}

void pciod_module_heard(struct pciod_module *m, const struct pciod_rules *rules, int64_t t_ns)
{
	/* It did not hear us either, perhaps. */
	if (pciod_module_silent(m) && t_ns - m->heard_ns > rules->watchdog_ns / 2)
		pciod_module_forgive(m, t_ns);
	pciod_module_event(m, PCIOD_EVENT_HEARD, t_ns);
	m->heard_ns = t_ns > m->heard_ns ? t_ns : m->heard_ns;
	m->waiting_ns = 0;
}

/* ---- questions ---- */

static unsigned int home_offset(const struct pciod_rules *rules)
{
	return rules->home_offset_id == PCIO_HOME_OFFSET ? PCIOD_Q_HOME_OFFSET : PCIOD_Q_HOME_OFFSET_89;
}

/* What the verification still has to ask. */
static uint32_t unverified(const struct pciod_module *m, const struct pciod_rules *rules)
{
	const unsigned int offset = home_offset(rules);
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

/* ---- what happens in a tick ---- */

/* It was told to halt, and no state word tells yet whether it did. */
static bool halt_open(const struct pciod_module *m)
{
	return m->halt_ns && m->state_asked_ns <= m->halt_ns;
}

/* May this driver reset it by itself? */
static bool resettable(const struct pciod_module *m, const struct pciod_wish *wish)
{
	if (!wish->resets || !(m->known & PCIOD_Q_BIT_POSITION) || m->wrong & PCIOD_WRONG_NOT_RESET)
		return false;
	if (m->excuse_ns && pcio_only_comm_error(m->state))
		return true;
	return m->state & PCIO_STATE_HALTED && !pcio_faults(m->state) && m->ours_ns &&
	       (pciod_module_stands(m) || wish->now_ns - m->halt_ns > REST_NS);
}

/* May its reset begin, or go on?  A halt ends one that no person has asked for. */
static bool may_reset(const struct pciod_module *m, const struct pciod_wish *wish)
{
	if (!pciod_module_resetting(m))
		return resettable(m, wish);
	if (m->reset_asked || wish->resets)
		return true;
	/* What was put is waited for, but not while it moves. */
	return m->life != PCIOD_LIFE_RESET_WANTED && !wish->halt && (pciod_module_blocked(m) || pciod_module_stands(m));
}

static enum pciod_event reset_event(const struct pciod_module *m, const struct pciod_rules *rules, int64_t now_ns)
{
	if (m->life == PCIOD_LIFE_RESET_CHECK && now_ns - m->life_ns > rules->lost_ns)
		return PCIOD_EVENT_UNCONFIRMED;
	return pciod_module_blocked(m) ? PCIOD_EVENT_RESET : PCIOD_EVENT_FREED;
}

/* It is where it cannot have got to since it was last driven: it lost its power and counts anew, or homing has given it
 * another zero. */
static bool jumped(const struct pciod_module *m, const struct pciod_wish *wish)
{
	const double s = wish->dt_s + (double)(m->t_ns[PCIOD_Q_POSITION] - m->driven_ns) / 1e9;

	return m->life == PCIOD_LIFE_DRIVEN &&
	       fabs(m->position_rad - m->driven_rad) > JUMP_RAD + 2 * wish->limits->velocity_rad_s * s;
}

static enum pciod_event free_event(const struct pciod_module *m, const struct pciod_wish *wish)
{
	const bool stands = pciod_module_stands(m);

	if (jumped(m, wish))
		return stands ? PCIOD_EVENT_JUMPED : PCIOD_EVENT_JUMPED_MOVING;
	if (m->phase != PCIOD_UP || !pciod_module_knows(m) || !wish->command)
		return stands ? PCIOD_EVENT_REST : PCIOD_EVENT_BRAKE;
	return stands || wish->following ? PCIOD_EVENT_DRIVE : PCIOD_EVENT_DRIVE_MOVING;
}

static enum pciod_event tick_event(const struct pciod_module *m, const struct pciod_rules *rules,
				   const struct pciod_wish *wish)
{
	if (pciod_module_silent(m))
		return wish->halt ? PCIOD_EVENT_HALT : PCIOD_EVENT_WAIT;
	if (!(m->known & PCIOD_Q_BIT_STATE)) /* the first frames are questions */
		return wish->halt && wish->now_ns > m->phase_ns ? PCIOD_EVENT_HALT : PCIOD_EVENT_WAIT;
	if (may_reset(m, wish))
		return reset_event(m, rules, wish->now_ns);
	if (wish->halt)
		return m->state & PCIO_STATE_HALTED ? PCIOD_EVENT_KEEP : PCIOD_EVENT_HALT;
	if (halt_open(m) || pciod_module_blocked(m))
		return PCIOD_EVENT_STAY;
	return free_event(m, wish);
}

/* ---- what it is told ---- */

static struct pciod_move commanded(const struct drv_ref_command *command, bool stand)
{
	const bool current = command->mode == MSG_MODE_CURRENT && !stand;
	const double value = current ? command->current_a : command->track_rad_s;

	return (struct pciod_move){ .motion = current ? PCIO_CURRENT_STATE : PCIO_VELOCITY_STATE,
				    .value = isfinite(value) ? value : 0,
				    .stops = command->stops || stand };
}

static void halt(struct pciod_module *m, int64_t now_ns, struct pciod_deed *deed)
{
	deed->what = PCIOD_DO_HALT;
	m->ours_ns = m->ours_ns ? m->ours_ns : now_ns;
	m->halt_ns = now_ns + PCIOD_HALT_DEADLINE_NS;
}

static void carry_out(struct pciod_module *m, uint32_t actions, const struct pciod_wish *wish, struct pciod_deed *deed)
{
	if (actions & PCIOD_ACT_HALT)
		halt(m, wish->now_ns, deed);
	if (actions & (PCIOD_ACT_STAND | PCIOD_ACT_BRAKE)) {
		deed->what = actions & PCIOD_ACT_STAND ? PCIOD_DO_STAND : PCIOD_DO_MOVE;
		deed->move = (struct pciod_move){ PCIO_VELOCITY_STATE, 0, true };
	}
	if (actions & PCIOD_ACT_DRIVE) {
		deed->what = PCIOD_DO_MOVE;
		deed->move = commanded(wish->command, wish->stand);
		m->driven_rad = m->position_rad;
		m->driven_ns = m->t_ns[PCIOD_Q_POSITION];
	}
	if (actions & PCIOD_ACT_RESET)
		deed->what = PCIOD_DO_RESET;
	if (actions & PCIOD_ACT_HOME)
		deed->what = PCIOD_DO_HOME;
}

/* Halted by us, as far as is known, and not yet free again. */
static bool stopped(const struct pciod_module *m)
{
	return halt_open(m) || (m->ours_ns && (m->state & PCIO_STATE_HALTED || pciod_module_resetting(m)));
}

static void live(struct pciod_module *m, const struct pciod_rules *rules, const struct pciod_wish *wish,
		 struct pciod_deed *deed)
{
	const enum pciod_life before = m->life;
	const enum pciod_event event = tick_event(m, rules, wish);
	const uint32_t actions = pciod_module_event(m, event, wish->now_ns);

	carry_out(m, actions, wish, deed);
	if (actions & PCIOD_ACT_BRAKE)
		m->from_rest = true;
	else if (m->life != PCIOD_LIFE_FREE || event != PCIOD_EVENT_REST)
		m->from_rest = m->life != PCIOD_LIFE_DRIVEN && stopped(m);
	else
		m->from_rest = m->from_rest && before != PCIOD_LIFE_DRIVEN;
}

/* ---- the tick ---- */

void pciod_module_tick(struct pciod_module *m, const struct pciod_rules *rules, const struct pciod_wish *wish,
		       struct pciod_deed *deed)
{
	memset(deed, 0, sizeof(*deed));
	m->fresh = 0;
	notice_silence(m, rules, wish->now_ns);
	if (pciod_module_silent(m)) {
		if (!probe(m, wish->now_ns))
			return;
		deed->ask = wish->now_ns - m->heard_ns > PROBE_NS ? PCIOD_Q_BIT_STATE : PCIOD_SAMPLE;
		carry_out(m, pciod_module_event(m, tick_event(m, rules, wish), wish->now_ns), wish, deed);
	} else {
		live(m, rules, wish, deed);
		deed->ask = PCIOD_SAMPLE;
	}
	if (m->phase == PCIOD_VERIFYING) {
		deed->ask |= some_of(unverified(m, rules) & ~m->asked, wish->verify_max);
		deed->set_config =
			m->known & PCIOD_Q_BIT_CONFIG && !m->wrong && m->config != m->config_wanted && !m->config_ns;
	}
	deed->ask &= ~m->asked;
}

void pciod_module_put(struct pciod_module *m, enum pciod_question question, int64_t now_ns)
{
	m->asked |= 1u << question;
	if (!m->waiting_ns)
		m->waiting_ns = now_ns;
	switch (question) {
	case PCIOD_Q_RESET:
		pciod_module_event(m, PCIOD_EVENT_RESET_PUT, now_ns);
		break;
	case PCIOD_Q_HOME:
		pciod_module_event(m, PCIOD_EVENT_HOME_PUT, now_ns);
		m->zero = PCIOD_ZERO_NOT_HOMED;
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
	pciod_module_event(m, PCIOD_EVENT_RESET_ANSWERED, t_ns);
	m->reset_ns = t_ns;
	m->known &= ~(uint32_t)PCIOD_Q_BIT_POSITION;
}

void pciod_module_reset_sent(struct pciod_module *m, int64_t t_ns)
{
	if (m->asked & PCIOD_Q_BIT_RESET)
		pciod_module_event(m, PCIOD_EVENT_RESET_SENT, t_ns);
	else if (m->life == PCIOD_LIFE_RESET_PUT)
		pciod_module_was_reset(m, t_ns); /* its reply counts no more, but the state word does */
}

void pciod_module_reset_lost(struct pciod_module *m)
{
	pciod_module_event(m, PCIOD_EVENT_RESET_LOST, m->life_ns);
}

void pciod_module_unanswered(struct pciod_module *m, enum pciod_question question, int64_t now_ns)
{
	m->asked &= ~(1u << question);
	m->unanswered |= 1u << question;
	if (question == PCIOD_Q_RESET)
		pciod_module_event(m, PCIOD_EVENT_RESET_UNANSWERED, now_ns);
	else if (question == PCIOD_Q_HOME)
		pciod_module_event(m, PCIOD_EVENT_HOME_UNANSWERED, now_ns);
	else if (question == PCIOD_Q_SET_CONFIG)
		m->config_ns = 0; /* perhaps it was written, perhaps not: once more */
}

void pciod_module_halted(struct pciod_module *m, int64_t t_ns)
{
	m->halt_ns = t_ns;
}

/* ---- how it is ---- */

bool pciod_module_knows(const struct pciod_module *m)
{
	return (m->known & PCIOD_SAMPLE) == PCIOD_SAMPLE;
}

bool pciod_module_verified(const struct pciod_module *m, const struct pciod_rules *rules)
{
	return !unverified(m, rules) && !m->wrong && m->config == m->config_wanted;
}

bool pciod_module_up(const struct pciod_module *m)
{
	return m->phase == PCIOD_UP;
}

bool pciod_module_silent(const struct pciod_module *m)
{
	return pciod_life_silent(m->life);
}

bool pciod_module_blocked(const struct pciod_module *m)
{
	return pcio_faults(m->state) || m->state & PCIO_STATE_HALTED;
}

bool pciod_module_resetting(const struct pciod_module *m)
{
	return pciod_life_resets(m->life) || m->reset_asked;
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
