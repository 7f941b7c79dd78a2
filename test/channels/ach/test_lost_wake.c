/* test_lost_wake.c: a writer dies between its commit and its wake, and the sleepers find the message all the same:
 * at once when anybody puts again, else after a slice.  Of those who wait without a deadline one keeps the slice for
 * all, and another takes it over when that one leaves.
 *
 * The library's system calls go through the function syscall; the one here stands in front of it.  It kills the writer
 * where it is about to wake, and in the waiter it counts how its sleeps began and ended.
 * waits: mostly
 */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <fcntl.h>
#include <limits.h>
#include <linux/futex.h>
#include <poll.h>
#include <signal.h>
#include <stdarg.h>
#include <stdatomic.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <sys/wait.h>

#include "channels/ach/ach.h"
#include "channels/ach/ach_ring.h"
#include "test/lib/lib.h"
#include "test/lib/testcase.h"

#ifndef SYS_futex_waitv
#define SYS_futex_waitv 449
#endif

#define TRIALS 20
#define CROWD 8 /* sleepers on one channel */

enum how { GET, GET_DEADLINE, ANY, FD };

static struct shared {
	_Atomic unsigned timed, untimed;   /* sleeps of the waiters, by their beginning, */
	_Atomic unsigned woken, timed_out; /* and by their end */
	_Atomic unsigned wakes;		   /* made by the process that counts them */
	_Atomic unsigned got;		   /* messages, by all waiters together */
	_Atomic bool hold, held;	   /* a waiter whose sleep is over stays where it is */
} * shared;

static struct {
	char name[LIB_NAME_LEN];
	ach_channel_t chan;
	_Atomic uint64_t *hint; /* of those who may write */
	struct lib_gate *got;	/* sequence number */
	ach_channel_t own;	/* the waiter's */
	pid_t waiters[CROWD];
	enum how how;
	bool die_at_wake, count_sleeps, count_wakes, holds;
	bool readers; /* the waiters may only read; else all may write */
} test;

/* ---- in front of the C library ---- */

long syscall(long number, ...);

/* It takes six arguments however many there are: those it was not given are the caller's stack. */
__attribute__((no_sanitize("address"))) long syscall(long number, ...)
{
	static long (*real)(long, ...);
	long a[6], r;
	va_list list;
	bool sleeps;
	int op;

	va_start(list, number);
	for (int i = 0; i < 6; i++)
		a[i] = va_arg(list, long);
	va_end(list);
	if (!real)
		real = (long (*)(long, ...))(uintptr_t)dlsym(RTLD_NEXT, "syscall");
	op = number == SYS_futex ? (int)a[1] & FUTEX_CMD_MASK : -1;
	if ((op == FUTEX_WAKE || op == FUTEX_WAKE_BITSET) && !((int)a[1] & FUTEX_PRIVATE_FLAG)) {
		if (test.die_at_wake)
			kill(getpid(), SIGKILL);
		if (test.count_wakes)
			shared->wakes++;
	}
	sleeps = test.count_sleeps && (number == SYS_futex_waitv || op == FUTEX_WAIT || op == FUTEX_WAIT_BITSET);
	if (sleeps && a[3])
		shared->timed++;
	else if (sleeps)
		shared->untimed++;
	r = real(number, a[0], a[1], a[2], a[3], a[4], a[5]);
	while (sleeps && test.holds && shared->hold) {
		shared->held = true;
		usleep(100); /* only spares the processor */
	}
	if (sleeps) {
		if (r >= 0)
			shared->woken++;
		else if (errno == ETIMEDOUT)
			shared->timed_out++;
	}
	return r;
}

/* ---- the processes ---- */

static void cancel_handler(int sig)
{
	(void)sig;
	(void)ach_cancel(&test.own, NULL);
}

/* Reads one message after the other in its way, and publishes how far it is.  SIGUSR1 ends it. */
static int waiter_body(void *arg)
{
	struct sigaction action = { .sa_handler = cancel_handler };
	ach_channel_t *const chan = &test.own, *const chans[] = { chan };
	struct pollfd p = { .events = POLLIN };
	uint64_t message;
	size_t len;

	(void)arg;
	if (test.readers)
		lib_drop((gid_t)-1);
	LIB_CHECK(sigaction(SIGUSR1, &action, NULL) == 0);
	LIB_STATUS(ACH_OK, ach_open(chan, test.name, NULL));
	if (test.how == FD)
		LIB_STATUS(ACH_OK, ach_channel_fd(chan, &p.fd));
	for (;;) {
		const bool get = test.how == GET || test.how == GET_DEADLINE;
		struct timespec hang = lib_hang();
		enum ach_status r;

		lib_watchdog("waiter", 2 * LIB_HANG_S);
		/* the gate sleeps through syscall too, only this is to be counted */
		test.count_sleeps = true;
		if (test.how == ANY)
			LIB_STATUS(ACH_OK, ach_wait_any(chans, 1, &hang, NULL));
		else if (!get)
			LIB_CHECK(poll(&p, 1, LIB_HANG_S * 1000) == 1);
		r = ach_get(chan, &message, sizeof message, &len, test.how == GET ? NULL : &hang, get ? ACH_O_WAIT : 0);
		test.count_sleeps = false;
		if (r == ACH_CANCELED)
			return 0;
		LIB_STATUS(ACH_OK, r);
		LIB_CHECK(len == sizeof message && message == chan->seq_num);
		shared->got++;
		lib_gate_set(test.got, (int)chan->seq_num);
	}
	return 0;
}

static int dying_writer(void *arg)
{
	uint64_t *message = arg;

	test.die_at_wake = true;
	(void)ach_put(&test.chan, message, sizeof *message);
	return 0; /* too far: no wake was made */
}

static void put(uint64_t message)
{
	LIB_ASSERT_STATUS(ACH_OK, ach_put(&test.chan, &message, sizeof message));
}

static void put_and_die_before_the_wake(uint64_t message)
{
	TEST_ASSERT_EQUAL_MESSAGE(128 + SIGKILL, lib_join(lib_child(dying_writer, &message)),
				  "a put with a sleeper makes a wake");
}

static void start_waiter(enum how how)
{
	int i = 0;

	while (test.waiters[i])
		i++;
	test.how = how;
	test.waiters[i] = lib_child(waiter_body, NULL);
}

static bool hint_is_watched(void)
{
	return *test.hint & ACH_HINT_WATCHED;
}

/* Until one has left the hint for message n and then all sleep. */
static void until_waiting(uint64_t n)
{
	for (int i = 0; ach_hint_seq(*test.hint) != n; i++) {
		TEST_ASSERT_TRUE_MESSAGE(i < LIB_HANG_S * 5000, "the waiter leaves its hint");
		usleep(200); /* only spares the processor */
	}
	for (int i = 0; i < CROWD; i++)
		if (test.waiters[i])
			lib_until_asleep(test.waiters[i]);
}

static void until_got(unsigned n)
{
	while (shared->got < n)
		usleep(100); /* only spares the processor */
}

/* Waits for message 1 and sleeps before the next one starts, so that the first is the watcher. */
static void start_crowd(enum how how, int n)
{
	while (n--) {
		start_waiter(how);
		until_waiting(1);
	}
}

/* ---- tests ---- */

/* The sleep may have been over just in between, by the slice: so most of the trials, not all of them. */
static void found_by_next_put(enum how how)
{
	unsigned woken = 0;
	uint64_t n = 0;

	start_waiter(how);
	for (int i = 0; i < TRIALS; i++) {
		unsigned before;

		lib_watchdog("lost wake", 2 * LIB_HANG_S);
		until_waiting(n + 1);
		before = shared->woken;
		put_and_die_before_the_wake(++n);
		put(++n);
		lib_gate_wait(test.got, (int)n);
		woken += shared->woken > before;
	}
	printf("found by the next put: %u of %u, the others by the slice\n", woken, TRIALS);
	TEST_ASSERT_TRUE_MESSAGE(woken > TRIALS / 2, "the next put makes up for the wake of the dead");
}

TEST(test_next_put_wakes_get)
{
	found_by_next_put(GET);
}

TEST(test_next_put_wakes_wait_any)
{
	found_by_next_put(ANY);
}

/* One put wakes all who sleep, not just the first in the queue. */
TEST(test_one_put_wakes_all)
{
	unsigned woken;

	start_crowd(GET, CROWD);
	for (uint64_t n = 1; n <= TRIALS; n++) {
		lib_watchdog("one put wakes all", 2 * LIB_HANG_S);
		until_waiting(n);
		put(n);
		until_got((unsigned)n * CROWD);
	}
	woken = shared->woken;
	printf("woken together: %u of %u sleeps\n", woken, CROWD * TRIALS);
	TEST_ASSERT_TRUE_MESSAGE(woken > CROWD * TRIALS / 2, "all sleepers are woken at once");
}

/* No put comes after it.  How long it takes is not looked at, only that it ends. */
static void found_by_slice(enum how how)
{
	uint64_t n = 0;

	start_waiter(how);
	for (int i = 0; i < 3; i++) {
		until_waiting(n + 1);
		put_and_die_before_the_wake(++n);
		lib_gate_wait(test.got, (int)n);
		put(++n);
		lib_gate_wait(test.got, (int)n);
	}
	if (how < FD)
		TEST_ASSERT_TRUE_MESSAGE(shared->timed_out > 0, "a slice has ended");
}

TEST(test_slice_of_get)
{
	found_by_slice(GET);
}

TEST(test_slice_of_get_with_deadline)
{
	found_by_slice(GET_DEADLINE);
}

TEST(test_slice_of_wait_any)
{
	found_by_slice(ANY);
}

TEST(test_slice_of_descriptor)
{
	found_by_slice(FD);
}

/* ---- one watches for all ---- */

TEST(test_watcher_wakes_all)
{
	start_crowd(GET, CROWD);
	TEST_ASSERT_TRUE(hint_is_watched());
	for (uint64_t n = 1; n <= 3; n++) {
		lib_watchdog("watcher", 2 * LIB_HANG_S);
		until_waiting(n);
		put_and_die_before_the_wake(n);
		until_got((unsigned)n * CROWD);
	}
	printf("crowd: %u sleeps with a slice, %u without; %u woken, %u timed out\n", shared->timed, shared->untimed,
	       shared->woken, shared->timed_out);
	/* Many may begin with no message between them, after a wake or a slice; but not a crowd of timers. */
	TEST_ASSERT_TRUE_MESSAGE(shared->untimed >= 3 * (CROWD - 1), "one watches, the others rely on it");
	TEST_ASSERT_TRUE_MESSAGE(shared->timed_out > 0, "a slice has ended");
}

TEST(test_another_takes_the_watch_over)
{
	start_crowd(GET, 3);
	for (int left = 3; left > 1; left--) {
		TEST_ASSERT_EQUAL(0, kill(test.waiters[3 - left], SIGUSR1));
		TEST_ASSERT_EQUAL(0, lib_join(test.waiters[3 - left]));
		test.waiters[3 - left] = 0;
		until_waiting(1); /* those that it woke sleep again */
		TEST_ASSERT_TRUE_MESSAGE(hint_is_watched(), "by another");
	}
	put_and_die_before_the_wake(1);
	until_got(1);
}

/* It was woken, but not for this message: that says nothing about the others, who have gone to sleep again. */
TEST(test_watcher_woken_for_nothing)
{
	shared->hold = test.holds = true;
	start_crowd(GET, 1);
	test.holds = false;
	start_crowd(GET, 1);
	ach_wake(test.chan.handle);
	while (!shared->held)
		usleep(100); /* only spares the processor */
	while (shared->untimed < 2)
		usleep(100);
	lib_until_asleep(test.waiters[1]);
	put_and_die_before_the_wake(1);
	TEST_ASSERT_EQUAL_MESSAGE(0, shared->got, "it must not be known yet");
	shared->hold = false;
	until_got(2);
}

/* What the watcher cannot do any more is left to the next put, or to the next process that opens. */
TEST(test_watcher_killed_too)
{
	ach_channel_t next;

	start_crowd(GET, 3);
	lib_kill(test.waiters[0]);
	test.waiters[0] = 0;
	put_and_die_before_the_wake(1);
	lib_until_asleep(test.waiters[1]);
	TEST_ASSERT_EQUAL_MESSAGE(0, shared->got, "it must not be known yet");
	LIB_ASSERT_STATUS(ACH_OK, ach_open(&next, test.name, NULL));
	until_got(2);

	until_waiting(2); /* with a new watcher */
	put_and_die_before_the_wake(2);
	until_got(4);
	ach_close(&next);
}

TEST(test_deadlines_do_not_watch)
{
	start_crowd(GET_DEADLINE, 2);
	TEST_ASSERT_FALSE(hint_is_watched());
	start_crowd(GET, 2);
	TEST_ASSERT_TRUE(hint_is_watched());
	start_crowd(GET_DEADLINE, 1);
	start_crowd(ANY, 1);
	TEST_ASSERT_TRUE(hint_is_watched());
	TEST_ASSERT_EQUAL(1, shared->untimed);
	put_and_die_before_the_wake(1);
	until_got(6);
}

/* A reader that wipes the bell delays others by a slice and no more. */
TEST(test_bell_wiped)
{
	start_crowd(GET, 3);
	for (uint64_t n = 1; n <= 3; n++) {
		until_waiting(n);
		*test.hint = 0;
		put(n);
		until_got((unsigned)n * 3);
	}
}

/* The bit of a watcher that does not exist: no waiter keeps the slice, and a put still wakes all. */
TEST(test_bell_with_a_false_watcher)
{
	*test.hint = 1 << 1 | ACH_HINT_WATCHED;
	start_crowd(GET, 2);
	TEST_ASSERT_EQUAL(2, shared->untimed);
	put(1);
	until_got(2);
}

/* Nonsense in the words that decide about the wake costs a system call, never a wake-up. */
static void wakes_with(_Atomic uint64_t *word, uint64_t nonsense)
{
	unsigned woken = 0;

	start_waiter(GET);
	for (uint64_t n = 1; n <= TRIALS; n++) {
		unsigned before;

		if (word != test.hint)
			until_waiting(n);
		else /* covered with nonsense from the first time on */
			lib_until_asleep(test.waiters[0]);
		before = shared->woken;
		*word = nonsense;
		put(n);
		lib_gate_wait(test.got, (int)n);
		woken += shared->woken > before;
	}
	TEST_ASSERT_TRUE_MESSAGE(woken > TRIALS / 2, "woken at once");
}

TEST(test_bell_huge)
{
	wakes_with(test.hint, UINT64_MAX);
}

TEST(test_woken_huge)
{
	wakes_with(&test.chan.shm->woken, UINT64_MAX);
}

/* put makes no system call without waiters, one with a waiter, and none again after it was woken. */
TEST(test_no_wake_without_need)
{
	uint64_t message = 1, seen;
	struct timespec soon = lib_rel_ms(1);
	size_t len;
	ach_channel_t reader;

	test.count_wakes = true;
	LIB_ASSERT_STATUS(ACH_OK, ach_open(&reader, test.name, NULL));
	for (int i = 0; i < 1000; i++) {
		put(message);
		LIB_ASSERT_STATUS(ACH_OK, ach_get(&reader, &seen, sizeof seen, &len, NULL, 0));
	}
	TEST_ASSERT_EQUAL(0, shared->wakes);
	LIB_ASSERT_STATUS(ACH_TIMEOUT, ach_get(&reader, &seen, sizeof seen, &len, &soon, ACH_O_WAIT | ACH_O_RELTIME));
	for (int i = 0; i < 1000; i++) /* the waiter has gone, but left its hint */
		put(message);
	TEST_ASSERT_EQUAL(1, shared->wakes);
	ach_close(&reader);
}

static void make_channel(mode_t mode)
{
	ach_create_attr_t attr;

	ach_create_attr_init(&attr);
	LIB_ASSERT_STATUS(ACH_OK, ach_create_attr_set_mode(&attr, mode, (gid_t)-1));
	LIB_ASSERT_STATUS(ACH_OK, ach_create(lib_name(test.name, "wake"), 8, 64, &attr));
	LIB_ASSERT_STATUS(ACH_OK, ach_open(&test.chan, test.name, NULL));
	TEST_ASSERT_EQUAL(mode == 0644, test.chan.handle->bell != NULL);
	test.hint = test.readers ? test.chan.handle->bell : test.chan.handle->hint;
}

/* A user who may only read moves every sleeper to a word that no writer wakes. */
static int requeuer(void *arg)
{
	ach_channel_t chan;
	uint32_t *word;

	(void)arg;
	lib_drop((gid_t)-1);
	LIB_STATUS(ACH_OK, ach_open(&chan, test.name, NULL));
	LIB_CHECK(!chan.handle->writable);
	word = (uint32_t *)(uintptr_t)&chan.shm->commit;
	return (int)syscall(SYS_futex, word, FUTEX_REQUEUE, 0, INT_MAX, word + 2, 0);
}

TEST(test_requeued_sleepers_find_the_message)
{
	if (!lib_can_drop())
		TEST_IGNORE_MESSAGE("needs root");
	tearDown();
	make_channel(0644);
	for (uint64_t n = 1; n <= 2; n++) {
		if (n == 1)
			start_crowd(GET, 3);
		until_waiting(n);
		TEST_ASSERT_GREATER_OR_EQUAL_INT_MESSAGE(1, lib_join(lib_child(requeuer, NULL)), "sleepers were moved");
		put(n);
		until_got((unsigned)n * 3);
	}
	TEST_ASSERT_EQUAL_MESSAGE(0, shared->untimed, "every waiter keeps a slice");
}

/* After a chmod the handles that were open before must keep a slice, too. */
TEST(test_slices_after_chmod)
{
	start_crowd(GET, 2);
	TEST_ASSERT_EQUAL(1, shared->untimed);
	LIB_ASSERT_STATUS(ACH_OK, ach_chmod(&test.chan, 0644));
	put(1);
	until_got(2);
	until_waiting(2);
	TEST_ASSERT_EQUAL(1, shared->untimed);
	LIB_ASSERT_STATUS(ACH_OK, ach_chmod(&test.chan, 0600));
	put(2);
	until_got(4);
	until_waiting(3);
	TEST_ASSERT_EQUAL_MESSAGE(1, shared->untimed, "open handles of readers are still there");
}

void setUp(void)
{
	lib_watchdog("lost wake", LIB_HANG_S);
	memset(shared, 0, sizeof *shared);
	test.holds = false;
	lib_gate_set(test.got, 0);
	make_channel(test.readers ? 0644 : 0600);
}

void tearDown(void)
{
	alarm(0); /* a leak check at exit may take its time */
	test.count_wakes = false;
	for (int i = 0; i < CROWD; i++) {
		if (test.waiters[i])
			lib_kill(test.waiters[i]);
		test.waiters[i] = 0;
	}
	ach_close(&test.chan);
	ach_unlink(test.name);
}

int main(void)
{
	shared = mmap(NULL, sizeof *shared, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	LIB_CHECK(shared != MAP_FAILED);
	test.got = lib_gate_new();
	setvbuf(stdout, NULL, _IOLBF, 0);
	UNITY_BEGIN();
	testcase_run_all();
	test.readers = lib_can_drop();
	if (test.readers) {
		RUN_TEST(test_next_put_wakes_get);
		RUN_TEST(test_next_put_wakes_wait_any);
		RUN_TEST(test_one_put_wakes_all);
		RUN_TEST(test_slice_of_get);
		RUN_TEST(test_slice_of_get_with_deadline);
		RUN_TEST(test_slice_of_wait_any);
		RUN_TEST(test_slice_of_descriptor);
		RUN_TEST(test_bell_wiped);
		RUN_TEST(test_bell_huge);
	}
	return UNITY_END();
}
