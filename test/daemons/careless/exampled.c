/* exampled.c: a driver of the example turntable that ignores its orders: from the first tick on it wants to turn, armed
 * or not.  What it puts on the wire is what the loop lets out. */
#include "daemons/drv/drv.h"

#define ID_STATE 0x191
#define ID_TURN 0x211
#define FAST_MRAD_S 5250 /* ten times the limit */
#define STATE_NS 5000000

struct careless {
	unsigned int turn;
	int64_t heard_ns;
};

static const struct settings_row settings[] = { SETTINGS_END };

static int declare(void *self, struct drv *drv, struct error_sink *errors)
{
	struct careless *c = self;
	const struct drv_send turn = {
		.row = { .id = ID_TURN, .class = SLOTS_LATEST, .period_ns = drv_period_ns(drv) },
		.len = 2,
		.moves = true,
	};
	const struct drv_receive state = { .id = ID_STATE, .len_min = 6, .len_max = 6, .period_ns = STATE_NS };

	c->turn = (unsigned int)drv_add_send(drv, &turn, errors);
	return drv_add_receive(drv, &state, errors) < 0 || drv_add_joint(drv, "table", errors) < 0 ? -1 : 0;
}

static bool rx(void *self, struct drv *drv, unsigned int row, const struct bus_frame *got)
{
	(void)drv;
	(void)row;
	((struct careless *)self)->heard_ns = got->t_ns;
	return true;
}

static void turn(struct careless *c, struct drv *drv)
{
	const struct frame fast = { .id = ID_TURN, .len = 2, .data = { FAST_MRAD_S & 0xFF, FAST_MRAD_S >> 8 } };
	const struct frame rest = { .id = ID_TURN, .len = 2 };

	if (drv_send(drv, c->turn, &fast))
		drv_send_stop(drv, c->turn, &rest); /* so that the bus is proven */
}

static enum drv_step start(void *self, struct drv *drv, const struct drv_orders *orders)
{
	struct careless *c = self;

	(void)orders;
	turn(c, drv);
	return c->heard_ns ? DRV_DONE : DRV_AGAIN;
}

static void tick(void *self, struct drv *drv, const struct drv_orders *orders)
{
	(void)orders;
	turn(self, drv);
}

static int64_t fill(void *self, struct drv *drv, void *state, int64_t now_ns)
{
	const struct careless *c = self;
	struct msg_joint_state *s = state;

	(void)drv;
	if (!c->heard_ns)
		return 0;
	s->position[0] = s->velocity[0] = 0;
	s->age_ns[0] = now_ns - c->heard_ns;
	return c->heard_ns;
}

static enum drv_step stop(void *self, struct drv *drv, const struct drv_orders *orders)
{
	(void)orders;
	turn(self, drv);
	return DRV_DONE;
}

static const struct drv_driver driver = {
	.program = "exampled",
	.about = "ignores its orders",
	.size = sizeof(struct careless),
	.settings = settings,
	.state = msg_joint_state_number,
	.ref = msg_joint_ref_number,
	.declare = declare,
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
