/* test_files.c: the plate and the memory of a channel: modes, group, folder, what unlink removes and what it leaves. */
#define _GNU_SOURCE
#include <fcntl.h>
#include <grp.h>
#include <sched.h>
#include <sys/mman.h>
#include <sys/stat.h>

#include "channels/ach/ach_file.h"
#include "test/lib/lib.h"
#include "test/lib/testcase.h"

void setUp(void)
{
	lib_watchdog(Unity.CurrentTestName, LIB_HANG_S);
	umask(022);
}

void tearDown(void)
{
	umask(022);
}

static struct shmid_ds segment(int id)
{
	struct shmid_ds d;

	TEST_ASSERT_EQUAL_INT(0, shmctl(id, IPC_STAT, &d));
	return d;
}

/* Of the segment; of the plate, which only its owner may write; and of the bell, where there is one. */
static void assert_modes(const char *name, mode_t channel, mode_t bell, gid_t group)
{
	struct shmid_ds d = segment(lib_memory(name));
	char path[256];
	struct stat st;

	TEST_ASSERT_EQUAL_HEX32(channel, d.shm_perm.mode & 0777);
	TEST_ASSERT_EQUAL_UINT(group, d.shm_perm.gid);
	TEST_ASSERT_EQUAL_UINT_MESSAGE(group, d.shm_perm.cgid, "the creator's group has the group's rights for ever");
	TEST_ASSERT_EQUAL_INT(0, stat(lib_path(path, name), &st));
	TEST_ASSERT_EQUAL_HEX32((channel & 0444) | 0600, st.st_mode & 07777);
	TEST_ASSERT_EQUAL_UINT(group, st.st_gid);
	TEST_ASSERT_EQUAL_INT(sizeof(struct ach_plate), st.st_size);
	TEST_ASSERT_EQUAL_INT(1, lib_segments(name));
	if (!bell) {
		TEST_ASSERT_EQUAL_INT(-1, lib_bell(name));
		return;
	}
	d = segment(lib_bell(name));
	TEST_ASSERT_EQUAL_HEX32(bell, d.shm_perm.mode & 0777);
	TEST_ASSERT_EQUAL_UINT(group, d.shm_perm.gid);
	TEST_ASSERT_EQUAL_UINT(group, d.shm_perm.cgid);
}

TEST(test_mode_follows_umask)
{
	static const struct {
		mode_t mask, channel, bell; /* who may read may ring; no bell where all who may read may write */
	} rows[] = {
		{ 022, 0644, 0666 }, { 027, 0640, 0660 }, { 077, 0600, 0 }, { 0, 0666, 0 }, { 0266, 0400, 0600 },
	};
	char name[LIB_NAME_LEN];

	for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
		umask(rows[i].mask);
		LIB_ASSERT_STATUS(ACH_OK, ach_create(lib_name(name, "umask"), 1, 1, NULL));
		assert_modes(name, rows[i].channel, rows[i].bell, getegid());
	}
}

TEST(test_exact_mode_whatever_the_umask)
{
	static const mode_t modes[][2] = { { 0640, 0660 }, { 0644, 0666 }, { 0600, 0 },	   { 0660, 0 },
					   { 0444, 0666 }, { 0666, 0 },	   { 0604, 0606 }, { 0, 0 } };
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

TEST(test_group)
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
	LIB_CHECK(strstr(ach_errstr(), "this process is not in group 0") != NULL);
	LIB_CHECK(getegid() == LIB_NOBODY);
	LIB_CHECK(lib_segments(name) == 0); /* nothing half-made stays */
	LIB_STATUS(ACH_ENOENT, ach_unlink(name));
	return 0;
}

#define MEMBERS 64000 /* a group without members of its own */

static int member_child(void *name)
{
	ach_create_attr_t attr;

	lib_drop(MEMBERS);
	ach_create_attr_init(&attr);
	LIB_STATUS(ACH_OK, ach_create_attr_set_mode(&attr, 0640, MEMBERS));
	LIB_STATUS(ACH_OK, ach_create(name, 1, 1, &attr));
	LIB_CHECK(getegid() == LIB_NOBODY);
	return 0;
}

struct reader {
	gid_t group, besides;
	enum ach_status expected;
};

static const char *member_name;

static int reader_child(void *arg)
{
	const struct reader *r = arg;
	ach_channel_t chan;

	LIB_CHECK(setgroups(1, &r->besides) == 0 && setresgid(r->group, r->group, r->group) == 0);
	LIB_CHECK(setresuid(64001, 64001, 64001) == 0);
	LIB_STATUS(r->expected, ach_open(&chan, member_name, NULL));
	LIB_CHECK(r->expected || !chan.handle->writable);
	return 0;
}

/* Without privileges: the group has its rights.  So has the creator's own group, but to the memory only: it cannot read
 * the plate. */
TEST(test_group_one_is_a_member_of)
{
	static struct reader rows[] = { { 64001, MEMBERS, ACH_OK },
					{ MEMBERS, 64001, ACH_OK },
					{ 64001, 64001, ACH_EACCES },
					{ LIB_NOBODY, 64001, ACH_EACCES } };
	char name[LIB_NAME_LEN], path[256];
	struct shmid_ds d;
	struct stat st;

	if (!lib_can_drop())
		TEST_IGNORE_MESSAGE("needs root");
	member_name = lib_name(name, "member");
	TEST_ASSERT_EQUAL_INT(0, lib_join(lib_child(member_child, name)));
	for (int bell = 0; bell < 2; bell++) {
		d = segment(bell ? lib_bell(name) : lib_memory(name));
		TEST_ASSERT_EQUAL_HEX32(bell ? 0660 : 0640, d.shm_perm.mode & 0777);
		TEST_ASSERT_EQUAL_UINT(MEMBERS, d.shm_perm.gid);
		TEST_ASSERT_EQUAL_UINT(LIB_NOBODY, d.shm_perm.cgid);
	}
	TEST_ASSERT_EQUAL_INT(0, stat(lib_path(path, name), &st));
	TEST_ASSERT_EQUAL_UINT(MEMBERS, st.st_gid);
	for (size_t i = 0; i < sizeof rows / sizeof *rows; i++)
		TEST_ASSERT_EQUAL_INT(0, lib_join(lib_child(reader_child, &rows[i])));
	LIB_ASSERT_STATUS(ACH_OK, ach_unlink(name));
}

TEST(test_group_one_is_not_in)
{
	if (!lib_can_drop())
		TEST_IGNORE_MESSAGE("needs root");
	TEST_ASSERT_EQUAL_INT(0, lib_join(lib_child(foreign_group_child, NULL)));
}

TEST(test_chmod_changes_both)
{
	static const mode_t modes[][2] = { { 0600, 0600 }, { 0640, 0660 }, { 0644, 0666 }, { 0666, 0666 },
					   { 0660, 0660 }, { 0444, 0666 }, { 0600, 0600 } };
	char name[LIB_NAME_LEN];
	ach_channel_t chan;

	LIB_ASSERT_STATUS(ACH_OK, ach_create(lib_name(name, "chmod"), 1, 1, NULL));
	umask(077); /* of no effect on chmod */
	LIB_ASSERT_STATUS(ACH_OK, ach_open(&chan, name, NULL));
	for (size_t i = 0; i < sizeof modes / sizeof *modes; i++) {
		LIB_ASSERT_STATUS(ACH_OK, ach_chmod(&chan, modes[i][0]));
		assert_modes(name, modes[i][0], modes[i][1], getegid());
	}
	LIB_ASSERT_STATUS(ACH_OK, ach_put(&chan, "a", 1));
	LIB_ASSERT_STATUS(ACH_OK, ach_close(&chan));
}

/* A handle on an orphan must not change the channel that took over its name. */
TEST(test_chmod_of_an_orphan)
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

TEST(test_unlink_removes_memory_and_bell)
{
	char name[LIB_NAME_LEN];
	int shm, bell;

	LIB_ASSERT_STATUS(ACH_OK, ach_create(lib_name(name, "memory"), 1, 1, NULL));
	shm = lib_memory(name);
	bell = lib_bell(name);
	TEST_ASSERT_TRUE(lib_segment_exists(shm) && lib_segment_exists(bell));
	LIB_ASSERT_STATUS(ACH_OK, ach_unlink(name));
	TEST_ASSERT_FALSE(lib_segment_exists(shm) || lib_segment_exists(bell));
	TEST_ASSERT_EQUAL_INT(0, lib_left(name));
}

/* A plate is believed only about segments of its own owner. */
TEST(test_unlink_of_a_forged_plate)
{
	char name[LIB_NAME_LEN], victim[LIB_NAME_LEN], path[256];
	struct ach_plate plate;
	int fd, shm;

	if (!lib_can_drop())
		TEST_IGNORE_MESSAGE("needs root");
	LIB_ASSERT_STATUS(ACH_OK, ach_create(lib_name(victim, "victim"), 1, 1, NULL));
	shm = lib_memory(victim);
	fd = open(lib_path(path, victim), O_RDONLY);
	TEST_ASSERT_EQUAL_INT(sizeof plate, read(fd, &plate, sizeof plate));
	close(fd);
	fd = open(lib_path(path, lib_name(name, "forged")), O_CREAT | O_EXCL | O_RDWR, 0644);
	TEST_ASSERT_EQUAL_INT(sizeof plate, write(fd, &plate, sizeof plate));
	TEST_ASSERT_EQUAL_INT(0, fchown(fd, LIB_NOBODY, LIB_NOBODY));
	close(fd);
	LIB_ASSERT_STATUS(ACH_BAD_SHM_FILE, ach_open(&(ach_channel_t){ 0 }, name, NULL));
	LIB_ASSERT_STATUS(ACH_OK, ach_unlink(name));
	TEST_ASSERT_TRUE_MESSAGE(lib_segment_exists(shm), "another user's plate removes nothing of ours");
}

/* ---- what a killed creator or a bare rm leaves ---- */

/* A creator that was killed before it had written anything. */
TEST(test_orphan_without_contents)
{
	int id = -1;
	void *m = ach_memory_make(8192, &id);

	TEST_ASSERT_NOT_NULL(m);
	(void)ach_orphan_remove(0, false);
	TEST_ASSERT_TRUE_MESSAGE(lib_segment_exists(id), "its creator is at work");
	shmdt(m);
	(void)ach_orphan_remove(0, false);
	TEST_ASSERT_FALSE(lib_segment_exists(id));
}

TEST(test_orphans)
{
	char name[LIB_NAME_LEN], path[256];
	struct ach_plate kept, gone;
	ach_channel_t chan;

	LIB_ASSERT_STATUS(ACH_OK, ach_create(lib_name(name, "orphan"), 1, 1, NULL));
	gone = (struct ach_plate){ .shm = lib_memory(name), .bell = lib_bell(name) };
	TEST_ASSERT_EQUAL_INT(0, unlink(lib_path(path, name)));
	LIB_ASSERT_STATUS(ACH_OK, ach_create(name, 1, 1, NULL)); /* under the same name */
	kept = (struct ach_plate){ .shm = lib_memory(name), .bell = lib_bell(name) };

	(void)ach_orphan_remove(LIB_HANG_S * 10, false);
	TEST_ASSERT_TRUE_MESSAGE(lib_segment_exists(gone.shm), "too young");
	/* A reader writes into the bell what a channel without a plate looks like. */
	memcpy(lib_segment_map(kept.bell, NULL), &(uint64_t){ ACH_MAGIC }, sizeof(uint64_t));
	(void)ach_orphan_remove(0, false);
	TEST_ASSERT_FALSE(lib_segment_exists(gone.shm) || lib_segment_exists(gone.bell));
	TEST_ASSERT_TRUE(lib_segment_exists(kept.shm) && lib_segment_exists(kept.bell));

	/* In use, whatever became of its plate. */
	LIB_ASSERT_STATUS(ACH_OK, ach_open(&chan, name, NULL));
	TEST_ASSERT_EQUAL_INT(0, unlink(path));
	(void)ach_orphan_remove(0, true);
	TEST_ASSERT_TRUE(lib_segment_exists(kept.shm));
	LIB_ASSERT_STATUS(ACH_OK, ach_close(&chan));
	(void)ach_orphan_remove(0, true);
	TEST_ASSERT_FALSE(lib_segment_exists(kept.shm));
}

/* The remover was killed in between: the next removal of any channel finishes it, by the name of the file. */
TEST(test_a_removal_is_finished)
{
	char name[LIB_NAME_LEN], other[LIB_NAME_LEN], path[256], aside[ACH_FILE_PATH_LEN], strange[300];
	struct ach_plate gone;

	LIB_ASSERT_STATUS(ACH_OK, ach_create(lib_name(name, "gone"), 1, 1, NULL));
	gone = (struct ach_plate){ .shm = lib_memory(name), .bell = lib_bell(name) };
	ach_file_gone_path(aside, name, 1);
	TEST_ASSERT_EQUAL_INT(0, rename(lib_path(path, name), aside));
	snprintf(strange, sizeof(strange), "%s0", aside); /* no name that a removal gives */
	TEST_ASSERT_EQUAL_INT(0, close(open(strange, O_CREAT | O_RDWR, 0600)));
	LIB_ASSERT_STATUS(ACH_OK, ach_create(name, 1, 1, NULL)); /* under the same name */
	LIB_ASSERT_STATUS(ACH_OK, ach_create(lib_name(other, "other"), 1, 1, NULL));
	LIB_ASSERT_STATUS(ACH_OK, ach_unlink(other));
	TEST_ASSERT_NOT_EQUAL(0, access(aside, F_OK));
	TEST_ASSERT_FALSE(lib_segment_exists(gone.shm) || lib_segment_exists(gone.bell));
	TEST_ASSERT_EQUAL_INT(0, access(path, F_OK));
	TEST_ASSERT_EQUAL_INT(0, unlink(strange));
	LIB_ASSERT_STATUS(ACH_OK, ach_unlink(name));
}

TEST(test_orphans_of_a_folder_that_is_gone)
{
	char name[LIB_NAME_LEN], folder[] = "/tmp/t-ach-XXXXXX", path[256];
	int shm;

	TEST_ASSERT_NOT_NULL(mkdtemp(folder));
	setenv("ACH_DIR", folder, 1);
	LIB_ASSERT_STATUS(ACH_OK, ach_create(lib_name(name, "folder"), 1, 1, NULL));
	shm = lib_memory(name);
	TEST_ASSERT_EQUAL_INT(0, unlink(lib_path(path, name)));
	TEST_ASSERT_EQUAL_INT(0, rmdir(folder));
	unsetenv("ACH_DIR");
	(void)ach_orphan_remove(0, false);
	TEST_ASSERT_TRUE_MESSAGE(lib_segment_exists(shm), "it may be there in another mount namespace");
	(void)ach_orphan_remove(0, true);
	TEST_ASSERT_FALSE(lib_segment_exists(shm));
}

/* ---- ACH_DIR ---- */

TEST(test_a_folder_of_its_own)
{
	char name[LIB_NAME_LEN], folder[] = "/tmp/t-ach-XXXXXX", path[256], expected[300];
	const char *found = NULL;
	ach_channel_t chan;
	struct stat st;
	DIR *list;

	TEST_ASSERT_NOT_NULL(mkdtemp(folder));
	setenv("ACH_DIR", folder, 1);
	LIB_ASSERT_STATUS(ACH_OK, ach_create(lib_name(name, "dir"), 1, 1, NULL));
	snprintf(expected, sizeof expected, "%s/achshm-%s", folder, name);
	TEST_ASSERT_EQUAL_STRING(expected, lib_path(path, name));
	TEST_ASSERT_EQUAL_INT(0, stat(expected, &st));
	list = ach_file_list();
	TEST_ASSERT_NOT_NULL(list);
	found = ach_file_next(list);
	TEST_ASSERT_EQUAL_STRING(name, found);
	TEST_ASSERT_NULL(ach_file_next(list));
	closedir(list);
	LIB_ASSERT_STATUS(ACH_OK, ach_open(&chan, name, NULL));
	unsetenv("ACH_DIR");
	LIB_ASSERT_STATUS(ACH_ENOENT, ach_open(&(ach_channel_t){ 0 }, name, NULL));
	setenv("ACH_DIR", folder, 1);
	LIB_ASSERT_STATUS(ACH_OK, ach_unlink(name));
	LIB_ASSERT_STATUS(ACH_OK, ach_close(&chan));
	TEST_ASSERT_EQUAL_INT(0, lib_segments(name));
	TEST_ASSERT_EQUAL_INT(0, rmdir(folder));
	LIB_ASSERT_STATUS(ACH_ENOENT, ach_create(name, 1, 1, NULL));
	setenv("ACH_DIR", "relative", 1);
	LIB_ASSERT_STATUS(ACH_EINVAL, ach_create(name, 1, 1, NULL));
	TEST_ASSERT_EQUAL_STRING("ACH_DIR=relative: it must be an absolute path of at most 95 characters",
				 ach_errstr());
	unsetenv("ACH_DIR");
}

/* The lock of "a-0123456789abcdef" starts like one of "a". */
TEST(test_unlink_leaves_other_channels_alone)
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
	TEST_ASSERT_EQUAL_INT(1, lib_segments(longer));
	TEST_ASSERT_EQUAL_INT(1, lib_segments(shorter));
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

TEST(test_unlink_of_another_users_channel)
{
	char name[LIB_NAME_LEN];

	if (!lib_can_drop())
		TEST_IGNORE_MESSAGE("needs root");
	LIB_ASSERT_STATUS(ACH_OK, ach_create(lib_name(name, "foreign"), 1, 1, NULL));
	TEST_ASSERT_EQUAL_INT(0, lib_join(lib_child(unlink_foreign_child, name)));
	TEST_ASSERT_EQUAL_INT(1, lib_segments(name)); /* it would be useless without */
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

TEST(test_a_truncated_plate_counts_as_unlinked)
{
	char name[LIB_NAME_LEN], path[256];
	ach_channel_t chan;
	int unlinked = -1;

	LIB_ASSERT_STATUS(ACH_OK, ach_create(lib_name(name, "cut"), 4, 1, NULL));
	LIB_ASSERT_STATUS(ACH_OK, ach_open(&chan, name, NULL));
	LIB_ASSERT_STATUS(ACH_OK, ach_unlinked(&chan, &unlinked));
	TEST_ASSERT_EQUAL_INT(0, unlinked);
	TEST_ASSERT_EQUAL_INT(0, truncate(lib_path(path, name), 0));
	LIB_ASSERT_STATUS(ACH_OK, ach_unlinked(&chan, &unlinked));
	TEST_ASSERT_EQUAL_INT(1, unlinked);
	LIB_ASSERT_STATUS(ACH_OK, ach_close(&chan));
	LIB_ASSERT_STATUS(ACH_OK, ach_unlink(name));
}

TEST(test_open_handles_go_on_working_on_the_orphan)
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

TEST(test_files_that_are_not_channels)
{
	static const char text[] = "this is not a channel, but it is not empty";
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

TEST(test_channel_of_an_older_library)
{
	struct ach_geometry old = { .magic = 0x32656e6972486341ull, .id = 1 };
	char name[LIB_NAME_LEN], path[256], expected[320];
	int fd = open(lib_path(path, lib_name(name, "old")), O_CREAT | O_EXCL | O_RDWR, 0600);

	TEST_ASSERT_EQUAL_INT(sizeof old, write(fd, &old, sizeof old));
	TEST_ASSERT_EQUAL_INT(0, ftruncate(fd, 1 << 16));
	close(fd);
	LIB_ASSERT_STATUS(ACH_BAD_SHM_FILE, ach_open(&(ach_channel_t){ 0 }, name, NULL));
	snprintf(expected, sizeof expected, "%s is a channel of an older libach: remove it", path);
	TEST_ASSERT_EQUAL_STRING(expected, ach_errstr());
	LIB_ASSERT_STATUS(ACH_OK, ach_unlink(name));
}

TEST(test_bare_chmod_of_the_plate)
{
	char name[LIB_NAME_LEN], path[256];

	LIB_ASSERT_STATUS(ACH_OK, ach_create(lib_name(name, "chmod"), 1, 1, NULL));
	TEST_ASSERT_EQUAL_INT(0, chmod(lib_path(path, name), 0666));
	LIB_ASSERT_STATUS(ACH_BAD_SHM_FILE, ach_open(&(ach_channel_t){ 0 }, name, NULL));
	TEST_ASSERT_NOT_NULL(strstr(ach_errstr(), "use ach chmod, not chmod"));
}

/* Memory is there from the start: a put must not be the one to find it full. */
TEST(test_no_holes)
{
	const size_t page = (size_t)sysconf(_SC_PAGESIZE);
	unsigned char there[64];
	char name[LIB_NAME_LEN];
	size_t len;
	void *m;

	LIB_ASSERT_STATUS(ACH_OK, ach_create(lib_name(name, "holes"), 1, 65536, NULL));
	m = lib_segment_map(lib_memory(name), &len);
	TEST_ASSERT_LESS_OR_EQUAL_size_t(sizeof there, len / page);
	TEST_ASSERT_EQUAL_INT(0, mincore(m, len, there));
	for (size_t i = 0; i < len / page; i++)
		TEST_ASSERT_EQUAL_INT(1, there[i] & 1);
	shmdt(m);
}

static long shared_kb(void)
{
	FILE *status = fopen("/proc/self/status", "r");
	char line[256];
	long kb = -1;

	TEST_ASSERT_NOT_NULL(status);
	while (fgets(line, sizeof line, status) && sscanf(line, "RssShmem: %ld", &kb) != 1)
		;
	fclose(status);
	TEST_ASSERT_GREATER_OR_EQUAL(0, kb);
	return kb;
}

/* For a single look: what is not touched costs nothing. */
TEST(test_sparse)
{
	const long before = shared_kb();
	char name[LIB_NAME_LEN], text[4] = "";
	ach_channel_t chan;
	ach_attr_t attr;
	size_t len;

	LIB_ASSERT_STATUS(ACH_OK, ach_create(lib_name(name, "sparse"), 16, 65536, NULL));
	LIB_ASSERT_STATUS(ACH_OK, ach_open(&chan, name, NULL));
	LIB_ASSERT_STATUS(ACH_OK, ach_put(&chan, "new", 4));
	TEST_ASSERT_GREATER_OR_EQUAL(before + 16 * 64, shared_kb());
	ach_close(&chan);
	TEST_ASSERT_LESS_THAN(before + 64, shared_kb());
	ach_attr_init(&attr);
	attr.sparse = 1;
	LIB_ASSERT_STATUS(ACH_OK, ach_open(&chan, name, &attr));
	LIB_ASSERT_STATUS(ACH_OK, ach_get(&chan, text, sizeof text, &len, NULL, ACH_O_LAST));
	TEST_ASSERT_EQUAL_STRING("new", text);
	TEST_ASSERT_LESS_THAN(before + 64, shared_kb());
	ach_close(&chan);
}

/* In a system of its own with room for three segments: the fourth is refused with the reason, unless one is free. */
static int no_room_child(void *arg)
{
	char name[LIB_NAME_LEN], path[256];
	int limit;

	(void)arg;
	if (unshare(CLONE_NEWIPC))
		return 77;
	limit = open("/proc/sys/kernel/shmmni", O_WRONLY);
	LIB_CHECK(limit >= 0 && write(limit, "3", 1) == 1);
	umask(0);
	for (int i = 0; i < 3; i++) {
		LIB_STATUS(ACH_OK, ach_create(lib_name(name, "room"), 1, 1, NULL));
		LIB_CHECK(lib_bell(name) == -1);
	}
	lib_path(path, name);
	LIB_STATUS(ACH_FAILED_SYSCALL, ach_create(lib_name(name, "room"), 1, 1, NULL));
	LIB_CHECK(strstr(ach_errstr(),
			 "No space left on device: all shared memory segments of the system are in use") != NULL);
	LIB_STATUS(ACH_ENOENT, ach_open(&(ach_channel_t){ 0 }, name, NULL));
	/* A bell finds no room: what was made before it goes, too. */
	LIB_CHECK(unlink(path) == 0 && ach_orphan_remove(0, false) == 1);
	umask(022);
	LIB_STATUS(ACH_FAILED_SYSCALL, ach_create(name, 1, 1, NULL));
	umask(0);
	LIB_STATUS(ACH_OK, ach_create(name, 1, 1, NULL));
	for (int i = 0; i < 4; i++) {
		snprintf(name, sizeof name, "t-room-%ld-%d", (long)getpid(), i);
		(void)ach_unlink(name);
	}
	return 0;
}

TEST(test_no_room)
{
	int status = lib_join(lib_child(no_room_child, NULL));

	if (status == 77)
		TEST_IGNORE_MESSAGE("NOT TESTED: no IPC namespaces here");
	TEST_ASSERT_EQUAL_INT(0, status);
}
