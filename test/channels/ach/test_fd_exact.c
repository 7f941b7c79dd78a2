/* test_fd_exact.c: a channel's descriptor is readable while something is unseen, and never without.
 *
 * The library's system calls go through the function syscall; the one here stands in front of it and can hold a writer
 * between its commit and its wake.
 * waits: mostly
 */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <linux/futex.h>
#include <poll.h>
#include <pthread.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "channels/ach/ach_ring.h"
#include "test/lib/lib.h"
#include "unity.h"

#define IDLE_MS 2500 /* ten slices */
#define A_WHILE_MS 400

static char name[LIB_NAME_LEN];
static ach_channel_t writer, chan;
static int fd;
static struct lib_gate *gate;
static bool hold_wake;

long syscall(long number, ...);

/* It takes six arguments however many there are: those it was not given are the caller's stack. */
__attribute__((no_sanitize("address"))) long syscall(long number, ...)
{
	static long (*real)(long, ...);
	long a[6];
	va_list list;

	va_start(list, number);
	for (int i = 0; i < 6; i++)
		a[i] = va_arg(list, long);
	va_end(list);
	if (!real)
		real = (long (*)(long, ...))(uintptr_t)dlsym(RTLD_NEXT, "syscall");
	if (hold_wake && number == SYS_futex && (a[1] & FUTEX_CMD_MASK) == FUTEX_WAKE) {
		hold_wake = false;
		lib_gate_set(gate, 1);
		lib_gate_wait(gate, 2);
	}
	return real(number, a[0], a[1], a[2], a[3], a[4], a[5]);
}

static bool readable(int ms)
{
	struct pollfd p = { .fd = fd, .events = POLLIN };

	return poll(&p, 1, ms) == 1;
}

static void put(void)
{
	LIB_STATUS(ACH_OK, ach_put(&writer, "x", 1));
}

static enum ach_status get(int options)
{
	char byte;

	return ach_get(&chan, &byte, 1, NULL, NULL, options);
}

static void works(void)
{
	put();
	LIB_CHECK(readable(LIB_HANG_S * 1000));
	LIB_STATUS(ACH_OK, get(0));
	LIB_CHECK(!readable(0));
}

/* ---- cases ---- */

/* A program that polls, takes one message behind each wake-up and gives up on anything but a message. */
static int polls(void *arg)
{
	for (int *n = arg; *n > 0; --*n) {
		struct pollfd p = { .fd = fd, .events = POLLIN };
		enum ach_status status;

		if (poll(&p, 1, -1) != 1)
			return 2;
		status = get(ACH_O_NONBLOCK | ACH_O_FIRST);
		if (status != ACH_OK && status != ACH_MISSED_FRAME)
			return 3;
	}
	return 0;
}

static void test_idle_channel(void)
{
	int messages = 1;

	put();
	LIB_CHECK(polls(&messages) == 0);
	LIB_CHECK(!readable(IDLE_MS));
	works();
}

/* A wake that is not about a message: another handle's ach_cancel, and an open behind it. */
static void test_cancel_elsewhere(void)
{
	ach_channel_t other;

	LIB_STATUS(ACH_OK, ach_open(&other, name, NULL));
	LIB_STATUS(ACH_OK, ach_cancel(&other, NULL));
	LIB_STATUS(ACH_OK, ach_close(&other));
	LIB_CHECK(!readable(A_WHILE_MS));
	works();
}

static int puts_slowly(void *unused)
{
	(void)unused;
	ach_ring_bell(writer.handle, writer.handle->shm->commit + 1); /* or it might not wake */
	hold_wake = true;
	put();
	return 0;
}

/* The message is seen between the writer's commit and its wake. */
static void test_late_wake(void)
{
	pid_t pid;

	works();
	pid = lib_child(puts_slowly, NULL);
	lib_gate_wait(gate, 1);
	LIB_STATUS(ACH_OK, get(0));
	lib_gate_set(gate, 2);
	LIB_CHECK(lib_join(pid) == 0);
	LIB_CHECK(!readable(A_WHILE_MS));
	works();
}

/* The same, and the descriptor was readable before: a message behind one whose wake had come. */
static void test_late_wake_of_the_second(void)
{
	pid_t pid;

	put();
	LIB_CHECK(readable(LIB_HANG_S * 1000));
	pid = lib_child(puts_slowly, NULL);
	lib_gate_wait(gate, 1);
	LIB_STATUS(ACH_OK, get(0));
	LIB_STATUS(ACH_OK, get(0));
	lib_gate_set(gate, 2);
	LIB_CHECK(lib_join(pid) == 0);
	LIB_CHECK(!readable(A_WHILE_MS));
	works();
}

/* No further put: the library itself has to find the message. */
static void test_lost_wake(void)
{
	for (int i = 1; i <= 3; i++) {
		pid_t pid;

		lib_gate_set(gate, 0);
		pid = lib_child(puts_slowly, NULL);
		lib_gate_wait(gate, 1);
		lib_kill(pid);
		LIB_CHECK(readable(LIB_HANG_S * 1000));
		LIB_STATUS(ACH_OK, get(0));
		LIB_CHECK(!readable(0));
	}
	LIB_CHECK(!readable(A_WHILE_MS));
	works();
}

static void *get_one(void *unused)
{
	(void)unused;
	LIB_STATUS(ACH_OK, get(0));
	return NULL;
}

static void in_thread(void *(*body)(void *))
{
	pthread_t thread;

	LIB_CHECK(pthread_create(&thread, NULL, body, NULL) == 0);
	LIB_CHECK(pthread_join(thread, NULL) == 0);
}

/* The kernel ends what a thread had in flight. */
static void test_thread_ends(void)
{
	put();
	in_thread(get_one);
	LIB_CHECK(!readable(A_WHILE_MS));
	put();
	LIB_CHECK(readable(LIB_HANG_S * 1000)); /* while no thread that ever read is left */
	in_thread(get_one);
	works();
}

static void test_thread_ends_with_a_message_unseen(void)
{
	put();
	put();
	in_thread(get_one);
	LIB_CHECK(readable(LIB_HANG_S * 1000));
	LIB_STATUS(ACH_OK, get(0));
	LIB_CHECK(!readable(A_WHILE_MS));
}

/* ---- fork: the child has handle and descriptor, and asks for nothing ---- */

static int child_polls(void *arg)
{
	int messages = 2;

	(void)arg;
	LIB_CHECK(!readable(0));
	lib_gate_set(gate, 1);
	LIB_CHECK(polls(&messages) == 0);
	LIB_CHECK(!readable(A_WHILE_MS));
	LIB_STATUS(ACH_OK, ach_close(&chan));
	return 0;
}

static void test_fork(void)
{
	pid_t pid;

	works();
	pid = lib_child(child_polls, NULL);
	lib_gate_wait(gate, 1);
	put();
	put();
	LIB_CHECK(lib_join(pid) == 0);
	for (int i = 0; i < 2; i++) { /* the child took nothing from us */
		LIB_CHECK(readable(LIB_HANG_S * 1000));
		LIB_STATUS(ACH_OK, get(0));
	}
	LIB_CHECK(!readable(A_WHILE_MS));
	works();
}

static int child_of_child(void *arg)
{
	return lib_join(lib_child(child_polls, arg));
}

static void test_fork_twice(void)
{
	pid_t pid = lib_child(child_of_child, NULL);

	lib_gate_wait(gate, 1);
	put();
	put();
	LIB_CHECK(lib_join(pid) == 0);
	LIB_CHECK(readable(0));
}

static int child_sees_what_the_parent_has_not(void *unused)
{
	(void)unused;
	LIB_CHECK(readable(0));
	LIB_STATUS(ACH_OK, get(0));
	LIB_CHECK(!readable(A_WHILE_MS));
	return 0;
}

static void test_fork_with_a_message_unseen(void)
{
	put();
	LIB_CHECK(lib_join(lib_child(child_sees_what_the_parent_has_not, NULL)) == 0);
	LIB_CHECK(readable(0));
	LIB_STATUS(ACH_OK, get(0));
	LIB_CHECK(!readable(0));
}

static int child_finds_a_lost_wake(void *unused)
{
	int messages = 1;

	(void)unused;
	put();
	LIB_CHECK(polls(&messages) == 0);
	test_lost_wake();
	return 0;
}

static void test_lost_wake_in_a_child(void)
{
	LIB_CHECK(lib_join(lib_child(child_finds_a_lost_wake, NULL)) == 0);
}

/* ---- each in a process of its own ---- */

static const struct body {
	const char *what;
	void (*run)(void);
} bodies[] = {
	{ "idle channel", test_idle_channel },
	{ "cancel elsewhere", test_cancel_elsewhere },
	{ "late wake", test_late_wake },
	{ "late wake of the second", test_late_wake_of_the_second },
	{ "lost wake", test_lost_wake },
	{ "thread ends", test_thread_ends },
	{ "thread ends with a message unseen", test_thread_ends_with_a_message_unseen },
	{ "fork", test_fork },
	{ "fork twice", test_fork_twice },
	{ "fork with a message unseen", test_fork_with_a_message_unseen },
	{ "lost wake in a child", test_lost_wake_in_a_child },
};
static const struct body *body;

static int play(void *unused)
{
	(void)unused;
	LIB_STATUS(ACH_OK, ach_create(lib_name(name, "exact"), 16, 16, NULL));
	LIB_STATUS(ACH_OK, ach_open(&writer, name, NULL));
	LIB_STATUS(ACH_OK, ach_open(&chan, name, NULL));
	LIB_STATUS(ACH_OK, ach_channel_fd(&chan, &fd));
	gate = lib_gate_new();
	LIB_CHECK(!readable(0));
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
