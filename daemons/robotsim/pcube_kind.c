/* pcube_kind.c: a PowerCube module as a simulated device: frames, faults on command, report. */
#include "daemons/pcio/pciod_settings.h"
#include "daemons/robotsim/pcube.h"
#include "daemons/robotsim/sim.h"

/* Bits that a command may set; the others are computed. */
#define BY_COMMAND                                                                                            \
	(PCUBE_FAULTS | PCUBE_ERROR | PCUBE_HOMED | PCUBE_HALTED | PCUBE_HOME_SWITCH | PCUBE_LIMIT_SWITCH_1 | \
	 PCUBE_LIMIT_SWITCH_2 | PCUBE_BRAKE | PCUBE_CURRENT_LIMIT)

/* ---- as a unit ---- */

/* It was loaded with its address and settings. */
static void start(void *state, int64_t t_ns)
{
	const struct pcube *m = state;
	const struct pcube_settings settings = m->settings;

	pcube_start(state, m->values.address, &settings, t_ns);
}

static bool has_power(const void *state)
{
	const struct pcube *m = state;

	return m->power && !m->other_bus;
}

static struct sim_shaft *shaft(void *state, unsigned int n)
{
	return n ? NULL : &((struct pcube *)state)->shaft;
}

static void place(void *state, double rad)
{
	struct pcube *m = state;
	const struct pcube_settings settings = m->settings;
	const bool coupled = m->shaft.coupled;
	struct pcube_settings there = settings;

	there.position = rad;
	there.moving = 0;
	pcube_start(m, m->values.address, &there, m->t_ns);
	m->settings = settings;
	m->shaft.coupled = coupled;
}

/* ---- on command ---- */

static const struct sim_fault faults[] = {
	SIM_FAULT("silent", struct pcube, silent),
	SIM_FAULT("jammed", struct pcube, jammed),
	{ 0 },
};

static int fault(void *state, const char *word, bool clear, int64_t t_ns, struct rpc_text *answer)
{
	static const char *const others[] = { "cut", "silent", "jammed", "power-off", "power-on", "supply-low", NULL };
	const char *near = NULL;

	if (!strcmp(word, "supply-low")) {
		pcube_supply(state, !clear, t_ns);
		return 0;
	}
	for (unsigned int bit = 0; bit < PCUBE_BITS; bit++) {
		const bool settable = BY_COMMAND & 1u << bit, meant = !strcmp(word, pcube_state_names[bit]);

		if (meant && settable) {
			pcube_fault(state, 1u << bit, !clear, t_ns);
			return 0;
		}
		if (meant)
			return sim_refuse(answer, "%s: computed bit; cannot be set", word);
		if (settable)
			nearest_try(word, pcube_state_names[bit], &near);
	}
	for (const char *const *other = others; *other; other++)
		nearest_try(word, *other, &near);
	return sim_refuse(answer, "%s: no such fault%s%s%s", word,
			  near ? "; did you mean " : ": robotsim fault --help lists them", near ? near : "",
			  near ? "?" : "");
}

static void say_state(struct rpc_text *to, uint32_t state)
{
	const char *comma = "";

	rpc_say(to, " state 0x%08" PRIX32 " words ", state);
	for (unsigned int bit = 0; bit < PCUBE_BITS; bit++)
		if (state & 1u << bit) {
			rpc_say(to, "%s%s", comma, pcube_state_names[bit]);
			comma = ",";
		}
	if (!*comma)
		rpc_say(to, "none");
}

static void report(void *state, struct rpc_text *to)
{
	struct pcube *m = state;
	const struct pcube_counts *c = &m->counts;

	rpc_say(to, " type %s power %s position %.6f velocity %.6f current %.4f", m->type->name,
		!m->power	 ? "off"
		: pcube_hears(m) ? "on"
				 : "booting",
		pcube_position(m), m->joint.velocity, m->joint.current);
	say_state(to, pcube_state(m));
	rpc_say(to, " config 0x%08" PRIX32, m->values.config);
	if (m->armed)
		rpc_say(to, " watchdog_us %" PRId64, m->watchdog_ns > m->t_ns ? (m->watchdog_ns - m->t_ns) / 1000 : 0);
	else
		rpc_say(to, " watchdog_us off");
	rpc_say(to,
		" in %" PRIu64 " out %" PRIu64 " ignored %" PRIu64 " lost %" PRIu64 " gets %" PRIu64 " sets %" PRIu64
		" moves %" PRIu64 " refused %" PRIu64 " resets %" PRIu64 " homings %" PRIu64 " halts %" PRIu64
		" watchdogs %" PRIu64 " starts %" PRIu64 " trips %" PRIu64,
		c->in, c->out, c->ignored, c->lost, c->gets, c->sets, c->moves, c->refused, c->resets, c->homings,
		c->halts, c->watchdogs, c->starts, c->trips);
}

const struct sim_kind pcube_kind = {
	SIM_DRIVER(pciod),
	.rows = pcube_rows,
	.load = pcube_load,
	.start = start,
	.frame = pcube_frame,
	.next_ns = pcube_next_ns,
	.send = pcube_reply,
	.advance = pcube_advance,
	.has_power = has_power,
	.faults = faults,
	.power = pcube_power,
	.fault = fault,
	.push = pcube_push,
	.live = (const char *const[]){ "reply_delay", "reply_jitter", "reorder", "lose", "watchdog", "boot", "voltage",
				       "refused", "wrong_after_reset", NULL },
	.report = report,
	.shaft = shaft,
	.place = place,
};
