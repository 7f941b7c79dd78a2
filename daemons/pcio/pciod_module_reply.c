/* pciod_module_reply.c: what a module's answers mean for it. */
#include <math.h>

#include "daemons/pcio/pciod_module.h"

#define VALUE_MAX 1e4		 /* rad, rad/s, A: nothing that is measured is beyond */
#define CONFIG_WRITES 3		 /* before it is held to be one that does not take it */
#define HOME_STILL_NS 100000000	 /* homed and standing for so long is at home: it may move once more, to zero */
#define HOME_BEGIN_NS 1000000000 /* one that shows no motion was there already */

/* ---- the sample ---- */

static void measured(struct pciod_module *m, enum pciod_question question, int64_t t_ns)
{
	m->known |= 1u << question;
	m->fresh |= 1u << question;
	m->t_ns[question] = t_ns;
}

static void take_position(struct pciod_module *m, double value, int64_t asked_ns, int64_t t_ns)
{
	if (m->drop_position) {
		m->drop_position =
			asked_ns <= m->reset_ns; /* asked before the reset: the next one is still the first */
		return;
	}
	m->position_rad = value;
	measured(m, PCIOD_Q_POSITION, t_ns);
}

static void check_reset(struct pciod_module *m, int64_t asked_ns)
{
	if (m->reset != PCIOD_RESET_CHECK || asked_ns <= m->reset_ns)
		return;
	if (pcio_faults(m->state) || m->state & PCIO_STATE_HALTED)
		return; /* it has some time */
	m->reset = PCIOD_RESET_NONE;
	m->reset_asked = false;
	m->may_unhalt = false;
}

static void check_home(struct pciod_module *m, int64_t asked_ns, int64_t t_ns)
{
	if (m->home != PCIOD_HOME_RUNS || asked_ns <= m->home_ns)
		return;
	if (!(m->state & PCIO_STATE_HOMED) || m->state & PCIO_STATE_MOVING) {
		m->home_begun = true;
		m->home_still_ns = 0;
	} else if (m->home_begun || t_ns - m->home_ns > HOME_BEGIN_NS) {
		if (!m->home_still_ns)
			m->home_still_ns = t_ns;
		else if (t_ns - m->home_still_ns >= HOME_STILL_NS)
			m->home = PCIOD_HOME_DONE;
	}
}

/* It was halted before any halt of ours can have reached it, and not by the driver before. */
static bool halted_by_other(const struct pciod_module *m, int64_t asked_ns)
{
	const bool told = m->halted_ns && asked_ns >= m->halted_ns;

	return m->state & PCIO_STATE_HALTED && !told && !m->found_ours;
}

/* The first state word of a module of which nothing is known: what its flags do not disprove is latched. */
static void presume(struct pciod_module *m, int64_t asked_ns)
{
	if (!(m->state & PCIO_STATE_HOMED))
		m->latches |= MSG_LATCH_POSITION_UNKNOWN | MSG_LATCH_HOMING_ABORTED;
	if (halted_by_other(m, asked_ns))
		m->latches |= MSG_LATCH_HALTED_BY_OTHER;
	if (pcio_faults(m->state))
		m->latches |= MSG_LATCH_WAITS_FOR_PERSON;
	m->presumed = false;
}

static void find(struct pciod_module *m, int64_t asked_ns)
{
	m->found_moving = m->state & PCIO_STATE_MOVING;
	m->found_halted = m->state & PCIO_STATE_HALTED;
	if (!pcio_faults(m->state) && halted_by_other(m, asked_ns)) /* a fault halts, too */
		m->latches |= MSG_LATCH_HALTED_BY_OTHER;
	if (m->presumed)
		presume(m, asked_ns);
}

static void see_halt(struct pciod_module *m, int64_t asked_ns)
{
	if (asked_ns <= m->halt_ns)
		return;
	m->halt_open = false;
	/* What halts it from now on is not our halt, which it did not obey or has been reset from. */
	if (!(m->state & PCIO_STATE_HALTED) && m->reset == PCIOD_RESET_NONE)
		m->may_unhalt = false;
}

static void take_state(struct pciod_module *m, const struct pciod_rules *rules, uint32_t state, int64_t asked_ns,
		       int64_t t_ns)
{
	const bool lost = m->was_homed && !(state & PCIO_STATE_HOMED) && m->home == PCIOD_HOME_NONE;
	bool first;

	/* It lost its power, and with it where it is and its config: the watchdog is off. */
	if (lost && !m->lost_home)
		pciod_module_take_over(m, t_ns);
	first = !(m->known & PCIOD_Q_BIT_STATE);
	m->state = state;
	m->state_asked_ns = asked_ns;
	measured(m, PCIOD_Q_STATE, t_ns);
	if (first)
		find(m, asked_ns);
	see_halt(m, asked_ns);
	/* While it homes, a late answer may still tell of before. */
	if (m->home == PCIOD_HOME_NONE)
		m->was_homed |= (bool)(state & PCIO_STATE_HOMED);
	m->lost_home = lost;
	/* What our absence did shows at once; what comes later has another cause. */
	if (!(state & PCIO_STATE_COMM_ERROR) && asked_ns - m->forgive_ns > rules->times.lost_ns)
		m->forgive = false;
	/* A reset whose answer did not come in time has done its work all the same. */
	if (!pcio_faults(state) && !(state & PCIO_STATE_HALTED))
		m->wrong &= ~(uint32_t)PCIOD_WRONG_NOT_RESET;
	else if (m->wrong & PCIOD_WRONG_NOT_RESET && asked_ns > m->asks[PCIOD_Q_RESET].since_ns)
		m->latches |= MSG_LATCH_WAITS_FOR_PERSON;
	check_reset(m, asked_ns);
	check_home(m, asked_ns, t_ns);
}

/* ---- the verification ---- */

static void take_config(struct pciod_module *m, const struct pciod_rules *rules, uint32_t config, int64_t asked_ns)
{
	const uint32_t ours = PCIO_CONFIG_WATCHDOG | PCIO_CONFIG_FULL_CURRENT | PCIO_CONFIG_SYNC_MOTION;

	if (m->config_written && (!m->config_ns || asked_ns <= m->config_ns))
		return; /* as it was before the writing */
	m->known |= PCIOD_Q_BIT_CONFIG;
	m->config = config;
	m->config_wanted = (config & ~ours) | PCIO_CONFIG_WATCHDOG;
	if (rules->full_current)
		m->config_wanted |= PCIO_CONFIG_FULL_CURRENT;
	if (rules->sync_motion)
		m->config_wanted |= PCIO_CONFIG_SYNC_MOTION;
	if (config & PCIO_CONFIG_NO_ACKNOWLEDGE)
		m->wrong |= PCIOD_WRONG_NO_ACKNOWLEDGE;
	if (config & (PCIO_CONFIG_LINEAR | PCIO_CONFIG_LINEAR_SCREW))
		m->wrong |= PCIOD_WRONG_LINEAR;
	if (!m->config_written || config == m->config_wanted)
		return;
	/* It may have lost its power just then, and come back faster than its silence was noticed. */
	m->config_written = false;
	if (m->config_writes >= CONFIG_WRITES)
		m->wrong |= PCIOD_WRONG_CONFIG_STAYS;
}

static void check_limits(struct pciod_module *m, const struct pciod_rules *rules)
{
	const uint32_t limits = PCIOD_Q_BIT_MIN_POSITION | PCIOD_Q_BIT_MAX_POSITION | PCIOD_Q_BIT_MAX_VELOCITY |
				PCIOD_Q_BIT_MAX_ACCELERATION | PCIOD_Q_BIT_MAX_CURRENT;
	struct drv_ref_limits *l = &m->limits;

	if ((m->known & limits) != limits)
		return;
	if (l->position_min_rad >= l->position_max_rad || l->velocity_rad_s <= 0 || l->acceleration_rad_s2 <= 0 ||
	    l->current_a <= 0)
		m->wrong |= PCIOD_WRONG_LIMITS;
	else
		drv_ref_margin(l, rules->margin);
}

static void take_limit(struct pciod_module *m, const struct pciod_rules *rules, enum pciod_question question,
		       double value)
{
	double *const place[] = {
		[PCIOD_Q_MIN_POSITION] = &m->limits.position_min_rad,
		[PCIOD_Q_MAX_POSITION] = &m->limits.position_max_rad,
		[PCIOD_Q_MAX_VELOCITY] = &m->limits.velocity_rad_s,
		[PCIOD_Q_MAX_ACCELERATION] = &m->limits.acceleration_rad_s2,
		[PCIOD_Q_MAX_CURRENT] = &m->limits.current_a,
	};

	if (m->known & 1u << question)
		return;
	m->limits.current_slew_a_s = m->limits.step_rad = INFINITY;
	*place[question] = value;
	m->known |= 1u << question;
	check_limits(m, rules);
}

/* ---- a reply ---- */

static bool plausible(enum pciod_question question, double value)
{
	switch (question) {
	case PCIOD_Q_STATE:
	case PCIOD_Q_CONFIG:
	case PCIOD_Q_VERSION:
	case PCIOD_Q_SERIAL:
		return true;
	default:
		return fabs(value) <= VALUE_MAX;
	}
}

static void take_get(struct pciod_module *m, const struct pciod_rules *rules, enum pciod_question question,
		     const struct pcio_reply *reply, int64_t asked_ns)
{
	switch (question) {
	case PCIOD_Q_STATE:
		take_state(m, rules, (uint32_t)reply->value, asked_ns, reply->t_ns);
		break;
	case PCIOD_Q_POSITION:
		take_position(m, reply->value, asked_ns, reply->t_ns);
		break;
	case PCIOD_Q_VELOCITY:
		m->velocity_rad_s = reply->value;
		measured(m, question, reply->t_ns);
		break;
	case PCIOD_Q_CURRENT:
		m->current_a = reply->value;
		measured(m, question, reply->t_ns);
		break;
	case PCIOD_Q_CONFIG:
		take_config(m, rules, (uint32_t)reply->value, asked_ns);
		break;
	case PCIOD_Q_VERSION:
		m->version = (unsigned int)reply->value;
		m->known |= PCIOD_Q_BIT_VERSION;
		break;
	case PCIOD_Q_SERIAL:
		m->serial = (uint32_t)reply->value;
		m->known |= PCIOD_Q_BIT_SERIAL;
		break;
	case PCIOD_Q_HOME_OFFSET:
	case PCIOD_Q_HOME_OFFSET_89:
		m->home_offset_rad = reply->value;
		m->known |= 1u << question;
		break;
	default:
		take_limit(m, rules, question, reply->value);
	}
}

static void take_answer(struct pciod_module *m, const struct pciod_rules *rules, enum pciod_question question,
			const struct pcio_reply *reply, int64_t asked_ns)
{
	switch (question) {
	case PCIOD_Q_SET_CONFIG:
		m->config_ns = reply->t_ns;
		if (reply->status == rules->ack_ok)
			m->known &= ~(uint32_t)PCIOD_Q_BIT_CONFIG; /* and read back */
		else
			m->wrong |= PCIOD_WRONG_CONFIG_REFUSED;
		break;
	case PCIOD_Q_RESET:
		pciod_module_was_reset(m, reply->t_ns);
		break;
	case PCIOD_Q_HOME:
		if (m->home != PCIOD_HOME_SENT)
			break;
		m->home = PCIOD_HOME_RUNS;
		m->home_ns = reply->t_ns;
		m->home_begun = false;
		m->home_still_ns = 0;
		break;
	default:
		take_position(m, reply->value, asked_ns, reply->t_ns);
	}
}

static void next_phase(struct pciod_module *m, const struct pciod_rules *rules, int64_t t_ns)
{
	if (m->phase == PCIOD_ASKING && pciod_module_knows(m)) {
		m->phase = PCIOD_VERIFYING;
		m->phase_ns = t_ns;
		for (unsigned int q = 0; q < PCIOD_Q_N; q++)
			m->asks[q].unanswered = false;
	}
	if (m->phase == PCIOD_VERIFYING && pciod_module_verified(m, rules)) {
		m->phase = PCIOD_UP;
		m->phase_ns = t_ns;
	}
}

enum pciod_news pciod_module_reply(struct pciod_module *m, const struct pciod_rules *rules, const struct frame *frame,
				   int64_t t_ns)
{
	enum pciod_question question = pciod_question(frame);
	struct pcio_reply reply;
	int error = pcio_decode(&reply, frame, t_ns);
	bool taken;

	pciod_module_heard(m, rules, t_ns);
	if (question == PCIOD_Q_N) { /* halts, and moves without state: nobody waits for their answers */
		if (!error && reply.command == PCIO_MOVE && !reply.with_state && reply.status != rules->ack_ok) {
			m->refused++;
			return PCIOD_NEWS_REFUSED;
		}
		m->odd += error != 0;
		return error ? PCIOD_NEWS_ODD : PCIOD_NEWS_NONE;
	}
	/* An answer that makes no sense is the answer all the same: there will be no other. */
	taken = pciod_ask_reply(&m->asks[question], &rules->times, t_ns);
	if (error || !plausible(question, reply.value)) {
		m->asks[question].unanswered = true;
		m->odd++;
		return PCIOD_NEWS_ODD;
	}
	if (!taken) {
		m->dropped++;
		return PCIOD_NEWS_NONE;
	}
	if (reply.command == PCIO_GET)
		take_get(m, rules, question, &reply, m->asks[question].since_ns);
	else
		take_answer(m, rules, question, &reply, m->asks[question].since_ns);
	next_phase(m, rules, t_ns);
	return PCIOD_NEWS_NONE;
}
