/* test_truncate.c: what other users may try on a channel's files and memory, and what holds.
 *
 * A row is an attack and what each kind of user gets for it: one who may only read the channel, one of its group who
 * may write it, and a stranger.  Meanwhile a writer puts and two readers wait; after every attack all three must still
 * be at work.  What they get may be ACH_CORRUPT where the attacker may write; a signal never.
 */
#define _GNU_SOURCE
#include <fcntl.h>
#include <grp.h>
#include <limits.h>
#include <linux/futex.h>
#include <sched.h>
#include <stdatomic.h>
#include <sys/file.h>
#include <sys/mman.h>
#include <sys/mount.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/wait.h>

#include "channels/ach/ach_file.h"
#include "test/lib/lib.h"
#include "test/lib/testcase.h"

#define GROUP 64001 /* of the channel, and of no other user */
#define WORKERS 3

enum attacker { READER, WRITER, STRANGER, ATTACKERS };
static const char *const attacker_names[] = { "a reader", "a group writer", "a stranger" };
static const mode_t modes[] = { [READER] = 0664, [WRITER] = 0660, [STRANGER] = 0660 };

static struct shared {
	_Atomic unsigned rounds[WORKERS];
	_Atomic bool stop;
} * shared;

static struct {
	char name[LIB_NAME_LEN], path[256];
	int shm, bell;
	size_t len;
	pid_t pids[WORKERS];
} test;

/* ---- those who work ---- */

static int work(void *arg)
{
	int which = *(int *)arg;
	ach_channel_t chan;

	LIB_STATUS(ACH_OK, ach_open(&chan, test.name, NULL));
	while (!shared->stop) {
		struct timespec soon = lib_after_ms(CLOCK_MONOTONIC, 2);
		uint64_t message = 1;

		lib_watchdog("worker", LIB_HANG_S);
		if (which == 0) {
			(void)ach_put(&chan, &message, sizeof message);
			usleep(200); /* the others must get their turn */
		} else {
			(void)ach_get(&chan, &message, sizeof message, NULL, &soon,
				      ACH_O_WAIT | (which == 2 ? ACH_O_LAST : 0));
		}
		shared->rounds[which]++;
	}
	return 0;
}

static void start(mode_t mode)
{
	static int which[WORKERS] = { 0, 1, 2 };
	ach_create_attr_t attr;
	struct shmid_ds d;

	memset(shared, 0, sizeof *shared);
	ach_create_attr_init(&attr);
	LIB_ASSERT_STATUS(ACH_OK, ach_create_attr_set_mode(&attr, mode, lib_can_drop() ? GROUP : (gid_t)-1));
	LIB_ASSERT_STATUS(ACH_OK, ach_create(lib_name(test.name, "truncate"), 16, 64, &attr));
	lib_path(test.path, test.name);
	test.shm = lib_memory(test.name);
	test.bell = lib_bell(test.name);
	TEST_ASSERT_EQUAL(0, shmctl(test.shm, IPC_STAT, &d));
	test.len = d.shm_segsz;
	for (int i = 0; i < WORKERS; i++)
		test.pids[i] = lib_child(work, &which[i]);
}

/* Every worker has begun and ended a round since. */
static void all_at_work(const char *what)
{
	for (int i = 0; i < WORKERS; i++) {
		unsigned before = shared->rounds[i];

		while (shared->rounds[i] < before + 2) {
			siginfo_t ended = { .si_pid = 0 };

			TEST_ASSERT_EQUAL(0, waitid(P_PID, (id_t)test.pids[i], &ended, WEXITED | WNOHANG | WNOWAIT));
			if (ended.si_pid) {
				test.pids[i] = 0;
				TEST_FAIL_MESSAGE(what);
			}
			usleep(100); /* only spares the processor */
		}
	}
}

static void finish(void)
{
	shared->stop = true;
	for (int i = 0; i < WORKERS; i++) {
		pid_t pid = test.pids[i];

		test.pids[i] = 0;
		if (pid)
			TEST_ASSERT_EQUAL_MESSAGE(0, lib_join(pid), "a worker was killed");
	}
	LIB_ASSERT_STATUS(ACH_OK, ach_unlink(test.name));
}

/* ---- attacks: 0 if it could be done, else errno ---- */

static int answer(long r)
{
	return r < 0 ? errno : 0;
}

static int truncates(void)
{
	return answer(truncate(test.path, 0));
}

static int opens_for_writing(void)
{
	return answer(open(test.path, O_RDWR));
}

static int opens_for_reading(void)
{
	return answer(open(test.path, O_RDONLY));
}

static int changes_the_mode(void)
{
	return answer(chmod(test.path, 0666));
}

static int removes_the_plate(void)
{
	return answer(unlink(test.path));
}

static int calls_ach_unlink(void)
{
	return ach_unlink(test.name) == ACH_EACCES ? EACCES : 0;
}

static int removes_the_memory(void)
{
	return answer(shmctl(test.shm, IPC_RMID, NULL));
}

static int removes_the_bell(void)
{
	return test.bell < 0 ? EPERM : answer(shmctl(test.bell, IPC_RMID, NULL));
}

static int sets_the_owner(void)
{
	struct shmid_ds d = { .shm_perm = { .uid = geteuid(), .gid = getegid(), .mode = 0666 } };

	return answer(shmctl(test.shm, IPC_SET, &d));
}

static void *attach(int flags)
{
	return shmat(test.shm, NULL, flags);
}

static int attaches_for_reading(void)
{
	return attach(SHM_RDONLY) == (void *)-1 ? errno : 0;
}

static int attaches_for_writing(void)
{
	return attach(0) == (void *)-1 ? errno : 0;
}

static int makes_it_writable(void)
{
	void *m = attach(SHM_RDONLY);

	return m == (void *)-1 ? errno : answer(mprotect(m, test.len, PROT_READ | PROT_WRITE));
}

/* Those who may write can; the memory then reads as zeros. */
static int punches_a_hole(void)
{
	void *m = attach(0);

	if (m == (void *)-1)
		m = attach(SHM_RDONLY);
	return m == (void *)-1 ? errno : answer(madvise(m, test.len, MADV_REMOVE));
}

static int reopens_the_mapping(void)
{
	void *m = attach(SHM_RDONLY);
	char link[128];

	if (m == (void *)-1)
		return errno;
	snprintf(link, sizeof link, "/proc/self/map_files/%lx-%lx", (unsigned long)m, (unsigned long)m + test.len);
	return answer(open(link, O_RDWR));
}

static int overwrites_all(void)
{
	void *m = attach(0);

	if (m == (void *)-1)
		return errno;
	for (int i = 0; i < 200; i++)
		memset(m, i, test.len);
	return 0;
}

static int moves_the_sleepers(void)
{
	uint32_t *word = attach(SHM_RDONLY);

	if (word == (void *)-1)
		return errno;
	word += offsetof(struct ach_header, commit) / sizeof *word;
	for (int i = 0; i < 100; i++)
		syscall(SYS_futex, word, FUTEX_REQUEUE, 0, INT_MAX, word + 2, 0);
	return 0;
}

static int scribbles_on_the_bell(void)
{
	uint64_t *bell = test.bell < 0 ? (void *)-1 : shmat(test.bell, NULL, 0);

	if (bell == (void *)-1)
		return EACCES;
	for (uint64_t i = 0; i < 1000; i++)
		__atomic_store_n(bell, i % 3 ? UINT64_MAX >> i % 64 : 0, __ATOMIC_SEQ_CST);
	return answer(madvise(bell, 4096, MADV_REMOVE));
}

/* A lock of the plate, and then a source of its own. */
static int blocks_the_source(void)
{
	int fd = open(test.path, O_RDONLY);
	ach_channel_t chan;
	ach_attr_t attr;

	if (fd < 0 || flock(fd, LOCK_EX))
		return errno;
	ach_attr_init(&attr);
	ach_attr_set_lock_source(&attr, 1);
	return ach_open(&chan, test.name, &attr) == ACH_EACCES ? EACCES : 0;
}

struct attack {
	const char *what;
	int (*run)(void);
	int expected[ATTACKERS];
};

static const struct attack attacks[] = {
	{ "truncate the plate", truncates, { EACCES, EACCES, EACCES } },
	{ "open the plate for writing", opens_for_writing, { EACCES, EACCES, EACCES } },
	{ "open the plate for reading", opens_for_reading, { 0, 0, EACCES } },
	{ "chmod of the plate", changes_the_mode, { EPERM, EPERM, EPERM } },
	{ "rm of the plate", removes_the_plate, { EPERM, EPERM, EPERM } },
	{ "ach_unlink", calls_ach_unlink, { EACCES, EACCES, EACCES } },
	{ "IPC_RMID of the memory", removes_the_memory, { EPERM, EPERM, EPERM } },
	{ "IPC_RMID of the bell", removes_the_bell, { EPERM, EPERM, EPERM } },
	{ "IPC_SET", sets_the_owner, { EPERM, EPERM, EPERM } },
	{ "shmat for reading", attaches_for_reading, { 0, 0, EACCES } },
	{ "shmat for writing", attaches_for_writing, { EACCES, 0, EACCES } },
	{ "mprotect of a mapping for reading", makes_it_writable, { EACCES, EACCES, EACCES } },
	{ "map_files", reopens_the_mapping, { EPERM, EPERM, EACCES } },
	{ "FUTEX_REQUEUE", moves_the_sleepers, { 0, 0, EACCES } },
	{ "scribble on the bell", scribbles_on_the_bell, { 0, EACCES, EACCES } },
	{ "flock", blocks_the_source, { EACCES, 0, EACCES } },
	{ "MADV_REMOVE", punches_a_hole, { EACCES, 0, EACCES } },
	{ "overwrite everything", overwrites_all, { EACCES, 0, EACCES } },
};

struct attempt {
	const struct attack *attack;
	enum attacker by;
};

static int attempt(void *arg)
{
	const struct attempt *a = arg;

	lib_drop(a->by == WRITER ? GROUP : (gid_t)-1);
	return a->attack->run();
}

static void attacks_by(enum attacker by)
{
	ach_channel_t source;
	ach_attr_t attr;

	if (!lib_can_drop())
		TEST_IGNORE_MESSAGE("needs root");
	start(modes[by]);
	all_at_work("before the first attack");
	for (size_t i = 0; i < sizeof attacks / sizeof *attacks; i++) {
		struct attempt a = { &attacks[i], by };
		char what[100];

		snprintf(what, sizeof what, "%s: %s", attacker_names[by], attacks[i].what);
		lib_watchdog(what, LIB_HANG_S);
		TEST_ASSERT_EQUAL_INT_MESSAGE(attacks[i].expected[by], lib_join(lib_child(attempt, &a)), what);
		all_at_work(what);
	}
	if (by != WRITER) { /* who may write has overwritten all of it */
		ach_attr_init(&attr);
		ach_attr_set_lock_source(&attr, 1);
		LIB_ASSERT_STATUS(ACH_OK, ach_open(&source, test.name, &attr));
		LIB_ASSERT_STATUS(ACH_OK, ach_put(&source, "x", 1));
		LIB_ASSERT_STATUS(ACH_OK, ach_close(&source));
	}
	finish();
}

TEST(test_a_reader_is_harmless)
{
	attacks_by(READER);
}

TEST(test_a_group_writer_kills_no_process)
{
	attacks_by(WRITER);
}

TEST(test_a_stranger_is_harmless)
{
	attacks_by(STRANGER);
}

/* ---- what the owner does by mistake ---- */

static void write_plate(const char *bytes, size_t len, int flags)
{
	int fd = open(test.path, O_WRONLY | flags);

	TEST_ASSERT_TRUE(fd >= 0);
	TEST_ASSERT_EQUAL((ssize_t)len, write(fd, bytes, len));
	close(fd);
}

TEST(test_a_plate_may_be_lost)
{
	static const char garbage[8192] = "garbage";
	ach_channel_t chan;
	uint8_t plate[sizeof(struct ach_plate)];
	int fd;

	start(0644);
	all_at_work("before anything");
	fd = open(test.path, O_RDONLY);
	TEST_ASSERT_EQUAL(sizeof plate, read(fd, plate, sizeof plate));
	close(fd);
	write_plate("", 0, O_TRUNC);
	all_at_work("truncated");
	LIB_ASSERT_STATUS(ACH_BAD_SHM_FILE, ach_open(&chan, test.name, NULL));
	write_plate(garbage, sizeof garbage, O_TRUNC);
	all_at_work("overwritten");
	LIB_ASSERT_STATUS(ACH_BAD_SHM_FILE, ach_open(&chan, test.name, NULL));
	TEST_ASSERT_EQUAL(0, unlink(test.path));
	all_at_work("removed");
	fd = open(test.path, O_CREAT | O_EXCL | O_WRONLY, 0644);
	close(fd);
	write_plate((char *)plate, sizeof plate, 0);
	LIB_ASSERT_STATUS(ACH_OK, ach_open(&chan, test.name, NULL));
	LIB_ASSERT_STATUS(ACH_OK, ach_close(&chan));
	TEST_ASSERT_EQUAL(0, shmctl(test.shm, IPC_RMID, NULL));
	all_at_work("memory removed");
	LIB_ASSERT_STATUS(ACH_OK, ach_unlink(test.name));
	LIB_ASSERT_STATUS(ACH_OK, ach_create(test.name, 1, 1, NULL));
	finish();
}

/* ---- the source's lock ---- */

struct source {
	gid_t group;
	enum ach_status expected;
};

static int opens_as_source(void *arg)
{
	struct source *s = arg;
	ach_channel_t chan;
	ach_attr_t attr;

	if (s->group)
		lib_drop(s->group);
	ach_attr_init(&attr);
	ach_attr_set_lock_source(&attr, 1);
	LIB_STATUS(s->expected, ach_open(&chan, test.name, &attr));
	return 0;
}

TEST(test_source_lock)
{
	struct source owner = { 0, ACH_OK }, member = { GROUP, ACH_OK }, other = { (gid_t)-1, ACH_EACCES };
	ach_channel_t chan;
	ach_attr_t attr;
	char lock[ACH_FILE_PATH_LEN];
	struct stat st;

	if (!lib_can_drop())
		TEST_IGNORE_MESSAGE("needs root");
	start(0664);
	LIB_ASSERT_STATUS(ACH_OK, ach_open(&chan, test.name, NULL));
	ach_file_source_path(lock, test.name, chan.handle->id);
	TEST_ASSERT_NOT_EQUAL_MESSAGE(0, access(lock, F_OK), "made when first asked for");
	LIB_ASSERT_STATUS(ACH_OK, ach_close(&chan));
	TEST_ASSERT_EQUAL(0, lib_join(lib_child(opens_as_source, &other)));
	TEST_ASSERT_EQUAL(0, lib_join(lib_child(opens_as_source, &member)));
	TEST_ASSERT_EQUAL(0, stat(lock, &st));
	TEST_ASSERT_EQUAL_HEX32(0220, st.st_mode & 07777);
	TEST_ASSERT_EQUAL_UINT(GROUP, st.st_gid);
	ach_attr_init(&attr);
	ach_attr_set_lock_source(&attr, 1);
	LIB_ASSERT_STATUS(ACH_OK, ach_open(&chan, test.name, &attr));
	owner.expected = member.expected = ACH_LOCKED;
	TEST_ASSERT_EQUAL(0, lib_join(lib_child(opens_as_source, &owner)));
	TEST_ASSERT_EQUAL(0, lib_join(lib_child(opens_as_source, &member)));
	LIB_ASSERT_STATUS(ACH_OK, ach_close(&chan));
	/* A file that another user put there is not taken for the lock. */
	TEST_ASSERT_EQUAL(0, chown(lock, LIB_NOBODY, LIB_NOBODY));
	LIB_ASSERT_STATUS(ACH_EACCES, ach_open(&chan, test.name, &attr));
	finish();
	TEST_ASSERT_NOT_EQUAL_MESSAGE(0, access(lock, F_OK), "removed with the channel");
}

/* ---- no room ---- */

/* Every file that could be filled is: the channel goes on, another one is refused with the reason. */
static int full_folder(void *arg)
{
	static char page[4096];
	ach_channel_t chan;
	uint64_t message = 1;
	int fd;

	(void)arg;
	if (unshare(CLONE_NEWNS) || mount(NULL, "/", NULL, MS_REC | MS_PRIVATE, NULL) ||
	    mount("none", "/mnt", "tmpfs", 0, "size=32k"))
		return 77;
	setenv("ACH_DIR", "/mnt", 1);
	LIB_STATUS(ACH_OK, ach_create("t-full", 16, 65536, NULL)); /* its memory is not in the folder */
	LIB_STATUS(ACH_OK, ach_open(&chan, "t-full", NULL));
	fd = open("/mnt/filler", O_CREAT | O_WRONLY, 0600);
	while (write(fd, page, sizeof page) > 0)
		;
	LIB_CHECK(errno == ENOSPC);
	for (int i = 0; i < 1000; i++)
		LIB_STATUS(ACH_OK, ach_put(&chan, &message, sizeof message));
	LIB_STATUS(ACH_FAILED_SYSCALL, ach_create("t-full-2", 1, 1, NULL));
	LIB_CHECK(strstr(ach_errstr(), "/mnt/achshm-t-full-2") && strstr(ach_errstr(), "No space left on device"));
	LIB_CHECK(lib_segments("t-full-2") == 0);
	LIB_STATUS(ACH_OK, ach_unlink("t-full"));
	return 0;
}

TEST(test_full_folder)
{
	int status = lib_join(lib_child(full_folder, NULL));

	if (status == 77)
		TEST_IGNORE_MESSAGE("NOT TESTED: no mount namespaces here");
	TEST_ASSERT_EQUAL_INT(0, status);
}

void setUp(void)
{
	lib_watchdog(Unity.CurrentTestName, LIB_HANG_S);
}

void tearDown(void)
{
	alarm(0); /* a leak check at exit may take its time */
	for (int i = 0; i < WORKERS; i++) {
		if (test.pids[i])
			lib_kill(test.pids[i]);
		test.pids[i] = 0;
	}
}

void testcase_begin(void)
{
	shared = mmap(NULL, sizeof *shared, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	LIB_CHECK(shared != MAP_FAILED);
}
