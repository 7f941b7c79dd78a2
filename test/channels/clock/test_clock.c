/* test_clock.c: clock_wait on the real clock and on the virtual one.
 *
 * Nothing here asserts how long something took, only that no deadline is answered before it has come.
 */
#include <pthread.h>
#include <signal.h>
#include <sys/epoll.h>
#include <sys/eventfd.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/signalfd.h>
#include <sys/socket.h>
#include <sys/syscall.h>

#include "channels/clock/clock.h"
#include "test/lib/clock_virtual.h"
#include "test/lib/lib.h"
#include "test/lib/testcase.h"

#define US 1000
#define MS 1000000
#define S INT64_C(1000000000)

static int events[CLOCK_FDS_MAX]; /* eventfds, none of them ready */
static struct clock_fd fds[CLOCK_FDS_MAX + 1];

static void ring(int fd)
{
	LIB_CHECK(!eventfd_write(fd, 1));
}

static void unring(int fd)
{
	eventfd_t count;

	LIB_CHECK(!eventfd_read(fd, &count));
}

static int64_t hang_ns(void)
{
	return lib_now_ns(CLOCK_MONOTONIC) + LIB_HANG_S * S;
}

void setUp(void)
{
	lib_watchdog(Unity.CurrentTestName, LIB_HANG_S);
	clock_use(&clock_real);
	for (int i = 0; i < CLOCK_FDS_MAX; i++) {
		events[i] = eventfd(0, EFD_NONBLOCK | EFD_CLOEXEC);
		fds[i] = (struct clock_fd){ .fd = events[i], .events = POLLIN, .ready = -1 };
	}
}

void tearDown(void)
{
	clock_use(&clock_real);
	for (int i = 0; i < CLOCK_FDS_MAX; i++)
		close(events[i]);
}

/* ---- the time ---- */

TEST(test_now_is_that_of_the_system)
{
	for (int i = 0; i < 100; i++) {
		int64_t before = lib_now_ns(CLOCK_MONOTONIC), now = clock_now_ns();

		TEST_ASSERT_GREATER_OR_EQUAL_INT64(before, now);
		TEST_ASSERT_LESS_OR_EQUAL_INT64(lib_now_ns(CLOCK_MONOTONIC), now);
	}
	/* This one may be set: an hour is enough to tell it from the other. */
	TEST_ASSERT_INT64_WITHIN(3600 * S, lib_now_ns(CLOCK_REALTIME), clock_real_ns());
}

/* ---- deadlines ---- */

TEST(test_deadlines_of_the_past)
{
	const int64_t past[] = { INT64_MIN, INT64_MIN + 1, -S, -1, 0, 1, clock_now_ns() - S, clock_now_ns() };

	for (size_t i = 0; i < sizeof past / sizeof *past; i++) {
		TEST_ASSERT_EQUAL_INT(0, clock_wait(NULL, 0, past[i]));
		fds[0].ready = -1;
		TEST_ASSERT_EQUAL_INT(0, clock_wait(fds, 1, past[i]));
		TEST_ASSERT_EQUAL_INT(0, fds[0].ready);
	}
}

TEST(test_never_before_the_deadline)
{
	uint64_t seed = 123456789;

	for (int i = 0; i < 300; i++) {
		static const int64_t longest[] = { 10 * US, 300 * US, 3 * MS };
		int64_t wait = (int64_t)(lib_random(&seed) % (uint64_t)longest[i % 3]);
		int64_t deadline;

		if (i % 60 == 0)
			wait += 12 * MS; /* a wait that is slept in two parts */
		deadline = clock_now_ns() + wait;
		TEST_ASSERT_EQUAL_INT(0, clock_wait(fds, i % 4 ? (size_t)i % CLOCK_FDS_MAX : 0, deadline));
		TEST_ASSERT_GREATER_OR_EQUAL_INT64(deadline, lib_now_ns(CLOCK_MONOTONIC));
	}
}

TEST(test_ready_and_deadline_at_once)
{
	ring(events[1]);
	TEST_ASSERT_EQUAL_INT(1, clock_wait(fds, 3, clock_now_ns()));
	TEST_ASSERT_EQUAL_INT(0, fds[0].ready);
	TEST_ASSERT_EQUAL_INT(POLLIN, fds[1].ready);
	TEST_ASSERT_EQUAL_INT(0, fds[2].ready);
	TEST_ASSERT_EQUAL_INT(1, clock_wait(fds, 3, INT64_MIN));
	unring(events[1]);
	TEST_ASSERT_EQUAL_INT(0, clock_wait(fds, 3, clock_now_ns()));
	TEST_ASSERT_EQUAL_INT(0, fds[1].ready);
}

TEST(test_far_deadlines)
{
	const int64_t far[] = { CLOCK_NEVER, CLOCK_NEVER - 1, hang_ns() };

	ring(events[0]);
	for (size_t i = 0; i < sizeof far / sizeof *far; i++)
		TEST_ASSERT_EQUAL_INT(1, clock_wait(fds, 1, far[i]));
}

/* ---- descriptors ---- */

TEST(test_many)
{
	for (int i = 0; i < CLOCK_FDS_MAX; i++) {
		ring(events[i]);
		TEST_ASSERT_EQUAL_INT(1, clock_wait(fds, CLOCK_FDS_MAX, CLOCK_NEVER));
		for (int j = 0; j < CLOCK_FDS_MAX; j++)
			TEST_ASSERT_EQUAL_INT(i == j ? POLLIN : 0, fds[j].ready);
		unring(events[i]);
	}
	for (int i = 0; i < CLOCK_FDS_MAX; i++)
		ring(events[i]);
	TEST_ASSERT_EQUAL_INT(CLOCK_FDS_MAX, clock_wait(fds, CLOCK_FDS_MAX, CLOCK_NEVER));
	TEST_ASSERT_EQUAL_INT(2, clock_wait(fds, 2, CLOCK_NEVER));
	TEST_ASSERT_EQUAL_INT(-EINVAL, clock_wait(fds, CLOCK_FDS_MAX + 1, CLOCK_NEVER));
	TEST_ASSERT_EQUAL_INT(-EINVAL, clock_wait(fds, SIZE_MAX, 0));
}

TEST(test_left_out)
{
	ring(events[0]);
	ring(events[2]);
	fds[0].fd = -1;
	fds[1].fd = -events[2];
	TEST_ASSERT_EQUAL_INT(1, clock_wait(fds, 3, CLOCK_NEVER));
	TEST_ASSERT_EQUAL_INT(0, fds[0].ready);
	TEST_ASSERT_EQUAL_INT(0, fds[1].ready);
	TEST_ASSERT_EQUAL_INT(POLLIN, fds[2].ready);
	TEST_ASSERT_EQUAL_INT(0, clock_wait(fds, 2, clock_now_ns() + MS));
}

TEST(test_nothing_to_wait_for)
{
	TEST_ASSERT_EQUAL_INT(-EDEADLK, clock_wait(NULL, 0, CLOCK_NEVER));
	fds[0].fd = fds[1].fd = -1;
	TEST_ASSERT_EQUAL_INT(-EDEADLK, clock_wait(fds, 2, CLOCK_NEVER));
}

static int child_with_descriptor_0(void *arg)
{
	(void)arg;
	LIB_CHECK(dup2(events[0], 0) == 0);
	fds[0].fd = 0;
	ring(0);
	LIB_CHECK(clock_wait(fds, 1, CLOCK_NEVER) == 1);
	return 0;
}

TEST(test_descriptor_0_is_one)
{
	TEST_ASSERT_EQUAL_INT(0, lib_join(lib_child(child_with_descriptor_0, NULL)));
}

/* The kernel refuses a set larger than the number of descriptors that the process may have. */
TEST(test_error_of_the_kernel)
{
	struct rlimit usual, few;

	LIB_CHECK(!getrlimit(RLIMIT_NOFILE, &usual));
	few = (struct rlimit){ .rlim_cur = 2, .rlim_max = usual.rlim_max };
	LIB_CHECK(!setrlimit(RLIMIT_NOFILE, &few));
	TEST_ASSERT_EQUAL_INT(-EINVAL, clock_wait(fds, 3, CLOCK_NEVER));
	TEST_ASSERT_EQUAL_INT(0, clock_wait(fds, 2, 0));
	LIB_CHECK(!setrlimit(RLIMIT_NOFILE, &usual));
}

TEST(test_what_comes_unasked)
{
	int pair[2], closed = dup(events[0]);

	close(closed);
	fds[0] = (struct clock_fd){ .fd = closed };
	TEST_ASSERT_EQUAL_INT(1, clock_wait(fds, 1, CLOCK_NEVER));
	TEST_ASSERT_EQUAL_INT(POLLNVAL, fds[0].ready);
	LIB_CHECK(!socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, pair));
	fds[0] = (struct clock_fd){ .fd = pair[0] };
	TEST_ASSERT_EQUAL_INT(0, clock_wait(fds, 1, 0));
	close(pair[1]);
	TEST_ASSERT_EQUAL_INT(1, clock_wait(fds, 1, CLOCK_NEVER));
	TEST_ASSERT_EQUAL_INT(POLLHUP, fds[0].ready);
	close(pair[0]);
}

TEST(test_room_to_write)
{
	static const char lump[4096];
	int pair[2];

	LIB_CHECK(!socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0, pair));
	fds[0] = (struct clock_fd){ .fd = pair[0], .events = POLLIN | POLLOUT };
	TEST_ASSERT_EQUAL_INT(1, clock_wait(fds, 1, CLOCK_NEVER));
	TEST_ASSERT_EQUAL_INT(POLLOUT, fds[0].ready);
	while (write(pair[0], lump, sizeof lump) > 0)
		;
	TEST_ASSERT_EQUAL_INT(0, clock_wait(fds, 1, clock_now_ns() + MS));
	LIB_CHECK(write(pair[1], "x", 1) == 1);
	TEST_ASSERT_EQUAL_INT(1, clock_wait(fds, 1, CLOCK_NEVER));
	TEST_ASSERT_EQUAL_INT(POLLIN, fds[0].ready);
	close(pair[0]);
	close(pair[1]);
}

static int ending_child(void *arg)
{
	(void)arg;
	return 0;
}

TEST(test_signalfd_pidfd_epoll)
{
	struct epoll_event in = { .events = EPOLLIN };
	int nested = epoll_create1(EPOLL_CLOEXEC);
	sigset_t usr1, before;
	pid_t pid;

	sigemptyset(&usr1);
	sigaddset(&usr1, SIGUSR1);
	LIB_CHECK(!sigprocmask(SIG_BLOCK, &usr1, &before));
	LIB_CHECK(!epoll_ctl(nested, EPOLL_CTL_ADD, events[9], &in));
	pid = lib_child(ending_child, NULL);
	fds[0].fd = nested;
	fds[1].fd = signalfd(-1, &usr1, SFD_CLOEXEC | SFD_NONBLOCK);
	fds[2].fd = (int)syscall(SYS_pidfd_open, pid, 0);
	TEST_ASSERT_EQUAL_INT(0, clock_wait(fds, 2, clock_now_ns() + MS));
	raise(SIGUSR1);
	TEST_ASSERT_EQUAL_INT(1, clock_wait(fds, 2, CLOCK_NEVER));
	TEST_ASSERT_EQUAL_INT(POLLIN, fds[1].ready);
	ring(events[9]);
	TEST_ASSERT_EQUAL_INT(2, clock_wait(fds, 2, CLOCK_NEVER));
	TEST_ASSERT_EQUAL_INT(POLLIN, fds[0].ready);
	TEST_ASSERT_EQUAL_INT(1, clock_wait(fds + 2, 1, CLOCK_NEVER)); /* the child ends by itself */
	TEST_ASSERT_EQUAL_INT(0, lib_join(pid));
	for (int i = 0; i < 3; i++)
		close(fds[i].fd);
	signal(SIGUSR1, SIG_IGN); /* the signal that was not read */
	LIB_CHECK(!sigprocmask(SIG_SETMASK, &before, NULL));
	signal(SIGUSR1, SIG_DFL);
}

/* ---- asleep ---- */

static int waiting_child(void *arg)
{
	LIB_CHECK(clock_wait(fds, 3, *(int64_t *)arg) == 1);
	LIB_CHECK(fds[0].ready == 0 && fds[1].ready == 0 && fds[2].ready == POLLIN);
	return 0;
}

TEST(test_woken)
{
	int64_t deadlines[] = { CLOCK_NEVER, hang_ns() };

	for (size_t i = 0; i < 2; i++) {
		pid_t pid = lib_child(waiting_child, &deadlines[i]);

		lib_until_asleep(pid);
		ring(events[2]);
		TEST_ASSERT_EQUAL_INT(0, lib_join(pid));
		unring(events[2]);
	}
}

static struct lib_gate *interrupted;

static void count_signal(int signal)
{
	(void)signal;
	lib_gate_set(interrupted, lib_gate_get(interrupted) + 1);
}

static int interrupted_child(void *arg)
{
	struct sigaction action = { .sa_handler = count_signal }; /* no SA_RESTART, which ppoll ignores anyway */

	LIB_CHECK(!sigaction(SIGUSR1, &action, NULL));
	lib_gate_set(arg, 1);
	return waiting_child(&(int64_t){ CLOCK_NEVER });
}

/* Each signal has been handled, and the child is asleep again, before the next one. */
TEST(test_signals_do_not_end_it)
{
	struct lib_gate *started = lib_gate_new();
	pid_t pid;

	interrupted = lib_gate_new();
	pid = lib_child(interrupted_child, started);
	lib_gate_wait(started, 1);
	for (int i = 1; i <= 20; i++) {
		lib_until_asleep(pid);
		LIB_CHECK(!kill(pid, SIGUSR1));
		lib_gate_wait(interrupted, i);
	}
	lib_until_asleep(pid);
	ring(events[2]);
	TEST_ASSERT_EQUAL_INT(0, lib_join(pid));
	lib_gate_free(interrupted);
	lib_gate_free(started);
}

static int deadline_child(void *arg)
{
	struct sigaction action = { .sa_handler = count_signal };

	LIB_CHECK(!sigaction(SIGUSR1, &action, NULL));
	lib_gate_set(arg, 1);
	for (int i = 0; i < 20 || lib_gate_get(interrupted) < 5; i++) {
		int64_t deadline = clock_now_ns() + (i % 3 + 1) * MS;

		LIB_CHECK(clock_wait(fds, 3, deadline) == 0);
		LIB_CHECK(lib_now_ns(CLOCK_MONOTONIC) >= deadline);
	}
	return 0;
}

TEST(test_signals_do_not_end_it_before_the_deadline)
{
	struct lib_gate *started = lib_gate_new();
	int64_t next;
	pid_t pid;

	interrupted = lib_gate_new();
	pid = lib_child(deadline_child, started);
	lib_gate_wait(started, 1);
	fds[3].fd = (int)syscall(SYS_pidfd_open, pid, 0);
	do {
		LIB_CHECK(!kill(pid, SIGUSR1));
		next = clock_now_ns() + 200 * US;
	} while (clock_wait(fds + 3, 1, next) == 0);
	TEST_ASSERT_EQUAL_INT(0, lib_join(pid));
	close(fds[3].fd);
	lib_gate_free(interrupted);
	lib_gate_free(started);
}

/* ---- threads and forks ---- */

/* Without this a thread of no special priority is 50 us late at every tick. */
static void *slack_of_a_thread(void *arg)
{
	int before = prctl(PR_GET_TIMERSLACK);

	*(int *)arg = clock_wait(NULL, 0, clock_now_ns() + US) == 0 && before > 1 ? prctl(PR_GET_TIMERSLACK) : -1;
	return NULL;
}

TEST(test_timer_slack_is_refused_in_every_thread)
{
	int before = prctl(PR_GET_TIMERSLACK), slack = -1;
	pthread_t thread;

	if (before == 0)
		TEST_IGNORE_MESSAGE("run with real-time priority: no slack anyway");
	for (int i = 0; i < 2; i++) {
		LIB_CHECK(!prctl(PR_SET_TIMERSLACK, 50000ul)); /* a thread's own is that of its maker */
		LIB_CHECK(!pthread_create(&thread, NULL, slack_of_a_thread, &slack));
		LIB_CHECK(!pthread_join(thread, NULL));
		TEST_ASSERT_EQUAL_INT(1, slack);
	}
	LIB_CHECK(!prctl(PR_SET_TIMERSLACK, (unsigned long)before));
}

static int forked_child(void *arg)
{
	int64_t deadline = *(int64_t *)arg + 2 * MS;

	for (int i = 0; i < 5; i++, deadline += MS) {
		LIB_CHECK(clock_wait(fds, 2, deadline) == 0);
		LIB_CHECK(lib_now_ns(CLOCK_MONOTONIC) >= deadline);
	}
	return 0;
}

/* Parent and children with deadlines of their own, at the same time, after the parent's first wait. */
TEST(test_after_fork)
{
	for (int i = 0; i < 5; i++) {
		int64_t start = clock_now_ns(), deadline = start + 20 * MS;
		pid_t pid;

		TEST_ASSERT_EQUAL_INT(0, clock_wait(fds, 2, start + US));
		pid = lib_child(forked_child, &start);
		TEST_ASSERT_EQUAL_INT(0, clock_wait(fds, 2, deadline));
		TEST_ASSERT_GREATER_OR_EQUAL_INT64(deadline, lib_now_ns(CLOCK_MONOTONIC));
		TEST_ASSERT_EQUAL_INT(0, lib_join(pid));
	}
}

TEST(test_no_descriptor_is_kept)
{
	int before = dup(events[0]);

	close(before);
	TEST_ASSERT_EQUAL_INT(0, clock_wait(fds, 2, clock_now_ns() + MS));
	TEST_ASSERT_EQUAL_INT(before, dup(events[0]));
	close(before);
}

/* ---- channels ---- */

#define CHANNELS 3
#define MESSAGES 200

static char names[CHANNELS][LIB_NAME_LEN];
static struct lib_gate *seen; /* messages the reader has read */

static int writing_child(void *arg)
{
	ach_channel_t chans[CHANNELS];

	(void)arg;
	for (int i = 0; i < CHANNELS; i++)
		LIB_STATUS(ACH_OK, ach_open(&chans[i], names[i], NULL));
	for (int i = 1; i <= MESSAGES; i++) {
		if (i % 4)
			lib_gate_wait(seen, i - 1); /* nothing is unseen: this one must wake the reader by itself */
		LIB_STATUS(ACH_OK, ach_put(&chans[i % CHANNELS], &i, sizeof i));
	}
	return 0;
}

/* As a daemon does it: whatever is said to be ready is read until it is empty, which it may be at once. */
static void drain(ach_channel_t *chan, int *last, int *count)
{
	enum ach_status status;
	int got;

	while ((status = ach_get(chan, &got, sizeof got, NULL, NULL, 0)) == ACH_OK) {
		LIB_CHECK(got > *last);
		*last = got;
		++*count;
		lib_gate_set(seen, *count);
	}
	LIB_STATUS(ACH_EAGAIN, status);
}

static int reading_child(void *unused)
{
	ach_channel_t chans[CHANNELS];
	int last[CHANNELS] = { 0 }, count = 0;
	pid_t writer;

	(void)unused;
	for (int i = 0; i < CHANNELS; i++) {
		LIB_STATUS(ACH_OK, ach_open(&chans[i], names[i], NULL));
		LIB_STATUS(ACH_OK, ach_channel_fd(&chans[i], &fds[i].fd));
	}
	writer = lib_child(writing_child, NULL);
	while (count < MESSAGES) {
		LIB_CHECK(clock_wait(fds, CHANNELS, CLOCK_NEVER) > 0);
		for (int i = 0; i < CHANNELS; i++)
			if (fds[i].ready)
				drain(&chans[i], &last[i], &count);
	}
	return lib_join(writer);
}

TEST(test_channels)
{
	seen = lib_gate_new();
	for (int i = 0; i < CHANNELS; i++)
		LIB_ASSERT_STATUS(ACH_OK, ach_create(lib_name(names[i], "clock"), MESSAGES, 8, NULL));
	TEST_ASSERT_EQUAL_INT(0, lib_join(lib_child(reading_child, NULL)));
	lib_gate_free(seen);
}

/* ---- the virtual clock ---- */

TEST(test_virtual_time_moves_in_clock_wait_only)
{
	clock_use_virtual(5 * S);
	TEST_ASSERT_EQUAL_INT64(5 * S, clock_now_ns());
	TEST_ASSERT_EQUAL_INT64(5 * S, clock_now_ns());
	TEST_ASSERT_EQUAL_INT(0, clock_wait(fds, CLOCK_FDS_MAX, 6 * S + 1));
	TEST_ASSERT_EQUAL_INT64(6 * S + 1, clock_now_ns());
	TEST_ASSERT_EQUAL_INT(0, fds[0].ready);
	TEST_ASSERT_EQUAL_INT(0, clock_wait(NULL, 0, 100000 * S)); /* a day: the watchdog is the assertion */
	TEST_ASSERT_EQUAL_INT64(100000 * S, clock_now_ns());
	TEST_ASSERT_EQUAL_INT(0, clock_wait(fds, 1, 6 * S)); /* never back */
	TEST_ASSERT_EQUAL_INT(0, clock_wait(fds, 1, INT64_MIN));
	TEST_ASSERT_EQUAL_INT64(100000 * S, clock_now_ns());
	clock_use_virtual(0);
	TEST_ASSERT_EQUAL_INT64(0, clock_now_ns());
}

TEST(test_virtual_ready_leaves_the_time)
{
	clock_use_virtual(7);
	ring(events[1]);
	TEST_ASSERT_EQUAL_INT(1, clock_wait(fds, 2, 1000));
	TEST_ASSERT_EQUAL_INT(1, clock_wait(fds, 2, CLOCK_NEVER));
	TEST_ASSERT_EQUAL_INT(1, clock_wait(fds, 2, 0));
	TEST_ASSERT_EQUAL_INT(0, fds[0].ready);
	TEST_ASSERT_EQUAL_INT(POLLIN, fds[1].ready);
	TEST_ASSERT_EQUAL_INT64(7, clock_now_ns());
	unring(events[1]);
	TEST_ASSERT_EQUAL_INT(0, clock_wait(fds, 2, 1000));
	TEST_ASSERT_EQUAL_INT(0, fds[1].ready);
	TEST_ASSERT_EQUAL_INT64(1000, clock_now_ns());
}

TEST(test_virtual_with_nothing_that_can_happen)
{
	clock_use_virtual(7);
	TEST_ASSERT_EQUAL_INT(-EDEADLK, clock_wait(fds, 3, CLOCK_NEVER));
	TEST_ASSERT_EQUAL_INT(-EDEADLK, clock_wait(NULL, 0, CLOCK_NEVER));
	TEST_ASSERT_EQUAL_INT(-EINVAL, clock_wait(fds, CLOCK_FDS_MAX + 1, 9));
	TEST_ASSERT_EQUAL_INT64(7, clock_now_ns());
}

TEST(test_virtual_date)
{
	clock_use_virtual(3 * S);
	TEST_ASSERT_EQUAL_INT64((946684800 + 3) * S, clock_real_ns());
	clock_wait(NULL, 0, 4 * S);
	TEST_ASSERT_EQUAL_INT64((946684800 + 4) * S, clock_real_ns());
	clock_wait(NULL, 0, CLOCK_NEVER - 1);
	TEST_ASSERT_EQUAL_INT64(INT64_MAX, clock_real_ns());
}

TEST(test_back_to_the_real_clock)
{
	int64_t before = clock_now_ns();

	clock_use_virtual(before + 3600 * S);
	clock_use(&clock_real);
	TEST_ASSERT_GREATER_OR_EQUAL_INT64(before, clock_now_ns());
	TEST_ASSERT_LESS_THAN_INT64(before + 3600 * S, clock_now_ns());
}

/* A loop of two rates, written as for the real clock: a second of it is the same every time. */
TEST(test_virtual_loop)
{
	int64_t start = 40 * S, tick = start, slow = start + 3 * MS;
	int ticks = 0, slows = 0, rings = 0;

	clock_use_virtual(start);
	while (clock_now_ns() < start + S) {
		if (clock_wait(fds, 1, tick < slow ? tick : slow) > 0) {
			unring(events[0]);
			rings++;
		}
		if (clock_now_ns() >= tick) {
			TEST_ASSERT_EQUAL_INT64(tick, clock_now_ns());
			ticks++;
			tick += MS;
			if (ticks % 10 == 0)
				ring(events[0]);
		}
		if (clock_now_ns() >= slow) {
			TEST_ASSERT_EQUAL_INT64(slow, clock_now_ns());
			slows++;
			slow += 7 * MS;
		}
	}
	TEST_ASSERT_EQUAL_INT(1001, ticks);
	TEST_ASSERT_EQUAL_INT(143, slows);
	TEST_ASSERT_EQUAL_INT(100, rings);
}

TEST(test_virtual_with_a_channel)
{
	ach_channel_t chan;
	char name[LIB_NAME_LEN], got;

	LIB_ASSERT_STATUS(ACH_OK, ach_create(lib_name(name, "clock"), 4, 4, NULL));
	LIB_ASSERT_STATUS(ACH_OK, ach_open(&chan, name, NULL));
	LIB_ASSERT_STATUS(ACH_OK, ach_put(&chan, "x", 1));
	LIB_ASSERT_STATUS(ACH_OK, ach_channel_fd(&chan, &fds[0].fd)); /* which is ready: there is something unseen */
	clock_use_virtual(7);
	TEST_ASSERT_EQUAL_INT(1, clock_wait(fds, 1, S));
	TEST_ASSERT_EQUAL_INT64(7, clock_now_ns());
	LIB_ASSERT_STATUS(ACH_OK, ach_get(&chan, &got, 1, NULL, NULL, 0));
	LIB_ASSERT_STATUS(ACH_OK, ach_close(&chan));
}

/* ---- a source of one's own ---- */

static size_t asked_n;
static int64_t asked_deadline;

static int64_t own_now(void)
{
	return 11;
}

static int64_t own_real(void)
{
	return 12;
}

static int own_wait(struct clock_fd *some, size_t n, int64_t deadline_ns)
{
	asked_n = n;
	asked_deadline = deadline_ns;
	some[0].ready = POLLOUT;
	return 13;
}

TEST(test_another_source)
{
	static const struct clock_source own = { .now = own_now, .real = own_real, .wait = own_wait };

	clock_use(&own);
	TEST_ASSERT_EQUAL_INT64(11, clock_now_ns());
	TEST_ASSERT_EQUAL_INT64(12, clock_real_ns());
	TEST_ASSERT_EQUAL_INT(13, clock_wait(fds, 3, 99));
	TEST_ASSERT_EQUAL_size_t(3, asked_n);
	TEST_ASSERT_EQUAL_INT64(99, asked_deadline);
	TEST_ASSERT_EQUAL_INT(POLLOUT, fds[0].ready);
	/* It need not look for these. */
	TEST_ASSERT_EQUAL_INT(-EINVAL, clock_wait(fds, CLOCK_FDS_MAX + 1, 99));
	TEST_ASSERT_EQUAL_INT(-EDEADLK, clock_wait(NULL, 0, CLOCK_NEVER));
}

/* ---- sets ---- */

static struct epoll_event woken[4];

static int open_set(int n)
{
	int set = epoll_create1(EPOLL_CLOEXEC);

	for (int i = 0; i < n; i++) {
		struct epoll_event event = { .events = EPOLLIN, .data.u32 = (uint32_t)i };

		TEST_ASSERT_EQUAL_INT(0, epoll_ctl(set, EPOLL_CTL_ADD, events[i], &event));
	}
	return set;
}

TEST(test_set_never_before_the_deadline)
{
	const int64_t waits[] = { 0, 10 * US, 60 * US, 99 * US, 101 * US, 300 * US, 3 * MS, 12 * MS };
	int set = open_set(3);

	for (size_t i = 0; i < 10 * sizeof waits / sizeof *waits; i++) {
		int64_t deadline = clock_now_ns() + waits[i % (sizeof waits / sizeof *waits)];

		TEST_ASSERT_EQUAL_INT(0, clock_wait_set(set, woken, 4, deadline));
		TEST_ASSERT_GREATER_OR_EQUAL_INT64(deadline, lib_now_ns(CLOCK_MONOTONIC));
	}
	TEST_ASSERT_EQUAL_INT(0, clock_wait_set(set, woken, 4, INT64_MIN));
	close(set);
}

/* As many as are ready and asked for, with a deadline or without, past or not. */
TEST(test_set_reports_what_is_ready)
{
	const int64_t deadlines[] = { INT64_MIN, clock_now_ns(), clock_now_ns() + 100 * S, CLOCK_NEVER };
	int set = open_set(3);

	ring(events[2]);
	for (size_t i = 0; i < sizeof deadlines / sizeof *deadlines; i++) {
		TEST_ASSERT_EQUAL_INT(1, clock_wait_set(set, woken, 4, deadlines[i]));
		TEST_ASSERT_EQUAL_UINT32(2, woken[0].data.u32);
		TEST_ASSERT_EQUAL_UINT32(EPOLLIN, woken[0].events);
	}
	ring(events[0]);
	TEST_ASSERT_EQUAL_INT(2, clock_wait_set(set, woken, 4, CLOCK_NEVER));
	TEST_ASSERT_EQUAL_INT(1, clock_wait_set(set, woken, 1, CLOCK_NEVER));
	unring(events[0]);
	unring(events[2]);
	close(set);
	TEST_ASSERT_EQUAL_INT(-EBADF, clock_wait_set(-1, woken, 4, clock_now_ns()));
}

TEST(test_set_on_the_virtual_clock)
{
	int set = open_set(1);

	clock_use_virtual(5);
	TEST_ASSERT_EQUAL_INT(0, clock_wait_set(set, woken, 4, 70 * S));
	TEST_ASSERT_EQUAL_INT64(70 * S, clock_now_ns());
	ring(events[0]);
	TEST_ASSERT_EQUAL_INT(1, clock_wait_set(set, woken, 4, 80 * S));
	TEST_ASSERT_EQUAL_INT64(70 * S, clock_now_ns());
	unring(events[0]);
	TEST_ASSERT_EQUAL_INT(-EDEADLK, clock_wait_set(set, woken, 4, CLOCK_NEVER));
	close(set);
}

TEST(test_set_of_another_source)
{
	static const struct clock_source own = { .now = own_now, .real = own_real, .wait = own_wait };
	int set = open_set(1);

	clock_use(&own);
	TEST_ASSERT_EQUAL_INT(0,
			      clock_wait_set(set, woken, 4, 98)); /* it says that there is something: looked at again */
	TEST_ASSERT_EQUAL_size_t(1, asked_n);
	TEST_ASSERT_EQUAL_INT64(98, asked_deadline);
	close(set);
}
