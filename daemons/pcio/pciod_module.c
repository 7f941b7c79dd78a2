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

enum pciod_question pciod_question(const struct frame *frame)
{
	uint32_t key = pcio_key(frame);
	unsigned int q;

	for (q = 0; q < PCIOD_Q_N; q++)
		if ((key & 0xFFFF) == (uint32_t)(pciod_questions[q].command << 8 | pciod_questions[q].parameter))
			break;
	return key ? q : PCIOD_Q_N;
}

/* ---- taking over ---- */

/* From here on nothing is known of it; what it measured last stays to be shown, with its age. */
void pciod_module_take_over(struct pciod_module *m, int64_t now_ns)
{
	m->phase = PCIOD_ASKING;
	m->phase_ns = now_ns;
	m->known = 0;
	m->wrong = 0;
	m->taken = false;
	m->found_moving = m->found_halted = false;
	m->take_over_drive = false;
	m->found_ours = m->may_unhalt;
	m->halted_ns = 0;
	m->clear_open = false;
	m->reset = PCIOD_RESET_NONE;
	m->reset_asked = m->reset_comm = false;
	m->drop_position = false;
	m->config_written = false;
	m->config_writes = 0;
	m->config_ns = 0;
	m->home_offset_rad = NAN;
	if (m->home != PCIOD_HOME_NONE)
		m->home = PCIOD_HOME_FAILED;
	pciod_drive_off(&m->drive);
}

void pciod_module_init(struct pciod_module *m, unsigned int number, const struct pciod_before *before, int64_t now_ns)
{
	memset(m, 0, sizeof(*m));
	m->number = number;
	m->state = before->state; /* to be shown until it says another */
	m->presumed = !before->known;
	m->was_homed = before->known && before->state & PCIO_STATE_HOMED;
	m->may_unhalt = before->halted_by_us;
	m->latches = before->latches;
	m->position_rad = m->velocity_rad_s = m->current_a = NAN;
	m->heard_ns = now_ns;
	pciod_module_forgive(m, now_ns); /* nobody was there before */
	pciod_module_take_over(m, now_ns);
}

void pciod_module_forgive(struct pciod_module *m, int64_t t_ns)
{
	m->forgive = true;
	m->forgive_ns = t_ns;
}

static void notice_silence(struct pciod_module *m, const struct pciod_rules *rules, int64_t now_ns)
{
	/* By the time since it was asked: whoever was stopped himself has heard nothing either. */
	if (m->silent || !m->waiting_ns || now_ns - m->waiting_ns <= rules->silent_after_ns)
		return;
	m->stop_unheard = m->drive.on || (m->known & PCIOD_Q_BIT_STATE && m->state & PCIO_STATE_MOVING);
	pciod_module_take_over(m, now_ns);
	m->silent = true;
}

void pciod_module_heard(struct pciod_module *m, const struct pciod_rules *rules, int64_t t_ns)
{
	if (m->silent) {
		pciod_module_take_over(m, t_ns);
		m->silent = false;
		/* It did not hear us either, perhaps. */
		if (t_ns - m->heard_ns > rules->watchdog_ns / 2)
			pciod_module_forgive(m, t_ns);
	}
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

	if (m->config_written && !m->config_ns) /* not before the writing is confirmed */
		ask &= ~(uint32_t)PCIOD_Q_BIT_CONFIG;
	if (!m->asks[offset].unanswered) /* a module may not know it */
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

static uint32_t free_of(struct pciod_module *m, const struct pciod_rules *rules, uint32_t bits, int64_t now_ns)
{
	for (unsigned int q = 0; q < PCIOD_Q_N; q++)
		if (!pciod_ask_free(&m->asks[q], &rules->times, now_ns))
			bits &= ~(1u << q);
	return bits;
}

/* Is it time to ask a module that does not answer? */
static bool probe(struct pciod_module *m, int64_t now_ns)
{
	if (now_ns - m->heard_ns > PROBE_NS && now_ns - m->probe_ns < PROBE_NS)
		return false;
	m->probe_ns = now_ns;
	return true;
}

/* ---- what it is told ---- */

static void fail_home(struct pciod_module *m)
{
	if (m->home != PCIOD_HOME_NONE)
		m->home = PCIOD_HOME_FAILED;
}

static bool under_way(const struct pciod_module *m, enum pciod_question question)
{
	return m->asks[question].phase == PCIOD_ASK_PUT || m->asks[question].phase == PCIOD_ASK_SENT;
}

static void step_reset(struct pciod_module *m, const struct pciod_rules *rules, int64_t now_ns, struct pciod_deed *deed)
{
	bool failed = false, needless = false;

	switch (m->reset) {
	case PCIOD_RESET_NONE:
		return;
	case PCIOD_RESET_WANTED: /* one that was lost may have left after all */
		needless = !pcio_faults(m->state) && !(m->state & PCIO_STATE_HALTED);
		if (!needless && m->asks[PCIOD_Q_RESET].phase == PCIOD_ASK_FREE)
			deed->what = PCIOD_DO_RESET;
		break;
	case PCIOD_RESET_SENT:
		failed = m->reset_left && !under_way(m, PCIOD_Q_RESET);
		break;
	case PCIOD_RESET_CHECK:
		failed = now_ns - m->reset_ns > rules->times.lost_ns;
		break;
	}
	if (failed)
		m->wrong |= PCIOD_WRONG_NOT_RESET;
	if (failed || needless) {
		m->reset = PCIOD_RESET_NONE;
		m->reset_asked = m->reset_comm = false;
	}
}

static void step_home(struct pciod_module *m, struct pciod_deed *deed)
{
	if (m->home == PCIOD_HOME_WANTED && m->asks[PCIOD_Q_HOME].phase == PCIOD_ASK_FREE)
		deed->what = PCIOD_DO_HOME;
	else if (m->home == PCIOD_HOME_SENT && !under_way(m, PCIOD_Q_HOME))
		m->home = PCIOD_HOME_FAILED;
}

static void move(struct pciod_module *m, struct pciod_move value, struct pciod_deed *deed)
{
	enum pciod_question q = value.motion == PCIO_CURRENT_STATE ? PCIOD_Q_MOVE_CURRENT : PCIOD_Q_MOVE_VELOCITY;

	deed->move = value;
	deed->what = m->asks[q].phase == PCIOD_ASK_FREE ? PCIOD_DO_MOVE : PCIOD_DO_MOVE_PLAIN;
	if (deed->what == PCIOD_DO_MOVE_PLAIN)
		deed->move.motion = value.motion == PCIO_CURRENT_STATE ? PCIO_CURRENT : PCIO_VELOCITY;
}

/* A reset is in order: who asked for it, or what explains it. */
static bool wants_reset(struct pciod_module *m, const struct pciod_wish *wish)
{
	if (m->reset != PCIOD_RESET_NONE)
		return wish->resets || m->reset_asked;
	if (!wish->resets || !(m->known & PCIOD_Q_BIT_POSITION) || m->wrong & PCIOD_WRONG_NOT_RESET)
		return false;
	if (m->forgive && pcio_only_comm_error(m->state)) {
		m->forgive = false;
		m->reset_comm = true;
	} else if (pcio_faults(m->state) || !(m->state & PCIO_STATE_HALTED) || !m->may_unhalt) {
		return false;
	} else if (!pciod_module_stands(m) && wish->now_ns - m->halt_ns <= REST_NS) {
		return false;
	}
	m->reset = PCIOD_RESET_WANTED;
	return true;
}

/* It is where it cannot have got to since it was last driven: it lost its power and counts anew, or homing has given it
 * another zero.  What it was told means another place now. */
static bool jumped(const struct pciod_module *m, const struct pciod_wish *wish)
{
	const double s = wish->dt_s + (double)(m->t_ns[PCIOD_Q_POSITION] - m->driven_ns) / 1e9;

	return m->drive.on && fabs(m->position_rad - m->driven_rad) > JUMP_RAD + 2 * wish->limits->velocity_rad_s * s;
}

static void drive(struct pciod_module *m, const struct pciod_wish *wish, struct pciod_deed *deed)
{
	bool drivable;

	if (jumped(m, wish))
		pciod_module_take_over(m, wish->now_ns);
	m->driven_rad = m->position_rad;
	m->driven_ns = m->t_ns[PCIOD_Q_POSITION];
	drivable = m->phase == PCIOD_UP && pciod_module_knows(m) && wish->command;

	/* To one that moves the first frame is velocity 0, and so on until it stands; one that stands is left alone.
	 * The loop's ramp would begin where the module was found, and make it faster again. */
	if (drivable && m->take_over_drive && (wish->following || pciod_module_stands(m)))
		m->take_over_drive = false;
	if (drivable && !m->take_over_drive) {
		move(m, pciod_drive(&m->drive, wish->command, wish->stand), deed);
		return;
	}
	if (!m->drive.stopped)
		pciod_drive_off(&m->drive);
	if (!pciod_module_stands(m))
		m->take_over_drive = true;
	if (m->take_over_drive) {
		pciod_drive_stop(&m->drive);
		move(m, (struct pciod_move){ PCIO_VELOCITY_STATE, 0, true }, deed);
	}
}

static void halt(struct pciod_module *m, int64_t now_ns, struct pciod_deed *deed)
{
	deed->what = PCIOD_DO_HALT;
	m->may_unhalt = m->halt_open = true;
	m->halted_ns = m->halted_ns ? m->halted_ns : now_ns;
	m->halt_ns = now_ns + PCIOD_HALT_DEADLINE_NS;
}

/* Halted by us, as far as is known, and not yet free again. */
static bool stopped(const struct pciod_module *m)
{
	return m->halt_open || (m->may_unhalt && (m->state & PCIO_STATE_HALTED || m->reset != PCIOD_RESET_NONE));
}

static void decide(struct pciod_module *m, const struct pciod_rules *rules, const struct pciod_wish *wish,
		   struct pciod_deed *deed)
{
	bool driven = false;

	if (!(m->known & PCIOD_Q_BIT_STATE)) {
		/* The first frames are questions; then a halt is better than to know. */
		if (wish->halt && wish->now_ns > m->phase_ns)
			halt(m, wish->now_ns, deed);
	} else if (wants_reset(m, wish)) {
		step_reset(m, rules, wish->now_ns, deed);
		fail_home(m);
	} else if (wish->halt) {
		m->forgive |= m->reset_comm; /* it was not done, or nobody knows */
		m->reset = PCIOD_RESET_NONE;
		m->reset_comm = false;
		if (!(m->state & PCIO_STATE_HALTED))
			halt(m, wish->now_ns, deed);
		fail_home(m);
	} else if (m->halt_open || pcio_faults(m->state) || m->state & PCIO_STATE_HALTED) {
		fail_home(m);
	} else if (m->home != PCIOD_HOME_NONE) {
		step_home(m, deed);
	} else {
		drive(m, wish, deed);
		driven = true;
	}
	if (!driven && stopped(m))
		pciod_drive_stop(&m->drive);
	else if (!driven)
		pciod_drive_off(&m->drive);
}

/* ---- the tick ---- */

void pciod_module_tick(struct pciod_module *m, const struct pciod_rules *rules, const struct pciod_wish *wish,
		       struct pciod_deed *deed)
{
	const uint32_t all = (1u << PCIOD_Q_N) - 1;
	uint32_t free;

	memset(deed, 0, sizeof(*deed));
	m->fresh = 0;
	notice_silence(m, rules, wish->now_ns);
	free = free_of(m, rules, all, wish->now_ns);
	if (m->silent) {
		if (!probe(m, wish->now_ns))
			return;
		deed->ask = free & (wish->now_ns - m->heard_ns > PROBE_NS ? PCIOD_Q_BIT_STATE : PCIOD_SAMPLE);
		/* It may hear all the same, and as it is fed it would keep the last velocity it was told. */
		if (wish->halt)
			halt(m, wish->now_ns, deed);
		else if (m->stop_unheard)
			*deed = (struct pciod_deed){ PCIOD_DO_MOVE_PLAIN,
						     { PCIO_VELOCITY, 0, true },
						     .ask = deed->ask };
		return;
	}
	decide(m, rules, wish, deed);
	deed->ask = PCIOD_SAMPLE;
	if (deed->what == PCIOD_DO_MOVE)
		deed->ask &= ~(uint32_t)PCIOD_Q_BIT_POSITION;
	if (m->phase == PCIOD_VERIFYING) {
		deed->ask |= some_of(unverified(m, rules) & free, wish->verify_max);
		if (m->config_written && !m->config_ns && !under_way(m, PCIOD_Q_SET_CONFIG))
			m->config_written = false; /* nobody knows: once more */
		deed->set_config = m->known & PCIOD_Q_BIT_CONFIG && !m->wrong && m->config != m->config_wanted &&
				   !m->config_written && free & PCIOD_Q_BIT_SET_CONFIG;
	}
	deed->ask &= free;
}

void pciod_module_put(struct pciod_module *m, enum pciod_question question, int64_t now_ns)
{
	pciod_ask_put(&m->asks[question], now_ns);
	if (!m->waiting_ns)
		m->waiting_ns = now_ns;
	switch (question) {
	case PCIOD_Q_RESET:
		m->reset = PCIOD_RESET_SENT;
		m->reset_left = false;
		break;
	case PCIOD_Q_HOME:
		m->home = PCIOD_HOME_SENT;
		m->home_put = true;
		m->was_homed = false;
		break;
	case PCIOD_Q_SET_CONFIG:
		m->config_written = true;
		m->config_writes++;
		m->config_ns = 0;
		break;
	default:
		break;
	}
}

void pciod_module_was_reset(struct pciod_module *m, int64_t t_ns)
{
	if (m->reset == PCIOD_RESET_SENT)
		m->reset = PCIOD_RESET_CHECK;
	m->reset_ns = t_ns;
	m->drop_position = true;
	m->known &= ~(uint32_t)PCIOD_Q_BIT_POSITION;
}

void pciod_module_sent(struct pciod_module *m, enum pciod_question question, int64_t t_ns)
{
	const bool in_time = m->asks[question].phase == PCIOD_ASK_PUT;

	pciod_ask_sent(&m->asks[question], t_ns);
	if (question != PCIOD_Q_RESET || m->reset != PCIOD_RESET_SENT)
		return;
	m->reset_left = true;
	if (!in_time)
		pciod_module_was_reset(m, t_ns); /* its reply counts no more, but the state word does */
}

void pciod_module_halted(struct pciod_module *m, int64_t t_ns)
{
	m->halt_ns = t_ns;
}

void pciod_module_lost(struct pciod_module *m, enum pciod_question question)
{
	pciod_ask_lost(&m->asks[question]);
	if (question != PCIOD_Q_RESET || m->reset != PCIOD_RESET_SENT)
		return;
	m->reset = m->reset_asked ? PCIOD_RESET_WANTED : PCIOD_RESET_NONE;
	m->forgive |= m->reset_comm;
	m->reset_comm = false;
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
	return m->phase == PCIOD_UP && !m->silent;
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
