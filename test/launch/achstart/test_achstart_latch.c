/* test_achstart_latch.c: a latched driver under achstart is ready, in fault, with its reason, and latched again after
 * each way in which it, its channel and achstart itself can end. */
#include <signal.h>

#include "test/lib/testcase.h"

#include "channels/port/port.h"
#include "test/launch/achstart/rig.h"

void tearDown(void)
{
	rig_close();
}

static void latched_by_another(void)
{
	rig_open(NULL);
	rig_start();
	RIG_UNTIL(rig_all_ready() && rig_level(NULL) == MSG_LEVEL_RUN &&
		  rig_waist().common.lifecycle == MSG_LIFE_HOLDING);
	rig_run("robotsim", "fault waist.15 halted");
	RIG_UNTIL(rig_waist().common.latches == MSG_LATCH_HALTED_BY_OTHER);
}

static bool saved(int64_t latches)
{
	struct folder_state state;

	return rig_state("waist", &state) && state.latches == latches;
}

static const char *channel(void)
{
	static char name[PORT_NAME_MAX];

	TEST_ASSERT_EQUAL(0, port_name(name, "waist-state"));
	return name;
}

static void kill_it(void)
{
	rig_signal("waist", SIGKILL);
}

/* Both at once: an achstart that lives would start the next one before the channel is gone. */
static void kill_it_and_remove_its_channel(void)
{
	rig_kill();
	rig_signal("waist", SIGKILL);
	RIG_UNTIL(!rig_pid("waist"));
	TEST_ASSERT_EQUAL(ACH_OK, ach_unlink(channel()));
	rig_start();
}

static void kill_it_behind_garbage(void)
{
	ach_channel_t chan;

	rig_kill();
	rig_signal("waist", SIGKILL);
	RIG_UNTIL(!rig_pid("waist"));
	TEST_ASSERT_EQUAL(ACH_OK, ach_open(&chan, channel(), NULL));
	TEST_ASSERT_EQUAL(ACH_OK, ach_put(&chan, "abc", 4));
	ach_close(&chan);
	rig_start();
}

static void kill_both(void)
{
	rig_kill();
	rig_signal("waist", SIGKILL);
	RIG_UNTIL(!rig_pid("waist"));
	rig_start();
}

static void kill_achstart(void)
{
	rig_kill();
	rig_start();
}

static void ask_it_to_stop(void)
{
	rig_run("achctl", "restart waist");
}

static bool goes_on(uint64_t ticks)
{
	const struct msg_joint_state state = rig_waist();

	return state.common.ticks > ticks + 60;
}

TEST(a_latched_driver_stays_latched)
{
	static const struct {
		const char *name;
		void (*end)(void);
		uint32_t incarnation;
	} rows[] = {
		{ "killed", kill_it, 2 },
		{ "killed, channel removed", kill_it_and_remove_its_channel, 2 },
		{ "killed, garbage last", kill_it_behind_garbage, 2 },
		{ "killed, and achstart too", kill_both, 2 },
		{ "adopted", kill_achstart, 1 },
		{ "restarted", ask_it_to_stop, 2 },
	};

	for (size_t i = 0; i < sizeof(rows) / sizeof(*rows); i++) {
		uint64_t ticks;
		double at_rad;

		latched_by_another();
		RIG_UNTIL(saved(MSG_LATCH_HALTED_BY_OTHER));
		rig_listen();
		rig_drive(0.3);
		rows[i].end();
		RIG_UNTIL(rig_all_ready() && rig_waist().header.incarnation == rows[i].incarnation);
		RIG_UNTIL(rig_waist().common.lifecycle == MSG_LIFE_FAULT && rig_level(NULL) == MSG_LEVEL_RUN);
		at_rad = rig_waist().position[0];
		ticks = rig_waist().common.ticks;
		RIG_UNTIL(goes_on(ticks));
		RIG_ASSERT(rig_waist().common.latches & MSG_LATCH_HALTED_BY_OTHER);
		RIG_ASSERT(rig_waist().common.lifecycle == MSG_LIFE_FAULT);
		RIG_ASSERT(rig_waist().header.incarnation == rows[i].incarnation);
		RIG_ASSERT(rig_heard.resets == 0 && rig_heard.homes == 0);
		TEST_ASSERT_DOUBLE_WITHIN_MESSAGE(0.01, at_rad, rig_waist().position[0], rows[i].name);
		/* It is not taken for broken, and its reason is named. */
		RIG_UNTIL(rig_status_has("waist", "\"state\":\"ready\"") &&
			  rig_status_has("waist", "the request clear"));
		rig_run("achctl", "request waist clear");
		RIG_UNTIL(!rig_waist().common.latches && rig_waist().common.lifecycle == MSG_LIFE_ACTIVE);
		RIG_UNTIL(saved(0));
		RIG_ASSERT(!rig_stop());
		rig_close();
	}
}

/* A driver that never came as far as to publish has left nothing, and nothing is latched for it. */
TEST(a_driver_that_never_published_has_no_latches)
{
	struct folder_state state;

	rig_open(RIG_BENCH);
	rig_start();
	RIG_UNTIL(rig_all_ready());
	RIG_UNTIL(saved(0));
	RIG_ASSERT(rig_waist().common.latches == 0);
	RIG_ASSERT(rig_state("canwire", &state) && state.latches == -1);
	RIG_ASSERT(!rig_stop());
}
