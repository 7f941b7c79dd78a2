/* test_priority.c: of waiters pinned to one core the most urgent runs first. */
#define _GNU_SOURCE
#include <sched.h>
#include <sys/mman.h>

#include "test/lib/lib.h"
#include "test/lib/testcase.h"

#define ROUNDS 20

static const int priorities[] = { 20, 50, 10, 40, 30 }; /* in the order in which they are started */
#define WAITERS ((int)(sizeof priorities / sizeof *priorities))
#define WRITER_PRIORITY 60

static ach_channel_t writer;
static char name[LIB_NAME_LEN];

/* In memory that the children share. */
static struct order {
	int n;
	int woken[WAITERS]; /* priorities, as they ran */
} * order;

void setUp(void)
{
	lib_watchdog(Unity.CurrentTestName, LIB_HANG_S);
	order = mmap(NULL, sizeof *order, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	LIB_STATUS(ACH_OK, ach_create(lib_name(name, "priority"), 4, 4, NULL));
	LIB_STATUS(ACH_OK, ach_open(&writer, name, NULL));
}

void tearDown(void)
{
	(void)ach_close(&writer);
	munmap(order, sizeof *order);
}

static bool become_urgent(int priority)
{
	struct sched_param param = { .sched_priority = priority };
	cpu_set_t allowed, one;

	CPU_ZERO(&one);
	if (sched_getaffinity(0, sizeof allowed, &allowed))
		return false;
	for (int cpu = 0; cpu < CPU_SETSIZE; cpu++)
		if (CPU_ISSET(cpu, &allowed)) {
			CPU_SET(cpu, &one);
			break;
		}
	return sched_setaffinity(0, sizeof one, &one) == 0 && sched_setscheduler(0, SCHED_FIFO, &param) == 0;
}

static int waiter(void *priority)
{
	struct timespec hang = lib_hang();
	ach_channel_t chan;
	int round;

	LIB_CHECK(become_urgent(*(const int *)priority));
	LIB_STATUS(ACH_OK, ach_open(&chan, name, NULL));
	for (int i = 0; i < ROUNDS; i++) {
		LIB_STATUS(ACH_OK, ach_get(&chan, &round, sizeof round, NULL, &hang, ACH_O_WAIT));
		LIB_CHECK(round == i);
		order->woken[__atomic_fetch_add(&order->n, 1, __ATOMIC_ACQ_REL)] = *(const int *)priority;
	}
	return 0;
}

/* The writer is a child too: the test itself stays an ordinary process. */
static int play(void *unused)
{
	pid_t pids[WAITERS];

	(void)unused;
	LIB_CHECK(become_urgent(WRITER_PRIORITY));
	for (int i = 0; i < WAITERS; i++)
		pids[i] = lib_child(waiter, (void *)&priorities[i]);
	for (int round = 0; round < ROUNDS; round++) {
		for (int i = 0; i < WAITERS; i++)
			lib_until_asleep(pids[i]);
		LIB_CHECK(order->n == (round ? WAITERS : 0));
		for (int i = 1; round && i < WAITERS; i++)
			LIB_CHECK(order->woken[i] < order->woken[i - 1]);
		order->n = 0;
		LIB_STATUS(ACH_OK, ach_put(&writer, &round, sizeof round)); /* no other thread runs before we sleep */
		LIB_CHECK(order->n == 0);
	}
	for (int i = 0; i < WAITERS; i++)
		LIB_CHECK(lib_join(pids[i]) == 0);
	return 0;
}

static int may_be_urgent(void *unused)
{
	(void)unused;
	return !become_urgent(1);
}

TEST(test_waiters_wake_in_order_of_priority)
{
	if (lib_join(lib_child(may_be_urgent, NULL)))
		TEST_IGNORE_MESSAGE("SCHED_FIFO was refused");
	TEST_ASSERT_EQUAL_INT(0, lib_join(lib_child(play, NULL)));
}
