/* test_cancel.c: ach_cancel from wherever it may be called, and what it leaves alone. */
#define _GNU_SOURCE
#include <errno.h>
#include <pthread.h>
#include <signal.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include "test/channels/lib.h"
#include "unity.h"

#define RACES 300

static char name[LIB_NAME_LEN];
static ach_channel_t chan;

void setUp(void)
{
	lib_watchdog(Unity.CurrentTestName, LIB_HANG_S);
	LIB_STATUS(ACH_OK, ach_create(lib_name(name, "cancel"), 4, 8, NULL));
	LIB_STATUS(ACH_OK, ach_open(&chan, name, NULL));
}

void tearDown(void)
{
	(void)ach_close(&chan);
	(void)ach_unlink(name);
}

static enum ach_status get(ach_channel_t *from, int options)
{
	struct timespec hang = lib_hang();
	char byte;

	return ach_get(from, &byte, 1, NULL, &hang, options);
}

/* ---- in a signal handler of the waiting thread ---- */

static volatile sig_atomic_t handled, kept_errno, forks, kind;

static void cancel_handler(int sig)
{
	ach_cancel_attr_t attr;

	(void)sig;
	ach_cancel_attr_init(&attr);
	attr.async_unsafe = kind == 2;
	errno = E2BIG;
	LIB_STATUS(ACH_OK, ach_cancel(&chan, kind ? &attr : NULL));
	kept_errno = errno == E2BIG;
	handled = handled + 1;
}

static void count_fork(void)
{
	forks = forks + 1;
}

static int waits_and_is_signalled(void *arg)
{
	struct sigaction action = { .sa_handler = cancel_handler };

	kind = *(int *)arg;
	/* a child made and left to itself would come back to us */
	LIB_CHECK(prctl(PR_SET_CHILD_SUBREAPER, 1) == 0);
	LIB_CHECK(pthread_atfork(count_fork, NULL, NULL) == 0);
	LIB_CHECK(sigaction(SIGUSR1, &action, NULL) == 0);
	LIB_STATUS(ACH_CANCELED, get(&chan, ACH_O_WAIT));
	LIB_CHECK(handled == 1);
	LIB_CHECK(kept_errno);
	LIB_CHECK(forks == 0);
	LIB_CHECK(waitpid(-1, NULL, __WALL) == -1 && errno == ECHILD);
	LIB_STATUS(ACH_CANCELED, get(&chan, ACH_O_WAIT));
	return 0;
}

static void test_from_a_handler_of_the_waiting_thread(void)
{
	for (int attr = 0; attr < 3; attr++) {
		pid_t pid = lib_child(waits_and_is_signalled, &attr);

		lib_until_asleep(pid);
		TEST_ASSERT_EQUAL_INT(0, kill(pid, SIGUSR1));
		TEST_ASSERT_EQUAL_INT(0, lib_join(pid));
	}
}

/* The signal hits anywhere around the beginning of the wait: it must never be slept over. */
static int waits_many_times(void *arg)
{
	struct sigaction action = { .sa_handler = cancel_handler };

	(void)arg;
	LIB_CHECK(sigaction(SIGUSR1, &action, NULL) == 0);
	for (int i = 1; i <= RACES; i++) {
		LIB_CHECK(kill(getppid(), SIGUSR2) == 0);
		LIB_STATUS(ACH_CANCELED, get(&chan, ACH_O_WAIT));
		while (handled < i)
			;
		chan.cancel = 0;
	}
	return 0;
}

static void test_handler_races_with_the_beginning_of_the_wait(void)
{
	uint64_t random = 88172645463325252u;
	sigset_t set, old;
	pid_t pid;
	int sig;

	sigemptyset(&set);
	sigaddset(&set, SIGUSR2);
	sigprocmask(SIG_BLOCK, &set, &old);
	pid = lib_child(waits_many_times, NULL);
	for (int i = 0; i < RACES; i++) {
		LIB_CHECK(sigwait(&set, &sig) == 0);
		for (volatile uint64_t spin = lib_random(&random) % 20000; spin; spin--)
			;
		LIB_CHECK(kill(pid, SIGUSR1) == 0);
	}
	TEST_ASSERT_EQUAL_INT(0, lib_join(pid));
	sigprocmask(SIG_SETMASK, &old, NULL);
}

/* ---- from another thread ---- */

static struct lib_gate *gate;

static void *wait_thread(void *arg)
{
	lib_gate_set(gate, (int)gettid());
	LIB_STATUS(ACH_CANCELED, get(&chan, *(int *)arg));
	return NULL;
}

static void test_from_another_thread(void)
{
	static const int options[] = { ACH_O_WAIT, ACH_O_WAIT | ACH_O_LAST, ACH_O_WAIT | ACH_O_COPY };

	LIB_ASSERT_STATUS(ACH_OK, ach_put(&chan, "a", 1));
	LIB_ASSERT_STATUS(ACH_OK, ach_flush(&chan));
	for (size_t i = 0; i < sizeof options / sizeof *options; i++) {
		pthread_t thread;
		int opt = options[i];

		gate = lib_gate_new();
		TEST_ASSERT_EQUAL_INT(0, pthread_create(&thread, NULL, wait_thread, &opt));
		lib_gate_wait(gate, 1);
		lib_until_asleep(lib_gate_get(gate));
		LIB_ASSERT_STATUS(ACH_OK, ach_cancel(&chan, NULL));
		TEST_ASSERT_EQUAL_INT(0, pthread_join(thread, NULL));
		chan.cancel = 0;
		lib_gate_free(gate);
	}
}

/* The natural end of a thread that reads: cancelled by another, it closes its handle while that one's ach_cancel
 * may still be on its way.  What is freed then must not be touched (AddressSanitizer looks). */
static void *wait_and_close(void *unused)
{
	(void)unused;
	lib_gate_set(gate, (int)gettid());
	LIB_STATUS(ACH_CANCELED, get(&chan, ACH_O_WAIT));
	LIB_STATUS(ACH_OK, ach_close(&chan));
	return NULL;
}

static void test_the_cancelled_thread_closes(void)
{
	for (int i = 0; i < RACES; i++) {
		pthread_t thread;

		gate = lib_gate_new();
		TEST_ASSERT_EQUAL_INT(0, pthread_create(&thread, NULL, wait_and_close, NULL));
		lib_gate_wait(gate, 1);
		if (i % 2) /* else it may be anywhere before its sleep */
			lib_until_asleep(lib_gate_get(gate));
		LIB_ASSERT_STATUS(ACH_OK, ach_cancel(&chan, NULL));
		TEST_ASSERT_EQUAL_INT(0, pthread_join(thread, NULL));
		LIB_ASSERT_STATUS(ACH_OK, ach_open(&chan, name, NULL));
		lib_gate_free(gate);
	}
}

static ach_channel_t bystander;

static void *bystander_thread(void *arg)
{
	(void)arg;
	lib_gate_set(gate, (int)gettid());
	LIB_STATUS(ACH_OK, get(&bystander, ACH_O_WAIT));
	return NULL;
}

/* Another handle of the same process waits on: it may be woken, but answers nothing until there is a message. */
static void test_other_handles_are_not_cancelled(void)
{
	pthread_t thread;

	gate = lib_gate_new();
	LIB_ASSERT_STATUS(ACH_OK, ach_open(&bystander, name, NULL));
	TEST_ASSERT_EQUAL_INT(0, pthread_create(&thread, NULL, bystander_thread, NULL));
	lib_gate_wait(gate, 1);
	lib_until_asleep(lib_gate_get(gate));
	for (int i = 0; i < 20; i++)
		LIB_ASSERT_STATUS(ACH_OK, ach_cancel(&chan, NULL));
	lib_until_asleep(lib_gate_get(gate));
	LIB_ASSERT_STATUS(ACH_CANCELED, get(&chan, 0));
	LIB_ASSERT_STATUS(ACH_OK, ach_put(&chan, "a", 1)); /* put goes on on the cancelled handle */
	TEST_ASSERT_EQUAL_INT(0, pthread_join(thread, NULL));
	LIB_ASSERT_STATUS(ACH_OK, ach_close(&bystander));
	lib_gate_free(gate);
}

/* ---- before, and back ---- */

static void test_before_get_and_taken_back(void)
{
	const void *peek;

	LIB_ASSERT_STATUS(ACH_OK, ach_put(&chan, "a", 1));
	LIB_ASSERT_STATUS(ACH_OK, ach_cancel(&chan, NULL));
	LIB_ASSERT_STATUS(ACH_CANCELED, get(&chan, 0));
	LIB_ASSERT_STATUS(ACH_CANCELED, get(&chan, ACH_O_WAIT));
	LIB_ASSERT_STATUS(ACH_CANCELED, get(&chan, ACH_O_COPY));
	LIB_ASSERT_STATUS(ACH_CANCELED, ach_flush(&chan));
	LIB_ASSERT_STATUS(ACH_CANCELED, ach_peek(&chan, &peek, NULL, NULL, 0));
	TEST_ASSERT_EQUAL_UINT64(0, chan.seq_num);
	LIB_ASSERT_STATUS(ACH_OK, ach_put(&chan, "b", 1));
	chan.cancel = 0;
	LIB_ASSERT_STATUS(ACH_OK, get(&chan, 0));
	TEST_ASSERT_EQUAL_UINT64(1, chan.seq_num);
	LIB_ASSERT_STATUS(ACH_OK, ach_flush(&chan));
}

static void test_reopened(void)
{
	LIB_ASSERT_STATUS(ACH_OK, ach_cancel(&chan, NULL));
	LIB_ASSERT_STATUS(ACH_OK, ach_close(&chan));
	LIB_ASSERT_STATUS(ACH_OK, ach_open(&chan, name, NULL));
	LIB_ASSERT_STATUS(ACH_EAGAIN, get(&chan, 0));
}

int main(void)
{
	UNITY_BEGIN();
	RUN_TEST(test_from_a_handler_of_the_waiting_thread);
	RUN_TEST(test_handler_races_with_the_beginning_of_the_wait);
	RUN_TEST(test_from_another_thread);
	RUN_TEST(test_the_cancelled_thread_closes);
	RUN_TEST(test_other_handles_are_not_cancelled);
	RUN_TEST(test_before_get_and_taken_back);
	RUN_TEST(test_reopened);
	return UNITY_END();
}
