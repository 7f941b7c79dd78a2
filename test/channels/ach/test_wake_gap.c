/* test_wake_gap.c: a reader that asked for a time between its wake-ups (ach_attr_set_wake_gap). */
#define _GNU_SOURCE
#include <signal.h>

#include "channels/ach/ach_ring.h"
#include "test/lib/lib.h"
#include "test/lib/testcase.h"

#define LONG_S 3600 /* a gap that no test waits for */
#define STREAM 2000 /* messages, of which the channel holds four */

static char name[LIB_NAME_LEN];
static ach_channel_t writer, reader; /* the reader is the child's */

void setUp(void)
{
	lib_watchdog(Unity.CurrentTestName, LIB_HANG_S);
	LIB_STATUS(ACH_OK, ach_create(lib_name(name, "gap"), 4, sizeof(uint32_t), NULL));
	LIB_STATUS(ACH_OK, ach_open(&writer, name, NULL));
}

void tearDown(void)
{
	(void)ach_close(&writer);
	(void)ach_unlink(name);
}

static void put(uint32_t number)
{
	LIB_STATUS(ACH_OK, ach_put(&writer, &number, sizeof(number)));
}

static enum ach_status get(uint32_t *number, const struct timespec *timeout)
{
	return ach_get(&reader, number, sizeof(*number), NULL, timeout, ACH_O_WAIT | ACH_O_RELTIME);
}

static void open_reader(struct timespec gap)
{
	ach_attr_t attr;

	ach_attr_init(&attr);
	LIB_STATUS(ACH_OK, ach_attr_set_wake_gap(&attr, &gap));
	LIB_STATUS(ACH_OK, ach_open(&reader, name, &attr));
}

/* The first message, for which the reader is asleep: its gap begins. */
static void be_woken(void)
{
	uint32_t number;

	open_reader((struct timespec){ LONG_S, 0 });
	LIB_STATUS(ACH_OK, get(&number, NULL));
	LIB_CHECK(number == 1);
}

static void cancel(int sig)
{
	(void)sig;
	LIB_STATUS(ACH_OK, ach_cancel(&reader, NULL));
}

static int rests(void *arg)
{
	uint32_t number;

	(void)arg;
	LIB_CHECK(signal(SIGUSR1, cancel) != SIG_ERR);
	be_woken();
	LIB_STATUS(ACH_CANCELED, get(&number, NULL));
	reader.cancel = 0;
	LIB_STATUS(ACH_OK, get(&number, NULL)); /* put meanwhile, and not held back */
	LIB_CHECK(number == 2);
	return 0;
}

TEST(test_in_its_gap_a_reader_is_not_woken_but_cancelled)
{
	const pid_t pid = lib_child(rests, NULL);

	lib_until_asleep(pid);
	put(1);
	lib_until_asleep(pid);
	TEST_ASSERT_EQUAL_UINT64(1, ach_hint_seq(atomic_load(&writer.shm->hint)));
	put(2);
	TEST_ASSERT_EQUAL_UINT64(1, atomic_load(&writer.shm->woken)); /* no system call for the second */
	TEST_ASSERT_EQUAL_INT(0, kill(pid, SIGUSR1));
	TEST_ASSERT_EQUAL_INT(0, lib_join(pid));
}

static int gets_what_is_there(void *arg)
{
	const struct timespec short_time = { 0, 1000000 };
	uint32_t number;

	(void)arg;
	be_woken();
	put(2);
	put(3);
	for (uint32_t expected = 2; expected <= 3; expected++) {
		LIB_STATUS(ACH_OK, get(&number, NULL));
		LIB_CHECK(number == expected);
	}
	LIB_STATUS(ACH_TIMEOUT, get(&number, &short_time)); /* a deadline ends the gap, too */
	return 0;
}

TEST(test_what_is_there_is_not_held_back)
{
	const pid_t pid = lib_child(gets_what_is_there, NULL);

	lib_until_asleep(pid);
	put(1);
	TEST_ASSERT_EQUAL_INT(0, lib_join(pid));
}

static int follows_a_stream(void *arg)
{
	uint32_t number = 0;

	(void)arg;
	open_reader((struct timespec){ 0, 1000000 });
	while (number < STREAM) {
		const uint32_t before = number;
		const enum ach_status status = get(&number, NULL);

		LIB_CHECK(status == ACH_OK || status == ACH_MISSED_FRAME);
		LIB_CHECK(number > before);
	}
	return 0;
}

TEST(test_the_newest_message_comes_in_the_end)
{
	const pid_t pid = lib_child(follows_a_stream, NULL);

	lib_until_asleep(pid);
	for (uint32_t number = 1; number <= STREAM; number++)
		put(number);
	TEST_ASSERT_EQUAL_INT(0, lib_join(pid));
}
