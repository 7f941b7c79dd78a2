/* bmsd_rig.c: bmsd and a simulated battery; see bmsd_rig.h. */
#include "test/daemons/bms/bmsd_rig.h"

struct bmsd_rig bmsd_rig;
static const struct device_lib_what what = {
	.driver = "bmsd",
	.name = "battery",
	.bus = "base",
	.step_ms = 10,
	.frames_max = 20000,
	.events_max = 200,
	.state = msg_battery_number,
	.states = bmsd_rig.states,
	.states_n = &bmsd_rig.states_n,
	.states_max = RIG_STATES_MAX,
};

void bmsd_rig_begin(const char *settings, const char *sim)
{
	device_lib_begin(&what, settings, sim, "");
}

unsigned int bmsd_rig_complete(unsigned int from)
{
	unsigned int n = 0;

	for (unsigned int i = from; i < bmsd_rig.states_n; i++)
		n += !(bmsd_rig.states[i].header.flags & MSG_FLAG_PARTIAL);
	return n;
}

unsigned int bmsd_rig_keep_alives(void)
{
	return device_lib_sent(0x305);
}
