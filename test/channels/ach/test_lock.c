/* test_lock.c: the writers' lock when its holder is stopped, killed, gone, or never was. */
#define _GNU_SOURCE
#include <fcntl.h>
#include <linux/futex.h>
#include <pthread.h>
#include <signal.h>

#include "channels/ach/ach_ring.h"
#include "test/lib/lib.h"
#include "test/lib/testcase.h"

static char name[LIB_NAME_LEN];
static ach_channel_t impatient, normal, patient; /* put timeouts: 10 ms, the default, more than a hang */
static struct lib_gate *gate;

static void open_with_timeout(ach_channel_t *chan, int64_t ms)
{
	struct timespec timeout = lib_rel_ms(ms);
	ach_attr_t attr;

	ach_attr_init(&attr);
	if (ms >= 0)
		LIB_STATUS(ACH_OK, ach_attr_set_put_timeout(&attr, &timeout));
	LIB_STATUS(ACH_OK, ach_open(chan, name, &attr));
}

void setUp(void)
{
	lib_watchdog(Unity.CurrentTestName, LIB_HANG_S);
	LIB_STATUS(ACH_OK, ach_create(lib_name(name, "lock"), 64, 16, NULL));
	open_with_timeout(&impatient, 10);
	open_with_timeout(&normal, -1);
	open_with_timeout(&patient, LIB_HANG_S * 1000);
	gate = lib_gate_new();
}

void tearDown(void)
{
	(void)ach_close(&impatient);
	(void)ach_close(&normal);
	(void)ach_close(&patient);
	(void)ach_unlink(name);
	lib_gate_free(gate);
}

static enum ach_status put(ach_channel_t *chan)
{
	return ach_put(chan, "x", 1);
}

static void assert_free(void)
{
	LIB_ASSERT_STATUS(ACH_OK, put(&impatient));
	LIB_ASSERT_STATUS(ACH_OK, put(&normal));
	TEST_ASSERT_EQUAL_HEX32(0, atomic_load(&normal.shm->lock));
}

/* Holds a reservation until the gate says 2, then commits it. */
static int holder(void *unused)
{
	ach_channel_t mine;
	void *room;

	(void)unused;
	open_with_timeout(&mine, LIB_HANG_S * 1000);
	LIB_STATUS(ACH_OK, ach_reserve(&mine, 4, &room));
	memcpy(room, "held", 4);
	lib_gate_set(gate, 1);
	lib_gate_wait(gate, 2);
	LIB_STATUS(ACH_OK, ach_commit(&mine, 4));
	lib_gate_set(gate, 3);
	return 0;
}

static pid_t start_holder(void)
{
	pid_t pid;

	lib_gate_set(gate, 0);
	pid = lib_child(holder, NULL);
	lib_gate_wait(gate, 1);
	return pid;
}

static int waiter(void *unused)
{
	ach_channel_t mine;

	(void)unused;
	open_with_timeout(&mine, LIB_HANG_S * 1000);
	LIB_STATUS(ACH_OK, put(&mine));
	return 0;
}

static pid_t start_waiter(void)
{
	pid_t pid = lib_child(waiter, NULL);

	lib_until_asleep(pid);
	return pid;
}

/* ---- stopped ---- */

TEST(test_stopped_writer_times_out_others)
{
	struct timespec past = { 0, 0 };
	ach_channel_t none;
	char buf[16];
	pid_t pid;

	LIB_ASSERT_STATUS(ACH_OK, put(&normal));
	pid = start_holder();
	lib_stop(pid);
	open_with_timeout(&none, 0);
	for (int i = 0; i < 3; i++) {
		LIB_ASSERT_STATUS(ACH_TIMEOUT, put(&none));
		LIB_ASSERT_STATUS(ACH_TIMEOUT, put(&impatient));
	}
	/* Half a second each would be more than a hang: only the first may take its time. */
	for (int i = 0; i < 3 * LIB_HANG_S; i++)
		LIB_ASSERT_STATUS(ACH_TIMEOUT, put(&normal));

	LIB_ASSERT_STATUS(ACH_OK, ach_get(&normal, buf, sizeof buf, NULL, NULL, 0)); /* readers notice nothing */
	LIB_ASSERT_STATUS(ACH_EAGAIN, ach_get(&normal, buf, sizeof buf, NULL, NULL, 0));
	LIB_ASSERT_STATUS(ACH_OK, ach_get(&normal, buf, sizeof buf, NULL, NULL, ACH_O_COPY));
	LIB_ASSERT_STATUS(ACH_TIMEOUT, ach_get(&normal, buf, sizeof buf, NULL, &past, ACH_O_WAIT));

	TEST_ASSERT_EQUAL_INT(0, kill(pid, SIGCONT));
	lib_gate_set(gate, 2);
	TEST_ASSERT_EQUAL_INT(0, lib_join(pid));
	LIB_ASSERT_STATUS(ACH_OK, ach_get(&normal, buf, sizeof buf, NULL, NULL, 0));
	TEST_ASSERT_EQUAL_MEMORY("held", buf, 4);
	LIB_ASSERT_STATUS(ACH_OK, put(&none)); /* what was remembered is forgotten */
	assert_free();
	LIB_ASSERT_STATUS(ACH_OK, ach_close(&none));
}

/* No put waits longer than asked for: half a second each would be more than a hang. */
TEST(test_put_timeout_of_nothing)
{
	pid_t pid = start_holder();

	for (int i = 0; i < 3 * LIB_HANG_S; i++) {
		ach_channel_t none;

		open_with_timeout(&none, 0);
		LIB_ASSERT_STATUS(ACH_TIMEOUT, put(&none));
		LIB_ASSERT_STATUS(ACH_OK, ach_close(&none));
	}
	lib_gate_set(gate, 2);
	TEST_ASSERT_EQUAL_INT(0, lib_join(pid));
}

/* Nor shorter: who asked for much still waits when one who asked for nothing special has given up. */
TEST(test_put_timeout_of_much)
{
	pid_t pid = start_holder(), waits = start_waiter();

	LIB_ASSERT_STATUS(ACH_TIMEOUT, put(&normal));
	lib_until_asleep(waits);
	lib_gate_set(gate, 2);
	TEST_ASSERT_EQUAL_INT(0, lib_join(waits));
	TEST_ASSERT_EQUAL_INT(0, lib_join(pid));
	assert_free();
}

/* A lock that was stuck, got free and is held again is waited for again. */
TEST(test_stuck_is_remembered_only_while_nothing_moves)
{
	pid_t pid = start_holder(), other;

	LIB_ASSERT_STATUS(ACH_TIMEOUT, put(&impatient));
	lib_gate_set(gate, 2);
	TEST_ASSERT_EQUAL_INT(0, lib_join(pid));
	pid = start_holder();
	other = start_waiter();
	lib_gate_set(gate, 2);
	TEST_ASSERT_EQUAL_INT(0, lib_join(other));
	TEST_ASSERT_EQUAL_INT(0, lib_join(pid));
	assert_free();
}

TEST(test_reserve_times_out_too)
{
	pid_t pid = start_holder();
	void *room;

	LIB_ASSERT_STATUS(ACH_TIMEOUT, ach_reserve(&impatient, 1, &room));
	LIB_ASSERT_STATUS(ACH_EINVAL, ach_commit(&impatient, 1));
	lib_gate_set(gate, 2);
	TEST_ASSERT_EQUAL_INT(0, lib_join(pid));
	LIB_ASSERT_STATUS(ACH_OK, ach_reserve(&impatient, 1, &room));
	LIB_ASSERT_STATUS(ACH_OK, ach_commit(&impatient, 0));
	assert_free();
}

/* ---- killed ---- */

TEST(test_killed_holder)
{
	for (int i = 0; i < 20; i++) {
		lib_kill(start_holder());
		/* The kernel took the dead one's number off: another thread may have it by now. */
		TEST_ASSERT_EQUAL_HEX32(0, atomic_load(&normal.shm->lock) & FUTEX_TID_MASK);
		assert_free();
	}
}

TEST(test_killed_holder_with_writers_waiting)
{
	for (int i = 0; i < 5; i++) {
		pid_t held = start_holder(), first = start_waiter(), second = start_waiter();

		lib_kill(held);
		TEST_ASSERT_EQUAL_INT(0, lib_join(first));
		TEST_ASSERT_EQUAL_INT(0, lib_join(second));
		assert_free();
	}
}

TEST(test_killed_waiting_writer)
{
	pid_t held = start_holder(), first = start_waiter(), second = start_waiter();

	lib_kill(first);
	lib_gate_set(gate, 2);
	TEST_ASSERT_EQUAL_INT(0, lib_join(held));
	TEST_ASSERT_EQUAL_INT(0, lib_join(second));
	assert_free();
}

TEST(test_killed_holder_and_waiter)
{
	pid_t held = start_holder(), first = start_waiter();
	enum ach_status status;

	lib_stop(first);
	lib_kill(held);
	status = put(&impatient); /* whether the stopped one was given the lock is the kernel's choice */
	TEST_ASSERT_TRUE(status == ACH_OK || status == ACH_TIMEOUT);
	lib_kill(first);
	assert_free();
}

static int exits_inside(void *unused)
{
	void *room;

	(void)unused;
	return (int)ach_reserve(&normal, 1, &room);
}

TEST(test_exit_inside_a_reservation)
{
	TEST_ASSERT_EQUAL_INT(ACH_OK, lib_join(lib_child(exits_inside, NULL)));
	assert_free();
}

static void *thread_exits_inside(void *mine)
{
	void *room;

	LIB_STATUS(ACH_OK, ach_reserve(mine, 1, &room));
	return NULL;
}

TEST(test_thread_exits_inside_a_reservation)
{
	ach_channel_t mine;
	pthread_t thread;
	pid_t pid;

	open_with_timeout(&mine, -1);
	TEST_ASSERT_EQUAL_INT(0, pthread_create(&thread, NULL, thread_exits_inside, &mine));
	TEST_ASSERT_EQUAL_INT(0, pthread_join(thread, NULL));
	assert_free();
	pid = start_holder();
	LIB_ASSERT_STATUS(ACH_OK, ach_close(&mine)); /* gives nothing up that is not its own any more */
	LIB_ASSERT_STATUS(ACH_TIMEOUT, put(&impatient));
	lib_gate_set(gate, 2);
	TEST_ASSERT_EQUAL_INT(0, lib_join(pid));
	assert_free();
}

/* A child made inside a reservation does not hold it, and cannot give it away. */
static int forked_inside(void *unused)
{
	(void)unused;
	LIB_STATUS(ACH_TIMEOUT, put(&impatient));
	LIB_STATUS(ACH_BUG, ach_commit(&normal, 1));
	return 0;
}

TEST(test_fork_inside_a_reservation)
{
	void *room;

	LIB_ASSERT_STATUS(ACH_OK, ach_reserve(&normal, 1, &room));
	TEST_ASSERT_EQUAL_INT(0, lib_join(lib_child(forked_inside, NULL)));
	*(char *)room = 'y';
	LIB_ASSERT_STATUS(ACH_OK, ach_commit(&normal, 1));
	assert_free();
}

/* ---- crosswise ---- */

struct crosswise {
	ach_channel_t first, second;
	pthread_barrier_t *both;
};

static void *reserves_crosswise(void *arg)
{
	struct crosswise *c = arg;
	enum ach_status status;
	void *room;

	LIB_STATUS(ACH_OK, ach_reserve(&c->first, 1, &room));
	pthread_barrier_wait(c->both);
	status = ach_reserve(&c->second, 1, &room);
	if (status == ACH_OK)
		LIB_STATUS(ACH_OK, ach_commit(&c->second, 0));
	LIB_STATUS(ACH_OK, ach_commit(&c->first, 0));
	return (void *)(intptr_t)status;
}

/* Two threads, two channels, each holds one and wants the other: a bug that the kernel sees. */
TEST(test_deadlock_is_a_bug)
{
	char other[LIB_NAME_LEN], keep[LIB_NAME_LEN];
	struct crosswise c[2];
	pthread_barrier_t both;
	pthread_t threads[2];
	void *status[2];

	memcpy(keep, name, sizeof keep);
	LIB_ASSERT_STATUS(ACH_OK, ach_create(lib_name(other, "lock"), 4, 4, NULL));
	pthread_barrier_init(&both, NULL, 2);
	for (int i = 0; i < 2; i++) {
		memcpy(name, i ? other : keep, sizeof name);
		open_with_timeout(&c[i].first, LIB_HANG_S * 1000);
		memcpy(name, i ? keep : other, sizeof name);
		open_with_timeout(&c[i].second, LIB_HANG_S * 1000);
		c[i].both = &both;
	}
	memcpy(name, keep, sizeof name);
	for (int i = 0; i < 2; i++)
		TEST_ASSERT_EQUAL_INT(0, pthread_create(&threads[i], NULL, reserves_crosswise, &c[i]));
	for (int i = 0; i < 2; i++)
		TEST_ASSERT_EQUAL_INT(0, pthread_join(threads[i], &status[i]));
	TEST_ASSERT_TRUE((intptr_t)status[0] == ACH_BUG || (intptr_t)status[1] == ACH_BUG);
	for (int i = 0; i < 2; i++) {
		LIB_ASSERT_STATUS(ACH_OK, put(&c[i].first));
		LIB_ASSERT_STATUS(ACH_OK, ach_close(&c[i].first));
		LIB_ASSERT_STATUS(ACH_OK, ach_close(&c[i].second));
	}
	pthread_barrier_destroy(&both);
}

/* ---- scribbled words ---- */

static int ends_at_once(void *unused)
{
	(void)unused;
	return 0;
}

static uint32_t dead_tid(void)
{
	pid_t pid = lib_child(ends_at_once, NULL);

	TEST_ASSERT_EQUAL_INT(0, lib_join(pid));
	return (uint32_t)pid;
}

/* Pid 2 is kthreadd, except in a container. */
static uint32_t kernel_tid(void)
{
	char comm[16] = "";
	int fd = open("/proc/2/comm", O_RDONLY);
	ssize_t n = fd < 0 ? 0 : read(fd, comm, sizeof comm - 1);

	if (fd >= 0)
		close(fd);
	return n > 0 && !strcmp(comm, "kthreadd\n") ? 2 : dead_tid();
}

TEST(test_scribbled_words)
{
	const uint32_t words[] = {
		dead_tid(),
		dead_tid() | FUTEX_WAITERS,
		dead_tid() | FUTEX_OWNER_DIED,
		kernel_tid(),
		kernel_tid() | FUTEX_WAITERS,
		(uint32_t)gettid(),
		(uint32_t)gettid() | FUTEX_WAITERS,
		(uint32_t)gettid() | FUTEX_OWNER_DIED,
		FUTEX_WAITERS,
		FUTEX_OWNER_DIED,
		FUTEX_WAITERS | FUTEX_OWNER_DIED,
		UINT32_MAX,
		FUTEX_TID_MASK,
	};

	for (size_t i = 0; i < sizeof words / sizeof *words; i++) {
		char text[64];

		snprintf(text, sizeof text, "word %zu: %#x", i, words[i]);
		atomic_store(&normal.shm->lock, words[i]);
		TEST_ASSERT_EQUAL_INT_MESSAGE(ACH_OK, put(&normal), text);
		TEST_ASSERT_EQUAL_INT_MESSAGE(ACH_OK, put(&normal), text);
		TEST_ASSERT_EQUAL_INT_MESSAGE(0, lib_join(lib_child(waiter, NULL)), text);
		TEST_ASSERT_EQUAL_INT_MESSAGE(ACH_OK, put(&normal), text);
		atomic_store(&normal.shm->lock, 0);
	}
}

static int sleeps(void *unused)
{
	(void)unused;
	lib_gate_wait(gate, 2);
	return 0;
}

TEST(test_word_of_a_thread_that_lives)
{
	pid_t pid = lib_child(sleeps, NULL);

	lib_until_asleep(pid);
	atomic_store(&normal.shm->lock, (uint32_t)pid);
	LIB_ASSERT_STATUS(ACH_TIMEOUT, put(&impatient));
	LIB_ASSERT_STATUS(ACH_TIMEOUT, put(&normal));
	LIB_ASSERT_STATUS(ACH_TIMEOUT, put(&normal));
	lib_gate_set(gate, 2);
	TEST_ASSERT_EQUAL_INT(0, lib_join(pid));
	LIB_ASSERT_STATUS(ACH_OK, put(&normal)); /* until it ends */
	assert_free();
}

/* Scribbled while it is held: whatever happens, no process hangs and the channel is usable again. */
TEST(test_scribbled_while_held)
{
	static const uint32_t words[] = { 0, FUTEX_WAITERS, FUTEX_OWNER_DIED, UINT32_MAX };

	for (size_t i = 0; i < sizeof words / sizeof *words; i++) {
		void *room;

		LIB_ASSERT_STATUS(ACH_OK, ach_reserve(&normal, 1, &room));
		*(char *)room = 'z';
		atomic_store(&normal.shm->lock, words[i]);
		LIB_ASSERT_STATUS(ACH_OK, ach_commit(&normal, 1));
		LIB_ASSERT_STATUS(ACH_OK, put(&normal));
		LIB_ASSERT_STATUS(ACH_OK, put(&impatient));
	}
}

/* ---- many ---- */

#define WRITERS 4
#define PUTS 3000

static int writes_many(void *number)
{
	ach_channel_t mine;
	int32_t message[2] = { *(int *)number, 0 };

	open_with_timeout(&mine, LIB_HANG_S * 1000);
	lib_gate_wait(gate, 1);
	for (message[1] = 0; message[1] < PUTS; message[1]++)
		LIB_STATUS(ACH_OK, ach_put(&mine, message, sizeof message));
	return 0;
}

TEST(test_many_writers)
{
	int32_t message[2], next[WRITERS] = { 0 };
	pid_t pids[WRITERS];

	for (int i = 0; i < WRITERS; i++)
		pids[i] = lib_child(writes_many, &i);
	lib_gate_set(gate, 1);
	while (normal.seq_num < WRITERS * PUTS) {
		struct timespec hang = lib_hang();
		enum ach_status status = ach_get(&normal, message, sizeof message, NULL, &hang, ACH_O_WAIT);

		TEST_ASSERT_TRUE(status == ACH_OK || status == ACH_MISSED_FRAME);
		TEST_ASSERT_TRUE(message[1] >= next[message[0]]); /* in order */
		next[message[0]] = message[1] + 1;
	}
	for (int i = 0; i < WRITERS; i++)
		TEST_ASSERT_EQUAL_INT(0, lib_join(pids[i]));
	TEST_ASSERT_EQUAL_UINT64(WRITERS * PUTS, atomic_load(&normal.shm->commit));
	assert_free();
}
