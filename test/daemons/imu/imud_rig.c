/* imud_rig.c: imud and a simulated sensor; see imud_rig.h. */
#include "test/daemons/imu/imud_rig.h"

struct imud_rig rig;
static const struct device_lib_what what = {
	.driver = "imud",
	.name = "imu",
	.bus = "base",
	.step_ms = 1,
	.frames_max = 60000,
	.events_max = 200,
	.state = msg_imu_number,
	.states = rig.states,
	.states_n = &rig.states_n,
	.states_max = RIG_STATES_MAX,
};

void imud_rig_begin(const char *settings, const char *sim)
{
	device_lib_begin(&what, settings, sim, "");
}

unsigned int imud_rig_new(unsigned int from)
{
	unsigned int n = 0;

	for (unsigned int i = from; i < rig.states_n; i++)
		n += rig.states[i].samples;
	return n;
}

unsigned int imud_rig_toggles(void)
{
	return device_lib_sent(0x090);
}
