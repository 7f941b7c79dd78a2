/* exampled.c: the smallest driver; hw-docs/write-a-driver.md walks through it. */
#include <errno.h>

#include "daemons/drv.h"
#include "daemons/example/example.h"

#define SILENT_NS 50000000 /* ten states missed: it is not there */
#define GAIN_1_S 2.0	   /* velocity per distance from where the ramp is */

struct exampled {
	int64_t node;
	unsigned int turn; /* the frame it sends */
	struct example_state got;
	int64_t heard_ns; /* when it last said something; before it did, the first tick */
};

static const struct settings_row settings[] = {
	SETTINGS_INT("node", struct exampled, node, "", "1", "1", "15", "the turntable's number"),
	SETTINGS_END,
};

static int plan(void *self, struct drv *drv, struct error_sink *errors)
{
	struct exampled *e = self;
	const uint32_t node = (uint32_t)e->node;
	const struct drv_send turn = {
		.row = { .id = EXAMPLE_ID_TURN + node, .class = SLOTS_LATEST, .period_ns = drv_period_ns(drv) },
		.len = 2,
	};
	const struct drv_receive state = {
		.id = EXAMPLE_ID_STATE + node,
		.len_min = 6,
		.len_max = 6,
		.period_ns = EXAMPLE_STATE_NS,
	};
	const int sent = drv_add_send(drv, &turn, errors);

	if (drv_buses(drv) != 1)
		error_add(errors, "a turntable has one bus, not %u", drv_buses(drv));
	if (sent < 0 || drv_add_receive(drv, &state, errors) < 0 || drv_add_joint(drv, "table", errors) < 0)
		return -EINVAL;
	e->turn = (unsigned int)sent;
	return 0;
}

/* One frame is the whole sample. */
static bool rx(void *self, struct drv *drv, unsigned int bus, const struct bus_frame *got)
{
	struct exampled *e = self;

	(void)drv;
	(void)bus;
	if (example_decode(&e->got, &got->frame, got->t_ns))
		return false;
	e->heard_ns = got->t_ns;
	return true;
}

static void watch(struct exampled *e, struct drv *drv, int64_t now_ns)
{
	if (!e->heard_ns)
		e->heard_ns = now_ns;
	if (now_ns - e->heard_ns > SILENT_NS)
		drv_fault(drv, "silent", "the turntable has been silent for %d ms", SILENT_NS / 1000000);
	else
		drv_well(drv);
}

/* It says where it is by itself: once it has, there is nothing else to wait for. */
static enum drv_step start(void *self, struct drv *drv, const struct drv_orders *orders)
{
	struct exampled *e = self;

	watch(e, drv, orders->now_ns);
	return e->got.t_ns ? DRV_DONE : DRV_AGAIN;
}

static void turn(struct exampled *e, struct drv *drv, double velocity_rad_s)
{
	struct frame frame;

	if (!example_encode_turn((unsigned int)e->node, velocity_rad_s, &frame))
		drv_send(drv, e->turn, &frame);
}

/* It takes velocities only, so positions are kept here. */
static double velocity(const struct exampled *e, const struct drv_orders *orders)
{
	const struct drv_ref_command *command = &orders->joint[0];

	if (orders->level == MSG_LEVEL_ESTOP)
		return 0;
	if (command->mode != MSG_MODE_POSITION)
		return command->velocity_rad_s;
	return command->velocity_rad_s + GAIN_1_S * (command->position_rad - e->got.position_rad);
}

static void tick(void *self, struct drv *drv, const struct drv_orders *orders)
{
	struct exampled *e = self;

	watch(e, drv, orders->now_ns);
	turn(e, drv, velocity(e, orders));
}

static int64_t fill(void *self, struct drv *drv, void *state, int64_t now_ns)
{
	const struct exampled *e = self;
	struct msg_joint_state *s = state;

	(void)drv;
	if (!e->got.t_ns)
		return 0;
	s->position[0] = e->got.position_rad;
	s->velocity[0] = e->got.velocity_rad_s;
	s->age_ns[0] = now_ns - e->got.t_ns;
	return e->got.t_ns;
}

static enum drv_step stop(void *self, struct drv *drv, const struct drv_orders *orders)
{
	const double velocity_rad_s = orders->level == MSG_LEVEL_ESTOP ? 0 : orders->joint[0].velocity_rad_s;

	turn(self, drv, velocity_rad_s);
	return velocity_rad_s != 0 ? DRV_AGAIN : DRV_DONE;
}

static const struct drv_driver driver = {
	.program = "exampled",
	.about = "drives the example device, a turntable",
	.size = sizeof(struct exampled),
	.settings = settings,
	.state = msg_joint_state_number,
	.ref = msg_joint_ref_number,
	.plan = plan,
	.rx = rx,
	.start = start,
	.tick = tick,
	.fill = fill,
	.stop = stop,
};

int main(int argc, char **argv)
{
	return drv_main(&driver, argc, argv);
}
