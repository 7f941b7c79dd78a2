/* hubod.c: drives Hubo's boards and is the clock of its robot.  See hubod(1). */
#include "daemons/hubo/hubod.h"

static const struct drv_driver driver = {
	.program = "hubod",
	.about = "drives Hubo's joint, sensor and power boards",
	.size = sizeof(struct hubod),
	.settings = hubod_settings_rows,
	.tick_preset = "5ms",
	.own_period = true,
	.complies = true,
	.state = msg_joint_state_number,
	.ref = msg_joint_ref_number,
	.declare = hubod_declare,
	.start = hubod_start,
	.tick = hubod_tick,
	.rx = hubod_rx,
	.answer = hubod_answer,
	.sent = hubod_sent,
	.lost = hubod_lost,
	.fill = hubod_fill,
	.verbs = hubod_verbs,
	.request = hubod_request,
	.cancel = hubod_cancel,
	.stop = hubod_stop,
};

int main(int argc, char **argv)
{
	return drv_main(&driver, argc, argv);
}
