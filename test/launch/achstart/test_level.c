/* test_level.c: how achstart looks after the e-stop, and one arm request: a supervisor with one driver, whose state the
 * test writes, and channels of its own. */
#include <fcntl.h>
#include <sys/stat.h>

#include "test/lib/testcase.h"

#include "channels/clock/clock.h"
#include "channels/estop/estop_lower.h"
#include "launch/achstart/supervise.h"
#include "launch/view/robot_channels.h"
#include "test/launch/achstart/rig.h"

#define SECOND 1000000000LL

static struct supervisor s;
static struct launch launch;
static struct launch_daemon daemon_of_waist = {
	.name = "waist", .kind = LAUNCH_DRIVER, .alive = LAUNCH_ALIVE_STATE, .dead_after_ns = SECOND, .wanted = true
};
static struct supervised waist;
static struct estop other; /* an operator, or a driver */
static int64_t now_ns;

static void set_up(int arm)
{
	memset(&s, 0, sizeof(s));
	memset(&waist, 0, sizeof(waist));
	launch = (struct launch){ .arm = arm, .operators = LAUNCH_NO_GROUP };
	waist.daemon = &daemon_of_waist;
	waist.policy.state = POLICY_READY;
	s.launch = &launch;
	s.supervised = &waist;
	s.n = 1;
	now_ns = clock_now_ns();
	events_open(&s.events, &(struct error_sink){ 0 });
	TEST_ASSERT_EQUAL(0, level_open(&s, now_ns, &(struct error_sink){ 0 }));
	waist.published.there = true;
	memcpy(waist.published.common.boot, s.estop.boot, sizeof(s.estop.boot));
	waist.published.common.level = MSG_LEVEL_ESTOP;
	TEST_ASSERT_EQUAL(0, robot_level_open(&other, false, &(struct error_sink){ 0 }));
}

static void tear_down(bool stopped)
{
	estop_close(&other);
	level_close(&s, stopped);
	events_close(&s.events);
}

void setUp(void)
{
	rig_in_real_time = true;
	rig_open("include: @BENCH@\ndaemons: {}\n");
	set_up(LAUNCH_ARM_NO);
}

void tearDown(void)
{
	tear_down(false);
	rig_close();
}

static void update(unsigned int times)
{
	for (; times; times--) {
		now_ns += SUPERVISE_LOOK_NS;
		waist.published.header.t_publish_ns = now_ns;
		level_update(&s, now_ns);
	}
}

static uint64_t written(void)
{
	estop_read(&other, now_ns);
	return other.channel[0].window.newest + other.channel[1].window.newest;
}

static void raise_it(enum msg_level level)
{
	estop_read(&other, now_ns);
	TEST_ASSERT_EQUAL(0, estop_raise(&other, level, "eve", 1007, "smoke", &(struct error_sink){ 0 }));
}

/* ---- trouble ---- */

static void put_garbage(const char *channel, size_t size)
{
	static const char garbage[1000];
	char name[PORT_NAME_MAX];
	ach_channel_t chan;

	TEST_ASSERT_EQUAL(0, port_name(name, channel));
	TEST_ASSERT_EQUAL(ACH_OK, ach_open(&chan, name, NULL));
	TEST_ASSERT_EQUAL(ACH_OK, ach_put(&chan, garbage, size));
	ach_close(&chan);
}

static void garbage_4(void)
{
	put_garbage("estop", 4);
}

static void garbage_600(void)
{
	put_garbage("estop-b", 600);
}

static void garbage_800_twice(void)
{
	put_garbage("estop", 800);
	put_garbage("estop-b", 800);
}

static void removed(void)
{
	char name[PORT_NAME_MAX];

	TEST_ASSERT_EQUAL(0, port_name(name, "estop"));
	TEST_ASSERT_EQUAL(ACH_OK, ach_unlink(name));
}

static void condemned(void)
{
	TEST_ASSERT_EQUAL(ACH_OK, ach_condemn(&other.channel[1].chan));
}

/* Mode looser than it may be: another user could have made it so. */
static void looser(void)
{
	char name[PORT_NAME_MAX];
	ach_channel_t chan;

	TEST_ASSERT_EQUAL(0, port_name(name, "estop"));
	TEST_ASSERT_EQUAL(ACH_OK, ach_unlink(name));
	TEST_ASSERT_EQUAL(ACH_OK, ach_create(name, 64, 512, NULL));
	TEST_ASSERT_EQUAL(ACH_OK, ach_open(&chan, name, NULL));
	TEST_ASSERT_EQUAL(ACH_OK, ach_chmod(&chan, 0666));
	ach_close(&chan);
}

TEST(trouble_is_reported_once_and_mended_once)
{
	static const struct {
		void (*make)(void);
		unsigned int invalid, created;
		uint64_t writes; /* by achstart: one copy of what lies in estop-b, at most */
	} table[] = {
		{ garbage_4, 1, 0, 0 }, { garbage_600, 1, 0, 1 }, { garbage_800_twice, 1, 0, 1 },
		{ removed, 0, 1, 0 },	{ condemned, 0, 1, 0 },	  { looser, 0, 1, 0 },
	};

	for (size_t i = 0; i < sizeof(table) / sizeof(*table); i++) {
		char which[32];
		uint64_t before;
		int64_t created_ns;

		tear_down(false);
		rig_close();
		rig_open("include: @BENCH@\ndaemons: {}\n");
		set_up(LAUNCH_ARM_NO);
		update(3);
		snprintf(which, sizeof(which), "row %zu", i);
		table[i].make();
		before = written();
		update(5);
		created_ns = s.level.created_ns;
		update(200);
		TEST_ASSERT_EQUAL_MESSAGE(table[i].invalid, rig_events("achstart", "estop"), which);
		TEST_ASSERT_EQUAL_MESSAGE(table[i].created, rig_events("achstart", "corrupt"), which);
		TEST_ASSERT_EQUAL_MESSAGE(created_ns, s.level.created_ns, which);
		TEST_ASSERT_EQUAL_MESSAGE(MSG_LEVEL_ESTOP, s.estop.level, which);
		TEST_ASSERT_TRUE_MESSAGE(s.estop.channel[0].open && s.estop.channel[1].open, which);
		estop_maintain(&other, now_ns);
		if (!table[i].created)
			TEST_ASSERT_EQUAL_MESSAGE(before + table[i].writes, written(), which);
		else
			TEST_ASSERT_TRUE_MESSAGE(written() <= 1, which);
	}
}

TEST(a_channel_removed_in_every_look_is_created_once_a_second)
{
	update(1);
	for (int i = 0; i < 150; i++) {
		char name[PORT_NAME_MAX];

		port_name(name, "estop-b");
		ach_unlink(name);
		update(1);
	}
	TEST_ASSERT_TRUE(rig_events("achstart", "corrupt") <= 3);
	TEST_ASSERT_TRUE(rig_events("achstart", "corrupt") > 0);
}

TEST(garbage_in_every_look_is_reported_every_ten_seconds)
{
	for (int i = 0; i < 600; i++) { /* 12 s */
		garbage_4();
		update(1);
	}
	TEST_ASSERT_EQUAL(2, rig_events("achstart", "estop"));
	TEST_ASSERT_TRUE(rig_reported("achstart", "estop", "and 49"));
}

/* ---- arming ---- */

static struct arming request(void)
{
	estop_maintain(&other, now_ns);
	estop_read(&other, now_ns);
	return (struct arming){ .who = "ann",
				.uid = 1001,
				.seen = estop_seen(&other),
				.until_ns = now_ns + 60 * SECOND,
				.lower_ns = ESTOP_LOWER_NS };
}

/* As far as the lowering. */
static void begin(void)
{
	const struct arming r = request();

	arming_begin(&s, &r, now_ns);
	for (int i = 0; i < 100 && s.arming.state == ARMING_QUIET; i++)
		update(1);
	TEST_ASSERT_EQUAL_MESSAGE(ARMING_PUT, s.arming.state, s.arming.why.text);
	update(1);
}

static void take_it(void)
{
	struct msg_common *c = &waist.published.common;

	c->base_chan = s.arming.seen.id[0];
	c->base_seq = s.arming.base;
	c->level = c->base_level = MSG_LEVEL_RUN;
}

TEST(a_request_that_every_driver_takes_is_done)
{
	begin();
	update(2);
	TEST_ASSERT_EQUAL(ARMING_PUT, s.arming.state);
	take_it();
	update(1);
	TEST_ASSERT_EQUAL(ARMING_DONE, s.arming.state);
	TEST_ASSERT_EQUAL(1, s.arming.taken);
	TEST_ASSERT_EQUAL(MSG_LEVEL_RUN, s.estop.level);
	TEST_ASSERT_TRUE(rig_reported("achstart", "armed", "armed by ann"));
}

static void too_late(void)
{
	update(100);
}

static void the_asker_is_gone(void)
{
	arming_cancel(&s, "gone", now_ns);
}

static void eve_holds(void)
{
	raise_it(MSG_LEVEL_HOLD);
	update(1);
}

static void it_is_removed(void)
{
	removed();
	update(2);
}

static void it_is_condemned(void)
{
	ach_condemn(&other.channel[0].chan);
	update(2);
}

static void the_driver_obeys_another(void)
{
	take_it();
	waist.published.common.base_seq--;
	update(100);
}

static void the_driver_is_at_hold(void)
{
	take_it();
	waist.published.common.level = MSG_LEVEL_HOLD;
	update(100);
}

/* Without an end of the lowering, no driver that comes later obeys it either. */
TEST(a_refused_request_has_no_effect_at_any_time)
{
	static const struct {
		void (*spoil)(void);
		const char *why;
	} table[] = {
		{ too_late, "waist has not taken it: its state says level estop" },
		{ the_asker_is_gone, "gone" },
		{ eve_holds, "level hold, raised since by eve: smoke" },
		{ it_is_removed, "level estop" },
		{ it_is_condemned, "level estop" },
		{ the_driver_obeys_another, "waist has not taken it" },
		{ the_driver_is_at_hold, "waist has not taken it: its state says level hold" },
	};

	for (size_t i = 0; i < sizeof(table) / sizeof(*table); i++) {
		static struct estop driver;
		struct estop_kept saved;

		tear_down(false);
		rig_close();
		rig_open("include: @BENCH@\ndaemons: {}\n");
		set_up(LAUNCH_ARM_NO);
		raise_it(MSG_LEVEL_ESTOP);
		update(5);
		begin();
		estop_read(&other, clock_now_ns()); /* a driver that obeys it, and dies */
		TEST_ASSERT_EQUAL(MSG_LEVEL_RUN, other.level);
		saved = estop_kept(&other);
		table[i].spoil();
		if (s.arming.state != ARMING_REFUSED || !strstr(s.arming.why.text, table[i].why))
			TEST_FAIL_MESSAGE(s.arming.why.text);
		TEST_ASSERT_EQUAL(1, rig_events("achstart", "not-armed"));
		update(5);
		estop_maintain(&other, now_ns);
		estop_read(&other, clock_now_ns());
		TEST_ASSERT_EQUAL_MESSAGE(MSG_LEVEL_ESTOP, other.level, table[i].why);
		/* A driver that starts now, and its successor. */
		robot_level_open(&driver, false, &(struct error_sink){ 0 });
		TEST_ASSERT_EQUAL(MSG_LEVEL_ESTOP, estop_read(&driver, clock_now_ns()));
		estop_rule_start(&driver.rule, &saved, driver.boot);
		TEST_ASSERT_EQUAL_MESSAGE(MSG_LEVEL_ESTOP, estop_read(&driver, clock_now_ns()), table[i].why);
		estop_close(&driver);
	}
}

/* It has taken it, and publishes once a second. */
TEST(a_driver_may_publish_later_that_it_has_taken_it)
{
	begin();
	for (int i = 0; i < 40; i++) { /* silent for 0.8 s */
		now_ns += SUPERVISE_LOOK_NS;
		level_update(&s, now_ns);
		TEST_ASSERT_EQUAL(ARMING_PUT, s.arming.state);
	}
	take_it();
	update(1);
	TEST_ASSERT_EQUAL(ARMING_DONE, s.arming.state);
}

TEST(the_asker_waits_only_so_long)
{
	struct arming r = request();

	r.until_ns = now_ns + 100000000;
	arming_begin(&s, &r, now_ns);
	update(2);
	now_ns += SECOND;
	update(1);
	TEST_ASSERT_EQUAL(ARMING_REFUSED, s.arming.state);
	r.until_ns = now_ns - 1;
	arming_begin(&s, &r, now_ns);
	TEST_ASSERT_EQUAL(ARMING_REFUSED, s.arming.state);
}

TEST(an_unseen_raise_refuses_the_arming)
{
	struct arming r;
	uint64_t before;

	update(2);
	r = request();
	raise_it(MSG_LEVEL_HOLD);
	before = written();
	arming_begin(&s, &r, now_ns);
	TEST_ASSERT_EQUAL(ARMING_REFUSED, s.arming.state);
	TEST_ASSERT_EQUAL_STRING("level raised since by eve: smoke", s.arming.why.text);
	TEST_ASSERT_EQUAL(before, written());
	/* Before it is quiet. */
	update(5);
	r = request();
	s.level.quiet_since_ns = now_ns;
	arming_begin(&s, &r, now_ns);
	TEST_ASSERT_EQUAL(ARMING_QUIET, s.arming.state);
	raise_it(MSG_LEVEL_HOLD);
	update(1);
	TEST_ASSERT_EQUAL(ARMING_REFUSED, s.arming.state);
	TEST_ASSERT_EQUAL(0, s.level.epoch.last);
}

/* ---- epochs ---- */

static void write_epoch(const char *text)
{
	char path[600];
	FILE *f;

	snprintf(path, sizeof(path), "%s/epoch", rig.run);
	f = fopen(path, "w");
	TEST_ASSERT_NOT_NULL(f);
	fputs(text, f);
	fclose(f);
	chmod(path, 0600);
}

TEST(epochs_are_kept)
{
	static const struct {
		const char *text;
		uint64_t last;
		bool ended_well;
	} table[] = {
		{ NULL, 0, true },
		{ "7\n", 7, false },
		{ "7 ended well\n", 7, true },
		{ "18446744073709551615\n", UINT64_MAX, false },
		{ "18446744073709551616\n", 0, false },
		{ "7 ended\n", 0, false },
		{ "7", 0, false },
		{ "", 0, false },
		{ "-7\n", 0, false },
		{ "x\n", 0, false },
	};
	char path[600];

	snprintf(path, sizeof(path), "%s/epoch", rig.run);
	for (size_t i = 0; i < sizeof(table) / sizeof(*table); i++) {
		struct epoch e;

		if (table[i].text)
			write_epoch(table[i].text);
		e = epoch_read();
		TEST_ASSERT_EQUAL_UINT64_MESSAGE(table[i].last, e.last, table[i].text);
		TEST_ASSERT_EQUAL_MESSAGE(table[i].ended_well, e.ended_well, table[i].text);
		TEST_ASSERT_EQUAL(0, epoch_write(&(struct epoch){ 8, i % 2 }, &(struct error_sink){ 0 }));
		e = epoch_read();
		TEST_ASSERT_EQUAL(8, e.last);
		TEST_ASSERT_EQUAL(i % 2, e.ended_well);
	}
	TEST_ASSERT_EQUAL(0, chmod(path, 0666));
	TEST_ASSERT_FALSE(epoch_read().ended_well);
	TEST_ASSERT_EQUAL(0, unlink(path));
	TEST_ASSERT_EQUAL(0, symlink("/etc/hostname", path));
	TEST_ASSERT_FALSE(epoch_read().ended_well);
	TEST_ASSERT_EQUAL(0, epoch_write(&(struct epoch){ 9, true }, &(struct error_sink){ 0 }));
	TEST_ASSERT_EQUAL(9, epoch_read().last);
}

/* A label is never reused after channels were removed; an absurd label does not prevent arming. */
TEST(epochs_outlive_the_channels)
{
	begin();
	TEST_ASSERT_EQUAL(1, s.arming.epoch);
	take_it();
	update(1);
	removed();
	update(60);
	begin();
	TEST_ASSERT_EQUAL(2, s.arming.epoch);
	arming_cancel(&s, "x", now_ns);
	tear_down(false);
	set_up(LAUNCH_ARM_NO);
	update(5);
	begin();
	TEST_ASSERT_EQUAL(3, s.arming.epoch);
	arming_cancel(&s, "x", now_ns);
	s.level.epoch.last = UINT64_MAX;
	update(5);
	begin();
	TEST_ASSERT_EQUAL(1, s.arming.epoch);
}

/* ---- arm: auto ---- */

static bool arms_itself(void)
{
	for (int i = 0; i < 20; i++) {
		update(1);
		if (s.arming.state == ARMING_PUT) {
			update(1);
			take_it();
		}
	}
	return s.arming.state == ARMING_DONE && s.arming.by_itself;
}

static void begin_auto(const char *epoch)
{
	char name[PORT_NAME_MAX];

	tear_down(false);
	for (int c = 0; c < ESTOP_CHANNELS; c++) {
		port_name(name, c ? "estop-b" : "estop");
		ach_unlink(name);
	}
	if (epoch)
		write_epoch(epoch);
	set_up(LAUNCH_ARM_AUTO);
	level_begin(&s, false, now_ns);
}

TEST(auto_arms_after_a_clean_stop)
{
	begin_auto(NULL);
	TEST_ASSERT_TRUE(arms_itself());
	tear_down(true);
	TEST_ASSERT_TRUE(epoch_read().ended_well);
	TEST_ASSERT_EQUAL(1, epoch_read().last);
	set_up(LAUNCH_ARM_AUTO); /* its channels are there still */
	level_begin(&s, false, now_ns);
	TEST_ASSERT_FALSE(arms_itself());
	begin_auto("7 ended well\n");
	TEST_ASSERT_TRUE(arms_itself());
	TEST_ASSERT_EQUAL(8, s.arming.epoch);
}

TEST(auto_never_overrides_a_raise)
{
	begin_auto("7\n"); /* killed */
	TEST_ASSERT_FALSE(arms_itself());
	begin_auto("7 ended well\n");
	raise_it(MSG_LEVEL_HOLD);
	TEST_ASSERT_FALSE(arms_itself());
	begin_auto("7 ended well\n");
	garbage_4();
	TEST_ASSERT_FALSE(arms_itself());
	begin_auto("7 ended well\n");
	update(1);
	waist.policy.state = POLICY_STARTING;
	raise_it(MSG_LEVEL_ESTOP);
	removed(); /* and what was raised with it */
	update(60);
	waist.policy.state = POLICY_READY;
	TEST_ASSERT_FALSE(arms_itself());
	begin_auto("7 ended well\n");
	level_raise(&s, MSG_LEVEL_HOLD, "legs", "legs keeps dying", now_ns);
	TEST_ASSERT_FALSE(arms_itself());
}

/* Every process was killed, and the states say run. */
TEST(a_robot_comes_up_at_estop)
{
	struct estop_kept saved;

	update(3);
	begin();
	take_it();
	update(1);
	TEST_ASSERT_EQUAL(ARMING_DONE, s.arming.state);
	estop_read(&other, clock_now_ns());
	saved = estop_kept(&other);
	TEST_ASSERT_EQUAL(MSG_LEVEL_RUN, other.level);
	tear_down(false);
	set_up(LAUNCH_ARM_AUTO);
	level_begin(&s, false, now_ns);
	estop_rule_start(&other.rule, &saved, other.boot);
	TEST_ASSERT_EQUAL(MSG_LEVEL_ESTOP, estop_read(&other, clock_now_ns()));
	TEST_ASSERT_FALSE(arms_itself());
}

/* ---- raising ---- */

TEST(achstart_raises_only_a_lower_level)
{
	uint64_t before;

	update(3);
	before = written();
	level_raise(&s, MSG_LEVEL_HOLD, "legs", "legs keeps dying", now_ns);
	TEST_ASSERT_EQUAL(before, written());
	begin();
	take_it();
	update(1);
	TEST_ASSERT_TRUE(level_raise(&s, MSG_LEVEL_HOLD, "legs", "legs keeps dying", now_ns));
	TEST_ASSERT_EQUAL(0, rig_events("legs", "raised")); /* whoever reads it may kill us before more is kept */
	level_say_raised(&s, MSG_LEVEL_HOLD, "legs", "legs keeps dying", now_ns);
	TEST_ASSERT_EQUAL(1, rig_events("legs", "raised"));
	for (int i = 0; i < 30; i++)
		TEST_ASSERT_FALSE(level_raise(&s, MSG_LEVEL_HOLD, "legs", "legs keeps dying", now_ns));
	TEST_ASSERT_EQUAL(MSG_LEVEL_HOLD, s.estop.level);
	before = written();
	level_raise(&s, MSG_LEVEL_ESTOP, "legs", "legs has failed", now_ns);
	TEST_ASSERT_TRUE(written() > before);
}

TEST(a_user_raises_whatever_lies_in_the_channels)
{
	static void (*const table[])(void) = { garbage_4, garbage_600, garbage_800_twice, removed, condemned, looser };

	for (size_t i = 0; i < sizeof(table) / sizeof(*table); i++) {
		update(60);
		estop_maintain(&other, now_ns);
		estop_read(&other, now_ns);
		table[i]();
		TEST_ASSERT_EQUAL(0, level_raise_for(&s, MSG_LEVEL_HOLD, "eve", 1007, "smoke", now_ns,
						     &(struct error_sink){ 0 }));
		update(1);
		TEST_ASSERT_EQUAL(MSG_LEVEL_ESTOP, s.estop.level);
		TEST_ASSERT_TRUE(rig_reported("achstart", "raised", "level hold by eve: smoke"));
	}
}

/* ---- what drivers obey ---- */

TEST(the_newest_lowering_obeyed_is_inherited)
{
	const uint64_t boot[2] = { 1, 2 }, none[2] = { 0, 0 };
	struct msg_common c = { .boot = { 1, 2 }, .base_chan = 5, .base_seq = 7, .base_level = MSG_LEVEL_RUN };
	struct estop_kept saved = { 0 };

	estop_lower_add(&saved, &c, none, 5);
	estop_lower_add(&saved, &c, boot, 6);
	TEST_ASSERT_EQUAL(0, saved.base);
	estop_lower_add(&saved, &c, boot, 5);
	TEST_ASSERT_EQUAL(7, saved.base);
	TEST_ASSERT_EQUAL(MSG_LEVEL_RUN, saved.level);
	c.base_level = MSG_LEVEL_HOLD;
	estop_lower_add(&saved, &c, boot, 5);
	TEST_ASSERT_EQUAL(MSG_LEVEL_HOLD, saved.level);
	c.base_level = MSG_LEVEL_RUN;
	estop_lower_add(&saved, &c, boot, 5);
	TEST_ASSERT_EQUAL(MSG_LEVEL_HOLD, saved.level);
	c.base_seq = 6;
	estop_lower_add(&saved, &c, boot, 5);
	TEST_ASSERT_EQUAL(7, saved.base);
	c.base_seq = 8;
	c.base_level = 99;
	estop_lower_add(&saved, &c, boot, 5);
	TEST_ASSERT_EQUAL(8, saved.base);
	TEST_ASSERT_EQUAL(MSG_LEVEL_ESTOP, saved.level);
	TEST_ASSERT_FALSE(estop_lower_is_taken(&(struct msg_common){ 0 }, boot, 0, 0));
}
