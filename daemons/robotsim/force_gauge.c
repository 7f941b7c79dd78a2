/* force_gauge.c: the example force gauge as a simulated device, written from hw-docs/devices/gauge.md. */
#include "daemons/gauge/gauged_settings.h"
#include "daemons/robotsim/sim_base.h"

#define ASK_ID 0x2A0u /* + node */
#define REPLY_ID 0x2C0u
#define SAMPLE_ID 0x2E0u
#define AXES 3
#define BIAS_NS 50000000
#define REPLY_NS 2000000
#define REPLIES_MAX 8

static const int32_t factors_nn[AXES] = { 2000000, 2500000, 4000000 };

struct force_gauge {
	struct sim_base base;
	unsigned int node;
	double force[AXES], bias[AXES]; /* N */
	bool deaf, refuses;
	int64_t period_ns, sample_ns; /* 0: no stream; the next one */
	uint8_t number;
	uint64_t asked; /* requests heard */
};

static const struct settings_row rows[] = {
	SETTINGS_REAL("x", struct force_gauge, force[0], "N", "0", "-1000", "1000", "the force that it feels"),
	SETTINGS_REAL("y", struct force_gauge, force[1], "N", "0", "-1000", "1000", "the force that it feels"),
	SETTINGS_REAL("z", struct force_gauge, force[2], "N", "0", "-1000", "1000", "the force that it feels"),
	SETTINGS_END,
};

/* ---- the robot file ---- */

static int load(struct sim *sim, const struct robot_device *device, const void *of_driver, struct error_sink *errors)
{
	const unsigned int n = (unsigned int)((const struct gauged_settings *)of_driver)->node;
	struct force_gauge gauge = { .node = n };
	const struct sim_node node = { &gauge, sizeof(gauge), n, .hears = ASK_ID + n, .sends = SAMPLE_ID + n };

	return sim_add_node(sim, device, &node, errors);
}

/* ---- what it says ---- */

static void reply(struct force_gauge *g, const struct frame *asked, int64_t t_ns, int error, int32_t value)
{
	struct frame f = { .id = REPLY_ID + g->node, .len = error ? 3 : 6, .data = { asked->data[0], asked->data[1] } };

	if (g->deaf || g->base.queue.n == REPLIES_MAX)
		return;
	frame_put_le(f.data + 2, (uint32_t)(error ? error : value), 4);
	sim_base_put(&g->base, f, 1, t_ns);
}

static void frame(void *state, const struct frame *f, int64_t t_ns)
{
	struct force_gauge *g = state;
	const uint8_t what = f->data[0], index = f->data[1];

	if (f->len != 2 || g->base.silent)
		return;
	g->asked++;
	if (g->refuses) {
		reply(g, f, t_ns + REPLY_NS, 2, 0);
	} else if (what == 1 && index < AXES) {
		reply(g, f, t_ns + REPLY_NS, 0, factors_nn[index]);
	} else if (what == 2 && index <= 100) {
		g->period_ns = index * INT64_C(1000000);
		g->sample_ns = t_ns + g->period_ns;
		reply(g, f, t_ns + REPLY_NS, 0, index);
	} else if (what == 3 && !index) {
		memcpy(g->bias, g->force, sizeof(g->bias));
		reply(g, f, t_ns + BIAS_NS, 0, 0);
	} else {
		reply(g, f, t_ns + REPLY_NS, 1, 0);
	}
}

static int64_t next_ns(const void *state)
{
	const struct force_gauge *g = state;
	const int64_t frame_ns = sim_base_next_ns(g);

	return g->period_ns && g->sample_ns < frame_ns ? g->sample_ns : frame_ns;
}

static struct frame sample(struct force_gauge *g)
{
	struct frame f = { .id = SAMPLE_ID + g->node, .len = 7 };

	for (unsigned int i = 0; i < AXES; i++) {
		const double counts = (g->force[i] - g->bias[i]) / (factors_nn[i] * 1e-9);

		frame_put_le(f.data + 2 * i, sim_base_i16(counts), 2);
	}
	f.data[6] = g->number++;
	return f;
}

static bool send(void *state, int64_t now_ns, struct frame *f)
{
	struct force_gauge *g = state;

	if (g->period_ns && sim_base_due(&g->sample_ns, g->period_ns, now_ns))
		sim_base_put(&g->base, sample(g), 1, now_ns);
	return sim_base_send(g, now_ns, f);
}

/* ---- on command ---- */

#define FAULT(word, member) SIM_FAULT(word, struct force_gauge, member)
static const struct sim_fault faults[] = {
	SIM_BASE_SILENT,
	FAULT("deaf", deaf),
	FAULT("refuses", refuses),
	{ 0 },
};

/* A silent gauge is switched off: it forgets the stream and the bias. */
static void faulted(void *state, int64_t t_ns)
{
	struct force_gauge *g = state;

	(void)t_ns;
	if (!g->base.silent)
		return;
	g->period_ns = 0;
	g->base.queue.n = 0;
	memset(g->bias, 0, sizeof(g->bias));
}

static void report(void *state, struct rpc_text *to)
{
	const struct force_gauge *g = state;

	rpc_say(to, " x %.6f y %.6f z %.6f asked %llu samples %u", g->force[0], g->force[1], g->force[2],
		(unsigned long long)g->asked, g->number);
}

const struct sim_kind force_gauge_kind = {
	SIM_DRIVER(gauged), .no_ref = true, .rows = rows,     .load = load,	  .frame = frame,
	.next_ns = next_ns, .send = send,   .faults = faults, .faulted = faulted, .report = report,
};
