/* test_fd.c: the descriptor of a channel with poll, select and epoll.
 *
 * Every test is played in a process of its own.
 */
#define _GNU_SOURCE
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/select.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "channels/ach/ach_ring.h"
#include "test/lib/lib.h"
#include "unity.h"

static char name[LIB_NAME_LEN];
static ach_channel_t writer, chan;

/* ---- helpers, in the child ---- */

static void open_channel(const char *of, ach_channel_t *handle)
{
	LIB_STATUS(ACH_OK, ach_open(handle, of, NULL));
}

static int descriptor(ach_channel_t *of)
{
	int fd = -1;

	LIB_STATUS(ACH_OK, ach_channel_fd(of, &fd));
	LIB_CHECK(fd >= 0);
	return fd;
}

static void put(void)
{
	LIB_STATUS(ACH_OK, ach_put(&writer, "x", 1));
}

static enum ach_status get(ach_channel_t *from, int options)
{
	char byte;

	return ach_get(from, &byte, 1, NULL, NULL, options);
}

static bool readable(int fd)
{
	struct pollfd p = { .fd = fd, .events = POLLIN };
	int n = poll(&p, 1, 0);

	LIB_CHECK(n >= 0);
	return n == 1 && p.revents == POLLIN;
}

static void until_readable(int fd)
{
	struct pollfd p = { .fd = fd, .events = POLLIN };

	LIB_CHECK(poll(&p, 1, LIB_HANG_S * 1000) == 1);
	LIB_CHECK(p.revents == POLLIN);
}

static void check_silent(ach_channel_t *of, int fd)
{
	LIB_CHECK(!readable(fd));
	LIB_STATUS(ACH_EAGAIN, get(of, 0));
	LIB_CHECK(!readable(fd));
}

/* fork with the helper thread at rest: a thread that is just starting may hold a lock of the C library or, longer, of a
 * sanitizer, and the child would find it held for ever. */
static pid_t child(int (*run)(void *), void *arg)
{
	DIR *tasks = opendir("/proc/self/task");
	struct dirent *task;

	LIB_CHECK(tasks != NULL);
	while ((task = readdir(tasks)))
		if (atoi(task->d_name) && atoi(task->d_name) != gettid())
			lib_until_asleep(atoi(task->d_name));
	closedir(tasks);
	return lib_child(run, arg);
}

/* ---- tests ---- */

static void test_readable_while_something_is_unseen(void)
{
	int fd = descriptor(&chan);

	check_silent(&chan, fd);
	for (int round = 0; round < 20; round++) {
		put();
		until_readable(fd);
		LIB_CHECK(readable(fd)); /* level: polling alone changes nothing */
		LIB_CHECK(readable(fd));
		LIB_STATUS(ACH_OK, get(&chan, 0));
		check_silent(&chan, fd);
	}
	LIB_CHECK(descriptor(&chan) == fd);
}

static void test_several_unseen(void)
{
	int fd = descriptor(&chan);

	for (int i = 0; i < 3; i++)
		put();
	for (int i = 0; i < 3; i++) {
		until_readable(fd);
		LIB_CHECK(readable(fd));
		LIB_STATUS(ACH_OK, get(&chan, 0));
	}
	check_silent(&chan, fd);
}

static void test_missed_messages(void)
{
	int fd = descriptor(&chan);

	for (int i = 0; i < 10; i++) /* of which 4 are kept */
		put();
	until_readable(fd);
	LIB_STATUS(ACH_MISSED_FRAME, get(&chan, 0));
	for (int i = 0; i < 3; i++) {
		LIB_CHECK(readable(fd));
		LIB_STATUS(ACH_OK, get(&chan, 0));
	}
	check_silent(&chan, fd);
}

static void test_every_way_to_read(void)
{
	int fd = descriptor(&chan);
	const void *peek;

	put();
	put();
	until_readable(fd);
	LIB_STATUS(ACH_MISSED_FRAME, get(&chan, ACH_O_LAST));
	check_silent(&chan, fd);
	put();
	until_readable(fd);
	LIB_STATUS(ACH_OK, ach_flush(&chan));
	check_silent(&chan, fd);
	put();
	until_readable(fd);
	LIB_STATUS(ACH_OK, ach_peek(&chan, &peek, NULL, NULL, 0));
	LIB_CHECK(readable(fd)); /* not seen before its end */
	LIB_STATUS(ACH_OK, ach_peek_end(&chan));
	check_silent(&chan, fd);
	put();
	until_readable(fd);
	LIB_STATUS(ACH_OVERFLOW, ach_get(&chan, NULL, 0, NULL, NULL, 0));
	LIB_CHECK(readable(fd));
	LIB_STATUS(ACH_OK, get(&chan, ACH_O_COPY));
	check_silent(&chan, fd);
	LIB_STATUS(ACH_OK, get(&chan, ACH_O_COPY)); /* the newest again is not unseen */
	check_silent(&chan, fd);
	put();
	until_readable(fd);
}

static void test_message_before_the_descriptor(void)
{
	int fd;

	put();
	fd = descriptor(&chan);
	LIB_CHECK(readable(fd));
	LIB_STATUS(ACH_OK, get(&chan, 0));
	check_silent(&chan, fd);
	put();
	until_readable(fd);
}

static void test_several_channels(void)
{
	enum { N = 5 };
	ach_channel_t readers[N], writers[N];
	struct pollfd p[N];

	for (int i = 0; i < N; i++) {
		char other[LIB_NAME_LEN];

		LIB_STATUS(ACH_OK, ach_create(lib_name(other, "fd"), 4, 4, NULL));
		open_channel(other, &readers[i]);
		open_channel(other, &writers[i]);
		LIB_STATUS(ACH_OK, ach_unlink(other));
		p[i] = (struct pollfd){ .fd = descriptor(&readers[i]), .events = POLLIN };
	}
	for (int round = 0; round < 4 * N; round++) {
		int i = round * 2 % N;

		for (int k = 0; k < N; k++)
			check_silent(&readers[k], p[k].fd);
		LIB_STATUS(ACH_OK, ach_put(&writers[i], "x", 1));
		LIB_CHECK(poll(p, N, LIB_HANG_S * 1000) == 1);
		LIB_CHECK(p[i].revents);
		LIB_STATUS(ACH_OK, get(&readers[i], 0));
	}
	for (int i = 0; i < N; i++) {
		LIB_STATUS(ACH_OK, ach_close(&readers[i]));
		LIB_STATUS(ACH_OK, ach_close(&writers[i]));
	}
}

static void test_select(void)
{
	struct timeval hang = { LIB_HANG_S, 0 };
	int fd = descriptor(&chan);
	fd_set set;

	put();
	for (int i = 0; i < 2; i++) {
		FD_ZERO(&set);
		FD_SET(fd, &set);
		LIB_CHECK(select(fd + 1, &set, NULL, NULL, &hang) == 1);
		LIB_CHECK(FD_ISSET(fd, &set));
	}
	LIB_STATUS(ACH_OK, get(&chan, 0));
	check_silent(&chan, fd);
}

static void test_epoll(void)
{
	struct epoll_event event = { .events = EPOLLIN, .data.u32 = 42 }, got;
	int epoll = epoll_create1(EPOLL_CLOEXEC), fd = descriptor(&chan);

	LIB_CHECK(epoll_ctl(epoll, EPOLL_CTL_ADD, fd, &event) == 0);
	for (int round = 0; round < 10; round++) {
		put();
		for (int i = 0; i < 3; i++) { /* level-triggered */
			LIB_CHECK(epoll_wait(epoll, &got, 1, LIB_HANG_S * 1000) == 1);
			LIB_CHECK(got.data.u32 == 42 && got.events == EPOLLIN);
		}
		LIB_STATUS(ACH_OK, get(&chan, 0));
		check_silent(&chan, fd);
	}
	close(epoll);
}

/* ---- another process writes while we sleep in poll or epoll ---- */

#define ROUNDS 40

static int puts_when_asleep(void *arg)
{
	struct lib_gate *gate = arg;

	for (int i = 1; i <= ROUNDS; i++) {
		lib_until_asleep(getppid());
		put();
		lib_gate_wait(gate, i);
	}
	return 0;
}

static void read_one(int fd, int epoll)
{
	struct epoll_event event;

	if (epoll < 0)
		until_readable(fd);
	else
		LIB_CHECK(epoll_wait(epoll, &event, 1, LIB_HANG_S * 1000) == 1);
	LIB_STATUS(ACH_OK, get(&chan, 0));
}

static void test_message_of_another_process(void)
{
	struct epoll_event event = { .events = EPOLLIN };
	int fd = descriptor(&chan), epoll = epoll_create1(EPOLL_CLOEXEC);
	struct lib_gate *gate = lib_gate_new();
	pid_t pid = child(puts_when_asleep, gate);

	LIB_CHECK(epoll_ctl(epoll, EPOLL_CTL_ADD, fd, &event) == 0);
	for (int i = 1; i <= ROUNDS; i++) {
		read_one(fd, i % 2 ? -1 : epoll);
		lib_gate_set(gate, i);
	}
	LIB_CHECK(lib_join(pid) == 0);
}

/* ---- a flood: poll and epoll_wait never fail, nothing is lost, the last message is found ---- */

#define FLOOD 20000

static int floods(void *unused)
{
	(void)unused;
	for (int i = 0; i < FLOOD; i++)
		put();
	return 0;
}

static void test_never_interrupted(void)
{
	struct epoll_event event = { .events = EPOLLIN }, got;
	int fd = descriptor(&chan), epoll = epoll_create1(EPOLL_CLOEXEC);
	pid_t pid = child(floods, NULL);
	struct pollfd p = { .fd = fd, .events = POLLIN };

	LIB_CHECK(epoll_ctl(epoll, EPOLL_CTL_ADD, fd, &event) == 0);
	for (bool odd = false; chan.seq_num < FLOOD; odd = !odd) {
		enum ach_status status;

		/* no signal was sent, so EINTR would come from the library */
		LIB_CHECK((odd ? poll(&p, 1, LIB_HANG_S * 1000) : epoll_wait(epoll, &got, 1, LIB_HANG_S * 1000)) == 1);
		status = get(&chan, odd ? ACH_O_LAST : 0);
		LIB_CHECK(status == ACH_OK || status == ACH_MISSED_FRAME);
	}
	LIB_CHECK(lib_join(pid) == 0);
	check_silent(&chan, fd);
}

/* ---- mixed with ach_get(WAIT) ---- */

static int puts_twice_when_asleep(void *arg)
{
	lib_until_asleep(getppid());
	put();
	lib_gate_wait(arg, 1);
	lib_until_asleep(getppid());
	put();
	return 0;
}

static void test_waiting_get_in_between(void)
{
	struct timespec past = { 0, 0 };
	struct lib_gate *gate = lib_gate_new();
	int fd = descriptor(&chan);
	pid_t pid = child(puts_twice_when_asleep, gate);
	char byte;

	LIB_STATUS(ACH_OK, ach_get(&chan, &byte, 1, NULL, NULL, ACH_O_WAIT));
	check_silent(&chan, fd);
	LIB_STATUS(ACH_TIMEOUT, ach_get(&chan, &byte, 1, NULL, &past, ACH_O_WAIT));
	check_silent(&chan, fd);
	lib_gate_set(gate, 1);
	read_one(fd, -1);
	check_silent(&chan, fd);
	LIB_CHECK(lib_join(pid) == 0);
}

/* ---- threads ---- */

static void in_thread(void *(*body)(void *))
{
	pthread_t thread;

	LIB_CHECK(pthread_create(&thread, NULL, body, NULL) == 0);
	LIB_CHECK(pthread_join(thread, NULL) == 0);
}

static void *make_and_drain(void *unused)
{
	(void)unused;
	(void)descriptor(&chan);
	check_silent(&chan, descriptor(&chan));
	return NULL;
}

static void *drain(void *unused)
{
	(void)unused;
	LIB_STATUS(ACH_OK, get(&chan, 0));
	check_silent(&chan, descriptor(&chan));
	return NULL;
}

static void test_another_thread_reads(void)
{
	int fd = descriptor(&chan);

	for (int round = 0; round < 100; round++) {
		put();
		until_readable(fd);
		if (round % 3 == 2)
			drain(NULL);
		else
			in_thread(drain); /* which has ended when the next message comes */
	}
}

static void test_the_thread_that_made_it_exits(void)
{
	int fd;

	in_thread(make_and_drain);
	fd = descriptor(&chan);
	for (int round = 0; round < 10; round++) {
		put();
		until_readable(fd);
		LIB_STATUS(ACH_OK, get(&chan, 0));
		check_silent(&chan, fd);
	}
}

static struct lib_gate *polling;

static void *poll_and_read(void *unused)
{
	(void)unused;
	for (int i = 1; i <= ROUNDS; i++) {
		lib_gate_set(polling, i);
		read_one(descriptor(&chan), -1);
	}
	return NULL;
}

/* One thread polls and reads what another of the same process puts. */
static void test_a_thread_of_its_own(void)
{
	pthread_t thread;

	polling = lib_gate_new();
	(void)descriptor(&chan);
	LIB_CHECK(pthread_create(&thread, NULL, poll_and_read, NULL) == 0);
	for (int i = 1; i <= ROUNDS; i++) {
		lib_gate_wait(polling, i);
		put();
	}
	LIB_CHECK(pthread_join(thread, NULL) == 0);
}

/* ---- fork ---- */

static int child_of_fork(void *arg)
{
	struct lib_gate *gate = arg;
	int fd;

	LIB_STATUS(ACH_EAGAIN, get(&chan, 0)); /* leaves the parent's alone */
	fd = descriptor(&chan);
	check_silent(&chan, fd);
	lib_gate_set(gate, 1);
	read_one(fd, -1);
	check_silent(&chan, fd);
	LIB_STATUS(ACH_OK, ach_close(&chan));
	return 0;
}

static int child_that_only_reads(void *unused)
{
	(void)unused;
	LIB_STATUS(ACH_OK, get(&chan, 0)); /* a cursor of its own, and no descriptor */
	LIB_STATUS(ACH_EAGAIN, get(&chan, 0));
	LIB_STATUS(ACH_OK, ach_close(&chan));
	return 0;
}

static void test_fork_without_a_descriptor(void)
{
	int fd = descriptor(&chan);

	put();
	until_readable(fd);
	LIB_CHECK(lib_join(child(child_that_only_reads, NULL)) == 0);
	LIB_CHECK(readable(fd)); /* we have not read it */
	LIB_STATUS(ACH_OK, get(&chan, 0));
	check_silent(&chan, fd);
	put();
	until_readable(fd);
}

static void test_fork(void)
{
	for (int round = 0; round < 3; round++) {
		struct lib_gate *gate = lib_gate_new();
		int fd = descriptor(&chan);
		pid_t pid;

		check_silent(&chan, fd);
		pid = child(child_of_fork, gate);
		lib_gate_wait(gate, 1);
		put();
		until_readable(fd); /* both see it */
		LIB_CHECK(lib_join(pid) == 0);
		until_readable(fd); /* and what the child did took nothing from us */
		LIB_STATUS(ACH_OK, get(&chan, 0));
		check_silent(&chan, fd);
		put();
		until_readable(fd);
		LIB_STATUS(ACH_OK, get(&chan, 0));
	}
}

/* ---- the rest ---- */

static void test_close_closes_it(void)
{
	int fd = descriptor(&chan);

	LIB_STATUS(ACH_OK, ach_close(&chan));
	LIB_CHECK(fcntl(fd, F_GETFD) == -1 && errno == EBADF);
	LIB_STATUS(ACH_CLOSED, ach_channel_fd(&chan, &fd));
	open_channel(name, &chan);
	fd = descriptor(&chan);
	put();
	until_readable(fd);
	LIB_STATUS(ACH_EINVAL, ach_channel_fd(&chan, NULL));
}

/* Handles come and go while messages arrive: a closed handle must not be touched. */
static void test_close_while_messages_come(void)
{
	pid_t pid = child(floods, NULL);

	for (int i = 0; i < 100; i++) {
		ach_channel_t short_lived;

		open_channel(name, &short_lived);
		LIB_STATUS(ACH_OK, ach_flush(&short_lived));
		(void)readable(descriptor(&short_lived));
		LIB_STATUS(ACH_OK, ach_close(&short_lived));
	}
	LIB_CHECK(lib_join(pid) == 0);
}

static void test_not_inherited_by_exec(void)
{
	LIB_CHECK(fcntl(descriptor(&chan), F_GETFD) & FD_CLOEXEC);
}

/* ---- both paths ---- */

static const struct body {
	const char *what;
	void (*run)(void);
} bodies[] = {
	{ "readable while something is unseen", test_readable_while_something_is_unseen },
	{ "several unseen", test_several_unseen },
	{ "missed messages", test_missed_messages },
	{ "every way to read", test_every_way_to_read },
	{ "message before the descriptor", test_message_before_the_descriptor },
	{ "several channels", test_several_channels },
	{ "select", test_select },
	{ "epoll", test_epoll },
	{ "message of another process", test_message_of_another_process },
	{ "never interrupted", test_never_interrupted },
	{ "waiting get in between", test_waiting_get_in_between },
	{ "another thread reads", test_another_thread_reads },
	{ "the thread that made it exits", test_the_thread_that_made_it_exits },
	{ "a thread of its own", test_a_thread_of_its_own },
	{ "fork without a descriptor", test_fork_without_a_descriptor },
	{ "fork", test_fork },
	{ "close closes it", test_close_closes_it },
	{ "close while messages come", test_close_while_messages_come },
	{ "not inherited by exec", test_not_inherited_by_exec },
};
static const struct body *body;

static int play(void *unused)
{
	(void)unused;
	LIB_STATUS(ACH_OK, ach_create(lib_name(name, "fd"), 4, 4, NULL));
	open_channel(name, &writer);
	open_channel(name, &chan);
	body->run();
	LIB_STATUS(ACH_OK, ach_close(&chan));
	LIB_STATUS(ACH_OK, ach_close(&writer));
	LIB_STATUS(ACH_OK, ach_unlink(name));
	return 0;
}

static void test_body(void)
{
	TEST_ASSERT_EQUAL_INT_MESSAGE(0, lib_join(lib_child(play, NULL)), body->what);
}

void setUp(void)
{
	lib_watchdog(Unity.CurrentTestName, LIB_HANG_S);
}

int main(void)
{
	UNITY_BEGIN();
	for (body = bodies; body < bodies + sizeof bodies / sizeof *bodies; body++)
		UnityDefaultTestRun(test_body, body->what, __LINE__);
	return UNITY_END();
}
