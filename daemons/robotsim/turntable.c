/* turntable.c: the example turntable as a simulated device, written from hw-docs/devices/example.md. */
#include <math.h>

#include "channels/clock/vt_clock.h"
#include "daemons/example/exampled_settings.h"
#include "daemons/robotsim/joint.h"
#include "daemons/robotsim/sim_base.h"

#define STATE_ID 0x190u /* + node */
#define TURN_ID 0x210u
#define STATE_PERIOD_NS 5000000
#define WATCHDOG_NS 100000000
#define COUNTS_PER_RAD 1e6

struct turntable {
	unsigned int node;
	struct joint joint;
	struct joint_drive drive;
	struct joint_encoder encoder;
	bool silent;
	int64_t t_ns, send_ns, turn_ns; /* the joint's time, the next state's, the last turn's */
	uint64_t turns;			/* frames obeyed */
};

static const struct settings_row rows[] = {
	SETTINGS_REAL("acceleration", struct turntable, joint.acceleration, "rad/s^2", "20", "0.01", "1000",
		      "of its motor"),
	SETTINGS_REAL("position", struct turntable, joint.position, "rad", "0", "-2000", "2000",
		      "where it stands at first"),
	SETTINGS_REAL("noise", struct turntable, encoder.noise, "rad", "0", "0", "1",
		      "largest random error of the measured position"),
	SETTINGS_INT("seed", struct turntable, encoder.seed, "", "1", "0", "0xFFFFFFFF", "seed of the random numbers"),
	SETTINGS_END,
};

/* ---- the robot file ---- */

static int load(struct sim *sim, const struct robot_device *device, const void *of_driver, struct error_sink *errors)
{
	const unsigned int n = (unsigned int)((const struct exampled_settings *)of_driver)->node;
	struct turntable table = { .node = n };
	const struct sim_node node = { &table, sizeof(table), n, .hears = TURN_ID + n, .sends = STATE_ID + n };

	return sim_add_node(sim, device, &node, errors);
}

/* ---- how it turns ---- */

static void turn_until(struct turntable *t, int64_t t_ns)
{
	if (t_ns <= t->t_ns)
		return;
	joint_step(&t->joint, &t->drive, (double)(t_ns - t->t_ns) * 1e-9);
	t->t_ns = t_ns;
}

/* The watchdog may run out in between. */
static void advance(void *state, int64_t t_ns)
{
	struct turntable *t = state;
	const int64_t end_ns = t->turn_ns + WATCHDOG_NS;

	if (t_ns > end_ns) {
		turn_until(t, end_ns);
		t->drive.value = 0;
	}
	turn_until(t, t_ns);
}

static void start(void *state, int64_t t_ns)
{
	struct turntable *t = state;

	t->encoder.seed = vt_clock_seed(t->encoder.seed);
	t->t_ns = t->send_ns = t_ns;
	t->turn_ns = t_ns - WATCHDOG_NS;
	t->joint.ends[0] = -INFINITY;
	t->joint.ends[1] = INFINITY;
	t->drive.how = JOINT_VELOCITY;
	t->encoder.counts_per_rad = COUNTS_PER_RAD;
	t->encoder.offset = 0.5 / COUNTS_PER_RAD; /* rounds to the nearest */
}

static void frame(void *state, const struct frame *f, int64_t t_ns)
{
	struct turntable *t = state;

	if (f->len != 2)
		return;
	advance(t, t_ns);
	t->drive.value = (int16_t)frame_le16(f->data) / 1000.0;
	t->turn_ns = t_ns;
	t->turns++;
}

static int64_t next_ns(const void *state)
{
	return ((const struct turntable *)state)->send_ns;
}

static bool send(void *state, int64_t now_ns, struct frame *f)
{
	struct turntable *t = state;

	if (!sim_base_due(&t->send_ns, STATE_PERIOD_NS, now_ns))
		return false;
	advance(t, now_ns);
	*f = (struct frame){ .id = STATE_ID + t->node, .len = 6 };
	frame_put_le(f->data, (uint64_t)(int64_t)joint_counts(&t->encoder, t->joint.position, t->t_ns), 4);
	frame_put_le(f->data + 4, (uint64_t)lround(t->joint.velocity * 1e3), 2);
	return !t->silent;
}

/* ---- on command ---- */

static const struct sim_fault faults[] = { SIM_FAULT("silent", struct turntable, silent), { 0 } };

static void report(void *state, struct rpc_text *to)
{
	struct turntable *t = state;

	rpc_say(to, " position %.6f velocity %.6f turns %llu", t->joint.position, t->joint.velocity,
		(unsigned long long)t->turns);
}

const struct sim_kind turntable_kind = {
	SIM_DRIVER(exampled), .rows = rows, .load = load,	.start = start,	  .frame = frame,
	.next_ns = next_ns,   .send = send, .advance = advance, .faults = faults, .report = report,
};
