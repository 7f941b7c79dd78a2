/* test_drv_previous.c: what the process that drove this device before has left. */
#include <sys/stat.h>
#include <sys/wait.h>

#include "config/base/boot_id.h"
#include "config/base/run.h"
#include "daemons/drv/drv_previous.h"
#include "test/lib/testcase.h"

#define ALL DRV_PREVIOUS_ALL
#define POSITION MSG_LATCH_POSITION_UNKNOWN
#define HALTED MSG_LATCH_HALTED_BY_OTHER
#define STRANGER 4712
#define HOMING MSG_LATCH_HOMING_ABORTED

static uint64_t boot[2];
static char prefix[64], folder[] = "/tmp/test-previous-XXXXXX", path[RUN_PATH_MAX];
static struct port port;
static struct drv_previous previous;

void setUp(void)
{
	struct error_sink errors = { error_to_stderr, NULL, 0 };

	ach_unlink(strcat(strcpy(path, prefix), "arm-state"));
	TEST_ASSERT_EQUAL(0, port_open(&port, "arm-state", msg_type_by_number(msg_joint_state_number), 0600, &errors));
	snprintf(path, sizeof(path), "%s/state/arm", folder);
	unlink(path);
	memset(&previous, 0, sizeof(previous));
}

void tearDown(void)
{
	port_close(&port);
}

static void put(const void *msg, size_t len)
{
	TEST_ASSERT_EQUAL(ACH_OK, ach_put(&port.chan, msg, len));
}

static struct msg_joint_state state_of(uint32_t incarnation, uint32_t latches)
{
	struct msg_joint_state state;

	msg_init(&state, msg_type_by_number(msg_joint_state_number));
	state.header.incarnation = incarnation;
	memcpy(state.common.boot, boot, sizeof(boot));
	state.common.lifecycle = MSG_LIFE_HOLDING;
	state.common.latches = latches;
	state.common.base_chan = 7;
	state.common.base_seq = 8;
	state.common.base_level = MSG_LEVEL_HOLD;
	return state;
}

static void put_state(uint32_t incarnation, uint32_t latches)
{
	const struct msg_joint_state state = state_of(incarnation, latches);

	put(&state, sizeof(state));
}

static void write_file(const char *text)
{
	FILE *file = fopen(path, "w");

	TEST_ASSERT_NOT_NULL(file);
	fputs(text, file);
	fclose(file);
}

static void read_previous(void)
{
	drv_previous_read(&previous, &port, "arm", boot);
}

/* ---- the channel ---- */

static void empty(void)
{
}

static void sound(void)
{
	put_state(3, 0);
	put_state(4, POSITION);
}

static void older_is_higher(void)
{
	put_state(9, ALL);
	put_state(4, HALTED);
}

static void garbage_last(void)
{
	put_state(5, 0);
	put("abc", 4);
}

static void garbage_alone(void)
{
	put("abc", 4);
}

static void garbage_before(void)
{
	put("abc", 4);
	put_state(5, HALTED);
}

static void too_long(void)
{
	static const char long_one[9000];

	put_state(5, 0);
	put(long_one, sizeof(long_one));
}

static void condemned(void)
{
	put_state(5, 0);
	TEST_ASSERT_EQUAL(ACH_OK, ach_condemn(&port.chan));
}

static void another_type(void)
{
	struct msg_event event;

	put_state(5, 0);
	msg_init(&event, msg_type_by_number(msg_event_number));
	put(&event, sizeof(event));
}

static void another_version(void)
{
	struct msg_joint_state state = state_of(6, 0);

	put_state(5, 0);
	state.header.version--;
	put(&state, sizeof(state));
}

static void without_a_boot(void)
{
	struct msg_joint_state state = state_of(6, 0);

	memset(state.common.boot, 0, sizeof(state.common.boot));
	put(&state, sizeof(state));
}

static void unknown_latches(void)
{
	put_state(6, 0x100);
}

static void unknown_level(void)
{
	struct msg_joint_state state = state_of(6, 0);

	state.common.base_level = 3;
	put(&state, sizeof(state));
}

static void of_another_boot(void)
{
	struct msg_joint_state state = state_of(6, ALL);

	state.common.boot[1]++;
	put(&state, sizeof(state));
}

static void of_a_boot_that_ends_with_zeros(void)
{
	struct msg_joint_state state = state_of(6, ALL);

	state.common.boot[0] = 5;
	state.common.boot[1] = 0;
	put(&state, sizeof(state));
}

static void of_a_boot_that_begins_with_zeros(void)
{
	struct msg_joint_state state = state_of(6, ALL);

	state.common.boot[0] = 0;
	put(&state, sizeof(state));
}

static void stopped(void)
{
	struct msg_joint_state state = state_of(6, 0);

	state.common.lifecycle = MSG_LIFE_STOPPING;
	state.common.level = state.common.base_level = MSG_LEVEL_ESTOP;
	put(&state, sizeof(state));
}

static void while_homing(void)
{
	struct msg_joint_state state = state_of(6, 0);

	state.common.lifecycle = MSG_LIFE_HOMING;
	put(&state, sizeof(state));
}

/* ---- the file ---- */

static const char mine[] = "mine"; /* its process is this one, and the first */

TEST(the_channel_and_the_file)
{
	static const struct {
		const char *name;
		void (*channel)(void);
		const char *file; /* NULL: there is none */
		bool found, lost;
		uint32_t incarnation, latches;
	} rows[] = {
		{ "the first start", empty, NULL, false, false, 0, 0 },
		{ "the first start under achstart", empty, mine, false, false, 0, 0 },
		{ "nothing published before", empty, "pid 1\nincarnation 2\nlatches -1\n", false, false, 2, 0 },
		{ "the channel is gone", empty, "pid 1\nincarnation 2\nlatches 0\n", false, true, 2, ALL },
		{ "the channel is gone, an old file", empty, "pid 1\nincarnation 2\n", false, true, 2, ALL },
		{ "a file that is not valid", empty, "nonsense", false, false, 0, 0 },
		{ "sound", sound, NULL, true, false, 4, POSITION },
		{ "sound, its file says more", sound, "pid 1\nincarnation 7\nlatches 4\n", true, false, 7,
		  POSITION | HALTED },
		{ "sound, its file says less", sound, "pid 1\nincarnation 2\nlatches 0\n", true, false, 4, POSITION },
		{ "the newest counts, the highest too", older_is_higher, NULL, true, false, 9, HALTED },
		{ "garbage last", garbage_last, NULL, false, true, 5, ALL },
		{ "garbage alone", garbage_alone, NULL, false, true, 0, ALL },
		{ "garbage before", garbage_before, NULL, true, false, 5, HALTED },
		{ "too long", too_long, NULL, false, true, 5, ALL },
		{ "condemned", condemned, NULL, false, true, 0, ALL },
		{ "another type", another_type, NULL, false, true, 5, ALL },
		{ "another version", another_version, NULL, false, true, 5, ALL },
		{ "without a boot", without_a_boot, NULL, false, true, 0, ALL },
		{ "unknown latches", unknown_latches, NULL, false, true, 0, ALL },
		{ "unknown level", unknown_level, NULL, false, true, 0, ALL },
		{ "another boot", of_another_boot, NULL, false, false, 6, 0 },
		{ "another boot, and it ran in this one", of_another_boot, "pid 1\nincarnation 2\nlatches 0\n", false,
		  true, 6, ALL },
		{ "another boot, with zeros", of_a_boot_that_ends_with_zeros, NULL, false, false, 6, 0 },
		{ "another boot, with zeros first", of_a_boot_that_begins_with_zeros, NULL, false, false, 6, 0 },
		{ "it was stopping at estop", stopped, NULL, true, false, 6, 0 },
		{ "it died while homing", while_homing, NULL, true, false, 6, HOMING },
	};

	for (size_t i = 0; i < sizeof(rows) / sizeof(*rows); i++) {
		char text[64];

		tearDown();
		setUp();
		rows[i].channel();
		snprintf(text, sizeof(text), "pid %d\nincarnation 1\nlatches 0\n", (int)getpid());
		if (rows[i].file)
			write_file(rows[i].file == mine ? text : rows[i].file);
		read_previous();
		TEST_ASSERT_EQUAL_MESSAGE(rows[i].found, previous.found, rows[i].name);
		TEST_ASSERT_EQUAL_MESSAGE(rows[i].lost, previous.lost, rows[i].name);
		TEST_ASSERT_EQUAL_UINT32_MESSAGE(rows[i].incarnation, previous.incarnation, rows[i].name);
		TEST_ASSERT_EQUAL_HEX32_MESSAGE(rows[i].latches, previous.latches, rows[i].name);
	}
}

TEST(what_it_obeyed_is_there)
{
	put_state(1, 0);
	read_previous();
	TEST_ASSERT_EQUAL_UINT64(boot[0], previous.boot[0]);
	TEST_ASSERT_EQUAL_UINT64(boot[1], previous.boot[1]);
	TEST_ASSERT_EQUAL_UINT64(7, previous.base_chan);
	TEST_ASSERT_EQUAL_UINT64(8, previous.base_seq);
	TEST_ASSERT_EQUAL(MSG_LEVEL_HOLD, previous.base_level);
}

/* Which of the processes counted in the file is this one. */
TEST(the_file_line_by_line)
{
	static const struct {
		const char *text;
		bool there;
		uint32_t incarnation, latches;
	} rows[] = {
		{ "pid 10\nincarnation 1\nlatches 0\n", false, 0, 0 },
		{ "pid 10\nincarnation 3\nlatches 4\n", true, 2, 4 },
		{ "pid 20\nincarnation 3\nlatches 4\n", true, 2, 4 },
		{ "pid 30\nincarnation 3\nlatches 4\n", true, 3, 4 },
		{ "pids 10\npid 30\nincarnation 3\nlatches 4\n", true, 3, 4 },
		{ "pid 30\nincarnation 3\nlatches -1\n", false, 3, 0 },
		{ "pid 30\nincarnation 1\nlatches 4\n", true, 1, 4 },
		{ "pid 30\nincarnation 3\nlatches 4x\n", true, 3, ALL },
		{ "pid 30\nincarnation 3\nlatches 1\n", true, 3, 1 },
		{ "pid 30\nincarnation 4294967295\nlatches 4\n", true, UINT32_MAX, 4 },
		{ "pid 30\nincarnation 4294967296\nlatches 4\n", false, 0, 0 },
		{ "pid 30\nincarnation 3\nlatches 255\n", true, 3, ALL },
		{ "pid 30\nincarnation -3\nlatches 4\n", false, 0, 0 },
		{ "pid 30\nincarnation 99999999999\nlatches 4\n", false, 0, 0 },
		{ "boot 0000000000000001 0000000000000002\npid 30\nincarnation 3\nlatches 4\n", true, 3, 4 },
		{ "boot 0000000000000001 0000000000000003\npid 30\nincarnation 3\nlatches 4\n", false, 0, 0 },
		{ "", false, 0, 0 },
	};
	static const uint64_t one_two[2] = { 1, 2 };

	for (size_t i = 0; i < sizeof(rows) / sizeof(*rows); i++) {
		const struct drv_previous_file file = drv_previous_parse(rows[i].text, one_two, 10, 20);

		TEST_ASSERT_EQUAL_MESSAGE(rows[i].there, file.there, rows[i].text);
		TEST_ASSERT_EQUAL_UINT32_MESSAGE(rows[i].incarnation, file.incarnation, rows[i].text);
		TEST_ASSERT_EQUAL_HEX32_MESSAGE(rows[i].latches, file.latches, rows[i].text);
	}
	TEST_ASSERT_EQUAL_UINT32(3, drv_previous_parse("incarnation 3\nlatches 4\n", one_two, 1, 1).incarnation);
}

static int read_in_a_child(void)
{
	char text[64];

	snprintf(text, sizeof(text), "pid %d\nincarnation 1\nlatches 0\n", (int)getsid(0));
	write_file(text);
	read_previous();
	return getsid(0) == getpid() || previous.lost || previous.incarnation;
}

/* achstart started a shell, which leads the session, and the shell started this process. */
TEST(the_first_start_in_a_shell)
{
	int status = -1;
	const pid_t pid = fork();

	if (!pid)
		_exit(read_in_a_child());
	TEST_ASSERT_EQUAL(pid, waitpid(pid, &status, 0));
	TEST_ASSERT_EQUAL_INT(0, status);
}

TEST(a_link_is_not_followed)
{
	char aside[RUN_PATH_MAX + 8];

	snprintf(aside, sizeof(aside), "%s.other", path);
	write_file("pid 1\nincarnation 2\nlatches 0\n");
	TEST_ASSERT_EQUAL(0, rename(path, aside));
	TEST_ASSERT_EQUAL(0, symlink(aside, path));
	read_previous();
	TEST_ASSERT_EQUAL_UINT32(0, previous.incarnation);
	unlink(aside);
}

static int lowest_fd(void)
{
	const int fd = dup(STDIN_FILENO);

	close(fd);
	return fd;
}

TEST(a_file_that_is_too_long_or_too_far_does_no_harm)
{
	const int fd = lowest_fd();
	static char many[3000];

	memset(many, 'x', sizeof(many) - 1);
	write_file(many);
	read_previous();
	TEST_ASSERT_EQUAL_UINT32(0, previous.incarnation);
	TEST_ASSERT_EQUAL_INT(fd, lowest_fd());
	memset(many, '/', RUN_PATH_MAX);
	setenv("ENDPLATE_RUN", many, 1);
	read_previous();
	setenv("ENDPLATE_RUN", folder, 1);
	TEST_ASSERT_EQUAL_UINT32(0, previous.incarnation);
	TEST_ASSERT_FALSE(previous.lost);
	unlink(path);
	TEST_ASSERT_EQUAL(0, mkfifo(path, 0600)); /* which is not waited for */
	read_previous();
	TEST_ASSERT_EQUAL_UINT32(0, previous.incarnation);
	unlink(path);
	TEST_ASSERT_EQUAL(0, mkdir(path, 0700));
	read_previous();
	TEST_ASSERT_EQUAL_UINT32(0, previous.incarnation);
	rmdir(path);
}

/* The file of another user does not count; root's, and the user's own, do. */
static void a_strangers_file_is_none(void)
{
	write_file("pid 1\nincarnation 2\nlatches 0\n");
	TEST_ASSERT_FALSE(chmod(folder, 0755) || chown(path, STRANGER, 0));
	read_previous();
	TEST_ASSERT_EQUAL_UINT32(0, previous.incarnation);
	TEST_ASSERT_EQUAL(0, seteuid(STRANGER));
	read_previous();
	TEST_ASSERT_EQUAL(0, seteuid(0));
	TEST_ASSERT_EQUAL_UINT32(2, previous.incarnation);
}

int main(void)
{
	TEST_ASSERT_NOT_NULL(mkdtemp(folder));
	snprintf(prefix, sizeof(prefix), "t%d-", (int)getpid());
	setenv("ENDPLATE_PREFIX", prefix, 1);
	setenv("ENDPLATE_RUN", folder, 1);
	snprintf(path, sizeof(path), "%s/state", folder);
	mkdir(path, 0755);
	UNITY_BEGIN();
	if (boot_id_read(boot))
		return 1;
	testcase_run_all();
	if (!geteuid())
		RUN_TEST(a_strangers_file_is_none);
	unlink(path);
	ach_unlink(strcat(strcpy(path, prefix), "arm-state"));
	snprintf(path, sizeof(path), "%s/state", folder);
	rmdir(path);
	rmdir(folder);
	return UNITY_END();
}
