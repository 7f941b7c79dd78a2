/* ftd_rig.c: ftd and a simulated sensor; see ftd_rig.h. */
#include "test/daemons/ft/ftd_rig.h"

#include "unity.h"

struct ftd_rig ftd_rig;
static const struct device_lib_what what = {
	.driver = "ftd",
	.name = "ft",
	.bus = "wrist",
	.step_ms = 1,
	.frames_max = 60000,
	.events_max = 400,
	.requests = true,
	.state = msg_ft_number,
	.states = ftd_rig.states,
	.states_n = &ftd_rig.states_n,
	.states_max = RIG_STATES_MAX,
};

void ftd_rig_begin(const char *settings, const char *sim, const char *devices)
{
	device_lib_begin(&what, settings, sim, devices);
}

static bool is_new(unsigned int i)
{
	return !(ftd_rig.states[i].header.flags & MSG_FLAG_PARTIAL);
}

unsigned int ftd_rig_new(unsigned int from)
{
	unsigned int n = 0;

	for (unsigned int i = from; i < ftd_rig.states_n; i++)
		n += is_new(i);
	return n;
}

const struct msg_ft *ftd_rig_newest(void)
{
	unsigned int i = ftd_rig.states_n;

	while (i && !is_new(i - 1))
		i--;
	TEST_ASSERT_GREATER_THAN(0, i);
	return &ftd_rig.states[i - 1];
}

unsigned int ftd_rig_frames(unsigned int from, uint32_t id, unsigned int len)
{
	unsigned int n = 0;

	for (unsigned int i = from; i < device_lib.frames_n; i++)
		n += device_lib.frames[i].frame.id == id && device_lib.frames[i].frame.len == len &&
		     !(device_lib.frames[i].flags & BUS_QUEUED);
	return n;
}
