/* test_snapshot.c: what ach ls and ach info show of a channel. */
#include <sys/types.h>
#include <sys/wait.h>

#include "test/lib/clock_virtual.h"
#include "test/lib/testcase.h"

#include "channels/ach/ach_ring.h"
#include "channels/clock/clock.h"
#include "channels/rec/snapshot.h"

static ach_channel_t chan;
static char name[ACH_CHAN_NAME_MAX];

void setUp(void)
{
	snprintf(name, sizeof(name), "t-snapshot-%d", (int)getpid());
	TEST_ASSERT_EQUAL(ACH_OK, ach_create(name, 4, sizeof(struct msg_imu), NULL));
	TEST_ASSERT_EQUAL(ACH_OK, ach_open(&chan, name, NULL));
	clock_use_virtual(1000000000);
}

void tearDown(void)
{
	clock_use(&clock_real);
	ach_close(&chan);
	ach_unlink(name);
}

static struct msg_imu imu(int64_t published_ns)
{
	struct msg_imu msg;

	msg_init(&msg, msg_type_by_name("imu"));
	msg.header.t_publish_ns = published_ns;
	return msg;
}

/* ---- looking ---- */

TEST(test_empty)
{
	struct snapshot snap;

	snapshot_take(&snap, &chan);
	TEST_ASSERT_EQUAL(ACH_OK, snap.status);
	TEST_ASSERT_EQUAL_UINT64(0, snap.seq);
	TEST_ASSERT_EQUAL(0, snap.len);
	TEST_ASSERT_EQUAL(0, snap.retained);
	TEST_ASSERT_EQUAL_UINT32(0, snap.writer);
	TEST_ASSERT_NULL(snap.type);
	TEST_ASSERT_FALSE(snap.waited);
}

TEST(test_ours)
{
	struct msg_imu msg = imu(400000000);
	struct snapshot snap;

	for (int i = 0; i < 6; i++)
		TEST_ASSERT_EQUAL(ACH_OK, ach_put(&chan, &msg, sizeof(msg)));
	for (int i = 0; i < 2; i++) { /* the second time nothing is unseen */
		snapshot_take(&snap, &chan);
		TEST_ASSERT_EQUAL(ACH_OK, snap.status);
		TEST_ASSERT_EQUAL_UINT64(6, snap.seq);
		TEST_ASSERT_EQUAL(sizeof(msg), snap.len);
		TEST_ASSERT_EQUAL(4, snap.retained);
		TEST_ASSERT_EQUAL_UINT32(getpid(), snap.writer);
		TEST_ASSERT_EQUAL_STRING("imu", snap.type->name);
		TEST_ASSERT_EQUAL_INT64(600000000, snapshot_age_ns(&snap));
	}
}

TEST(test_foreign)
{
	struct msg_imu msg = imu(1);
	struct snapshot snap;

	TEST_ASSERT_EQUAL(ACH_OK, ach_put(&chan, "x", 1));
	snapshot_take(&snap, &chan);
	TEST_ASSERT_EQUAL(ACH_OK, snap.status);
	TEST_ASSERT_EQUAL(1, snap.len);
	TEST_ASSERT_NULL(snap.type);
	TEST_ASSERT_EQUAL(MSG_SHORT, snap.refusal);

	msg.header.version++;
	TEST_ASSERT_EQUAL(ACH_OK, ach_put(&chan, &msg, sizeof(msg)));
	snapshot_take(&snap, &chan);
	TEST_ASSERT_NULL(snap.type);
	TEST_ASSERT_EQUAL(MSG_OTHER_VERSION, snap.refusal);

	msg.header.version--;
	TEST_ASSERT_EQUAL(ACH_OK, ach_put(&chan, &msg, sizeof(msg) - 1));
	snapshot_take(&snap, &chan);
	TEST_ASSERT_NULL(snap.type);
	TEST_ASSERT_EQUAL(MSG_OTHER_SIZE, snap.refusal);
}

TEST(test_corrupt)
{
	struct snapshot snap;

	TEST_ASSERT_EQUAL(ACH_OK, ach_put(&chan, "x", 1));
	atomic_store(&chan.handle->shm->index[1].len, 0);
	snapshot_take(&snap, &chan);
	TEST_ASSERT_EQUAL(ACH_CORRUPT, snap.status);
}

/* A snapshot neither takes messages from this handle's readers nor makes a writer ring. */
TEST(test_no_trace)
{
	struct snapshot snap;
	uint64_t hint = atomic_load(chan.handle->hint);

	TEST_ASSERT_EQUAL(ACH_OK, ach_put(&chan, "x", 1));
	snapshot_take(&snap, &chan);
	snapshot_take(&snap, &chan);
	TEST_ASSERT_EQUAL_UINT64(hint, atomic_load(chan.handle->hint));
	TEST_ASSERT_FALSE(snap.waited);
	ach_ring_bell(chan.handle, 2); /* as a waiter for message 2 does */
	snapshot_take(&snap, &chan);
	TEST_ASSERT_TRUE(snap.waited);
}

/* ---- rates ---- */

static struct snapshot seen(uint64_t seq, int64_t at_ms, int64_t published_ms)
{
	return (struct snapshot){ .seq = seq,
				  .at_ns = at_ms * 1000000,
				  .type = published_ms < 0 ? NULL : msg_type_by_name("imu"),
				  .header.t_publish_ns = published_ms * 1000000 };
}

static void expect_rate(double hz, struct snapshot first, struct snapshot second)
{
	TEST_ASSERT_DOUBLE_WITHIN(1e-9 * (1 + hz), hz, snapshot_rate(&first, &second));
}

TEST(test_rate)
{
	expect_rate(0, seen(5, 0, -1), seen(5, 500, -1));
	expect_rate(10, seen(5, 0, -1), seen(10, 500, -1));
	expect_rate(0, seen(5, 0, -1), seen(4, 500, -1)); /* replaced meanwhile */
	expect_rate(0, seen(5, 0, -1), seen(9, 0, -1));
	/* 7 Hz: 3 or 4 of them fit into half a second, their own times know better */
	expect_rate(1000.0 * 3 / 429, seen(5, 1000, 900), seen(8, 1500, 1329));
	expect_rate(1000.0 * 4 / 571, seen(5, 1000, 900), seen(9, 1500, 1471));
	/* times of another clock, or the same again */
	expect_rate(10, seen(5, 1000, 900), seen(10, 1500, 950));
	expect_rate(10, seen(5, 1000, 900), seen(10, 1500, 9000));
	expect_rate(10, seen(5, 1000, 900), seen(10, 1500, 900));
	expect_rate(10, seen(5, 1000, 900), seen(10, 1500, 100));
	/* the first message ever came in between */
	expect_rate(2, seen(0, 1000, -1), seen(1, 1500, 1400));
}

/* ---- words ---- */

static void expect_age(const char *text, int64_t ns)
{
	char got[SNAPSHOT_TEXT_MAX];

	snapshot_age_text(got, ns);
	TEST_ASSERT_EQUAL_STRING(text, got);
}

static void expect_hz(const char *text, double hz)
{
	char got[SNAPSHOT_TEXT_MAX];

	snapshot_rate_text(got, hz);
	TEST_ASSERT_EQUAL_STRING(text, got);
}

TEST(test_words)
{
	expect_age("future", -1);
	expect_age("0 ns", 0);
	expect_age("999 ns", 999);
	expect_age("1.00 us", 1000);
	expect_age("3.14 ms", 3141592);
	expect_age("99.9 ms", 99944000);
	expect_age("100 ms", 99960000);
	expect_age("59.0 s", 59000000000);
	expect_age("1.50 min", 90000000000);
	expect_age("2.00 h", 7200000000000);
	expect_age("106752 d", INT64_MAX);
	expect_hz("0 Hz", 0);
	expect_hz("6 Hz", 6);
	expect_hz("0.333 Hz", 1.0 / 3);
	expect_hz("99.3 Hz", 99.3);
	expect_hz("200 Hz", 200.2);
	expect_hz("1000 Hz", 999.6);
	expect_hz("8000 Hz", 8000.4);
	expect_hz("12346 Hz", 12345.6);
}

TEST(test_alive)
{
	pid_t child = fork();

	if (!child)
		_exit(0);
	TEST_ASSERT_TRUE(child > 0);
	TEST_ASSERT_TRUE(snapshot_alive((uint32_t)child)); /* at least a zombie */
	TEST_ASSERT_EQUAL(child, waitpid(child, NULL, 0));
	TEST_ASSERT_FALSE(snapshot_alive((uint32_t)child));
	TEST_ASSERT_TRUE(snapshot_alive((uint32_t)getpid()));
	TEST_ASSERT_TRUE(snapshot_alive(1)); /* perhaps another user's */
	TEST_ASSERT_FALSE(snapshot_alive(0));
	TEST_ASSERT_FALSE(snapshot_alive(UINT32_MAX)); /* -1 would be every process */
}
