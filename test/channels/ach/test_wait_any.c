/* test_wait_any.c: waiting for whichever of many channels has something first. */
#define _GNU_SOURCE
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <pthread.h>
#include <stddef.h>
#include <sys/prctl.h>

#include "test/lib/lib.h"
#include "test/lib/testcase.h"

#define MANY ACH_WAIT_ANY_MAX

static ach_channel_t channels[MANY + 1], *chans[MANY + 1], writers[MANY + 1];

void setUp(void)
{
	lib_watchdog(Unity.CurrentTestName, LIB_HANG_S);
	for (size_t i = 0; i <= MANY; i++) {
		char name[LIB_NAME_LEN];

		LIB_STATUS(ACH_OK, ach_create(lib_name(name, "any"), 4, 4, NULL));
		LIB_STATUS(ACH_OK, ach_open(&channels[i], name, NULL));
		LIB_STATUS(ACH_OK, ach_open(&writers[i], name, NULL));
		LIB_STATUS(ACH_OK, ach_unlink(name));
		chans[i] = &channels[i];
	}
}

void tearDown(void)
{
	for (size_t i = 0; i <= MANY; i++) {
		(void)ach_close(&channels[i]);
		(void)ach_close(&writers[i]);
	}
}

static void put(size_t i)
{
	LIB_STATUS(ACH_OK, ach_put(&writers[i], "x", 1));
}

static void get(size_t i)
{
	char byte;

	LIB_STATUS(ACH_OK, ach_get(&channels[i], &byte, 1, NULL, NULL, 0));
}

TEST(test_numbers_of_channels)
{
	struct timespec past = { 0, 0 };
	size_t which = 77;

	LIB_ASSERT_STATUS(ACH_EINVAL, ach_wait_any(chans, 0, &past, &which));
	LIB_ASSERT_STATUS(ACH_EINVAL, ach_wait_any(chans, MANY + 1, &past, &which));
	LIB_ASSERT_STATUS(ACH_EINVAL, ach_wait_any(chans, SIZE_MAX, &past, &which));
	LIB_ASSERT_STATUS(ACH_EINVAL, ach_wait_any(NULL, 1, &past, &which));
	TEST_ASSERT_EQUAL_size_t(77, which);
	TEST_ASSERT_EQUAL_INT(127, MANY);
	LIB_ASSERT_STATUS(ACH_TIMEOUT, ach_wait_any(chans, 1, &past, &which));
	LIB_ASSERT_STATUS(ACH_TIMEOUT, ach_wait_any(chans, 2, &past, &which));
	LIB_ASSERT_STATUS(ACH_TIMEOUT, ach_wait_any(chans, MANY, &past, &which));
	TEST_ASSERT_EQUAL_size_t(77, which);
	put(0);
	LIB_ASSERT_STATUS(ACH_OK, ach_wait_any(chans, 1, NULL, NULL)); /* which may be NULL */
}

TEST(test_deadline)
{
	static const size_t numbers[] = { 1, 2, MANY };
	struct timespec bad = { 1, 1000000000 };
	size_t which = 77;

	for (size_t i = 0; i < sizeof numbers / sizeof *numbers; i++) {
		struct timespec soon = lib_after_ms(CLOCK_MONOTONIC, 20);

		LIB_ASSERT_STATUS(ACH_TIMEOUT, ach_wait_any(chans, numbers[i], &soon, &which));
		TEST_ASSERT_TRUE(lib_now_ns(CLOCK_MONOTONIC) >= (int64_t)soon.tv_sec * 1000000000 + soon.tv_nsec);
	}
	TEST_ASSERT_EQUAL_size_t(77, which);
	LIB_ASSERT_STATUS(ACH_EINVAL, ach_wait_any(chans, 1, &bad, &which));
}

TEST(test_message_before)
{
	struct timespec past = { 0, 0 };
	size_t which;

	put(5);
	put(3);
	LIB_ASSERT_STATUS(ACH_OK, ach_wait_any(chans, MANY, &past, &which));
	TEST_ASSERT_EQUAL_size_t(3, which);				    /* the first in the list, not in time */
	LIB_ASSERT_STATUS(ACH_OK, ach_wait_any(chans, MANY, NULL, &which)); /* it reads nothing */
	TEST_ASSERT_EQUAL_size_t(3, which);
	TEST_ASSERT_EQUAL_UINT64(0, channels[3].seq_num);
	get(3);
	LIB_ASSERT_STATUS(ACH_OK, ach_wait_any(chans, MANY, NULL, &which));
	TEST_ASSERT_EQUAL_size_t(5, which);
	get(5);
	LIB_ASSERT_STATUS(ACH_TIMEOUT, ach_wait_any(chans, MANY, &past, &which));
	put(MANY - 1);
	LIB_ASSERT_STATUS(ACH_OK, ach_wait_any(chans, MANY, NULL, &which));
	TEST_ASSERT_EQUAL_size_t(MANY - 1, which);
}

TEST(test_the_same_channel_twice)
{
	ach_channel_t *twice[] = { &channels[0], &channels[0], &channels[1] };
	size_t which;

	put(1);
	LIB_ASSERT_STATUS(ACH_OK, ach_wait_any(twice, 3, NULL, &which));
	TEST_ASSERT_EQUAL_size_t(2, which);
	put(0);
	LIB_ASSERT_STATUS(ACH_OK, ach_wait_any(twice, 3, NULL, &which));
	TEST_ASSERT_EQUAL_size_t(0, which);
}

/* ---- from another process ---- */

static int puts_when_asleep(void *arg)
{
	size_t n = *(size_t *)arg;
	uint64_t random = n + 1;

	for (int round = 0; round < 20; round++) {
		struct timespec hang = lib_hang();
		size_t i = lib_random(&random) % n;
		char byte;

		lib_until_asleep(getppid());
		put(i);
		/* the answer: the parent has seen it */
		LIB_STATUS(ACH_OK, ach_get(&writers[MANY], &byte, 1, NULL, &hang, ACH_O_WAIT));
	}
	return 0;
}

static void from_another_process(size_t n)
{
	pid_t pid = lib_child(puts_when_asleep, &n);
	uint64_t random = n + 1;

	for (int round = 0; round < 20; round++) {
		struct timespec hang = lib_hang();
		size_t which;

		LIB_ASSERT_STATUS(ACH_OK, ach_wait_any(chans, n, round % 2 ? &hang : NULL, &which));
		TEST_ASSERT_EQUAL_size_t(lib_random(&random) % n, which);
		get(which);
		LIB_ASSERT_STATUS(ACH_OK, ach_put(&channels[MANY], "x", 1));
	}
	TEST_ASSERT_EQUAL_INT(0, lib_join(pid));
}

TEST(test_message_of_another_process)
{
	from_another_process(1);
	tearDown();
	setUp();
	from_another_process(2);
	tearDown();
	setUp();
	from_another_process(MANY);
}

/* ---- cancel ---- */

static struct lib_gate *gate;

static void *wait_thread(void *unused)
{
	size_t which = 77;

	(void)unused;
	lib_gate_set(gate, (int)gettid());
	LIB_STATUS(ACH_CANCELED, ach_wait_any(chans, 3, NULL, &which));
	LIB_CHECK(which == 77);
	return NULL;
}

TEST(test_cancel_of_any_handle)
{
	struct timespec past = { 0, 0 };

	for (size_t i = 0; i < 3; i++) {
		pthread_t thread;

		gate = lib_gate_new();
		TEST_ASSERT_EQUAL_INT(0, pthread_create(&thread, NULL, wait_thread, NULL));
		lib_gate_wait(gate, 1);
		lib_until_asleep(lib_gate_get(gate));
		LIB_ASSERT_STATUS(ACH_OK, ach_cancel(&channels[i], NULL));
		TEST_ASSERT_EQUAL_INT(0, pthread_join(thread, NULL));
		LIB_ASSERT_STATUS(ACH_CANCELED, ach_wait_any(chans, 3, &past, NULL)); /* and from now on */
		channels[i].cancel = 0;
		LIB_ASSERT_STATUS(ACH_TIMEOUT, ach_wait_any(chans, 3, &past, NULL));
		lib_gate_free(gate);
	}
	LIB_ASSERT_STATUS(ACH_OK, ach_cancel(&channels[3], NULL)); /* not one of the three */
	LIB_ASSERT_STATUS(ACH_TIMEOUT, ach_wait_any(chans, 3, &past, NULL));
}

TEST(test_closed_handle)
{
	struct timespec past = { 0, 0 };

	LIB_ASSERT_STATUS(ACH_OK, ach_close(&channels[2]));
	LIB_ASSERT_STATUS(ACH_CLOSED, ach_wait_any(chans, 3, &past, NULL));
}

/* ---- signals ---- */

static volatile sig_atomic_t signals;

static void count_signal(int sig)
{
	(void)sig;
	signals = signals + 1;
}

static int signals_then_put(void *unused)
{
	(void)unused;
	for (int i = 0; i < 3; i++) {
		lib_until_asleep(getppid());
		LIB_CHECK(kill(getppid(), SIGUSR1) == 0);
	}
	lib_until_asleep(getppid());
	put(1);
	return 0;
}

TEST(test_signals_do_not_surface)
{
	struct sigaction action = { .sa_handler = count_signal }, old;
	size_t which;
	pid_t pid;

	signals = 0;
	TEST_ASSERT_EQUAL_INT(0, sigaction(SIGUSR1, &action, &old));
	pid = lib_child(signals_then_put, NULL);
	LIB_ASSERT_STATUS(ACH_OK, ach_wait_any(chans, 2, NULL, &which));
	TEST_ASSERT_EQUAL_size_t(1, which);
	TEST_ASSERT_EQUAL_INT(0, lib_join(pid));
	TEST_ASSERT_GREATER_THAN_INT(0, signals);
	sigaction(SIGUSR1, &old, NULL);
}

/* ---- without futex_waitv ---- */

static int waits_without_waitv(void *error)
{
	struct sock_filter code[] = {
		BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, nr)),
		BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, 449, 0, 1), /* futex_waitv, on every architecture */
		BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ERRNO | (unsigned int)*(int *)error),
		BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW),
	};
	struct sock_fprog program = { .len = sizeof(code) / sizeof(code[0]), .filter = code };
	struct timespec hang = lib_hang();
	size_t which;

	LIB_CHECK(!prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0));
	LIB_CHECK(!prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &program));
	LIB_STATUS(ACH_OK, ach_wait_any(chans, 3, &hang, &which));
	LIB_CHECK(which == 1);
	return 0;
}

/* An old kernel has no such call, a container's filter may not know it: it sleeps all the same, and does not spin. */
TEST(test_without_futex_waitv)
{
	const int errors[] = { ENOSYS, EPERM };

	for (size_t i = 0; i < 2; i++) {
		int error = errors[i];
		pid_t pid = lib_child(waits_without_waitv, &error);

		for (int n = 0; n < 3; n++)
			lib_until_asleep(pid);
		put(1);
		TEST_ASSERT_EQUAL_INT(0, lib_join(pid));
		get(1);
	}
}
