/* test_launch_logs.c: the log folder is removed while the robot runs. */
#include <signal.h>
#include <stdio.h>
#include <sys/stat.h>
#include <unistd.h>

#include "unity.h"

#include "test/launch/launch_lib.h"
#include "test/launch/rig.h"

void setUp(void)
{
	rig_open("include: @BENCH@\nclock: none\ndaemons:\n"
		 "  talker: {program: @FAKE@, args: [print], alive: watchdog}\n");
}

void tearDown(void)
{
	rig_close();
}

static bool has_text(const char *name)
{
	char path[600];
	struct stat st;

	snprintf(path, sizeof(path), "%s/log/%s", rig.run, name);
	return !stat(path, &st) && st.st_size > 0;
}

static void logs_that_were_removed_are_made_anew(void)
{
	char folder[600];

	rig_start();
	RIG_UNTIL(rig_ready("talker") && has_text("talker.log"));
	snprintf(folder, sizeof(folder), "%s/log", rig.run);
	launch_lib_remove(folder);
	RIG_UNTIL(rig_told("achstart", "log", "removed"));
	RIG_UNTIL(has_text("talker.log"));
	RIG_ASSERT(rig_events("achstart", "log") == 1);
	/* Also what the next process says. */
	rig_signal("talker", SIGKILL);
	RIG_UNTIL(rig_events("talker", "ready") == 1);
	launch_lib_remove(folder);
	RIG_UNTIL(has_text("talker.log") && rig_told("achstart", "log", "removed"));
	RIG_ASSERT(!rig_stop());
}

int main(void)
{
	UNITY_BEGIN();
	RUN_TEST(logs_that_were_removed_are_made_anew);
	return UNITY_END();
}
