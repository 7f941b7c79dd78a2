/* test_files.c: the files of a channel: modes, group, the bell beside it, what unlink removes and what it leaves. */
#define _GNU_SOURCE
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include "test/channels/lib.h"
#include "unity.h"

void setUp(void)
{
	lib_watchdog(Unity.CurrentTestName, LIB_HANG_S);
	umask(022);
}

void tearDown(void)
{
	umask(022);
}

static void assert_modes(const char *name, mode_t channel, mode_t bell, gid_t group)
{
	char path[256];
	struct stat st;

	TEST_ASSERT_EQUAL_INT(0, stat(lib_path(path, name), &st));
	TEST_ASSERT_EQUAL_HEX32(channel, st.st_mode & 07777);
	TEST_ASSERT_EQUAL_UINT(group, st.st_gid);
	TEST_ASSERT_EQUAL_INT(1, lib_bells(name, path));
	TEST_ASSERT_EQUAL_INT(0, stat(path, &st));
	TEST_ASSERT_EQUAL_HEX32(bell, st.st_mode & 07777);
	TEST_ASSERT_EQUAL_UINT(group, st.st_gid);
}

static void test_mode_follows_umask(void)
{
	static const struct {
		mode_t mask, channel, bell; /* who may read may ring */
	} rows[] = {
		{ 022, 0644, 0666 }, { 027, 0640, 0660 }, { 077, 0600, 0600 }, { 0, 0666, 0666 }, { 0266, 0400, 0600 },
	};
	char name[LIB_NAME_LEN];

	for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
		umask(rows[i].mask);
		LIB_ASSERT_STATUS(ACH_OK, ach_create(lib_name(name, "umask"), 1, 1, NULL));
		assert_modes(name, rows[i].channel, rows[i].bell, getegid());
	}
}

static void test_exact_mode_whatever_the_umask(void)
{
	static const mode_t modes[][2] = { { 0640, 0660 }, { 0644, 0666 }, { 0600, 0600 }, { 0660, 0660 },
					   { 0444, 0666 }, { 0666, 0666 }, { 0604, 0606 } };
	char name[LIB_NAME_LEN];
	ach_create_attr_t attr;

	umask(0777);
	for (size_t i = 0; i < sizeof modes / sizeof *modes; i++) {
		ach_create_attr_init(&attr);
		LIB_ASSERT_STATUS(ACH_OK, ach_create_attr_set_mode(&attr, modes[i][0], (gid_t)-1));
		LIB_ASSERT_STATUS(ACH_OK, ach_create(lib_name(name, "mode"), 1, 1, &attr));
		assert_modes(name, modes[i][0], modes[i][1], getegid());
	}
}

static void test_group(void)
{
	char name[LIB_NAME_LEN];
	ach_create_attr_t attr;

	if (!lib_can_drop())
		TEST_IGNORE_MESSAGE("only root can give files to a group it is not in");
	ach_create_attr_init(&attr);
	LIB_ASSERT_STATUS(ACH_OK, ach_create_attr_set_mode(&attr, 0640, LIB_NOBODY));
	LIB_ASSERT_STATUS(ACH_OK, ach_create(lib_name(name, "group"), 1, 1, &attr));
	assert_modes(name, 0640, 0660, LIB_NOBODY);
}

static int foreign_group_child(void *arg)
{
	ach_create_attr_t attr;
	char name[LIB_NAME_LEN];

	(void)arg;
	lib_drop((gid_t)-1);
	ach_create_attr_init(&attr);
	LIB_STATUS(ACH_OK, ach_create_attr_set_mode(&attr, 0640, 0));
	LIB_STATUS(ACH_EACCES, ach_create(lib_name(name, "group"), 1, 1, &attr));
	LIB_CHECK(lib_bells(name, NULL) == 0); /* nothing half-made stays */
	LIB_STATUS(ACH_ENOENT, ach_unlink(name));
	return 0;
}

static void test_group_one_is_not_in(void)
{
	if (!lib_can_drop())
		TEST_IGNORE_MESSAGE("needs root");
	TEST_ASSERT_EQUAL_INT(0, lib_join(lib_child(foreign_group_child, NULL)));
}

static void test_chmod_changes_both(void)
{
	static const mode_t modes[][2] = { { 0600, 0600 }, { 0640, 0660 }, { 0644, 0666 }, { 0666, 0666 },
					   { 0660, 0660 }, { 0444, 0666 }, { 0600, 0600 } };
	char name[LIB_NAME_LEN];
	ach_channel_t chan;

	umask(077); /* of no effect on chmod */
	LIB_ASSERT_STATUS(ACH_OK, ach_create(lib_name(name, "chmod"), 1, 1, NULL));
	LIB_ASSERT_STATUS(ACH_OK, ach_open(&chan, name, NULL));
	for (size_t i = 0; i < sizeof modes / sizeof *modes; i++) {
		LIB_ASSERT_STATUS(ACH_OK, ach_chmod(&chan, modes[i][0]));
		assert_modes(name, modes[i][0], modes[i][1], getegid());
	}
	LIB_ASSERT_STATUS(ACH_OK, ach_put(&chan, "a", 1));
	LIB_ASSERT_STATUS(ACH_OK, ach_close(&chan));
}

/* A handle on an orphan must not change the channel that took over its name. */
static void test_chmod_of_an_orphan(void)
{
	char name[LIB_NAME_LEN];
	ach_channel_t chan;

	LIB_ASSERT_STATUS(ACH_OK, ach_create(lib_name(name, "chmod"), 1, 1, NULL));
	LIB_ASSERT_STATUS(ACH_OK, ach_open(&chan, name, NULL));
	LIB_ASSERT_STATUS(ACH_OK, ach_unlink(name));
	LIB_ASSERT_STATUS(ACH_OK, ach_create(name, 1, 1, NULL));
	(void)ach_chmod(&chan, 0600); /* what it answers is its own business */
	assert_modes(name, 0644, 0666, getegid());
	LIB_ASSERT_STATUS(ACH_OK, ach_close(&chan));
}

static void test_unlink_removes_bell_and_orphan_bells(void)
{
	char name[LIB_NAME_LEN], path[256];
	int fd;

	LIB_ASSERT_STATUS(ACH_OK, ach_create(lib_name(name, "bells"), 1, 1, NULL));
	TEST_ASSERT_EQUAL_INT(1, lib_bells(name, NULL));
	/* what a creator that was killed leaves behind */
	snprintf(path, sizeof path, "/dev/shm/achbell-%s-0123456789abcdef", name);
	fd = open(path, O_CREAT | O_RDWR, 0600);
	TEST_ASSERT_TRUE(fd >= 0);
	close(fd);
	TEST_ASSERT_EQUAL_INT(2, lib_bells(name, NULL));
	LIB_ASSERT_STATUS(ACH_OK, ach_unlink(name));
	TEST_ASSERT_EQUAL_INT(0, lib_bells(name, NULL));
	TEST_ASSERT_NOT_EQUAL(0, access(lib_path(path, name), F_OK));
}

static void test_unlink_keeps_the_bell_of_a_channel_being_created(void)
{
	char name[LIB_NAME_LEN], path[256];
	int fd;

	lib_name(name, "creating");
	snprintf(path, sizeof path, "/dev/shm/achbell-%s-0123456789abcdef", name);
	fd = open(path, O_CREAT | O_RDWR, 0600);
	TEST_ASSERT_TRUE(fd >= 0);
	TEST_ASSERT_EQUAL_INT(0, flock(fd, LOCK_EX)); /* as its creator does until the channel has its name */
	LIB_ASSERT_STATUS(ACH_ENOENT, ach_unlink(name));
	TEST_ASSERT_EQUAL_INT(1, lib_bells(name, NULL));
	LIB_ASSERT_STATUS(ACH_OK, ach_create(name, 1, 1, NULL));
	LIB_ASSERT_STATUS(ACH_OK, ach_unlink(name));
	TEST_ASSERT_EQUAL_INT(1, lib_bells(name, NULL));
	close(fd);
	LIB_ASSERT_STATUS(ACH_ENOENT, ach_unlink(name));
	TEST_ASSERT_EQUAL_INT(0, lib_bells(name, NULL));
}

/* The bell of "a-0123456789abcdef" starts like one of "a". */
static void test_unlink_leaves_other_channels_alone(void)
{
	char name[LIB_NAME_LEN], longer[LIB_NAME_LEN * 2], shorter[LIB_NAME_LEN];
	ach_channel_t chan;

	lib_name(name, "other");
	memcpy(shorter, name, sizeof shorter);
	shorter[strlen(name) - 2] = 0; /* "t-other-PID" of "t-other-PID-0" */
	snprintf(longer, sizeof longer, "%s-0123456789abcdef", name);
	LIB_ASSERT_STATUS(ACH_OK, ach_create(name, 1, 1, NULL));
	LIB_ASSERT_STATUS(ACH_OK, ach_create(longer, 1, 1, NULL));
	LIB_ASSERT_STATUS(ACH_OK, ach_create(shorter, 1, 1, NULL));
	LIB_ASSERT_STATUS(ACH_OK, ach_unlink(name));
	TEST_ASSERT_EQUAL_INT(1, lib_bells(longer, NULL));
	TEST_ASSERT_EQUAL_INT(1, lib_bells(shorter, NULL));
	LIB_ASSERT_STATUS(ACH_OK, ach_open(&chan, longer, NULL));
	LIB_ASSERT_STATUS(ACH_OK, ach_close(&chan));
	LIB_ASSERT_STATUS(ACH_OK, ach_open(&chan, shorter, NULL));
	LIB_ASSERT_STATUS(ACH_OK, ach_close(&chan));
	LIB_ASSERT_STATUS(ACH_OK, ach_unlink(longer));
	LIB_ASSERT_STATUS(ACH_OK, ach_unlink(shorter));
}

static int unlink_foreign_child(void *arg)
{
	lib_drop((gid_t)-1);
	LIB_STATUS(ACH_EACCES, ach_unlink(arg));
	return 0;
}

static void test_unlink_of_another_users_channel(void)
{
	char name[LIB_NAME_LEN];

	if (!lib_can_drop())
		TEST_IGNORE_MESSAGE("needs root");
	LIB_ASSERT_STATUS(ACH_OK, ach_create(lib_name(name, "foreign"), 1, 1, NULL));
	TEST_ASSERT_EQUAL_INT(0, lib_join(lib_child(unlink_foreign_child, name)));
	TEST_ASSERT_EQUAL_INT(1, lib_bells(name, NULL)); /* it would be useless without */
	LIB_ASSERT_STATUS(ACH_OK, ach_unlink(name));
}

struct orphan {
	ach_channel_t reader;
	struct lib_gate *gate;
};

static int orphan_reader(void *arg)
{
	struct orphan *o = arg;
	struct timespec hang = lib_hang();
	char byte;

	for (char i = 1; i <= 3; i++) {
		LIB_STATUS(ACH_OK, ach_get(&o->reader, &byte, 1, NULL, &hang, ACH_O_WAIT));
		LIB_CHECK(byte == i);
		lib_gate_set(o->gate, i);
	}
	return 0;
}

static void test_open_handles_go_on_working_on_the_orphan(void)
{
	struct orphan o = { .gate = lib_gate_new() };
	char name[LIB_NAME_LEN], byte;
	ach_channel_t writer, other;
	int unlinked = -1;
	pid_t pid;

	LIB_ASSERT_STATUS(ACH_OK, ach_create(lib_name(name, "orphan"), 4, 1, NULL));
	LIB_ASSERT_STATUS(ACH_OK, ach_open(&writer, name, NULL));
	LIB_ASSERT_STATUS(ACH_OK, ach_open(&o.reader, name, NULL));
	LIB_ASSERT_STATUS(ACH_OK, ach_unlinked(&writer, &unlinked));
	TEST_ASSERT_EQUAL_INT(0, unlinked);
	LIB_ASSERT_STATUS(ACH_OK, ach_unlink(name));
	LIB_ASSERT_STATUS(ACH_OK, ach_unlinked(&writer, &unlinked));
	TEST_ASSERT_EQUAL_INT(1, unlinked);
	LIB_ASSERT_STATUS(ACH_OK, ach_create(name, 4, 1, NULL)); /* another channel of that name */
	LIB_ASSERT_STATUS(ACH_OK, ach_open(&other, name, NULL));
	LIB_ASSERT_STATUS(ACH_OK, ach_unlinked(&writer, &unlinked));
	TEST_ASSERT_EQUAL_INT(1, unlinked);
	LIB_ASSERT_STATUS(ACH_OK, ach_unlinked(&other, &unlinked));
	TEST_ASSERT_EQUAL_INT(0, unlinked);

	pid = lib_child(orphan_reader, &o);
	for (char i = 1; i <= 3; i++) { /* waking works too */
		lib_until_asleep(pid);
		LIB_ASSERT_STATUS(ACH_OK, ach_put(&writer, &i, 1));
		lib_gate_wait(o.gate, i);
	}
	TEST_ASSERT_EQUAL_INT(0, lib_join(pid));
	LIB_ASSERT_STATUS(ACH_EAGAIN, ach_get(&other, &byte, 1, NULL, NULL, 0));
	LIB_ASSERT_STATUS(ACH_OK, ach_close(&writer));
	LIB_ASSERT_STATUS(ACH_OK, ach_close(&o.reader));
	LIB_ASSERT_STATUS(ACH_OK, ach_close(&other));
	lib_gate_free(o.gate);
}

static void test_files_that_are_no_channels(void)
{
	static const char text[] = "this is no channel, but longer than nothing";
	char name[LIB_NAME_LEN], path[256];
	ach_channel_t chan;
	int fd;

	lib_path(path, lib_name(name, "foreign"));
	fd = open(path, O_CREAT | O_EXCL | O_RDWR, 0600);
	TEST_ASSERT_TRUE(fd >= 0);
	LIB_ASSERT_STATUS(ACH_BAD_SHM_FILE, ach_open(&chan, name, NULL)); /* empty */
	TEST_ASSERT_EQUAL_INT(sizeof text, write(fd, text, sizeof text));
	LIB_ASSERT_STATUS(ACH_BAD_SHM_FILE, ach_open(&chan, name, NULL));
	TEST_ASSERT_EQUAL_INT(0, ftruncate(fd, 1 << 16)); /* long enough, mostly zeros */
	LIB_ASSERT_STATUS(ACH_BAD_SHM_FILE, ach_open(&chan, name, NULL));
	LIB_ASSERT_STATUS(ACH_EEXIST, ach_create(name, 1, 1, NULL));
	close(fd);
	LIB_ASSERT_STATUS(ACH_OK, ach_unlink(name));
}

static void test_truncated_channel(void)
{
	char name[LIB_NAME_LEN], path[256];
	ach_channel_t chan;
	struct stat st;

	LIB_ASSERT_STATUS(ACH_OK, ach_create(lib_name(name, "short"), 16, 4096, NULL));
	TEST_ASSERT_EQUAL_INT(0, stat(lib_path(path, name), &st));
	TEST_ASSERT_EQUAL_INT(0, truncate(path, st.st_size - 1));
	LIB_ASSERT_STATUS(ACH_BAD_SHM_FILE, ach_open(&chan, name, NULL));
	TEST_ASSERT_EQUAL_INT(0, truncate(path, 10));
	LIB_ASSERT_STATUS(ACH_BAD_SHM_FILE, ach_open(&chan, name, NULL));
}

/* Memory is there from the start: a put must not be the one to find the folder full. */
static void test_no_holes(void)
{
	char name[LIB_NAME_LEN], path[256];
	struct stat st;

	LIB_ASSERT_STATUS(ACH_OK, ach_create(lib_name(name, "holes"), 16, 65536, NULL));
	TEST_ASSERT_EQUAL_INT(0, stat(lib_path(path, name), &st));
	TEST_ASSERT_GREATER_OR_EQUAL_UINT64(16 * 65536, (uint64_t)st.st_size);
	TEST_ASSERT_GREATER_OR_EQUAL_UINT64((uint64_t)st.st_size, (uint64_t)st.st_blocks * 512);
}

int main(void)
{
	UNITY_BEGIN();
	RUN_TEST(test_mode_follows_umask);
	RUN_TEST(test_exact_mode_whatever_the_umask);
	RUN_TEST(test_group);
	RUN_TEST(test_group_one_is_not_in);
	RUN_TEST(test_chmod_changes_both);
	RUN_TEST(test_chmod_of_an_orphan);
	RUN_TEST(test_unlink_removes_bell_and_orphan_bells);
	RUN_TEST(test_unlink_keeps_the_bell_of_a_channel_being_created);
	RUN_TEST(test_unlink_leaves_other_channels_alone);
	RUN_TEST(test_unlink_of_another_users_channel);
	RUN_TEST(test_open_handles_go_on_working_on_the_orphan);
	RUN_TEST(test_files_that_are_no_channels);
	RUN_TEST(test_truncated_channel);
	RUN_TEST(test_no_holes);
	return UNITY_END();
}
