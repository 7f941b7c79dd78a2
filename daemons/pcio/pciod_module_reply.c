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
	if (m->reset_ns) {
		if (asked_ns > m->reset_ns) /* else the next one is still the first */
			m->reset_ns = 0;
		return;
	}
	m->position_rad = value;
	measured(m, PCIOD_Q_POSITION, t_ns);
}

/* It was halted before any halt of ours can have reached it, and not by the driver before. */
static bool halted_by_other(const struct pciod_module *m, int64_t asked_ns)
{
	return m->state & PCIO_STATE_HALTED && !(m->ours_ns && asked_ns >= m->ours_ns);
}

/* The first state word since it was taken over; of a module of which nothing is known, what its flags do not disprove
 * is latched. */
static void find(struct pciod_module *m, int64_t asked_ns)
{
	m->found = m->state;
	if (!pcio_faults(m->state) && halted_by_other(m, asked_ns)) /* a fault halts, too */
		m->latches |= MSG_LATCH_HALTED_BY_OTHER;
	if (m->zero != PCIOD_ZERO_UNKNOWN)
		return;
	if (!(m->state & PCIO_STATE_HOMED))
		m->latches |= MSG_LATCH_POSITION_UNKNOWN | MSG_LATCH_HOMING_ABORTED;
	if (halted_by_other(m, asked_ns))
		m->latches |= MSG_LATCH_HALTED_BY_OTHER;
	if (pcio_faults(m->state))
		m->latches |= MSG_LATCH_WAITS_FOR_PERSON;
	m->zero = PCIOD_ZERO_NOT_HOMED;
}

static void watch_zero(struct pciod_module *m, uint32_t state, int64_t t_ns)
{
	if (m->zero != PCIOD_ZERO_HOMED || state & PCIO_STATE_HOMED || pciod_life_homes(m->life))
		return;
	m->zero = PCIOD_ZERO_LOST;
	pciod_module_event(m, PCIOD_EVENT_POWER_LOST, t_ns);
}

static enum pciod_event word_event(const struct pciod_module *m, int64_t t_ns)
{
	const int64_t in_state_ns = t_ns - m->life_ns;

	if (pciod_module_blocked(m))
		return PCIOD_EVENT_WORD_BLOCKED;
	if (!(m->state & PCIO_STATE_HOMED) || m->state & PCIO_STATE_MOVING)
		return PCIOD_EVENT_WORD_FREE;
	if (m->life == PCIOD_LIFE_HOME_STILL ? in_state_ns >= HOME_STILL_NS : in_state_ns > HOME_BEGIN_NS)
		return PCIOD_EVENT_WORD_HOME_LONG;
	return PCIOD_EVENT_WORD_HOME;
}

static void take_state(struct pciod_module *m, const struct pciod_rules *rules, uint32_t state, int64_t asked_ns,
		       int64_t t_ns)
{
	bool first;

	watch_zero(m, state, t_ns);
	first = !(m->known & PCIOD_Q_BIT_STATE);
	m->state = state;
	m->state_asked_ns = asked_ns;
	measured(m, PCIOD_Q_STATE, t_ns);
	if (first)
		find(m, asked_ns);
	/* What halts it from now on is not our halt, which it did not obey or has been reset from. */
	if (asked_ns > m->halt_ns && !(state & PCIO_STATE_HALTED) && !pciod_module_resetting(m))
		m->ours_ns = 0;
	/* While it homes, a late answer may still tell of before. */
	if (state & PCIO_STATE_HOMED && !pciod_life_homes(m->life))
		m->zero = PCIOD_ZERO_HOMED;
	/* What our absence did shows at once; what comes later has another cause. */
	if (!(state & PCIO_STATE_COMM_ERROR) && asked_ns - m->excuse_ns > rules->lost_ns)
		m->excuse_ns = 0;
	/* A reset whose answer did not come in time has done its work all the same. */
	if (!pciod_module_blocked(m))
		m->wrong &= ~(uint32_t)PCIOD_WRONG_NOT_RESET;
	else if (m->wrong & PCIOD_WRONG_NOT_RESET && asked_ns > m->life_ns)
		m->latches |= MSG_LATCH_WAITS_FOR_PERSON;
	/* An answer of before it got into its state tells nothing of that. */
	if (m->life == PCIOD_LIFE_UNKNOWN || asked_ns > m->life_ns)
		pciod_module_event(m, word_event(m, t_ns), t_ns);
}

/* ---- the verification ---- */

static void take_config(struct pciod_module *m, const struct pciod_rules *rules, uint32_t config, int64_t asked_ns)
{
	const uint32_t ours = PCIO_CONFIG_WATCHDOG | PCIO_CONFIG_FULL_CURRENT | PCIO_CONFIG_SYNC_MOTION;

	if (asked_ns <= m->config_ns)
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
	if (!m->config_ns || config == m->config_wanted)
		return;
	/* It may have lost its power just then, and come back faster than its silence was noticed. */
	m->config_ns = 0;
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
		pciod_module_event(m, PCIOD_EVENT_HOME_ANSWERED, reply->t_ns);
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
		m->unanswered = 0;
	}
	if (m->phase == PCIOD_VERIFYING && pciod_module_verified(m, rules)) {
		m->phase = PCIOD_UP;
		m->phase_ns = t_ns;
		m->untold |= PCIOD_UNTOLD_TAKEN;
	}
}

enum pciod_news pciod_module_answer(struct pciod_module *m, const struct pciod_rules *rules,
				    enum pciod_question question, const struct frame *frame, int64_t asked_ns,
				    int64_t t_ns)
{
	struct pcio_reply reply;
	int error = pcio_decode(&reply, frame, t_ns);

	pciod_module_heard(m, rules, t_ns);
	m->asked &= ~(1u << question);
	m->unanswered &= ~(1u << question);
	/* An answer that makes no sense is the answer all the same: there will be no other. */
	if (error || !plausible(question, reply.value)) {
		m->unanswered |= 1u << question;
		m->odd++;
		return PCIOD_NEWS_ODD;
	}
	if (reply.command == PCIO_GET)
		take_get(m, rules, question, &reply, asked_ns);
	else
		take_answer(m, rules, question, &reply, asked_ns);
	next_phase(m, rules, t_ns);
	return PCIOD_NEWS_NONE;
}

/* The answers to halts, and to moves without state, are not waited for. */
enum pciod_news pciod_module_stray(struct pciod_module *m, const struct pciod_rules *rules, const struct frame *frame,
				   int64_t t_ns)
{
	struct pcio_reply reply;
	int error = pcio_decode(&reply, frame, t_ns);

	pciod_module_heard(m, rules, t_ns);
	if (error) {
		m->odd++;
		return PCIOD_NEWS_ODD;
	}
	if (reply.command != PCIO_MOVE || reply.with_state || reply.status == rules->ack_ok)
		return PCIOD_NEWS_NONE;
	m->refused++;
	return PCIOD_NEWS_REFUSED;
}
