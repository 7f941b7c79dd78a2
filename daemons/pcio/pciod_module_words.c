/* pciod_module_words.c: how a module is, in words, and what a person can do about it. */
#include "daemons/pcio/pciod_module.h"

#define VERIFY_NS 1000000000 /* questions without an answer by then are reported */

/* ---- the state message ---- */

uint32_t pciod_module_status(const struct pciod_module *m)
{
	const uint32_t off = PCIO_STATE_HALTED | PCIO_STATE_BRAKE;
	uint32_t status = pciod_actuator_silent(&m->a) || !m->t_ns[PCIOD_Q_STATE] ? MSG_JOINT_SILENT : 0;

	if (!m->t_ns[PCIOD_Q_STATE])
		return status;
	if (m->state & PCIO_STATE_HOMED)
		status |= MSG_JOINT_HOMED;
	if (m->state & PCIO_STATE_MOVING)
		status |= MSG_JOINT_MOVING;
	if (m->state & PCIO_STATE_BRAKE)
		status |= MSG_JOINT_BRAKED;
	if (m->state & PCIO_STATE_CURRENT_LIMIT)
		status |= MSG_JOINT_WARNING;
	if (pcio_faults(m->state) || m->wrong || m->a.reset_failed || pciod_actuator_lost(&m->a) || m->a.latches)
		status |= MSG_JOINT_FAULT;
	if (!(m->state & off) && !(status & (MSG_JOINT_FAULT | MSG_JOINT_SILENT)))
		status |= MSG_JOINT_ENABLED;
	if (m->phase == PCIOD_UP && m->position_rad <= m->limits.position_min_rad)
		status |= MSG_JOINT_LIMIT_LOW;
	if (m->phase == PCIOD_UP && m->position_rad >= m->limits.position_max_rad)
		status |= MSG_JOINT_LIMIT_HIGH;
	return status;
}

/* ---- faults ---- */

struct words {
	char *code, *text;
};

static bool __attribute__((format(printf, 4, 5)))
say(const struct words *w, const struct pciod_module *m, const char *kind, const char *fmt, ...)
{
	int len;
	va_list args;

	if (w->code)
		snprintf(w->code, PCIOD_CODE_MAX, "%s-%u", kind, m->number);
	len = snprintf(w->text, PCIOD_WORDS_MAX, "module %u", m->number);
	va_start(args, fmt);
	vsnprintf(w->text + len, (size_t)(PCIOD_WORDS_MAX - len), fmt, args);
	va_end(args);
	return true;
}

static const char *cure(const struct pciod_module *m)
{
	switch (pcio_worst(m->state)) {
	case PCIO_KIND_POWER_OFF:
		return "switch its power off and on";
	case PCIO_KIND_BY_HAND:
		return "move it off its limit by hand, as its manual says";
	default:
		return m->a.reset_failed ? "a reset did not clear it; is the cause gone?"
					 : "the request clear resets it, once the cause is gone";
	}
}

/* The first of the worst kind: a fault that joins a lesser one is worth another event. */
static const char *worst_name(uint32_t faults)
{
	const struct pcio_bit *worst = pcio_state_bits;

	for (const struct pcio_bit *b = pcio_state_bits; b->bit; b++)
		if (faults & b->bit && (!(faults & worst->bit) || b->kind > worst->kind))
			worst = b;
	return worst->name;
}

static bool describe_faults(const struct words *w, const struct pciod_module *m)
{
	uint32_t faults = pcio_faults(m->state);
	char bits[80];

	if (faults & ~(uint32_t)PCIO_STATE_ERROR)
		faults &= ~(uint32_t)PCIO_STATE_ERROR;
	pcio_text(bits, sizeof(bits), faults);
	return say(w, m, worst_name(faults), ": %s; %s", bits, cure(m));
}

static bool describe_wrong(const struct words *w, const struct pciod_module *m)
{
	if (m->wrong & PCIOD_WRONG_NO_ACKNOWLEDGE)
		return say(w, m, "config",
			   ": its config 0x%08X has no-acknowledge: nothing can be confirmed; clear the bit",
			   m->config);
	if (m->wrong & PCIOD_WRONG_LINEAR)
		return say(w, m, "config", ": its config 0x%08X says linear: its units are m, not rad", m->config);
	if (m->wrong & PCIOD_WRONG_CONFIG_REFUSED)
		return say(w, m, "config", " refused the config 0x%08X, so its watchdog is not set", m->config_wanted);
	if (m->wrong & PCIOD_WRONG_CONFIG_STAYS)
		return say(w, m, "config", ": the config 0x%08X was written, but reads back as 0x%08X",
			   m->config_wanted, m->config);
	if (m->wrong & PCIOD_WRONG_LIMITS)
		return say(w, m, "limits",
			   ": its limits make no sense: %.4g to %.4g rad, %.4g rad/s, %.4g rad/s^2, %.4g A",
			   m->limits.position_min_rad, m->limits.position_max_rad, m->limits.velocity_rad_s,
			   m->limits.acceleration_rad_s2, m->limits.current_a);
	return say(w, m, "reset",
		   " is still halted after a reset, or did not answer it; the request clear tries again");
}

static const char *parameter_name(enum pciod_question question)
{
	return pcio_parameter(pciod_questions[question].parameter)->name;
}

static bool describe_unanswered(const struct words *w, const struct pciod_module *m, int64_t now_ns)
{
	const int64_t stale_ns = m->settings->reply_lost_ns + m->settings->silent_after_ns;

	/* By the age of the other samples, not by the time: a driver that was stopped has not asked. */
	for (unsigned int q = 0; m->phase != PCIOD_ASKING && q < PCIOD_SAMPLES; q++)
		if (m->unanswered & 1u << q && m->heard_ns - m->t_ns[q] - m->paused_ns > stale_ns)
			return say(w, m, "stale", " answers, but not in time (reply_late) when asked for %s",
				   parameter_name(q));
	if (m->phase == PCIOD_UP || now_ns - m->phase_ns <= VERIFY_NS)
		return false;
	for (unsigned int q = 0; q <= PCIOD_Q_MAX_CURRENT; q++)
		if (!(m->known & 1u << q) && (m->phase == PCIOD_VERIFYING || q < PCIOD_SAMPLES))
			return say(w, m, "unanswered", " answers, but not in time (reply_late) when asked for %s",
				   parameter_name(q));
	return false;
}

bool pciod_module_trouble(const struct pciod_module *m, int64_t now_ns, char code[PCIOD_CODE_MAX],
			  char text[PCIOD_WORDS_MAX])
{
	const struct words w = { code, text };

	if (pciod_actuator_silent(&m->a))
		return say(&w, m, "silent", " does not answer; is it powered, on this bus, and of this bit rate?");
	if (!(m->known & PCIOD_Q_BIT_STATE)) /* not yet */
		return describe_unanswered(&w, m, now_ns);
	if (pcio_faults(m->state) && !pciod_actuator_explained(&m->a))
		return describe_faults(&w, m);
	if (m->wrong || m->a.reset_failed)
		return describe_wrong(&w, m);
	if (pciod_actuator_lost(&m->a))
		return say(&w, m, "not-homed",
			   " is not homed any more: it lost its power, and where it is; home it, or clear it");
	if (m->state & PCIO_STATE_HALTED && !m->a.ours_ns && !pciod_actuator_explained(&m->a))
		return say(&w, m, "halted", " was halted, not by this driver; the request clear resets it");
	return describe_unanswered(&w, m, now_ns);
}

/* ---- latches ---- */

void pciod_module_latched(const struct pciod_module *m, char code[PCIOD_CODE_MAX], char text[PCIOD_WORDS_MAX])
{
	const struct words w = { code, text };

	if (m->a.latches & MSG_LATCH_HALTED_BY_OTHER && m->a.latches & ~(uint32_t)MSG_LATCH_HALTED_BY_OTHER)
		say(&w, m, "latched",
		    ": it may have been halted, or have lost its position; the request clear ends it");
	else if (m->a.latches & MSG_LATCH_HALTED_BY_OTHER)
		say(&w, m, "latched", " was halted, not by this driver; it waits for the request clear");
	else if (m->a.latches & MSG_LATCH_WAITS_FOR_PERSON)
		say(&w, m, "latched", " had a fault; it waits for the request clear");
	else if (m->a.latches == MSG_LATCH_HOMING_ABORTED)
		say(&w, m, "latched", ": homing was aborted; it waits for the request home, or clear");
	else
		say(&w, m, "latched", " is not homed; it waits for the request home, or clear");
}

/* ---- requests ---- */

int pciod_module_clearable(const struct pciod_module *m, char text[PCIOD_WORDS_MAX])
{
	const struct words w = { NULL, text };

	if (pciod_actuator_silent(&m->a) || !(m->known & PCIOD_Q_BIT_STATE)) {
		say(&w, m, "", " does not answer; it is taken back when it does");
		return -EPERM;
	}
	if (pcio_worst(m->state) > PCIO_KIND_FAULT) {
		describe_faults(&w, m);
		return -EPERM;
	}
	return m->wrong || pciod_actuator_clearable(&m->a) ? 0 : 1;
}

void pciod_module_clear(struct pciod_module *m, int64_t now_ns)
{
	pciod_actuator_clear(&m->a, m->wrong, now_ns);
	if (!m->wrong)
		return;
	m->phase = PCIOD_VERIFYING;
	m->phase_ns = now_ns;
	m->known &= PCIOD_SAMPLE;
	m->config_writes = 0;
	m->config_ns = 0;
	m->wrong = 0;
}

bool pciod_module_clearing(const struct pciod_module *m)
{
	const struct pciod_actuator *a = &m->a;

	return !pciod_actuator_silent(a) && !m->wrong && !a->reset_failed &&
	       (pciod_actuator_resetting(a) || m->phase != PCIOD_UP || a->clear_ns);
}

const char *pciod_module_not_homable(const struct pciod_module *m)
{
	if (pciod_actuator_silent(&m->a) || !pciod_module_knows(m))
		return "does not answer";
	if (m->phase != PCIOD_UP)
		return "is not verified yet";
	if (pcio_faults(m->state) || m->wrong || m->a.reset_failed)
		return "has a fault";
	if (m->state & PCIO_STATE_HALTED || pciod_actuator_resetting(&m->a))
		return "is halted";
	return NULL;
}
