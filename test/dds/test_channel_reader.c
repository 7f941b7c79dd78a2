/* test_channel_reader.c: channels that are waited for, polled while much comes, and waited for again; no message is
 * missed. */
#include <errno.h>
#include <unistd.h>

#include "test/lib/testcase.h"

#include "launch/achdds/channel_reader.h"
#include "test/lib/lib.h"

#define READERS 4
#define US INT64_C(1000)
#define MS INT64_C(1000000)

static char names[READERS][LIB_NAME_LEN];
static ach_channel_t writers[READERS];
static struct channel_reader all[READERS];
static struct channel_readers readers;
static uint64_t put_n[READERS], got_n[READERS];
static int64_t now_ns;

void setUp(void)
{
	ach_create_attr_t attr;

	lib_watchdog("test_channel_reader", LIB_HANG_S);
	ach_create_attr_init(&attr);
	ach_create_attr_set_mode(&attr, 0600, (gid_t)-1);
	readers = (struct channel_readers){ .owner = geteuid() };
	now_ns = 1000 * MS;
	TEST_ASSERT_EQUAL(0, clock_set_open(&readers.set));
	for (size_t i = 0; i < READERS; i++) {
		lib_name(names[i], "reader");
		LIB_ASSERT_STATUS(ACH_OK, ach_create(names[i], 64, sizeof(uint64_t), &attr));
		LIB_ASSERT_STATUS(ACH_OK, ach_open(&writers[i], names[i], NULL));
		all[i] = (struct channel_reader){ 0 };
		put_n[i] = got_n[i] = 0;
	}
}

void tearDown(void)
{
	for (size_t i = 0; i < READERS; i++) {
		channel_reader_close(&readers, &all[i]);
		ach_close(&writers[i]);
	}
	clock_set_close(readers.set);
}

static void put(size_t i)
{
	put_n[i]++;
	LIB_ASSERT_STATUS(ACH_OK, ach_put(&writers[i], &put_n[i], sizeof(put_n[i])));
}

/* At most that many; each is the next one. */
static void get(size_t i, int most)
{
	uint64_t value;
	size_t len;
	int n = 0;

	for (; n < most && ach_get(&all[i].chan, &value, sizeof(value), &len, NULL, 0) == ACH_OK; n++)
		TEST_ASSERT_EQUAL_UINT64(++got_n[i], value);
	channel_reader_read(&readers, &all[i], now_ns, n, n == most);
}

/* One turn of the loop; until_ns is the deadline of its wait. */
static int turn(int64_t until_ns, int most)
{
	uint32_t tags[READERS];
	int n;

	for (size_t i = 0; i < READERS; i++)
		if (all[i].polled)
			get(i, most);
	channel_reader_due(&readers, now_ns);
	n = clock_set_wait(readers.set, tags, READERS, until_ns);
	TEST_ASSERT_GREATER_OR_EQUAL(0, n);
	for (int i = 0; i < n; i++) {
		channel_reader_seen(&readers, &all[tags[i]], now_ns);
		get(tags[i], most);
	}
	return n;
}

static void open_all(void)
{
	for (size_t i = 0; i < READERS; i++)
		TEST_ASSERT_EQUAL(0, channel_reader_open(&readers, &all[i], names[i], (uint32_t)i));
	turn(0, 64);
	TEST_ASSERT_EQUAL(0, readers.polled);
}

static void assert_none_missing(void)
{
	for (size_t i = 0; i < READERS; i++)
		TEST_ASSERT_EQUAL_UINT64(put_n[i], got_n[i]);
}

/* What was put in a channel that is waited for is reported in its time; a polled one is read at once. */
static int64_t until_read_ns(size_t i)
{
	return all[i].polled ? 0 : clock_now_ns() + 100000 * MS;
}

/* Much comes: after some turns all are polled, and the set reports none of them. */
static void flood(void)
{
	for (int k = 0; k < 40 * READERS; k++) {
		put((size_t)k % READERS);
		now_ns += 20 * US;
		turn(until_read_ns((size_t)k % READERS), 64);
	}
	TEST_ASSERT_EQUAL(READERS, readers.polled);
	put(0);
	TEST_ASSERT_EQUAL(0, turn(clock_now_ns() + 20 * MS, 64));
	turn(0, 64);
	assert_none_missing();
}

static void assert_waits(void)
{
	for (size_t i = 0; i < READERS; i++) {
		now_ns += MS;
		put(i);
		do /* the report of one that was read while it was polled may come first */
			turn(until_read_ns(i), 64);
		while (got_n[i] != put_n[i]);
	}
	assert_none_missing();
}

TEST(few_messages_are_waited_for)
{
	open_all();
	for (int k = 0; k < 100; k++) {
		assert_waits();
		TEST_ASSERT_EQUAL(0, readers.polled);
	}
}

TEST(a_burst_is_waited_for)
{
	open_all();
	for (int k = 0; k < 20; k++) {
		now_ns += 20 * MS;
		for (size_t i = 0; i < READERS; i++) {
			put(i);
			turn(clock_now_ns() + 100000 * MS, 64);
		}
		TEST_ASSERT_EQUAL(0, readers.polled);
	}
	assert_none_missing();
}

TEST(many_messages_are_polled)
{
	open_all();
	flood();
	TEST_ASSERT_EQUAL(now_ns + CHANNEL_READER_PERIOD_NS, channel_reader_due(&readers, now_ns));
}

TEST(a_slow_channel_beside_busy_ones_is_waited_for)
{
	open_all();
	for (int k = 0; k < 40 * (READERS - 1); k++) {
		put((size_t)k % (READERS - 1));
		if (k == 12) /* more have come than in a burst, and are still waited for */
			put(READERS - 1);
		now_ns += 20 * US;
		turn(until_read_ns((size_t)k % (READERS - 1)), 64);
		while (got_n[READERS - 1] != put_n[READERS - 1])
			turn(until_read_ns(READERS - 1), 64);
		TEST_ASSERT_FALSE(all[READERS - 1].polled);
	}
	for (int k = 0; k < 5; k++) {
		now_ns += 11 * MS;
		put(0);
		put(READERS - 1);
		TEST_ASSERT_EQUAL(1, turn(clock_now_ns() + 100000 * MS, 64));
		TEST_ASSERT_FALSE(all[READERS - 1].polled);
	}
	turn(0, 64);
	assert_none_missing();
}

TEST(messages_from_before_are_read)
{
	put(1);
	put(1);
	for (size_t i = 0; i < READERS; i++)
		TEST_ASSERT_EQUAL(0, channel_reader_open(&readers, &all[i], names[i], (uint32_t)i));
	turn(0, 64);
	assert_none_missing();
	TEST_ASSERT_EQUAL(CLOCK_NEVER, channel_reader_due(&readers, now_ns));
	assert_waits();
}

TEST(a_silent_channel_is_waited_for_again)
{
	open_all();
	flood();
	now_ns += 51 * MS;
	turn(0, 64);
	/* Put before it was waited for, and after it was read last. */
	put(2);
	turn(0, 64);
	turn(0, 64);
	TEST_ASSERT_EQUAL(0, readers.polled);
	assert_none_missing();
	assert_waits();
}

/* They go on, but so few that it does not pay to poll. */
TEST(channels_of_a_calm_bridge_are_waited_for_again)
{
	open_all();
	flood();
	for (int k = 0; k < 1100 && readers.polled; k++) {
		now_ns += CHANNEL_READER_PERIOD_NS;
		if (k % 5 == 0)
			put((size_t)k % READERS);
		turn(0, 64);
	}
	turn(0, 64);
	TEST_ASSERT_EQUAL(0, readers.polled);
	assert_none_missing();
	assert_waits();
}

TEST(channels_of_a_busy_bridge_stay_polled)
{
	open_all();
	flood();
	for (int k = 0; k < 2000; k++) {
		now_ns += CHANNEL_READER_PERIOD_NS;
		for (size_t i = 0; i < READERS; i++)
			put(i);
		turn(0, 64);
		TEST_ASSERT_EQUAL(READERS, readers.polled);
	}
	turn(0, 64);
	assert_none_missing();
}

TEST(a_batch_that_does_not_hold_all_is_followed_by_another)
{
	open_all();
	for (int k = 0; k < 10; k++)
		put(3);
	TEST_ASSERT_EQUAL(1, turn(clock_now_ns() + 100000 * MS, 4));
	TEST_ASSERT_EQUAL_UINT64(4, got_n[3]);
	TEST_ASSERT_EQUAL(now_ns + CHANNEL_READER_PERIOD_NS, channel_reader_due(&readers, now_ns));
	turn(0, 4);
	turn(0, 4);
	assert_none_missing();
	TEST_ASSERT_EQUAL(0, readers.polled);
	assert_waits();
}

TEST(a_removed_channel_is_closed)
{
	open_all();
	flood();
	LIB_ASSERT_STATUS(ACH_OK, ach_unlink(names[0]));
	for (size_t i = 0; i < READERS; i++) {
		channel_reader_check(&readers, &all[i]);
		TEST_ASSERT_EQUAL(i > 0, all[i].open);
	}
	TEST_ASSERT_EQUAL(READERS - 1, readers.polled);
	channel_reader_read(&readers, &all[0], now_ns, true, true);
	TEST_ASSERT_EQUAL(READERS - 1, readers.polled);
	TEST_ASSERT_EQUAL(-ENOENT, channel_reader_open(&readers, &all[0], names[0], 0));
	TEST_ASSERT_FALSE(all[0].open);
	/* Removed while it is polled, and to be waited for again. */
	LIB_ASSERT_STATUS(ACH_OK, ach_unlink(names[1]));
	now_ns += 51 * MS;
	get(1, 64);
	TEST_ASSERT_FALSE(all[1].open);
}

TEST(a_quiet_one_is_only_read)
{
	TEST_ASSERT_EQUAL(0, channel_reader_open_quiet(&readers, &all[0], names[0]));
	put(0);
	TEST_ASSERT_EQUAL(0, turn(clock_now_ns() + 10 * MS, 64));
	get(0, 64);
	assert_none_missing();
	TEST_ASSERT_EQUAL(0, readers.polled);
}
