/* sim_robotiq.c: a Robotiq 3-finger gripper as a simulated device, written from hw-docs/devices/robotiq.md. */
#include <math.h>

#include "daemons/robotiq/robotiqd_settings.h"
#include "daemons/robotsim/od.h"
#include "daemons/robotsim/sim.h"

#define AXES 4
#define STEP_NS 1000000
#define STROKE_MM 155.0 /* of 255 ticks */
#define RELEASE_TICKS_S 60
#define MODE_CHANGE_NS INT64_C(2000000000)
#define LONG_NS INT64_C(20000000000) /* of a blocked scissor axis, until it is a fault */
#define LOSES_EACH 7		     /* reply, if it loses some */

enum phase { RESET, ACTIVATING, CHANGING, READY };

struct gripper {
	struct od od; /* first */

	double object, outside; /* of the robot file */
	int64_t activation_ns, boot_ns, reply_ns, pdo_ns;
	bool activated, power;

	unsigned int node;
	bool pdo;
	int64_t refresh_ns;
	uint8_t out[16], in[17]; /* registers; in is refreshed from time to time */
	enum phase phase;
	unsigned int mode, fault; /* fault: 0xA to 0xF */
	int64_t t_ns, until_ns, blocked_ns;
	double at[AXES];
	unsigned int stopped[AXES]; /* gDT */
	bool silent, garbage, refuses, jams, blocked, loses;
	uint64_t frames_in, frames_out, activations, writes;
};

#define ROW(TYPE, key, ...) SETTINGS_##TYPE(key, struct gripper, __VA_ARGS__)
static const struct settings_row rows[] = {
	ROW(REAL, "object", object, "", "1", "0", "1", "closing fingers meet an object there; 1: there is none"),
	ROW(REAL, "outside", outside, "", "0", "0", "1", "opening fingers meet an object there; 0: there is none"),
	ROW(DURATION, "activation", activation_ns, "4s", "0s", "1min", "how long it takes"),
	ROW(DURATION, "boot", boot_ns, "500ms", "0s", "1min", "from power to its boot-up frame"),
	ROW(DURATION, "reply_delay", reply_ns, "300us", "0s", "10s", "from an SDO request to its reply"),
	ROW(DURATION, "pdo_period", pdo_ns, "10ms", "1ms", "1s", "of its TPDOs, if the driver uses PDOs"),
	ROW(BOOL, "activated", activated, "no", "at first it is operational and activated"),
	ROW(BOOL, "power", power, "yes", "it is switched on"),
	SETTINGS_END,
};

/* ---- motion ---- */

static bool is_operational(const struct gripper *g)
{
	return g->od.nmt == OD_OPERATIONAL;
}

static double target(const struct gripper *g, unsigned int axis)
{
	static const uint8_t scissor[] = { 137, 220, 25, 220 }; /* of the modes */

	if (axis == 3)
		return g->out[2] & 8 ? g->out[13] : scissor[g->mode];
	return g->out[2] & 4 ? g->out[4 + 3 * axis] : g->out[4];
}

static double speed_ticks_s(const struct gripper *g, unsigned int axis)
{
	const uint8_t r = g->out[5 + (g->out[2] & (axis == 3 ? 8 : 4) ? 3 * axis : 0)];

	return (22 + r / 2.94) * 255 / STROKE_MM;
}

static void move(struct gripper *g, unsigned int i, double to, double ticks)
{
	const double closing = i < 3 ? 255 * g->object : 255, opening = i < 3 ? 255 * g->outside : 0;
	double next = g->at[i] + fmax(-ticks, fmin(ticks, to - g->at[i]));
	const bool meets_inside = next > closing && next > g->at[i], meets_outside = next < opening && next < g->at[i];

	if (meets_inside)
		next = fmax(closing, g->at[i]);
	if (meets_outside)
		next = fmin(opening, g->at[i]);
	g->stopped[i] = meets_inside ? 2 : meets_outside ? 1 : fabs(next - to) < 0.5 ? 3 : 0;
	g->at[i] = next;
}

static void step_release(struct gripper *g)
{
	bool open = true;

	for (unsigned int i = 0; i < 3; i++) {
		g->at[i] = fmax(0, g->at[i] - RELEASE_TICKS_S * 1e-9 * STEP_NS);
		open &= g->at[i] == 0;
	}
	g->fault = open ? 0xF : 0xB;
}

static void step_phase(struct gripper *g)
{
	if (g->phase == ACTIVATING)
		for (unsigned int i = 0; i < 3; i++) /* opens, closes, opens */
			g->at[i] =
				127.5 *
				(1 - cos(6.2831853 * (double)(g->until_ns - g->t_ns) / (double)(g->activation_ns + 1)));
	if ((g->phase != ACTIVATING && g->phase != CHANGING) || g->t_ns < g->until_ns)
		return;
	if (g->phase == ACTIVATING && g->jams)
		g->fault = 0xD;
	else
		g->phase = READY;
}

static void step(struct gripper *g)
{
	if (!is_operational(g) || !(g->out[1] & 1))
		return;
	if (!g->fault)
		step_phase(g);
	if (g->blocked && g->fault != 0xE)
		g->fault = g->t_ns - g->blocked_ns > LONG_NS ? 0xE : 0xA;
	else if (!g->blocked && g->fault == 0xA)
		g->fault = 0;
	if (g->out[1] & 0x10 && g->fault != 0xF && g->phase == READY)
		step_release(g);
	else if (g->out[1] & 8 && g->phase == READY && !g->fault)
		for (unsigned int i = 0; i < AXES; i++)
			move(g, i, target(g, i), speed_ticks_s(g, i) * 1e-9 * STEP_NS);
}

static unsigned int minor_fault(const struct gripper *g)
{
	if (g->fault)
		return g->fault;
	if (!(g->out[1] & 8))
		return 0;
	return g->phase == RESET ? 7 : g->phase == ACTIVATING ? 5 : g->phase == CHANGING ? 6 : 0;
}

static void refresh(struct gripper *g)
{
	unsigned int moving = 0, early = 0, motion;

	for (unsigned int i = 0; i < AXES; i++) {
		moving += !g->stopped[i];
		early += g->stopped[i] != 3;
	}
	motion = moving ? 0 : early >= 3 ? 2 : early ? 1 : 3;
	g->in[1] = (uint8_t)((g->out[1] & 1) | g->mode << 1 | (g->out[1] & 8) | g->phase << 4 | motion << 6);
	g->in[2] = (uint8_t)(g->stopped[0] | g->stopped[1] << 2 | g->stopped[2] << 4 | g->stopped[3] << 6);
	g->in[3] = (uint8_t)minor_fault(g);
	for (unsigned int i = 0; i < AXES; i++) {
		g->in[4 + 3 * i] = (uint8_t)target(g, i);
		g->in[5 + 3 * i] = (uint8_t)lround(g->at[i]);
		g->in[6 + 3 * i] = !(g->out[1] & 8) ? 0 : g->stopped[i] == 3 ? 1 : g->stopped[i] ? 8 : 4;
	}
}

static void advance(void *state, int64_t t_ns)
{
	struct gripper *g = state;

	while (g->t_ns + STEP_NS <= t_ns) {
		g->t_ns += STEP_NS;
		step(g);
		if (g->t_ns % g->refresh_ns < STEP_NS)
			refresh(g);
	}
}

/* ---- its dictionary ---- */

static uint32_t read_register(void *of, const struct od_object *o, uint32_t stored)
{
	const struct gripper *g = of;

	return o->index == 0x2000 ? g->in[o->sub] : stored;
}

static void command(struct gripper *g, uint8_t was)
{
	const uint8_t now = g->out[1];
	const unsigned int mode = now >> 1 & 3;

	if (!(now & 1)) {
		g->phase = RESET;
		g->fault = 0;
	} else if (!(was & 1)) {
		g->phase = ACTIVATING;
		g->until_ns = g->t_ns + g->activation_ns;
		g->activations++;
	} else if (mode != g->mode && g->phase >= CHANGING) {
		g->phase = CHANGING;
		g->until_ns = g->t_ns + MODE_CHANGE_NS;
	}
	g->mode = mode;
	memset(g->stopped, 0, sizeof(g->stopped));
}

static uint32_t written(void *of, const struct od_object *o, uint32_t value)
{
	struct gripper *g = of;
	const uint8_t was = g->out[1];

	if (o->index != 0x2200)
		return 0;
	if (g->refuses)
		return OD_ABORT_STATE;
	g->writes++;
	g->out[o->sub] = (uint8_t)value;
	if (is_operational(g) && (o->sub == 1 ? value != was : was & 8))
		command(g, was);
	return 0;
}

/* Power: it forgets everything but where its fingers are. */
static void reset(void *of)
{
	static const uint32_t ids[] = { 0x200, 0x180, 0x280 };
	struct gripper *g = of;

	memset(g->out, 0, sizeof(g->out));
	memset(g->stopped, 0, sizeof(g->stopped));
	g->phase = RESET;
	g->mode = g->fault = 0;
	refresh(g);
	for (unsigned int i = 0; i < 3 && g->pdo; i++) {
		g->od.pdo[i].cob = ids[i] + g->node;
		g->od.pdo[i].event_ms = i ? (uint16_t)(g->pdo_ns / 1000000) : 0;
	}
}

/* clang-format off */
#define IN(n) { 0x2000, n, 8, OD_READ | OD_MAP, 0, NULL }
#define OUT(n) { 0x2200, n, 8, OD_WRITE_ONLY | OD_MAP, 0, NULL }
#define MAP(index, n) ((uint32_t)(index) << 16 | (n) << 8 | 8)
#define MAP8(index, n) \
	{ MAP(index, n),       MAP(index, (n) + 1), MAP(index, (n) + 2), MAP(index, (n) + 3), \
	  MAP(index, (n) + 4), MAP(index, (n) + 5), MAP(index, (n) + 6), MAP(index, (n) + 7) }
static const struct od_object objects[] = {
	{ 0x1000, 0, 32, OD_READ, 0, NULL },
	IN(1), IN(2), IN(3), IN(4), IN(5), IN(6), IN(7), IN(8), IN(9), IN(10), IN(11), IN(12), IN(13), IN(14), IN(15),
	IN(16), OUT(1), OUT(2), OUT(3), OUT(4), OUT(5), OUT(6), OUT(7), OUT(8), OUT(9), OUT(10), OUT(11), OUT(12),
	OUT(13), OUT(14), OUT(15),
};
/* clang-format on */
static const struct od_pdo pdos[] = {
	{ .number = 1, .type = 0xFE, .map = MAP8(0x2200, 1) },
	{ .number = 1, .tx = true, .type = 0xFE, .map = MAP8(0x2000, 1) },
	{ .number = 2, .tx = true, .type = 0xFE, .map = MAP8(0x2000, 9) },
};
static const struct od_device device = { .objects = objects,
					 .objects_n = sizeof(objects) / sizeof(*objects),
					 .pdos = pdos,
					 .pdos_n = sizeof(pdos) / sizeof(*pdos),
					 .read = read_register,
					 .written = written,
					 .reset = reset };

/* ---- as a unit ---- */

static int load(struct sim *sim, const struct robot_device *of, const void *of_driver, struct error_sink *errors)
{
	const struct robotiqd_settings *driver = of_driver;
	struct gripper g = { .node = (unsigned int)driver->node, .pdo = driver->pdo, .refresh_ns = driver->refresh_ns };
	const struct sim_node node = { &g, sizeof(g), g.node, .hears = 0x600 + g.node, .sends = 0x580 + g.node };
	int r = sim_add_node(sim, of, &node, errors);

	if (r)
		return r;
	sim->units[sim->units_n - 1].filters[1] = (struct bus_filter){ 0, FRAME_STD_MASK | FRAME_EXT | FRAME_RTR };
	sim->units[sim->units_n - 1].filters[2] =
		(struct bus_filter){ 0x200 + g.node, FRAME_STD_MASK | FRAME_EXT | FRAME_RTR };
	sim->units[sim->units_n - 1].filters_n = 3;
	return 0;
}

static void start(void *state, int64_t t_ns)
{
	struct gripper *g = state;

	g->t_ns = t_ns;
	od_start(&g->od, &device, g, g->node, t_ns - g->boot_ns);
	g->od.boot_ns = g->boot_ns;
	g->od.reply_ns = g->reply_ns;
	od_power(&g->od, g->power, t_ns);
	if (!g->activated)
		return;
	od_advance(&g->od, t_ns);
	od_frame(&g->od, &(struct frame){ .id = 0, .len = 2, .data = { 1, (uint8_t)g->node } }, t_ns);
	g->out[1] = 1;
	g->phase = READY;
	refresh(g);
}

static void frame(void *state, const struct frame *f, int64_t t_ns)
{
	struct gripper *g = state;

	advance(g, t_ns);
	g->frames_in++;
	od_frame(&g->od, f, t_ns);
}

static bool send(void *state, int64_t now_ns, struct frame *f)
{
	struct gripper *g = state;

	advance(g, now_ns);
	while (od_send(&g->od, now_ns, f)) {
		g->frames_out++;
		if (g->garbage)
			f->data[0] = 0x15;
		if (!g->silent && !(g->loses && g->frames_out % LOSES_EACH == 0))
			return true;
	}
	return false;
}

/* ---- on command ---- */

#define FAULT(word, member) SIM_FAULT(word, struct gripper, member)
static const struct sim_fault faults[] = {
	FAULT("silent", silent),
	FAULT("garbage", garbage),
	FAULT("refuses", refuses),
	FAULT("jams", jams),
	FAULT("blocked", blocked),
	FAULT("loses", loses),
	{ 0 },
};

static void faulted(void *state, int64_t t_ns)
{
	((struct gripper *)state)->blocked_ns = t_ns;
}

static void report(void *state, struct rpc_text *to)
{
	static const char *const phases[] = { "reset", "activating", "changing", "ready" };
	struct gripper *g = state;

	rpc_say(to, " nmt %d phase %s mode %u fault 0x%X go %u release %u a %.1f b %.1f c %.1f s %.1f", (int)g->od.nmt,
		phases[g->phase], g->mode, minor_fault(g), g->out[1] >> 3 & 1, g->out[1] >> 4 & 1, g->at[0], g->at[1],
		g->at[2], g->at[3]);
	rpc_say(to, " in %llu out %llu writes %llu activations %llu aborts %llu", (unsigned long long)g->frames_in,
		(unsigned long long)g->frames_out, (unsigned long long)g->writes, (unsigned long long)g->activations,
		(unsigned long long)g->od.aborts);
}

const struct sim_kind robotiq_kind = {
	SIM_DRIVER(robotiqd),
	.rows = rows,
	.load = load,
	.start = start,
	.frame = frame,
	.next_ns = od_next_ns,
	.send = send,
	.advance = advance,
	.has_power = od_has_power,
	.faults = faults,
	.faulted = faulted,
	.power = od_power,
	.live = (const char *const[]){ "object", "outside", "activation", NULL },
	.report = report,
};
