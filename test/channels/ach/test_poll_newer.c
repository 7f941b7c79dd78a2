/* test_poll_newer.c: a reader in a stream of messages polls for the next one before it sleeps; in vain, less and less
 * often. */
#include <unistd.h>

#include "channels/ach/ach.h"
#include "channels/ach/ach_ring.h"
#include "test/lib/lib.h"
#include "test/lib/testcase.h"

static char name[LIB_NAME_LEN];
static ach_channel_t chan;

void setUp(void)
{
	lib_name(name, "poll");
	TEST_ASSERT_EQUAL(ACH_OK, ach_create(name, 8, 64, NULL));
	TEST_ASSERT_EQUAL(ACH_OK, ach_open(&chan, name, NULL));
}

void tearDown(void)
{
	ach_close(&chan);
	ach_unlink(name);
}

static void put(void)
{
	TEST_ASSERT_EQUAL(ACH_OK, ach_put(&chan, "message", 8));
}

static enum ach_status get(const struct timespec *deadline)
{
	char message[64];
	size_t len;

	return ach_get(&chan, message, sizeof(message), &len, deadline, ACH_O_WAIT);
}

/* A message that is there already, then none. */
static void stream_and_wait(void)
{
	const struct timespec past = lib_after_ms(ACH_DEFAULT_CLOCK, -1);

	put();
	TEST_ASSERT_EQUAL(ACH_OK, get(NULL));
	TEST_ASSERT_TRUE(chan.handle->streaming);
	TEST_ASSERT_EQUAL(ACH_TIMEOUT, get(&past));
	TEST_ASSERT_FALSE(chan.handle->streaming);
}

TEST(a_newer_message_ends_the_gap)
{
	chan.handle->poll_gap = 7;
	put();
	TEST_ASSERT_EQUAL(ACH_OK, get(NULL));
	put();
	TEST_ASSERT_TRUE(ach_poll_newer(chan.handle, chan.seq_num));
	TEST_ASSERT_EQUAL(0, chan.handle->poll_gap);
}

TEST(polls_in_vain_become_rare)
{
	static const unsigned int gaps[] = { 1, 3, 7, 15, 31, 63, 127, 127 };

	for (size_t i = 0; i < sizeof(gaps) / sizeof(*gaps); i++) {
		stream_and_wait(); /* looks */
		TEST_ASSERT_EQUAL(gaps[i], chan.handle->poll_gap);
		TEST_ASSERT_EQUAL(gaps[i], chan.handle->poll_in);
		for (unsigned int left = gaps[i]; left--;) {
			stream_and_wait(); /* does not */
			TEST_ASSERT_EQUAL(gaps[i], chan.handle->poll_gap);
			TEST_ASSERT_EQUAL(left, chan.handle->poll_in);
		}
	}
}

static int put_when_asleep(void *reader)
{
	lib_until_asleep(*(const pid_t *)reader);
	return ach_put(&chan, "message", 8) != ACH_OK;
}

TEST(no_poll_after_a_sleep)
{
	pid_t me = getpid(), writer = lib_child(put_when_asleep, &me);
	const struct timespec hang = lib_hang();

	TEST_ASSERT_EQUAL(ACH_OK, get(&hang));
	TEST_ASSERT_EQUAL(0, lib_join(writer));
	TEST_ASSERT_FALSE(chan.handle->streaming);
	TEST_ASSERT_FALSE(ach_poll_newer(chan.handle, chan.seq_num));
	TEST_ASSERT_EQUAL(0, chan.handle->poll_gap);
}
