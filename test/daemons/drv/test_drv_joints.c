/* test_drv_joints.c: what the loop commands to each joint in a tick, by how it is measured and what may move. */
#include <math.h>

#include "daemons/drv/drv_inside.h"
#include "test/lib/testcase.h"

#define MS (int64_t)1000000
#define PERIOD (5 * MS)
#define DT 0.005
#define STEP 0.01 /* acceleration 2 for a tick */
#define NOW (1000000 * MS)
#define NEVER INT64_MAX /* an age */
#define UNTOUCHED 77

static struct drv_bus buses[3];
static struct drv drv;
static int64_t now_ns;

static void measure(unsigned int joint, double rad, double rad_s, int64_t age_ns)
{
	struct msg_joint_state *state = &drv.state.joints;

	state->header.t_publish_ns = now_ns;
	state->position[joint] = rad;
	state->velocity[joint] = rad_s;
	state->current[joint] = NAN;
	state->age_ns[joint] = age_ns;
}

static void want(unsigned int joint, enum msg_mode mode, double value)
{
	struct msg_joint_ref *ref = &drv.refs[drv.ref].joint_ref;

	ref->mode[joint] = (uint8_t)mode;
	ref->position[joint] = ref->velocity[joint] = ref->current[joint] = value;
}

void setUp(void)
{
	static const struct drv_driver driver = { .program = "faked" };

	memset(&drv, 0, sizeof(drv));
	memset(buses, 0, sizeof(buses));
	drv.buses = buses;
	now_ns = NOW;
	drv.driver = &driver;
	drv.up = drv.ref_there = true;
	drv.joint_life[0] = drv.joint_life[1] = MSG_LIFE_ACTIVE;
	drv.estop.level = MSG_LEVEL_RUN;
	drv.tick.period_ns = PERIOD;
	drv.ref = 1;
	drv.joints_n = 2;
	for (unsigned int i = 0; i < 2; i++) {
		drv.limits[i] = (struct drv_ref_limits){ -2, 2, 0.5, 2, 10, INFINITY, INFINITY };
		drv.gains_1_s[i] = 10;
		measure(i, 0, 0, 0);
	}
	strcpy(drv.joints[0], "hip");
	strcpy(drv.joints[1], "knee");
	drv.buses_n = 2;
	for (unsigned int i = 0; i < 2; i++)
		drv.buses[i].moves = drv.buses[i].slots.proven = true;
	/* Behind the last of each lies something that would matter. */
	drv.buses[2].moves = true;
	want(2, MSG_MODE_VELOCITY, 0.1);
	drv.state.joints.age_ns[2] = NEVER;
	drv.commands[2].current_a = UNTOUCHED;
}

/* A tick, in which what is measured is new unless age says otherwise. */
static const struct drv_ref_command *tick(void)
{
	now_ns += PERIOD;
	drv.state.joints.header.t_publish_ns = now_ns;
	drv_joints_command(&drv, DT, now_ns);
	TEST_ASSERT_TRUE(drv.commands[2].current_a == UNTOUCHED);
	return &drv.commands[0];
}

#define NEAR(expected, actual) TEST_ASSERT_DOUBLE_WITHIN(1e-9, expected, actual)

/* ---- who is followed ---- */

TEST(each_joint_follows_its_own)
{
	want(0, MSG_MODE_VELOCITY, 0.4);
	want(1, MSG_MODE_CURRENT, 3);
	tick();
	NEAR(STEP, drv.commands[0].velocity_rad_s);
	NEAR(STEP, drv.commands[0].track_rad_s);
	TEST_ASSERT_EQUAL(MSG_MODE_CURRENT, drv.commands[1].mode);
	NEAR(3, drv.commands[1].current_a);
	TEST_ASSERT_FALSE(drv.commands[1].stops);
	tick();
	NEAR(2 * STEP, drv.commands[0].velocity_rad_s);
	NEAR(2 * STEP, drv.commands[0].track_rad_s);
	want(0, MSG_MODE_POSITION, 1);
	TEST_ASSERT_EQUAL(MSG_MODE_POSITION, tick()->mode);
	NEAR(1, drv.ramps[0].target_rad);
}

TEST(nothing_is_followed)
{
	const struct {
		enum msg_life life;
		bool there, up;
		enum msg_level level;
		uint32_t latches;
	} cases[] = {
		{ MSG_LIFE_HOLDING, true, true, MSG_LEVEL_RUN, 0 },  { MSG_LIFE_ACTIVE, false, true, MSG_LEVEL_RUN, 0 },
		{ MSG_LIFE_ACTIVE, true, false, MSG_LEVEL_RUN, 0 },  { MSG_LIFE_ACTIVE, true, true, MSG_LEVEL_HOLD, 0 },
		{ MSG_LIFE_ACTIVE, true, true, MSG_LEVEL_ESTOP, 0 }, { MSG_LIFE_ACTIVE, true, true, MSG_LEVEL_RUN, 1 },
	};

	for (size_t i = 0; i < sizeof(cases) / sizeof(*cases); i++) {
		setUp();
		want(0, MSG_MODE_VELOCITY, 0.4);
		drv.joint_life[0] = cases[i].life;
		drv.ref_there = cases[i].there;
		drv.up = cases[i].up;
		drv.estop.level = cases[i].level;
		drv.latches = cases[i].latches;
		TEST_ASSERT_TRUE(tick()->stops);
		NEAR(0, drv.commands[0].velocity_rad_s);
		NEAR(0, drv.commands[0].track_rad_s);
	}
}

/* ---- how old is what is measured? ---- */

/* Whether a ramp begins, at the place that the joint has come to since. */
TEST(an_old_sample_begins_no_ramp)
{
	const struct {
		int64_t age_ns;
		double rad; /* NaN: it comes to rest */
	} cases[] = {
		{ 0, 1 },   { MS, 1 + 0.0002 }, { 2 * PERIOD - 1, 1 + 0.002 }, { 2 * PERIOD, NAN }, { 3 * PERIOD, NAN },
		{ -MS, 1 }, /* of a clock that is ahead */
	};

	for (size_t i = 0; i < sizeof(cases) / sizeof(*cases); i++) {
		setUp();
		want(0, MSG_MODE_POSITION, 1.5);
		measure(0, 1, 0.2, cases[i].age_ns);
		if (isnan(cases[i].rad)) {
			TEST_ASSERT_EQUAL(MSG_MODE_VELOCITY, tick()->mode);
			NEAR(0, drv.commands[0].velocity_rad_s);
			continue;
		}
		TEST_ASSERT_EQUAL(MSG_MODE_POSITION, tick()->mode);
		NEAR(0.2 + STEP, drv.commands[0].velocity_rad_s);
		NEAR(cases[i].rad + DT * (0.2 + STEP), drv.commands[0].position_rad);
	}
}

/* A ramp that goes on needs none, and what the joint is behind is made up for only when it is known. */
TEST(an_old_sample_lets_a_ramp_go_on)
{
	want(0, MSG_MODE_POSITION, 1.5);
	measure(0, 1, 0.2, 0);
	tick();
	measure(0, 1, 0.2, 3 * PERIOD);
	TEST_ASSERT_EQUAL(MSG_MODE_POSITION, tick()->mode);
	NEAR(0.2 + 2 * STEP, drv.commands[0].velocity_rad_s);
	NEAR(0.2 + 2 * STEP, drv.commands[0].track_rad_s);
	measure(0, 0.99, 0.2, 0); /* far behind, and now it is known */
	tick();
	NEAR(0.2 + 3 * STEP, drv.commands[0].velocity_rad_s);
	NEAR(0.2 + 3 * STEP, drv.commands[0].track_rad_s);
	for (int i = 0; i < 3; i++) /* the ramp is as fast as it may be before the joint is */
		tick();
	TEST_ASSERT_TRUE(drv.commands[0].track_rad_s >= drv.commands[0].velocity_rad_s);
}

/* How fast it may go depends on how long it goes on: until the next tick. */
TEST(a_joint_that_was_held_back_can_stop_in_time)
{
	const double room = 0.01, a = 2;

	drv.gains_1_s[0] = 1000;
	want(0, MSG_MODE_POSITION, 0);
	tick();
	measure(0, -room, 0, 0);
	for (int i = 0; i < 100; i++)
		tick();
	NEAR(2 * room / (DT + sqrt(DT * DT + 2 * room / a)), drv.commands[0].track_rad_s);
}

static void stale(int64_t period_ns, int64_t age_ns, const char *joint)
{
	const char *is;

	drv.tick.period_ns = period_ns;
	measure(1, 0, 0, age_ns);
	is = drv_joints_stale(&drv, now_ns);
	if (joint)
		TEST_ASSERT_EQUAL_STRING(joint, is);
	else
		TEST_ASSERT_NULL(is);
}

TEST(a_sample_of_long_ago_is_stale)
{
	stale(PERIOD, NEVER, NULL); /* nothing is wanted of it */
	want(1, MSG_MODE_VELOCITY, 0.1);
	stale(PERIOD, 40 * MS - 1, NULL);
	stale(PERIOD, 40 * MS, "knee");
	stale(20 * MS, 80 * MS - 1, NULL);
	stale(20 * MS, 80 * MS, "knee");
	stale(PERIOD, NEVER, "knee");
	stale(PERIOD, 0, NULL);
	drv.state.joints.position[1] = NAN;
	TEST_ASSERT_EQUAL_STRING("knee", drv_joints_stale(&drv, now_ns));
	drv.joint_faulty[1] = true; /* it is not followed anyway, and keeps no other from that */
	TEST_ASSERT_NULL(drv_joints_stale(&drv, now_ns));
}

/* Then what it once measured is neither where it is nor how fast. */
TEST(a_stale_velocity_begins_nothing)
{
	drv.setup.safe = DRV_REF_ZERO_VELOCITY;
	want(0, MSG_MODE_VELOCITY, 0.4);
	measure(0, 1, 0.3, 50 * MS);
	tick();
	TEST_ASSERT_TRUE(fabs(drv.commands[0].velocity_rad_s) <= STEP + 1e-9);
	TEST_ASSERT_TRUE(fabs(drv.commands[0].track_rad_s) <= STEP + 1e-9);
}

TEST(without_a_position)
{
	drv.ramps[1].no_position = true;
	want(1, MSG_MODE_CURRENT, 2);
	/* with a velocity, which may be old */
	measure(1, NAN, 0.1, 0);
	TEST_ASSERT_NULL(drv_joints_stale(&drv, now_ns));
	measure(1, NAN, 0.1, 40 * MS);
	TEST_ASSERT_EQUAL_STRING("knee", drv_joints_stale(&drv, now_ns));
	/* and without */
	measure(1, NAN, NAN, NEVER);
	TEST_ASSERT_NULL(drv_joints_stale(&drv, now_ns));
	tick();
	TEST_ASSERT_EQUAL(MSG_MODE_CURRENT, drv.commands[1].mode);
	NEAR(2, drv.commands[1].current_a);
}

/* Without one its ramp begins whatever else is old. */
TEST(without_a_position_and_a_velocity_all_is_fresh)
{
	drv.ramps[0].no_position = true;
	measure(0, NAN, NAN, NEVER);
	want(0, MSG_MODE_VELOCITY, 0.4);
	TEST_ASSERT_FALSE(tick()->stops);
	NEAR(STEP, drv.commands[0].velocity_rad_s);
	tick();
	NEAR(2 * STEP, drv.commands[0].velocity_rad_s);
}

TEST(a_measured_current_begins_a_slew)
{
	drv.limits[0].current_slew_a_s = 100;
	want(0, MSG_MODE_CURRENT, 5);
	drv.state.joints.current[0] = 2;
	NEAR(2.5, tick()->current_a);
	setUp();
	drv.limits[0].current_slew_a_s = 100;
	want(0, MSG_MODE_CURRENT, 5);
	NEAR(0.5, tick()->current_a); /* not measured: 0 */
}

/* ---- e-stop ---- */

/* What is measured then says how it braked: the next ramp begins at rest. */
TEST(after_an_estop_it_begins_at_rest)
{
	want(0, MSG_MODE_VELOCITY, 0.4);
	measure(0, 0, 0.3, 0);
	NEAR(0.3 + STEP, tick()->velocity_rad_s);
	drv.estop.level = MSG_LEVEL_ESTOP;
	tick();
	TEST_ASSERT_FALSE(drv.ramps[0].begun);
	TEST_ASSERT_TRUE(drv.halted[0]);
	NEAR(0.3, drv.commands[0].track_rad_s); /* to 0, within the limit */
	drv.estop.level = MSG_LEVEL_RUN;
	tick();
	NEAR(STEP, drv.commands[0].velocity_rad_s);
	TEST_ASSERT_FALSE(drv.halted[0]);
	tick();
	NEAR(2 * STEP, drv.commands[0].velocity_rad_s);
	NEAR(2 * STEP, drv.commands[0].track_rad_s);
}

/* Not up: nothing is commanded, not even a stop. */
TEST(before_it_is_up_nothing_is_kept)
{
	drv.up = false;
	measure(0, 0, 0.3, 0);
	tick();
	TEST_ASSERT_FALSE(drv.ramps[0].begun);
	TEST_ASSERT_FALSE(drv.halted[0]);
	TEST_ASSERT_FALSE(drv.tracks[0].on);
	drv.up = true;
	want(0, MSG_MODE_VELOCITY, 0.4);
	NEAR(0.3 + STEP, tick()->velocity_rad_s);
	TEST_ASSERT_TRUE(drv.tracks[0].on);
}

TEST(not_driven)
{
	want(0, MSG_MODE_VELOCITY, 0.4);
	measure(0, 0, 0.3, 0);
	tick();
	drv_not_driven(&drv, 0, false);
	TEST_ASSERT_FALSE(drv.ramps[0].begun);
	TEST_ASSERT_FALSE(drv.tracks[0].on);
	measure(0, 0, 0.1, 0);
	NEAR(0.1 + STEP, tick()->velocity_rad_s);
	NEAR(0.1 + STEP, drv.commands[0].track_rad_s);
	drv_not_driven(&drv, 0, true);
	NEAR(STEP, tick()->velocity_rad_s);
	NEAR(STEP, drv.commands[0].track_rad_s);
}

/* ---- freezes ---- */

static void is_at_rest(const struct drv_ref_command *command)
{
	TEST_ASSERT_EQUAL(MSG_MODE_VELOCITY, command->mode);
	TEST_ASSERT_TRUE(command->stops);
	NEAR(0, command->velocity_rad_s);
	NEAR(0, command->track_rad_s);
}

TEST(a_bus_that_is_not_proven)
{
	for (unsigned int bus = 0; bus < 2; bus++) {
		setUp();
		want(0, MSG_MODE_VELOCITY, 0.4);
		measure(0, 0, 0.3, 0);
		NEAR(0.3 + STEP, tick()->velocity_rad_s);
		drv.buses[bus].slots.proven = false;
		is_at_rest(tick());
		is_at_rest(&drv.commands[1]);
		TEST_ASSERT_EQUAL(now_ns, drv.frozen_ns);
		is_at_rest(tick());
		TEST_ASSERT_EQUAL(now_ns, drv.frozen_ns); /* as long as it lasts */
		drv.buses[bus].moves = false;
		drv.buses[bus].slots.proven = true;
		measure(0, 0, 0, 0);
		is_at_rest(tick()); /* measured after it: that it stands is known from now on */
		NEAR(STEP, tick()->velocity_rad_s);
	}
	setUp();
	drv.up = drv.buses[0].slots.proven = false; /* it is still starting: there was no command */
	tick();
	TEST_ASSERT_FALSE(drv.frozen[0]);
	setUp();
	drv.buses[0].moves = drv.buses[0].slots.proven = false; /* nothing that moves hangs there */
	want(0, MSG_MODE_VELOCITY, 0.4);
	NEAR(STEP, tick()->velocity_rad_s);
}

/* A joint that moves at rad_s when it was measured at_ns after the freeze: does it rest for a tick only? */
static bool rests_on(double rad_s, int64_t at_ns)
{
	setUp();
	want(0, MSG_MODE_VELOCITY, 0.4);
	tick();
	drv_joints_freeze(&drv, now_ns);
	now_ns += at_ns - PERIOD;
	measure(0, 0, rad_s, 0);
	is_at_rest(tick());
	TEST_ASSERT_TRUE(drv.halted[0]);
	measure(0, 0, rad_s, PERIOD - MS); /* not later than before, but not earlier than the freeze */
	return tick()->stops;
}

TEST(it_rests_until_it_stands)
{
	TEST_ASSERT_FALSE(rests_on(0, 10 * MS));
	TEST_ASSERT_FALSE(rests_on(STEP, 10 * MS));
	TEST_ASSERT_FALSE(rests_on(-STEP + 1e-6, 10 * MS));
	TEST_ASSERT_TRUE(rests_on(STEP + 1e-6, 10 * MS));
	TEST_ASSERT_TRUE(rests_on(-STEP - 1e-6, 10 * MS));
	/* no longer than a second: it is pushed */
	TEST_ASSERT_TRUE(rests_on(0.1, 1000 * MS - PERIOD));
	TEST_ASSERT_TRUE(rests_on(0.1, 1000 * MS));
	TEST_ASSERT_FALSE(rests_on(0.1, 1000 * MS + 1));
}

/* By a sample of after the freeze, not of the same instant. */
TEST(an_older_sample_does_not_count)
{
	want(0, MSG_MODE_VELOCITY, 0.4);
	tick();
	drv_joints_freeze(&drv, now_ns);
	measure(0, 0, 0, PERIOD);
	is_at_rest(tick());
	TEST_ASSERT_TRUE(drv.frozen[0]);
	measure(0, 0, 0, 2 * PERIOD);
	is_at_rest(tick());
	measure(0, 0, 0, 3 * PERIOD - 1);
	is_at_rest(tick());
	measure(0, 0, 0, 0);
	TEST_ASSERT_FALSE(tick()->stops);
}

TEST(a_joint_that_measures_nothing_stands_at_once)
{
	drv.ramps[0].no_position = true;
	want(0, MSG_MODE_VELOCITY, 0.4);
	measure(0, NAN, NAN, NEVER);
	drv_joints_freeze(&drv, now_ns);
	is_at_rest(tick());
	NEAR(STEP, tick()->velocity_rad_s);
	/* unless it measures a velocity, or has a position that is not known */
	setUp();
	drv.ramps[0].no_position = true;
	want(0, MSG_MODE_VELOCITY, 0.4);
	measure(0, NAN, 0, NEVER);
	drv_joints_freeze(&drv, now_ns);
	is_at_rest(tick());
	is_at_rest(tick());
	setUp();
	want(0, MSG_MODE_VELOCITY, 0.4);
	measure(0, 0, NAN, 0);
	drv_joints_freeze(&drv, now_ns);
	is_at_rest(tick());
	is_at_rest(tick());
}

TEST(rest_without_current)
{
	drv.setup.safe = DRV_REF_ZERO_CURRENT;
	drv_joints_freeze(&drv, now_ns);
	TEST_ASSERT_EQUAL(MSG_MODE_CURRENT, tick()->mode);
	NEAR(0, drv.commands[0].current_a);
}

/* ---- a place without a joint ---- */

TEST(an_absent_joint_is_neither_stale_nor_commanded)
{
	drv_joint_absent(&drv, 1);
	measure(1, NAN, NAN, NEVER);
	want(0, MSG_MODE_POSITION, 0.1);
	want(1, MSG_MODE_POSITION, 0.1);
	drv.commands[1].current_a = UNTOUCHED;
	TEST_ASSERT_NULL(drv_joints_stale(&drv, now_ns));
	tick();
	TEST_ASSERT_TRUE(drv.commands[1].current_a == UNTOUCHED);
	TEST_ASSERT_TRUE(drv.commands[0].position_rad > 0);
	drv.joint_absent[1] = false;
	TEST_ASSERT_EQUAL_STRING("knee", drv_joints_stale(&drv, now_ns));
}

/* One bus is stalled, and the joints of the other one go on. */
TEST(a_bus_freezes_its_own_joints)
{
	drv_joint_bus(&drv, 0, 0);
	drv_joint_bus(&drv, 1, 1);
	drv_joint_group(&drv, 1, 1);
	want(0, MSG_MODE_VELOCITY, 0.2);
	want(1, MSG_MODE_VELOCITY, 0.2);
	tick();
	drv.buses[1].slots.proven = false;
	tick();
	TEST_ASSERT_FALSE(drv.frozen[0]);
	TEST_ASSERT_TRUE(drv.frozen[1]);
	TEST_ASSERT_TRUE(drv.commands[0].velocity_rad_s > STEP);
	NEAR(0, drv.commands[1].velocity_rad_s);
	drv_joint_group(&drv, 1, 0); /* a group stands still together */
	tick();
	TEST_ASSERT_TRUE(drv.frozen[0]);
	drv.frozen[0] = false;
	drv_joint_group(&drv, 1, 1);
	drv.joint_buses[0] = 0;
	tick();
	TEST_ASSERT_TRUE(drv.frozen[0]);
}
