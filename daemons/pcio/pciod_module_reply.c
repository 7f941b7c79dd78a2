/* pciod_module_reply.c: what a module's answers mean for it. */
#include <math.h>

#include "daemons/pcio/pciod_module.h"

#define VALUE_MAX 1e4	/* rad, rad/s, A: nothing that is measured is beyond */
#define CONFIG_WRITES 3 /* after which the module is taken not to accept it */

/* ---- the sample ---- */

static void measured(struct pciod_module *m, enum pciod_question question, int64_t t_ns)
{
	m->known |= 1u << question;
	m->fresh |= 1u << question;
	if (question < PCIOD_SAMPLES)
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

static void take_state(struct pciod_module *m, uint32_t state, int64_t asked_ns, int64_t t_ns)
{
	const struct pciod_actuator_word word = pciod_module_word(state);

	if (pciod_actuator_word(&m->a, &word, asked_ns, t_ns) & PCIOD_ACTUATOR_DO_TAKE_OVER)
		pciod_module_forget(m, t_ns);
	m->state = state;
	measured(m, PCIOD_Q_STATE, t_ns);
}

/* ---- the verification ---- */

static void take_config(struct pciod_module *m, uint32_t config, int64_t asked_ns)
{
	const uint32_t ours = PCIO_CONFIG_WATCHDOG | PCIO_CONFIG_FULL_CURRENT | PCIO_CONFIG_SYNC_MOTION;

	if (asked_ns <= m->config_ns)
		return; /* as it was before the writing */
	m->known |= PCIOD_Q_BIT_CONFIG;
	m->config = config;
	m->config_wanted = (config & ~ours) | PCIO_CONFIG_WATCHDOG;
	if (m->settings->full_current)
		m->config_wanted |= PCIO_CONFIG_FULL_CURRENT;
	if (m->settings->sync_motion)
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

static void check_limits(struct pciod_module *m)
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
		drv_ref_margin(l, m->settings->margin);
}

static void take_limit(struct pciod_module *m, enum pciod_question question, double value)
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
	check_limits(m);
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

static void take_get(struct pciod_module *m, enum pciod_question question, const struct pcio_reply *reply,
		     int64_t asked_ns)
{
	switch (question) {
	case PCIOD_Q_STATE:
		take_state(m, (uint32_t)reply->value, asked_ns, reply->t_ns);
		return;
	case PCIOD_Q_POSITION:
		take_position(m, reply->value, asked_ns, reply->t_ns);
		return;
	case PCIOD_Q_CONFIG:
		take_config(m, (uint32_t)reply->value, asked_ns);
		return;
	case PCIOD_Q_VELOCITY:
		m->velocity_rad_s = reply->value;
		break;
	case PCIOD_Q_CURRENT:
		m->current_a = reply->value;
		break;
	case PCIOD_Q_VERSION:
		m->version = (unsigned int)reply->value;
		break;
	case PCIOD_Q_SERIAL:
		m->serial = (uint32_t)reply->value;
		break;
	case PCIOD_Q_HOME_OFFSET:
	case PCIOD_Q_HOME_OFFSET_89:
		m->home_offset_rad = reply->value;
		break;
	default:
		take_limit(m, question, reply->value);
		return;
	}
	measured(m, question, reply->t_ns);
}

static void take_answer(struct pciod_module *m, enum pciod_question question, const struct pcio_reply *reply,
			int64_t asked_ns)
{
	switch (question) {
	case PCIOD_Q_SET_CONFIG:
		m->config_ns = reply->t_ns;
		if (reply->status == m->settings->ack_ok)
			m->known &= ~(uint32_t)PCIOD_Q_BIT_CONFIG; /* and read back */
		else
			m->wrong |= PCIOD_WRONG_CONFIG_REFUSED;
		break;
	case PCIOD_Q_RESET:
		pciod_module_was_reset(m, reply->t_ns);
		break;
	case PCIOD_Q_HOME:
		pciod_module_event(m, PCIOD_ACTUATOR_ON_HOME_ANSWERED, reply->t_ns);
		break;
	default:
		take_position(m, reply->value, asked_ns, reply->t_ns);
	}
}

static void next_phase(struct pciod_module *m, int64_t t_ns)
{
	if (m->phase == PCIOD_ASKING && pciod_module_knows(m)) {
		m->phase = PCIOD_VERIFYING;
		m->phase_ns = t_ns;
		m->unanswered = 0;
	}
	if (m->phase == PCIOD_VERIFYING && pciod_module_verified(m)) {
		m->phase = PCIOD_UP;
		m->phase_ns = t_ns;
		m->unreported = true;
	}
}

enum pciod_news pciod_module_answer(struct pciod_module *m, enum pciod_question question, const struct frame *frame,
				    int64_t asked_ns, int64_t t_ns)
{
	struct pcio_reply reply;
	int error = pcio_decode(&reply, frame, t_ns);

	pciod_module_heard(m, t_ns);
	m->asked &= ~(1u << question);
	m->unanswered &= ~(1u << question);
	/* An invalid answer ends the question as well: no other will come. */
	if (error || !plausible(question, reply.value)) {
		m->unanswered |= 1u << question;
		return PCIOD_NEWS_ODD;
	}
	if (reply.command == PCIO_GET)
		take_get(m, question, &reply, asked_ns);
	else
		take_answer(m, question, &reply, asked_ns);
	next_phase(m, t_ns);
	return PCIOD_NEWS_NONE;
}

/* The answers to halts, and to moves without state, are not waited for. */
enum pciod_news pciod_module_stray(struct pciod_module *m, const struct frame *frame, int64_t t_ns)
{
	struct pcio_reply reply;
	int error = pcio_decode(&reply, frame, t_ns);

	pciod_module_heard(m, t_ns);
	if (error)
		return PCIOD_NEWS_ODD;
	if (reply.command != PCIO_MOVE || reply.with_state || reply.status == m->settings->ack_ok)
		return PCIOD_NEWS_NONE;
	return PCIOD_NEWS_REFUSED;
}
