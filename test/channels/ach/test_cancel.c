/* test_cancel.c: ach_cancel from wherever it may be called, and what it leaves alone. */
#define _GNU_SOURCE
#include <pthread.h>
#include <signal.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/ptrace.h>
#include <sys/wait.h>

#include "channels/ach/ach_ring.h"
#include "test/lib/lib.h"
#include "test/lib/testcase.h"

#define RACES 300
#define NO_PTRACE 77

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

/* Without a deadline; the watchdog sees to hangs. */
static enum ach_status get(ach_channel_t *from, int options)
{
	char byte;

	return ach_get(from, &byte, 1, NULL, NULL, options);
}

/* As if another thread waited too and kept the slice: then nothing but ach_cancel ends the sleep. */
static void rely_on_a_watcher(void)
{
	atomic_store(chan.handle->hint, (chan.seq_num + 1) << 1 | ACH_HINT_WATCHED);
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
	rely_on_a_watcher();
	LIB_STATUS(ACH_CANCELED, get(&chan, ACH_O_WAIT));
	LIB_CHECK(handled == 1);
	LIB_CHECK(kept_errno);
	LIB_CHECK(forks == 0);
	LIB_CHECK(waitpid(-1, NULL, __WALL) == -1 && errno == ECHILD);
	LIB_STATUS(ACH_CANCELED, get(&chan, ACH_O_WAIT));
	return 0;
}

TEST(test_from_a_handler_of_the_waiting_thread)
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
		if (i % 2)
			rely_on_a_watcher();
		else
			atomic_store(chan.handle->hint, 0);
		LIB_CHECK(kill(getppid(), SIGUSR2) == 0);
		LIB_STATUS(ACH_CANCELED, get(&chan, ACH_O_WAIT));
		while (handled < i)
			;
		chan.cancel = 0;
	}
	return 0;
}

TEST(test_handler_races_with_the_beginning_of_the_wait)
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

/* The same at each single instruction of the wait in turn, until it sleeps. */
static volatile int *begun;

static int waits_step_by_step(void *arg)
{
	struct sigaction action = { .sa_handler = cancel_handler };

	(void)arg;
	LIB_CHECK(sigaction(SIGUSR1, &action, NULL) == 0);
	if (ptrace(PTRACE_TRACEME, 0, NULL, NULL))
		return NO_PTRACE;
	raise(SIGSTOP);
	*begun = 1;
	LIB_STATUS(ACH_CANCELED, get(&chan, ACH_O_WAIT));
	return 0;
}

/* One instruction; false: it sleeps in it. */
static bool step(pid_t pid)
{
	int status, asleep = 0;

	LIB_CHECK(ptrace(PTRACE_SINGLESTEP, pid, NULL, NULL) == 0);
	while (waitpid(pid, &status, WNOHANG) == 0) {
		/* Several times, so that a sleep on the way (a page that must be made) is not taken for it. */
		asleep = lib_run_state(pid) == 'S' ? asleep + 1 : 0;
		if (asleep == 3)
			return false;
		if (asleep)
			usleep(300);
	}
	LIB_CHECK(WIFSTOPPED(status) && WSTOPSIG(status) == SIGTRAP);
	return true;
}

/* Signals it k instructions behind the beginning of the wait; false: it slept before. */
static bool signal_at(unsigned k)
{
	bool awake = true;
	int status;
	pid_t pid;

	*begun = 0;
	pid = lib_child(waits_step_by_step, NULL);
	LIB_CHECK(waitpid(pid, &status, 0) == pid);
	if (WIFEXITED(status) && WEXITSTATUS(status) == NO_PTRACE)
		TEST_IGNORE_MESSAGE("NOT TESTED: this system does not permit ptrace");
	LIB_CHECK(WIFSTOPPED(status) && ptrace(PTRACE_SETOPTIONS, pid, NULL, (void *)PTRACE_O_EXITKILL) == 0);
	while (!*begun)
		LIB_CHECK(step(pid));
	while (k-- && awake)
		awake = step(pid);
	if (!awake) {
		LIB_CHECK(kill(pid, SIGUSR1) == 0);
		LIB_CHECK(waitpid(pid, &status, 0) == pid && WIFSTOPPED(status));
	}
	LIB_CHECK(ptrace(PTRACE_DETACH, pid, NULL, (void *)(uintptr_t)SIGUSR1) == 0);
	TEST_ASSERT_EQUAL_INT(0, lib_join(pid));
	return awake;
}

TEST(test_handler_at_every_instruction)
{
	struct timespec moment = lib_rel_ms(1);
	unsigned k = 0;
	char byte;

#ifdef LIB_SANITIZED
	TEST_IGNORE_MESSAGE("NOT TESTED: a sanitizer's instructions are not the library's");
#endif
	begun = mmap(NULL, sizeof *begun, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	TEST_ASSERT_TRUE(begun != MAP_FAILED);
	/* What a first call needs (the dynamic linker) is behind us. */
	LIB_ASSERT_STATUS(ACH_TIMEOUT, ach_get(&chan, &byte, 1, NULL, &moment, ACH_O_WAIT | ACH_O_RELTIME));
	rely_on_a_watcher();
	while (signal_at(k++))
		lib_watchdog("at every instruction", LIB_HANG_S);
	printf("cancelled at each of %u instructions\n", k);
	TEST_ASSERT_TRUE_MESSAGE(k > 40, "a wait is not that short");
	munmap((void *)(uintptr_t)begun, sizeof *begun);
}

/* ---- from another thread ---- */

static struct lib_gate *gate;

static void *wait_thread(void *arg)
{
	lib_gate_set(gate, (int)gettid());
	LIB_STATUS(ACH_CANCELED, get(&chan, *(int *)arg));
	return NULL;
}

TEST(test_from_another_thread)
{
	static const int options[] = { ACH_O_WAIT, ACH_O_WAIT | ACH_O_LAST, ACH_O_WAIT | ACH_O_COPY };

	LIB_ASSERT_STATUS(ACH_OK, ach_put(&chan, "a", 1));
	LIB_ASSERT_STATUS(ACH_OK, ach_flush(&chan));
	for (size_t i = 0; i < sizeof options / sizeof *options; i++) {
		pthread_t thread;
		int opt = options[i];

		gate = lib_gate_new();
		if (i)
			rely_on_a_watcher();
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

TEST(test_the_cancelled_thread_closes)
{
	for (int i = 0; i < RACES; i++) {
		pthread_t thread;

		gate = lib_gate_new();
		rely_on_a_watcher();
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

/* Cancelled and taken back, again and again: every wait ends by its own cancel, none by one before it. */
TEST(test_waits_after_a_cancel)
{
	for (int i = 0; i < RACES; i++) {
		int opt = ACH_O_WAIT;
		pthread_t thread;

		gate = lib_gate_new();
		rely_on_a_watcher();
		TEST_ASSERT_EQUAL_INT(0, pthread_create(&thread, NULL, wait_thread, &opt));
		lib_gate_wait(gate, 1);
		if (i % 3)
			lib_until_asleep(lib_gate_get(gate));
		LIB_ASSERT_STATUS(ACH_OK, ach_cancel(&chan, NULL));
		TEST_ASSERT_EQUAL_INT(0, pthread_join(thread, NULL));
		chan.cancel = 0;
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
TEST(test_other_handles_are_not_cancelled)
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

TEST(test_before_get_and_taken_back)
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

TEST(test_reopened)
{
	LIB_ASSERT_STATUS(ACH_OK, ach_cancel(&chan, NULL));
	LIB_ASSERT_STATUS(ACH_OK, ach_close(&chan));
	LIB_ASSERT_STATUS(ACH_OK, ach_open(&chan, name, NULL));
	LIB_ASSERT_STATUS(ACH_EAGAIN, get(&chan, 0));
}
