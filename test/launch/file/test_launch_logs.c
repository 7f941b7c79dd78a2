/* test_launch_logs.c: logs are removed while the robot runs, and other things put in their place. */
#include <fcntl.h>
#include <signal.h>
#include <sys/stat.h>

#include "test/lib/testcase.h"

#include "config/base/run.h"
#include "launch/view/logs.h"
#include "test/launch/achstart/rig.h"
#include "test/launch/file/launch_lib.h"

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

TEST(removed_logs_are_created_again)
{
	char folder[600];

	rig_start();
	RIG_UNTIL(rig_ready("talker") && has_text("talker.log"));
	snprintf(folder, sizeof(folder), "%s/log", rig.run);
	launch_lib_remove(folder);
	RIG_UNTIL(rig_reported("achstart", "log", "removed"));
	RIG_UNTIL(has_text("talker.log"));
	RIG_ASSERT(rig_events("achstart", "log") == 1);
	/* Also what the next process says. */
	rig_signal("talker", SIGKILL);
	RIG_UNTIL(rig_events("talker", "ready") == 1);
	launch_lib_remove(folder);
	RIG_UNTIL(has_text("talker.log") && rig_reported("achstart", "log", "removed"));
	RIG_ASSERT(!rig_stop());
}

static bool printed_more(void)
{
	static off_t last;
	char path[600];
	struct stat st;
	bool more;

	snprintf(path, sizeof(path), "%s/log/talker.log", rig.run);
	if (lstat(path, &st) || !S_ISREG(st.st_mode))
		return false;
	more = st.st_size > last;
	last = st.st_size;
	return more;
}

/* Opening a FIFO waits for the other end, unless it is opened with care. */
TEST(a_fifo_in_place_of_a_log_blocks_nothing)
{
	char path[600];
	char byte;
	int fifo;

	rig_start();
	RIG_UNTIL(rig_ready("talker") && has_text("talker.log"));
	snprintf(path, sizeof(path), "%s/log/talker.log", rig.run);
	TEST_ASSERT_EQUAL(0, unlink(path));
	TEST_ASSERT_EQUAL(0, mkfifo(path, 0600));
	RIG_UNTIL(rig_reported("talker", "log", "talker.log cannot be written: there is something else of its name"));
	TEST_ASSERT_EQUAL(0, unlink(path));
	RIG_UNTIL(rig_reported("talker", "log", "talker.log is written again") && printed_more());
	/* Also with a reader. */
	TEST_ASSERT_EQUAL(0, unlink(path));
	TEST_ASSERT_EQUAL(0, mkfifo(path, 0600));
	fifo = open(path, O_RDWR | O_NONBLOCK | O_CLOEXEC);
	TEST_ASSERT_TRUE(fifo >= 0);
	RIG_UNTIL(rig_events("talker", "log") == 3);
	TEST_ASSERT_EQUAL(-1, read(fifo, &byte, 1)); /* nothing was written into it */
	close(fifo);
	TEST_ASSERT_EQUAL(0, unlink(path));
	RIG_UNTIL(rig_events("talker", "log") == 4);
	RIG_ASSERT(!rig_stop());
}

/* A file that has another name, too, and links in place of a FIFO and of a file. */
TEST(symbolic_links_are_not_followed)
{
	static const struct {
		const char *name;
		bool symbolic;
	} rows[] = { { "elsewhere.log", false }, { "elsewhere.log", true }, { "elsewhere", true } };
	char target[600], path[600];
	struct logs logs;
	struct stat st;

	snprintf(target, sizeof(target), "%s/target", rig.run);
	for (size_t i = 0; i < sizeof(rows) / sizeof(*rows); i++) {
		const bool fifo = !strchr(rows[i].name, '.');

		close(run_folder("log", &(struct error_sink){ 0 }));
		snprintf(path, sizeof(path), "%s/log/%s", rig.run, rows[i].name);
		TEST_ASSERT_EQUAL(0, mknod(target, fifo ? S_IFIFO | 0600 : S_IFREG | 0600, 0));
		TEST_ASSERT_EQUAL(0, rows[i].symbolic ? symlink(target, path) : link(target, path));
		TEST_ASSERT_TRUE(logs_open(&logs, "elsewhere", true, &(struct error_sink){ 0 }));
		TEST_ASSERT_TRUE(!fstat(logs.fifo, &st) && S_ISFIFO(st.st_mode));
		TEST_ASSERT_EQUAL(-1, fifo ? -1 : logs.file);
		logs_close(&logs, !fifo);
		TEST_ASSERT_EQUAL(0, unlink(path));
		TEST_ASSERT_EQUAL(0, unlink(target));
	}
}
