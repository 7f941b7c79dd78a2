/* exampled.c: the smallest driver; hw-docs/guides/write-a-driver.md walks through it. */
#include <math.h>

#include "config/base/base.h"
#include "daemons/drv/drv.h"
#include "daemons/example/example.h"
#include "daemons/example/exampled_settings.h"

#define SILENT_NS 50000000 /* ten states missed: it is not there */
#define GAIN_1_S 2.0	   /* velocity for each rad that it is behind its ramp */
#define REST_RAD_S 5e-3	   /* below that it is commanded to stand */

struct exampled {
	struct exampled_settings settings; /* first: the loop fills them in */
	unsigned int turn;		   /* the frame it sends */
	unsigned int state;		   /* the frame it receives */
	struct example_state got;
};

static int declare(void *self, struct drv *drv, struct error_sink *errors)
{
	struct exampled *e = self;
	const uint32_t node = (uint32_t)e->settings.node;
	const struct drv_send turn = {
		.row = { .id = EXAMPLE_ID_TURN + node, .class = SLOTS_LATEST, .period_ns = drv_period_ns(drv) },
		.len = 2,
		.moves = true,
	};
	const struct drv_receive state = {
		.id = EXAMPLE_ID_STATE + node,
		.len_min = 6,
		.len_max = 6,
		.period_ns = EXAMPLE_STATE_NS,
		.silent_after_ns = SILENT_NS,
		.from = "the turntable",
	};
	const int sent = drv_add_send(drv, &turn, errors), received = drv_add_receive(drv, &state, errors);

	if (drv_buses(drv) != 1)
		error_add(errors, "a turntable has one bus, not %u", drv_buses(drv));
	if (sent < 0 || received < 0 || drv_add_joint(drv, "table", errors) < 0)
		return -EINVAL;
	drv_joint_gain(drv, 0, GAIN_1_S);
	e->turn = (unsigned int)sent;
	e->state = (unsigned int)received;
	return 0;
}

/* One frame is the whole sample. */
static bool rx(void *self, struct drv *drv, unsigned int row, const struct bus_frame *got)
{
	struct exampled *e = self;

	(void)drv;
	(void)row;
	return !example_decode(&e->got, &got->frame, got->t_ns);
}

/* It says where it is by itself: once it has, there is nothing else to wait for. */
static enum drv_step start(void *self, struct drv *drv, const struct drv_orders *orders)
{
	const struct exampled *e = self;

	(void)drv;
	(void)orders;
	return e->got.t_ns ? DRV_DONE : DRV_AGAIN;
}

static void turn(struct exampled *e, struct drv *drv, const struct drv_orders *orders, double velocity_rad_s)
{
	struct frame frame;

	if (example_encode_turn((unsigned int)e->settings.node, velocity_rad_s, &frame))
		return;
	if (orders->joint[0].stops || orders->level == MSG_LEVEL_ESTOP)
		drv_send_stop(drv, e->turn, &frame);
	else
		drv_send(drv, e->turn, &frame);
}

static void tick(void *self, struct drv *drv, const struct drv_orders *orders)
{
	struct exampled *e = self;

	if (orders->level == MSG_LEVEL_ESTOP) {
		turn(e, drv, orders, 0);
		drv_not_driven(drv, 0, true); /* what comes next begins at rest */
		return;
	}
	/* It takes velocities only: the loop's tracking keeps the positions. */
	turn(e, drv, orders, orders->joint[0].track_rad_s);
}

static int64_t fill(void *self, struct drv *drv, void *state, int64_t now_ns)
{
	const struct exampled *e = self;
	struct msg_joint_state *s = state;

	s->status[0] = drv_silent(drv, e->state) ? MSG_JOINT_SILENT : 0;
	if (!e->got.t_ns)
		return 0;
	s->position[0] = e->got.position_rad;
	s->velocity[0] = e->got.velocity_rad_s;
	s->age_ns[0] = now_ns - e->got.t_ns;
	return e->got.t_ns;
}

static enum drv_step stop(void *self, struct drv *drv, const struct drv_orders *orders)
{
	const bool brakes = orders->level != MSG_LEVEL_ESTOP && fabs(orders->joint[0].track_rad_s) > REST_RAD_S;

	turn(self, drv, orders, brakes ? orders->joint[0].track_rad_s : 0);
	return brakes ? DRV_AGAIN : DRV_DONE;
}

static const struct drv_driver driver = {
	.program = "exampled",
	.about = "drives the example device, a turntable",
	.size = sizeof(struct exampled),
	.settings = exampled_settings_rows,
	.state = msg_joint_state_number,
	.ref = msg_joint_ref_number,
	.declare = declare,
	.rx = rx,
	.start = start,
	.tick = tick,
	.fill = fill,
	.stop = stop,
};

DRV_OBJECT(driver);

int main(int argc, char **argv)
{
	return drv_main(&driver, argc, argv);
}
