/* test_drv.c: the loop, from its first tick to its end, on the virtual clock. */
#include <math.h>
#include <signal.h>
#include <sys/socket.h>
#include <sys/un.h>

#include "channels/clock/clock.h"
#include "test/daemons/drv/test_drv_lib.h"
#include "test/lib/testcase.h"

void setUp(void)
{
	drv_lib_begin();
}

void tearDown(void)
{
	drv_lib_end();
}

#define LIFE_AT(ms) (fake.ticks[(ms) / 5].orders.life)
#define STATE(i) (&drv_lib.states[i])
#define FLAGS(i) (drv_lib.states[i].header.flags)

static enum msg_life life_at(unsigned int tick)
{
	return fake.ticks[tick - 1].orders.life;
}

/* ---- ticks and states ---- */

/* Ticks at 0, 5 ... 45 ms and, with the log's last frame, at 50. */
TEST(one_state_for_each_tick)
{
	TEST_ASSERT_EQUAL(0, drv_lib_run(50, ""));
	TEST_ASSERT_EQUAL(11, fake.ticks_n);
	TEST_ASSERT_EQUAL(12, drv_lib.states_n); /* and that of the end */
	TEST_ASSERT_EQUAL(1, drv_lib.firsts_n);
	TEST_ASSERT_EQUAL(MSG_LIFE_STARTING, drv_lib.first.common.lifecycle);
	TEST_ASSERT_TRUE(drv_lib.first.header.flags & MSG_FLAG_PARTIAL);
	TEST_ASSERT_EQUAL(DRV_LIB_START_NS, drv_lib.first.header.t_publish_ns);
	for (unsigned int i = 0; i < 11; i++) {
		TEST_ASSERT_EQUAL(DRV_LIB_START_NS + i * DRV_LIB_TICK_NS, fake.ticks[i].ns);
		TEST_ASSERT_EQUAL(fake.ticks[i].ns, fake.ticks[i].orders.now_ns);
		TEST_ASSERT_EQUAL(fake.ticks[i].ns, fake.ticks[i].orders.tick_ns);
		TEST_ASSERT_EQUAL(i + 1, fake.ticks[i].orders.tick);
		TEST_ASSERT_EQUAL_DOUBLE(0.005, fake.ticks[i].orders.dt_s);
		TEST_ASSERT_EQUAL(fake.ticks[i].ns, STATE(i)->header.t_publish_ns);
		TEST_ASSERT_EQUAL(i + 1, STATE(i)->common.ticks);
		TEST_ASSERT_EQUAL(i + 2, STATE(i)->header.sequence);
		TEST_ASSERT_EQUAL(1, STATE(i)->header.incarnation);
		TEST_ASSERT_EQUAL(MSG_FLAG_REPLAYED, FLAGS(i));
		TEST_ASSERT_EQUAL(0, STATE(i)->common.skipped);
		TEST_ASSERT_EQUAL(0, STATE(i)->common.late_max_ns);
	}
	TEST_ASSERT_EQUAL(MSG_LIFE_DOWN, STATE(11)->common.lifecycle);
	TEST_ASSERT_EQUAL(12, fake.fills);
	TEST_ASSERT_EQUAL_STRING("elbow", STATE(3)->joint[0]);
	TEST_ASSERT_EQUAL(1, STATE(3)->count);
	TEST_ASSERT_EQUAL(1, STATE(3)->common.bus_count);
	TEST_ASSERT_EQUAL_STRING("table", STATE(3)->common.bus[0].name);
	TEST_ASSERT_EQUAL_STRING_LEN("log:/tmp/test-drv-", STATE(3)->common.bus[0].interface, 18);
	TEST_ASSERT_EQUAL(MSG_LINK_ERROR_ACTIVE, STATE(3)->common.bus[0].state);
	TEST_ASSERT_EQUAL(1, STATE(3)->common.bus[0].can_reset);
}

/* What a tick asked for comes 2 ms later, but in the fourth one. */
TEST(complete_as_soon_as_rx_says_so_else_partial_at_the_next_tick)
{
	fake.completes = false;
	fake.completing = 0x182;
	for (int i = 0; i < 8; i++)
		if (i != 3)
			drv_lib_frame(5 * i + 2, "182#00");
	TEST_ASSERT_EQUAL(0, drv_lib_run(39, ""));
	TEST_ASSERT_EQUAL(8, fake.ticks_n);
	TEST_ASSERT_EQUAL(9, drv_lib.states_n);
	for (unsigned int i = 0; i < 8; i++) {
		const int64_t published_ns = DRV_LIB_START_NS + (i == 3 ? 20 : 5 * i + 2) * (int64_t)DRV_LIB_MS;

		TEST_ASSERT_EQUAL(published_ns, STATE(i)->header.t_publish_ns);
		TEST_ASSERT_EQUAL(i == 3 ? MSG_FLAG_PARTIAL : 0, FLAGS(i) & MSG_FLAG_PARTIAL);
		/* the last frame was that of 12 ms */
		TEST_ASSERT_EQUAL(i == 3 ? DRV_LIB_START_NS + 12 * (int64_t)DRV_LIB_MS : published_ns,
				  STATE(i)->header.t_sample_ns);
	}
}

TEST(a_second_complete_sample_in_a_tick_is_not_published)
{
	fake.completes = false;
	fake.completing = 0x182;
	drv_lib_frame(1, "182#00");
	drv_lib_frame(2, "182#01");
	drv_lib_frame(6, "182#02");
	TEST_ASSERT_EQUAL(0, drv_lib_run(9, ""));
	TEST_ASSERT_EQUAL(2, fake.ticks_n);
	TEST_ASSERT_EQUAL(3, fake.got_n);
	TEST_ASSERT_EQUAL(3, drv_lib.states_n);
	TEST_ASSERT_EQUAL(DRV_LIB_START_NS + 6 * (int64_t)DRV_LIB_MS, STATE(1)->header.t_publish_ns);
}

TEST(never_complete_is_partial_at_the_same_rate)
{
	fake.completes = false;
	TEST_ASSERT_EQUAL(0, drv_lib_run(44, ""));
	TEST_ASSERT_EQUAL(9, fake.ticks_n);
	TEST_ASSERT_EQUAL(9, drv_lib.states_n); /* that of the ninth is the end's */
	for (unsigned int i = 0; i < 9; i++)
		TEST_ASSERT_EQUAL(MSG_FLAG_PARTIAL, FLAGS(i) & MSG_FLAG_PARTIAL);
	TEST_ASSERT_EQUAL(MSG_LIFE_DOWN, STATE(8)->common.lifecycle);
	TEST_ASSERT_EQUAL(0, STATE(4)->header.t_sample_ns); /* there was none */
}

/* A clock that is 12 ms late once. */
static int64_t late_ns, late_at_ms;
static unsigned int waits;

static int64_t late_now(void)
{
	return late_ns;
}

static int late_wait(struct clock_fd *fds, size_t n, int64_t deadline_ns)
{
	for (size_t i = 0; i < n; i++)
		fds[i].ready = 0;
	waits++;
	if (deadline_ns == DRV_LIB_START_NS + late_at_ms * DRV_LIB_MS)
		deadline_ns += 12 * (int64_t)DRV_LIB_MS;
	if (deadline_ns > late_ns)
		late_ns = deadline_ns;
	return 0;
}

TEST(late_periods_are_skipped_never_made_up_for)
{
	static const struct clock_source late = { .now = late_now, .real = late_now, .wait = late_wait };

	late_ns = DRV_LIB_START_NS;
	late_at_ms = 20;
	clock_use(&late);
	TEST_ASSERT_EQUAL(0, drv_lib_run(49, ""));
	/* 0 5 10 15, then that of 30 at 32; 20 and 25 are left out; 35 ... */
	TEST_ASSERT_EQUAL(8, fake.ticks_n);
	TEST_ASSERT_EQUAL(DRV_LIB_START_NS + 32 * (int64_t)DRV_LIB_MS, fake.ticks[4].ns);
	TEST_ASSERT_EQUAL(DRV_LIB_START_NS + 30 * (int64_t)DRV_LIB_MS, fake.ticks[4].orders.tick_ns);
	TEST_ASSERT_EQUAL(DRV_LIB_START_NS + 35 * (int64_t)DRV_LIB_MS, fake.ticks[5].ns);
	TEST_ASSERT_EQUAL(2, drv_lib_last()->common.skipped);
	TEST_ASSERT_EQUAL(12 * DRV_LIB_MS, drv_lib_last()->common.late_max_ns);
}

static int broken_wait(struct clock_fd *fds, size_t n, int64_t deadline_ns)
{
	late_wait(fds, n, deadline_ns);
	return waits == 6 ? -ENOMEM : 0;
}

TEST(a_wait_that_fails_is_the_world)
{
	static const struct clock_source broken = { .now = late_now, .real = late_now, .wait = broken_wait };

	late_ns = DRV_LIB_START_NS;
	waits = 0;
	clock_use(&broken);
	TEST_ASSERT_EQUAL(111, drv_lib_run(100, ""));
	TEST_ASSERT_NOT_NULL_MESSAGE(strstr(drv_lib.said, "faked[arm]: fatal: unable to wait: Cannot allocate memory"),
				     drv_lib.said);
}

TEST(incarnations_count_on)
{
	TEST_ASSERT_EQUAL(0, drv_lib_run(10, ""));
	TEST_ASSERT_EQUAL(0, drv_lib_run(10, ""));
	TEST_ASSERT_EQUAL(1, STATE(0)->header.incarnation);
	TEST_ASSERT_EQUAL(2, STATE(drv_lib.states_n - 1)->header.incarnation);
	TEST_ASSERT_EQUAL(2, drv_lib.events[drv_lib.events_n - 1].header.incarnation);
}

/* The p99 is looked at once a second. */
TEST(lateness_is_published)
{
	static const struct clock_source late = { .now = late_now, .real = late_now, .wait = late_wait };

	late_ns = DRV_LIB_START_NS;
	late_at_ms = 400;
	clock_use(&late);
	TEST_ASSERT_EQUAL(0, drv_lib_run(1100, "--set tick=100ms"));
	TEST_ASSERT_EQUAL(0, STATE(2)->common.late_p99_ns);
	TEST_ASSERT_INT64_WITHIN(DRV_LIB_MS, 12 * DRV_LIB_MS, drv_lib_last()->common.late_p99_ns);
}

static unsigned int watched_row;

static int add_watched(struct drv *drv, struct error_sink *errors)
{
	static const struct drv_receive row = {
		.id = 0x183, .any_len = true, .silent_after_ns = 20 * (int64_t)DRV_LIB_MS, .from = "the gauge"
	};

	watched_row = (unsigned int)drv_add_receive(drv, &row, errors);
	return 0;
}

/* ---- streams ---- */

static bool rx_stream(void *self, struct drv *drv, unsigned int row, const struct bus_frame *got)
{
	(void)self;
	fake.got[fake.got_n++] = *got;
	if (!row)
		drv_publish(drv);
	return false;
}

/* Faster than the ticks, in one turn or in several: each sample is a message, with its own time. */
TEST(a_stream_publishes_each_sample)
{
	unsigned int n = 0;

	drv_lib_driver.streams = true;
	drv_lib_driver.ref = 0;
	drv_lib_driver.rx = rx_stream;
	fake.completes = false;
	for (unsigned int i = 0; i < 20; i++)
		drv_lib_frame(10.5 + i / 2, "181#0102"); /* two at a time */
	drv_lib_frame(10.9, "182#");
	TEST_ASSERT_EQUAL(0, drv_lib_run(30, ""));
	for (unsigned int i = 0; i < drv_lib.states_n; i++) {
		if (STATE(i)->header.flags & MSG_FLAG_PARTIAL)
			continue;
		TEST_ASSERT_EQUAL(DRV_LIB_START_NS + (int64_t)(10.5 * DRV_LIB_MS) + (n / 2) * (int64_t)DRV_LIB_MS,
				  STATE(i)->header.t_sample_ns);
		n++;
	}
	TEST_ASSERT_EQUAL(20, n);
}

/* What changes is said at a tick, and every tenth tick that it lives; never as a new sample. */
TEST(a_stream_without_samples_says_that_it_lives)
{
	unsigned int active = 0;

	drv_lib_driver.streams = true;
	drv_lib_driver.ref = 0;
	drv_lib_driver.rx = rx_stream;
	fake.completes = false;
	fake.starts_wanted = 2;
	TEST_ASSERT_EQUAL(0, drv_lib_run(199, ""));
	for (unsigned int i = 0; i < drv_lib.states_n; i++) {
		TEST_ASSERT_TRUE(STATE(i)->header.flags & MSG_FLAG_PARTIAL);
		active += STATE(i)->common.lifecycle == MSG_LIFE_ACTIVE;
	}
	/* at 15 ms, when it had become active, and 50, 100 and 150 ms later */
	TEST_ASSERT_EQUAL(4, active);
}

static int64_t woken_ns[4];
static unsigned int woken_n;

static void wake(void *self, struct drv *drv, int64_t now_ns)
{
	(void)self;
	woken_ns[woken_n++] = now_ns;
	if (woken_n == 1)
		drv_wake_at(drv, now_ns + 100000);
}

static void ask_to_be_woken(void)
{
	drv_wake_at(fake.drv, fake.ticks[fake.ticks_n - 1].ns + 9 * (int64_t)DRV_LIB_MS);
	drv_wake_at(fake.drv, fake.ticks[fake.ticks_n - 1].ns + 3 * (int64_t)DRV_LIB_MS);
}

TEST(woken_between_ticks)
{
	woken_n = 0;
	drv_lib_driver.wake = wake;
	drv_lib_at(2, ask_to_be_woken);
	TEST_ASSERT_EQUAL(0, drv_lib_run(60, ""));
	TEST_ASSERT_EQUAL(2, woken_n);
	TEST_ASSERT_EQUAL(fake.ticks[1].ns + 3 * (int64_t)DRV_LIB_MS, woken_ns[0]);
	TEST_ASSERT_EQUAL(woken_ns[0] + 100000, woken_ns[1]);
	TEST_ASSERT_EQUAL(13, fake.ticks_n); /* as many as without */
}

/* A sensor needs neither start nor tick nor stop: it is there when all that it watches was heard. */
TEST(the_least_driver)
{
	fake.declare = add_watched;
	drv_lib_driver.ref = 0;
	drv_lib_driver.start = NULL;
	drv_lib_driver.tick = NULL;
	drv_lib_driver.stop = NULL;
	drv_lib_frame(12, "183#");
	TEST_ASSERT_EQUAL(0, drv_lib_run(30, ""));
	TEST_ASSERT_EQUAL(MSG_LIFE_STARTING, STATE(3)->common.lifecycle);
	TEST_ASSERT_EQUAL(MSG_LIFE_ACTIVE, drv_lib_last()->common.lifecycle);
}

TEST(without_a_stop_it_ends_at_once)
{
	drv_lib_driver.stop = NULL;
	drv_lib_at(3, drv_lib_stop);
	TEST_ASSERT_EQUAL(0, drv_lib_run(0, ""));
	TEST_ASSERT_EQUAL(3, fake.ticks_n);
	TEST_ASSERT_EQUAL(MSG_LIFE_DOWN, STATE(drv_lib.states_n - 1)->common.lifecycle);
}

/* ---- frames ---- */

TEST(frames_of_unexpected_length_are_counted_and_kept_from_rx)
{
	drv_lib_frame(2, "181#0102");
	drv_lib_frame(11, "181#01");
	drv_lib_frame(21, "181#010203");
	drv_lib_frame(31, "181#0304");
	drv_lib_frame(32, "182#");
	drv_lib_frame(33, "182#0102030405060708");
	drv_lib_frame(34, "183#00");	  /* not declared */
	drv_lib_frame(34, "00000181#00"); /* 29 bits */
	drv_lib_frame(34, "181#R2");
	TEST_ASSERT_EQUAL(0, drv_lib_run(40, ""));
	TEST_ASSERT_EQUAL(2, drv_lib_last()->common.frames_odd);
	TEST_ASSERT_EQUAL(4, fake.got_n);
	TEST_ASSERT_EQUAL(0x01, fake.got[0].frame.data[0]);
	TEST_ASSERT_EQUAL(0x03, fake.got[1].frame.data[0]);
	TEST_ASSERT_EQUAL(0, drv_lib_last()->common.frames_missing);
}

static int add_shorter(struct drv *drv, struct error_sink *errors)
{
	static const struct drv_receive shorter = { .id = 0x181, .len_min = 0, .len_max = 1 };

	return drv_add_receive(drv, &shorter, errors) == 2 ? 0 : -1;
}

/* As devices do that give replies of several kinds one identifier. */
TEST(rows_share_an_identifier_and_differ_in_length)
{
	fake.declare = add_shorter;
	drv_lib_frame(2, "181#0102");
	drv_lib_frame(3, "181#01");
	drv_lib_frame(4, "182#01");
	drv_lib_frame(5, "181#");
	drv_lib_frame(6, "181#010203"); /* neither takes it: counted once */
	TEST_ASSERT_EQUAL(0, drv_lib_run(10, ""));
	TEST_ASSERT_EQUAL(4, fake.got_n);
	TEST_ASSERT_EQUAL_UINT_ARRAY(((unsigned int[]){ 0, 2, 1, 2 }), fake.rows, 4);
	TEST_ASSERT_EQUAL(1, drv_lib_last()->common.frames_odd);
}

/* Also where nothing was ever heard, and of a driver that only listens. */
TEST(a_row_that_is_silent_is_a_fault)
{
	fake.declare = add_watched;
	drv_lib_driver.ref = 0;
	drv_lib_frame(34, "183#");
	drv_lib_frame(40, "182#");
	TEST_ASSERT_EQUAL(0, drv_lib_run(80, ""));
	TEST_ASSERT_EQUAL(MSG_LIFE_ACTIVE, LIFE_AT(20));
	TEST_ASSERT_EQUAL(MSG_LIFE_FAULT, LIFE_AT(25));
	TEST_ASSERT_EQUAL(MSG_LIFE_ACTIVE, LIFE_AT(35));
	TEST_ASSERT_EQUAL(MSG_LIFE_ACTIVE, LIFE_AT(50));
	TEST_ASSERT_EQUAL(MSG_LIFE_FAULT, LIFE_AT(55));
	TEST_ASSERT_EQUAL_STRING("the gauge has been silent for 20 ms", drv_lib_event("silent")->text);
	TEST_ASSERT_EQUAL_STRING("the gauge is heard again", drv_lib_event("heard")->text);
}

static int always_late_wait(struct clock_fd *fds, size_t n, int64_t deadline_ns)
{
	return late_wait(fds, n, deadline_ns + 12 * (int64_t)DRV_LIB_MS);
}

static int add_watched_for_longer(struct drv *drv, struct error_sink *errors)
{
	static const struct drv_receive row = {
		.id = 0x183, .any_len = true, .silent_after_ns = 100 * (int64_t)DRV_LIB_MS, .from = "the gauge"
	};

	return drv_add_receive(drv, &row, errors) < 0;
}

/* Each turn is 12 ms late: two of three cycles are skipped. */
TEST(silence_of_a_machine_that_skips_cycles_is_reported_with_them)
{
	static const struct clock_source late = { .now = late_now, .real = late_now, .wait = always_late_wait };

	late_ns = DRV_LIB_START_NS;
	late_at_ms = 0;
	clock_use(&late);
	fake.declare = add_watched_for_longer;
	drv_lib_driver.ref = 0;
	TEST_ASSERT_EQUAL(0, drv_lib_run(900, ""));
	TEST_ASSERT_NOT_NULL_MESSAGE(strstr(drv_lib_event("silent")->text,
					    "the gauge has been silent for 100 ms; this machine skipped "),
				     drv_lib_event("silent")->text);
}

static bool silent_at[32];
static int64_t heard_at_ns[32];

static void note_silence(void)
{
	silent_at[fake.ticks_n] = drv_silent(fake.drv, watched_row);
	heard_at_ns[fake.ticks_n] = drv_heard_ns(fake.drv, watched_row);
}

TEST(a_driver_sees_when_a_row_was_heard)
{
	fake.declare = add_watched;
	drv_lib_always(note_silence);
	drv_lib_frame(34, "183#");
	TEST_ASSERT_EQUAL(0, drv_lib_run(70, ""));
	TEST_ASSERT_EQUAL(0, heard_at_ns[3]);
	TEST_ASSERT_FALSE(silent_at[3] || silent_at[8] || silent_at[11]);
	TEST_ASSERT_TRUE(silent_at[6] && silent_at[13]);
	TEST_ASSERT_EQUAL(DRV_LIB_START_NS + 34 * (int64_t)DRV_LIB_MS, heard_at_ns[8]);
	TEST_ASSERT_EQUAL(heard_at_ns[8], heard_at_ns[13]);
}

static int add_guard(struct drv *drv, struct error_sink *errors)
{
	static const struct drv_send ask = {
		.row = { .id = 0x701 | FRAME_RTR, .class = SLOTS_LATEST, .period_ns = DRV_LIB_TICK_NS },
		.len = 1,
		.answered = true,
		.reply_id = 0x701,
	};
	static const struct drv_receive answer = { .id = 0x701, .len_min = 1, .len_max = 1 };

	return drv_add_send(drv, &ask, errors) == 2 && drv_add_receive(drv, &answer, errors) == 2 ? 0 : -1;
}

static void send_guard(void)
{
	const struct frame ask = { .id = 0x701 | FRAME_RTR, .len = 1 };

	TEST_ASSERT_EQUAL(0, drv_send(fake.drv, 2, &ask));
}

/* Node guarding: the request is a remote frame, the answer a data frame of the same identifier. */
TEST(a_remote_frame_asks)
{
	fake.declare = add_guard;
	drv_lib_at(2, send_guard);
	drv_lib_frame(7, "701#05");
	drv_lib_frame(8, "701#R1"); /* of another node: no answer */
	TEST_ASSERT_EQUAL(0, drv_lib_run(20, ""));
	TEST_ASSERT_EQUAL(1, fake.sent_n);
	TEST_ASSERT_EQUAL_HEX32(0x701 | FRAME_RTR, fake.sent[0].id);
	TEST_ASSERT_EQUAL(2, fake.sent_row);
	TEST_ASSERT_EQUAL(1, fake.got_n);
	TEST_ASSERT_EQUAL(2, fake.rows[0]);
	TEST_ASSERT_EQUAL(0, drv_lib_last()->common.frames_odd);
}

/* 181 comes every 10 ms: at 0, 10, then not until 45. */
TEST(lost_rates_are_counted)
{
	drv_lib_frame(1, "181#0102");
	drv_lib_frame(11, "181#0102");
	drv_lib_frame(46, "181#0102");
	drv_lib_frame(56, "181#0102");
	TEST_ASSERT_EQUAL(0, drv_lib_run(60, ""));
	TEST_ASSERT_EQUAL(0, STATE(5)->common.frames_missing); /* 25 ms: due until 26 */
	TEST_ASSERT_EQUAL(1, STATE(7)->common.frames_missing); /* 35 ms: counted at 30, behind everything else */
	TEST_ASSERT_EQUAL(2, STATE(9)->common.frames_missing); /* due until 36, too */
	TEST_ASSERT_EQUAL(2, drv_lib_last()->common.frames_missing);
}

TEST(rates_that_are_lost_for_long_are_counted_as_often)
{
	drv_lib_frame(1, "181#0102");
	TEST_ASSERT_EQUAL(0, drv_lib_run(201, "--set tick=100ms"));
	/* due until 16, 26 ... 196 */
	TEST_ASSERT_EQUAL(19, STATE(drv_lib.states_n - 1)->common.frames_missing);
}

TEST(sends_are_confirmed_and_counted)
{
	fake.sends = true;
	TEST_ASSERT_EQUAL(0, drv_lib_run(41, ""));
	TEST_ASSERT_EQUAL(8, fake.sent_n); /* from the second tick on */
	TEST_ASSERT_EQUAL(FAKE_LATEST, fake.sent_row);
	TEST_ASSERT_EQUAL(2, fake.sent[0].data[0]);
	TEST_ASSERT_EQUAL(9, fake.sent[7].data[0]);
	TEST_ASSERT_EQUAL(8, drv_lib_last()->common.bus[0].sent); /* this tick's, too */
	TEST_ASSERT_EQUAL(7, drv_lib_last()->common.bus[0].confirmed);
	TEST_ASSERT_EQUAL(DRV_LIB_START_NS + 35 * (int64_t)DRV_LIB_MS, drv_lib_last()->common.bus[0].last_confirmed_ns);
	TEST_ASSERT_EQUAL(0, fake.got_n); /* own frames are not given to rx */
}

/* ---- life ---- */

TEST(starting_until_start_says_so)
{
	fake.starts_wanted = 4;
	TEST_ASSERT_EQUAL(0, drv_lib_run(40, ""));
	TEST_ASSERT_EQUAL(4, fake.starts);
	for (unsigned int tick = 1; tick <= 4; tick++)
		TEST_ASSERT_EQUAL(MSG_LIFE_STARTING, life_at(tick));
	TEST_ASSERT_EQUAL(MSG_LIFE_DISARMED, life_at(5));
	TEST_ASSERT_FALSE(fake.ticks[4].orders.armed);
	TEST_ASSERT_EQUAL(MSG_LEVEL_ESTOP, fake.ticks[4].orders.level);
	TEST_ASSERT_TRUE(drv_lib_reported("disarmed"));
}

TEST(arming_and_references)
{
	drv_lib_at(3, drv_lib_arm);
	TEST_ASSERT_EQUAL(0, drv_lib_run(30, ""));
	TEST_ASSERT_EQUAL(MSG_LIFE_DISARMED, life_at(3));
	TEST_ASSERT_EQUAL(MSG_LIFE_HOLDING, life_at(4));
	TEST_ASSERT_TRUE(fake.ticks[3].orders.armed);
	TEST_ASSERT_EQUAL(MSG_LEVEL_RUN, fake.ticks[3].orders.level);
	TEST_ASSERT_NULL(fake.ticks[3].orders.ref);
	TEST_ASSERT_EQUAL(MSG_FLAG_HELD, FLAGS(3) & MSG_FLAG_HELD);
	TEST_ASSERT_EQUAL(0, FLAGS(2) & MSG_FLAG_HELD);
	TEST_ASSERT_EQUAL(1, STATE(3)->common.epoch);
	TEST_ASSERT_EQUAL(MSG_LEVEL_RUN, STATE(3)->common.level);
	TEST_ASSERT_EQUAL_STRING("level run, epoch 1, test: to see what happens", drv_lib_event("level-run")->text);
}

DRV_LIB_HOOK(go_on_at_1, drv_lib_put_ref(MSG_MODE_VELOCITY, 1, 20));

TEST(active_with_a_reference_holding_when_it_has_run_out)
{
	drv_lib_at(1, drv_lib_arm);
	for (unsigned int tick = 2; tick <= 6; tick++)
		drv_lib_at(tick, go_on_at_1);
	fake.velocity_rad_s = 1;
	TEST_ASSERT_EQUAL(0, drv_lib_run(80, "--set safe=zero-velocity"));
	TEST_ASSERT_EQUAL(MSG_LIFE_HOLDING, life_at(2));
	for (unsigned int tick = 3; tick <= 10; tick++) { /* put in tick 6, at 25 ms: until 45, that is tick 10 */
		TEST_ASSERT_EQUAL(MSG_LIFE_ACTIVE, life_at(tick));
		TEST_ASSERT_NOT_NULL(fake.ticks[tick - 1].orders.ref);
		TEST_ASSERT_EQUAL(MSG_MODE_VELOCITY, fake.ticks[tick - 1].joint.mode);
		TEST_ASSERT_EQUAL_DOUBLE(1, fake.ticks[tick - 1].joint.velocity_rad_s);
	}
	TEST_ASSERT_EQUAL(MSG_LIFE_HOLDING, life_at(11));
	TEST_ASSERT_NULL(fake.ticks[10].orders.ref);
	TEST_ASSERT_EQUAL_DOUBLE(0, fake.ticks[10].joint.velocity_rad_s);
	TEST_ASSERT_EQUAL(5, drv_lib_last()->common.refs_taken);
}

TEST(the_current_need_not_be_measured)
{
	fake.current_a = NAN;
	drv_lib_at(1, drv_lib_arm);
	drv_lib_always(go_on_at_1);
	TEST_ASSERT_EQUAL(0, drv_lib_run(20, ""));
	TEST_ASSERT_EQUAL_DOUBLE(1, fake.ticks[3].joint.velocity_rad_s);
}

TEST(without_a_position_nothing_moves)
{
	fake.position_rad = NAN;
	drv_lib_at(1, drv_lib_arm);
	drv_lib_always(go_on_at_1);
	TEST_ASSERT_EQUAL(0, drv_lib_run(20, ""));
	TEST_ASSERT_EQUAL(MSG_LIFE_HOLDING, life_at(4));
	TEST_ASSERT_EQUAL_DOUBLE(0, fake.ticks[3].joint.velocity_rad_s);
}

static void limit_acceleration(void)
{
	drv_limits(fake.drv, 0)->acceleration_rad_s2 = 10; /* 0.05 rad/s per tick */
}

static void measured_and_go_on(void)
{
	fake.sample_ns = clock_now_ns();
	go_on_at_1();
}

/* What was measured in the tick of the e-stop is how fast it was when it was halted. */
TEST(after_an_estop_it_begins_at_rest)
{
	drv_lib_at(1, drv_lib_arm);
	drv_lib_always(measured_and_go_on);
	drv_lib_at(5, limit_acceleration);
	drv_lib_at(6, drv_lib_estop);
	drv_lib_at(7, drv_lib_arm);
	fake.velocity_rad_s = 1;
	TEST_ASSERT_EQUAL(0, drv_lib_run(50, ""));
	TEST_ASSERT_EQUAL(MSG_LIFE_ACTIVE, life_at(6));
	TEST_ASSERT_EQUAL_DOUBLE(1, fake.ticks[5].joint.velocity_rad_s);
	TEST_ASSERT_EQUAL(MSG_LIFE_DISARMED, life_at(7));
	TEST_ASSERT_EQUAL(MSG_LIFE_HOLDING, life_at(8));
	TEST_ASSERT_EQUAL_DOUBLE(0, fake.ticks[7].joint.velocity_rad_s);
}

DRV_LIB_HOOK(go_to_1, drv_lib_put_ref(MSG_MODE_POSITION, 1, 20));

static void measured_and_go_to_1(void)
{
	fake.sample_ns = clock_now_ns();
	go_to_1();
}

static void told_to_stand_and_arm(void)
{
	drv_not_driven(fake.drv, 0, true);
	drv_lib_arm();
}

/* The same with tracking: it stood at once, and the measurement is older. */
TEST(after_an_estop_tracking_begins_at_rest)
{
	drv_lib_at(1, drv_lib_arm);
	drv_lib_always(measured_and_go_to_1);
	drv_lib_at(5, limit_acceleration);
	drv_lib_at(6, drv_lib_estop);
	drv_lib_at(7, told_to_stand_and_arm);
	fake.velocity_rad_s = 1;
	TEST_ASSERT_EQUAL(0, drv_lib_run(50, ""));
	TEST_ASSERT_EQUAL(MSG_LIFE_DISARMED, life_at(7));
	TEST_ASSERT_EQUAL(MSG_LIFE_HOLDING, life_at(8));
	TEST_ASSERT_EQUAL_DOUBLE(0, fake.ticks[7].joint.track_rad_s);
	TEST_ASSERT_DOUBLE_WITHIN(1e-9, 0.05, fake.ticks[8].joint.track_rad_s);
}

/* Ramps begin at the measured state after a time without commands. */

static void elsewhere(void)
{
	fake.position_rad = 0.5;
	drv_lib_estop();
}

TEST(ramps_begin_at_what_is_measured)
{
	drv_lib_at(1, drv_lib_arm);
	drv_lib_always(go_to_1);
	drv_lib_at(6, elsewhere);
	drv_lib_at(9, drv_lib_arm);
	fake.declare = NULL;
	TEST_ASSERT_EQUAL(0, drv_lib_run(70, "--set tick=5ms"));
	/* Without limits it is there at once; with none commanded it is where it is. */
	TEST_ASSERT_EQUAL(MSG_LIFE_ACTIVE, life_at(6));
	TEST_ASSERT_EQUAL_DOUBLE(1, fake.ticks[5].joint.position_rad);
	TEST_ASSERT_EQUAL(MSG_LIFE_DISARMED, life_at(7));
	TEST_ASSERT_EQUAL_DOUBLE(0.5, fake.ticks[6].joint.position_rad);
	TEST_ASSERT_EQUAL_DOUBLE(0, fake.ticks[6].joint.velocity_rad_s);
	TEST_ASSERT_EQUAL(MSG_LIFE_HOLDING, life_at(10));
	TEST_ASSERT_EQUAL_DOUBLE(0.5, fake.ticks[9].joint.position_rad);
	TEST_ASSERT_EQUAL(MSG_LIFE_ACTIVE, life_at(11));
}

DRV_LIB_HOOK(measure, fake.sample_ns = clock_now_ns());

/* Its position is unknown since: it has to stand until it is measured again. */
TEST(a_ramp_does_not_begin_where_it_was_long_ago)
{
	fake.sample_ns = DRV_LIB_START_NS - 1000 * DRV_LIB_MS;
	drv_lib_at(1, drv_lib_arm);
	drv_lib_always(go_to_1);
	drv_lib_at(7, measure);
	TEST_ASSERT_EQUAL(0, drv_lib_run(70, "--set tick=5ms"));
	for (int tick = 3; tick <= 7; tick++) {
		TEST_ASSERT_EQUAL(MSG_LIFE_HOLDING, life_at((unsigned int)tick));
		TEST_ASSERT_EQUAL(MSG_MODE_VELOCITY, fake.ticks[tick - 1].joint.mode);
		TEST_ASSERT_EQUAL_DOUBLE(0, fake.ticks[tick - 1].joint.velocity_rad_s);
	}
	TEST_ASSERT_EQUAL(MSG_MODE_POSITION, fake.ticks[7].joint.mode);
	TEST_ASSERT_TRUE(fake.ticks[7].joint.begins);
	for (int tick = 9; tick <= 13; tick++) { /* what has begun goes on, old as the sample may be */
		TEST_ASSERT_EQUAL(MSG_MODE_POSITION, fake.ticks[tick - 1].joint.mode);
		TEST_ASSERT_FALSE(fake.ticks[tick - 1].joint.begins);
	}
}

/* Its last sample is old when it has to stop: it brakes, and is held where it is found. */
TEST(not_to_be_held_where_it_was_long_ago_either)
{
	drv_lib_at(1, drv_lib_arm);
	drv_lib_always(go_on_at_1);
	fake.velocity_rad_s = 1;
	fake.sample_ns = DRV_LIB_START_NS + 4 * DRV_LIB_TICK_NS;
	drv_lib_at(4, limit_acceleration);
	drv_lib_at(8, drv_lib_hold);
	drv_lib_at(11, measure);
	TEST_ASSERT_EQUAL(0, drv_lib_run(70, "--set tick=5ms"));
	TEST_ASSERT_EQUAL(MSG_LIFE_ACTIVE, life_at(8));
	for (int tick = 9; tick <= 11; tick++) {
		TEST_ASSERT_EQUAL(MSG_LIFE_HOLDING, life_at((unsigned int)tick));
		TEST_ASSERT_EQUAL(MSG_MODE_VELOCITY, fake.ticks[tick - 1].joint.mode);
		TEST_ASSERT_DOUBLE_WITHIN(1e-9, 1 - 0.05 * (tick - 8), fake.ticks[tick - 1].joint.velocity_rad_s);
	}
	TEST_ASSERT_EQUAL(MSG_MODE_POSITION, fake.ticks[11].joint.mode);
	TEST_ASSERT_DOUBLE_WITHIN(1e-9, 0.8, fake.ticks[11].joint.velocity_rad_s);
}

TEST(hold_stops_a_driver_that_does_not_balance)
{
	drv_lib_at(1, drv_lib_arm);
	drv_lib_always(go_on_at_1);
	drv_lib_at(5, drv_lib_hold);
	TEST_ASSERT_EQUAL(0, drv_lib_run(45, ""));
	TEST_ASSERT_EQUAL(MSG_LIFE_ACTIVE, life_at(5));
	TEST_ASSERT_EQUAL(MSG_LIFE_HOLDING, life_at(6));
	TEST_ASSERT_FALSE(fake.ticks[5].orders.armed);
	TEST_ASSERT_EQUAL(MSG_LEVEL_HOLD, fake.ticks[5].orders.level);
	TEST_ASSERT_EQUAL(MSG_LEVEL_HOLD, drv_lib_last()->common.level);
}

TEST(a_driver_that_balances_goes_on_at_hold_and_not_at_estop)
{
	drv_lib_at(1, drv_lib_arm);
	drv_lib_always(go_on_at_1);
	drv_lib_at(5, drv_lib_hold);
	drv_lib_at(8, drv_lib_estop);
	TEST_ASSERT_EQUAL(0, drv_lib_run(45, "--set balance=yes"));
	TEST_ASSERT_EQUAL(MSG_LIFE_ACTIVE, life_at(6));
	TEST_ASSERT_TRUE(fake.ticks[5].orders.armed);
	TEST_ASSERT_EQUAL(MSG_LIFE_ACTIVE, life_at(8));
	TEST_ASSERT_EQUAL(MSG_LIFE_DISARMED, life_at(9));
	TEST_ASSERT_FALSE(fake.ticks[8].orders.armed);
}

DRV_LIB_HOOK(break_down, drv_fault(fake.drv, DRV_ALL, "hot", "it is %d K", 400));
DRV_LIB_HOOK(get_well, drv_fault_clear(fake.drv, DRV_ALL, NULL));

TEST(fault_and_well)
{
	drv_lib_at(1, drv_lib_arm);
	drv_lib_always(go_on_at_1);
	drv_lib_at(5, break_down);
	drv_lib_at(6, break_down);
	drv_lib_at(8, get_well);
	TEST_ASSERT_EQUAL(0, drv_lib_run(60, ""));
	TEST_ASSERT_EQUAL(MSG_LIFE_ACTIVE, life_at(5));
	for (unsigned int tick = 6; tick <= 8; tick++)
		TEST_ASSERT_EQUAL(MSG_LIFE_FAULT, life_at(tick));
	TEST_ASSERT_NULL(fake.ticks[5].orders.ref);
	TEST_ASSERT_EQUAL(MSG_LIFE_HOLDING, life_at(9));
	TEST_ASSERT_EQUAL(MSG_LIFE_ACTIVE, life_at(10));
	TEST_ASSERT_EQUAL_STRING("it is 400 K", drv_lib_event("hot")->text);
	TEST_ASSERT_EQUAL(MSG_SEVERITY_ERROR, drv_lib_event("hot")->severity);
	TEST_ASSERT_EQUAL_STRING("hot is over", drv_lib_event("well")->text);
	TEST_ASSERT_EQUAL(1, fake.starts);
}

/* Nothing is commanded at the e-stop, in fault as well: ramps do not go on. */
TEST(a_fault_at_the_estop_commands_nothing)
{
	drv_lib_at(1, drv_lib_arm);
	drv_lib_always(go_to_1);
	drv_lib_at(5, break_down);
	drv_lib_at(6, elsewhere);
	TEST_ASSERT_EQUAL(0, drv_lib_run(50, ""));
	TEST_ASSERT_EQUAL(MSG_LIFE_FAULT, life_at(6));
	TEST_ASSERT_EQUAL_DOUBLE(1, fake.ticks[5].joint.position_rad); /* held where the ramp was */
	TEST_ASSERT_EQUAL(MSG_LIFE_FAULT, life_at(7));
	TEST_ASSERT_EQUAL(MSG_LEVEL_ESTOP, fake.ticks[6].orders.level);
	TEST_ASSERT_EQUAL_DOUBLE(0.5, fake.ticks[6].joint.position_rad); /* where it is */
}

DRV_LIB_HOOK(go_down, drv_start_again(fake.drv));

TEST(down_is_a_new_start)
{
	drv_lib_at(1, drv_lib_arm);
	drv_lib_at(5, go_down);
	TEST_ASSERT_EQUAL(0, drv_lib_run(60, ""));
	TEST_ASSERT_EQUAL(2, fake.starts);
	TEST_ASSERT_EQUAL(MSG_LIFE_STARTING, life_at(6));
	TEST_ASSERT_EQUAL(MSG_LIFE_HOLDING, life_at(7));
}

DRV_LIB_HOOK(begin_homing, drv_homing(fake.drv, true));
DRV_LIB_HOOK(end_homing, drv_homing(fake.drv, false));

TEST(homing_is_a_life_of_its_own)
{
	drv_lib_at(1, drv_lib_arm);
	drv_lib_at(4, begin_homing);
	drv_lib_at(6, end_homing);
	TEST_ASSERT_EQUAL(0, drv_lib_run(60, ""));
	TEST_ASSERT_EQUAL(MSG_LIFE_HOLDING, life_at(4));
	TEST_ASSERT_EQUAL(MSG_LIFE_HOMING, life_at(5));
	TEST_ASSERT_EQUAL(MSG_LIFE_HOMING, life_at(6));
	TEST_ASSERT_EQUAL(MSG_LIFE_HOLDING, life_at(7));
}

TEST(a_sensor_is_active_whatever_the_level)
{
	drv_lib_driver.ref = 0;
	TEST_ASSERT_EQUAL(0, drv_lib_run(30, ""));
	TEST_ASSERT_EQUAL(MSG_LIFE_ACTIVE, life_at(2));
	TEST_ASSERT_NULL(fake.ticks[1].orders.ref);
}

/* ---- buses ---- */

TEST(a_bus_that_is_not_there_is_a_fault_and_no_exit)
{
	drv_lib_at(20, drv_lib_stop);
	TEST_ASSERT_EQUAL(0, drv_lib_main("--name arm --bus wire:nowhere --set lock_memory=no"));
	TEST_ASSERT_EQUAL(MSG_LIFE_FAULT, life_at(1));
	TEST_ASSERT_EQUAL(MSG_LIFE_FAULT, life_at(20));
	TEST_ASSERT_EQUAL_STRING("bus nowhere (wire:nowhere) is absent", drv_lib_event("bus")->text);
	TEST_ASSERT_EQUAL(MSG_LINK_ABSENT, drv_lib_last()->common.bus[0].state);
	TEST_ASSERT_EQUAL(MSG_FLAG_SIMULATED, drv_lib_last()->header.flags & MSG_FLAG_SIMULATED);
}

TEST(a_driver_that_outlives_buses_is_not_in_fault)
{
	drv_lib_driver.outlives_buses = true;
	drv_lib_at(4, drv_lib_stop);
	TEST_ASSERT_EQUAL(0, drv_lib_main("--name arm --bus wire:nowhere --set lock_memory=no"));
	TEST_ASSERT_EQUAL(MSG_LIFE_DISARMED, life_at(3));
	TEST_ASSERT_FALSE(drv_lib_reported("bus"));
}

TEST(bus_off_and_back)
{
	drv_lib_frame(12, "20000040#0000000000000000");
	drv_lib_frame(27, "20000100#0000000000000000");
	TEST_ASSERT_EQUAL(0, drv_lib_run(50, ""));
	TEST_ASSERT_EQUAL(MSG_LIFE_DISARMED, life_at(3));
	TEST_ASSERT_EQUAL(MSG_LIFE_FAULT, life_at(4));
	TEST_ASSERT_EQUAL(MSG_LINK_BUS_OFF, STATE(3)->common.bus[0].state);
	TEST_ASSERT_EQUAL(MSG_LIFE_FAULT, life_at(6));
	TEST_ASSERT_EQUAL(MSG_LIFE_DISARMED, life_at(7));
	TEST_ASSERT_TRUE(drv_lib_reported("bus-back"));
	TEST_ASSERT_EQUAL_STRING_LEN("bus table (log:/tmp/", drv_lib_event("bus")->text, 20);
	TEST_ASSERT_NOT_NULL(strstr(drv_lib_event("bus")->text, ") is bus-off"));
	TEST_ASSERT_EQUAL(0, fake.got_n); /* error frames are the loop's */
}

/* A queued frame without a receiver. */
static void put_queued(void)
{
	const struct frame frame = { .id = 0x202, .len = 8, .data = { 5 } };

	TEST_ASSERT_EQUAL(0, drv_send(fake.drv, FAKE_QUEUE, &frame));
}

TEST(lost_frames_are_reported)
{
	drv_lib_at(2, put_queued);
	drv_lib_at(20, drv_lib_stop);
	TEST_ASSERT_EQUAL(0, drv_lib_main("--name arm --bus wire:nowhere --set lock_memory=no"));
	TEST_ASSERT_EQUAL(1, fake.lost_n);
	TEST_ASSERT_EQUAL(FAKE_QUEUE, fake.lost_row);
	TEST_ASSERT_EQUAL(5, fake.lost[0].data[0]);
	TEST_ASSERT_EQUAL(1, drv_lib_last()->common.bus[0].lost);
}

TEST(a_driver_need_not_handle_losses_and_echoes)
{
	drv_lib_driver.lost = NULL;
	drv_lib_driver.sent = NULL;
	drv_lib_at(2, put_queued);
	drv_lib_at(20, drv_lib_stop);
	TEST_ASSERT_EQUAL(0, drv_lib_main("--name arm --bus wire:nowhere --set lock_memory=no"));
	TEST_ASSERT_EQUAL(1, drv_lib_last()->common.bus[0].lost);
	fake.sends = true;
	TEST_ASSERT_EQUAL(0, drv_lib_run(20, ""));
	TEST_ASSERT_EQUAL(0, fake.sent_n + fake.lost_n);
}

/* ---- the end ---- */

TEST(asked_to_stop_it_leaves_the_device_safe)
{
	fake.stops_wanted = 4;
	fake.sends = true;
	drv_lib_at(5, drv_lib_stop);
	TEST_ASSERT_EQUAL(0, drv_lib_run(0, ""));
	TEST_ASSERT_EQUAL(4, fake.stops);
	TEST_ASSERT_EQUAL(9, fake.ticks_n);
	TEST_ASSERT_EQUAL(MSG_LIFE_STOPPING, life_at(6));
	TEST_ASSERT_EQUAL(MSG_LIFE_STOPPING, life_at(9));
	TEST_ASSERT_EQUAL(MSG_LIFE_STOPPING, drv_lib_last()->common.lifecycle);
	TEST_ASSERT_EQUAL(MSG_LIFE_DOWN, STATE(drv_lib.states_n - 1)->common.lifecycle);
}

static void stop_twice(void)
{
	drv_lib_stop();
	kill(getpid(), SIGINT);
}

TEST(a_stop_that_does_not_end_is_ended)
{
	fake.stops_wanted = 1000;
	drv_lib_at(5, stop_twice);
	TEST_ASSERT_EQUAL(0, drv_lib_run(0, ""));
	TEST_ASSERT_EQUAL(100, fake.stops); /* half a second */
}

static void put_last(void)
{
	put_queued();
	drv_lib_stop();
}

TEST(what_stop_sends_is_waited_for)
{
	drv_lib_at(5, put_last);
	TEST_ASSERT_EQUAL(0, drv_lib_main("--name arm --bus wire:nowhere --set lock_memory=no"));
	TEST_ASSERT_EQUAL(4, fake.stops); /* it is lost after 20 ms */
	TEST_ASSERT_EQUAL(1, STATE(drv_lib.states_n - 1)->common.bus[0].lost);
}

TEST(notices_reach_the_supervisor)
{
	struct sockaddr_un to = { .sun_family = AF_UNIX };
	const int fd = socket(AF_UNIX, SOCK_DGRAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0);
	char all[4096] = "", one[512];
	ssize_t n;

	snprintf(to.sun_path, sizeof(to.sun_path), "%s/notify", drv_lib.folder);
	TEST_ASSERT_EQUAL(0, bind(fd, (struct sockaddr *)&to, sizeof(to)));
	setenv("NOTIFY_SOCKET", to.sun_path, 1);
	fake.starts_wanted = 5;
	drv_lib_at(60, drv_lib_stop);
	TEST_ASSERT_EQUAL(0, drv_lib_run(0, ""));
	while ((n = recv(fd, one, sizeof(one) - 1, 0)) > 0) {
		one[n] = 0;
		snprintf(all + strlen(all), sizeof(all) - strlen(all), "%s|", one);
	}
	close(fd);
	unsetenv("NOTIFY_SOCKET");
	TEST_ASSERT_NOT_NULL_MESSAGE(strstr(all, "READY=1"), all);
	TEST_ASSERT_NULL_MESSAGE(strstr(strstr(all, "READY=1") + 1, "READY=1"), all);
	TEST_ASSERT_NOT_NULL_MESSAGE(strstr(all, "WATCHDOG=1"), all);
	TEST_ASSERT_NOT_NULL_MESSAGE(strstr(all, "STATUS=disarmed"), all);
	TEST_ASSERT_NOT_NULL_MESSAGE(strstr(all, "STOPPING=1"), all);
	TEST_ASSERT_EQUAL_STRING("", drv_lib.said); /* a supervisor reads the events */
}

/* A fault of the device keeps it from being ready. */
TEST(not_ready_while_in_fault)
{
	struct sockaddr_un to = { .sun_family = AF_UNIX };
	const int fd = socket(AF_UNIX, SOCK_DGRAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0);
	char one[512];
	ssize_t n;

	snprintf(to.sun_path, sizeof(to.sun_path), "%s/notify", drv_lib.folder);
	TEST_ASSERT_EQUAL(0, bind(fd, (struct sockaddr *)&to, sizeof(to)));
	setenv("NOTIFY_SOCKET", to.sun_path, 1);
	drv_lib_at(1, break_down);
	TEST_ASSERT_EQUAL(0, drv_lib_run(100, ""));
	while ((n = recv(fd, one, sizeof(one) - 1, 0)) > 0) {
		one[n] = 0;
		TEST_ASSERT_NULL_MESSAGE(strstr(one, "READY"), one);
	}
	close(fd);
	unsetenv("NOTIFY_SOCKET");
}
