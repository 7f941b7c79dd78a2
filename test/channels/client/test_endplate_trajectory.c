/* test_endplate_trajectory.c: trajectories of two devices, whose ramps are those of drivers, on a virtual clock. */
#include <math.h>
#include <sys/stat.h>

#include "test/lib/clock_virtual.h"
#include "test/lib/testcase.h"

#include "channels/ach/ach.h"
#include "channels/client/endplate.h"
#include "channels/clock/clock.h"
#include "channels/estop/estop.h"
#include "channels/msg/ref.h"
#include "daemons/drv/drv_ref.h"
#include "test/launch/file/launch_lib.h"

#define MS 1000000
#define START 100000000000
#define TICK (5 * MS)
#define VELOCITY 0.4
#define ACCELERATION 2.0
#define JOINTS 2

static char prefix[32], folder[LAUNCH_LIB_PATH], run[LAUNCH_LIB_PATH + 8];
static struct endplate *robot;
static struct endplate_trajectory *t;
static struct estop estop;

/* ---- two drivers, and a force sensor ---- */

static struct arm {
	const char *name;
	struct endplate_device *device;
	ach_channel_t states, refs, infos;
	struct msg_joint_state state;
	struct msg_device_info info;
	struct msg_joint_ref ref;
	struct drv_ref_joint ramps[JOINTS];
	bool gone; /* publishes nothing */
	unsigned int taken;
	double speeds[JOINTS]; /* the last commanded */
} arms[2] = { { .name = "left" }, { .name = "right" } };
static ach_channel_t wrists;
static struct msg_ft wrist;
static struct endplate_device *sensor;

static void channel(ach_channel_t *chan, const char *device, const char *suffix, size_t size)
{
	ach_create_attr_t attr;
	char name[64];

	snprintf(name, sizeof(name), "%s%s%s", prefix, device, suffix);
	ach_create_attr_init(&attr);
	ach_create_attr_set_mode(&attr, 0600, (gid_t)-1);
	TEST_ASSERT_EQUAL_INT(ACH_OK, ach_create(name, 64, size, &attr));
	TEST_ASSERT_EQUAL_INT(ACH_OK, ach_open(chan, name, NULL));
}

static void drop(ach_channel_t *chan, const char *device, const char *suffix)
{
	char name[64];

	snprintf(name, sizeof(name), "%s%s%s", prefix, device, suffix);
	ach_close(chan);
	ach_unlink(name);
}

static void put_info(struct arm *a)
{
	a->info.header.incarnation = a->state.header.incarnation;
	TEST_ASSERT_EQUAL_INT(ACH_OK, ach_put(&a->infos, &a->info, sizeof(a->info)));
}

static void begin_arm(struct arm *a)
{
	channel(&a->states, a->name, "-state", sizeof(a->state));
	channel(&a->refs, a->name, "-ref", sizeof(a->ref));
	channel(&a->infos, a->name, "-info", sizeof(a->info));
	msg_init(&a->state, msg_type_by_number(msg_joint_state_number));
	msg_init(&a->info, msg_type_by_number(msg_device_info_number));
	a->state.header.incarnation = 3;
	a->state.common.lifecycle = MSG_LIFE_HOLDING;
	a->state.common.level = MSG_LEVEL_RUN;
	memcpy(a->state.common.boot, estop.boot, sizeof(estop.boot));
	a->state.count = a->info.count = JOINTS;
	strcpy(a->info.ref_type, "joint-ref");
	a->info.period_ns = TICK;
	a->info.valid_max_ns = 5 * TICK;
	memset(a->ramps, 0, sizeof(a->ramps));
	memset(a->speeds, 0, sizeof(a->speeds));
	memset(&a->ref, 0, sizeof(a->ref));
	a->gone = false;
	a->taken = 0;
	for (unsigned int i = 0; i < JOINTS; i++) {
		snprintf(a->info.joint[i], sizeof(a->info.joint[i]), "j%u", i);
		a->info.modes[i] = MSG_MODE_BIT_POSITION;
		a->info.position_min[i] = -2;
		a->info.position_max[i] = 2;
		a->info.velocity[i] = VELOCITY;
		a->info.acceleration[i] = ACCELERATION;
		a->info.jerk[i] = i ? 30 : INFINITY;
		a->state.lifecycle[i] = MSG_LIFE_ACTIVE;
	}
	put_info(a);
	TEST_ASSERT_EQUAL_INT(0, endplate_device_open(robot, a->name, msg_joint_state_number, &a->device));
}

static void take(struct arm *a)
{
	struct msg_joint_ref ref;
	size_t len;

	if (ach_get(&a->refs, &ref, sizeof(ref), &len, NULL, ACH_O_LAST) != ACH_OK ||
	    ref.header.for_incarnation != a->state.header.incarnation)
		return;
	TEST_ASSERT_EQUAL_UINT32(JOINTS, ref.count);
	a->ref = ref;
	a->taken++;
}

static void drive(struct arm *a)
{
	const bool follows = a->ref.header.valid_until_ns >= clock_now_ns() &&
			     a->state.common.lifecycle == MSG_LIFE_HOLDING && a->state.common.level == MSG_LEVEL_RUN;

	take(a);
	for (unsigned int i = 0; i < JOINTS; i++) {
		const struct drv_ref_limits l = { -2, 2, VELOCITY, ACCELERATION, INFINITY, INFINITY, INFINITY };
		const struct drv_ref_want want = { .mode = (enum msg_mode)a->ref.mode[i],
						   .position_rad = a->ref.position[i] };
		const struct drv_ref_command c = drv_ref_joint(&a->ramps[i], &l, follows ? &want : NULL, DRV_REF_HOLD,
							       a->state.position[i], a->state.velocity[i], 0, 0.005);

		a->state.position[i] = c.position_rad;
		a->state.velocity[i] = c.velocity_rad_s;
	}
}

static void publish(void)
{
	for (size_t i = 0; i < 2; i++) {
		struct arm *a = &arms[i];

		if (a->gone)
			continue;
		a->state.header.sequence++;
		a->state.header.t_sample_ns = a->state.header.t_publish_ns = clock_now_ns();
		TEST_ASSERT_EQUAL_INT(ACH_OK, ach_put(&a->states, &a->state, sizeof(a->state)));
	}
	wrist.header.t_sample_ns = wrist.header.t_publish_ns = clock_now_ns();
	TEST_ASSERT_EQUAL_INT(ACH_OK, ach_put(&wrists, &wrist, sizeof(wrist)));
}

void setUp(void)
{
	static int n;

	snprintf(prefix, sizeof(prefix), "t-tr-%d-%d-", (int)getpid(), n++);
	launch_lib_folder(folder);
	snprintf(run, sizeof(run), "%s/run", folder);
	mkdir(run, 0700);
	setenv("ENDPLATE_RUN", run, 1);
	setenv("ENDPLATE_PREFIX", prefix, 1);
	unsetenv("ACH_DIR");
	clock_use_virtual(START);
	TEST_ASSERT_EQUAL_INT(0, estop_open(&estop,
					    &(struct estop_options){
						    .owner = geteuid(), .make = true, .group = (gid_t)-1, .name = "t" },
					    &(struct error_sink){ 0 }));
	TEST_ASSERT_EQUAL_INT(0, endplate_open(&robot, NULL));
	for (size_t i = 0; i < 2; i++)
		begin_arm(&arms[i]);
	channel(&wrists, "wrist", "-state", sizeof(wrist));
	msg_init(&wrist, msg_type_by_number(msg_ft_number));
	wrist.header.incarnation = 1;
	wrist.common.lifecycle = MSG_LIFE_ACTIVE;
	TEST_ASSERT_EQUAL_INT(0, endplate_device_open(robot, "wrist", msg_ft_number, &sensor));
	publish();
	TEST_ASSERT_EQUAL_INT(0, endplate_trajectory_open(robot, &t));
}

void tearDown(void)
{
	endplate_trajectory_close(t);
	endplate_close(robot);
	for (size_t i = 0; i < 2; i++) {
		drop(&arms[i].states, arms[i].name, "-state");
		drop(&arms[i].refs, arms[i].name, "-ref");
		drop(&arms[i].infos, arms[i].name, "-info");
	}
	drop(&wrists, "wrist", "-state");
	estop_close(&estop);
	drop(&(ach_channel_t){ 0 }, "estop", "");
	drop(&(ach_channel_t){ 0 }, "estop-b", "");
	launch_lib_remove(folder);
	clock_use(&clock_real);
}

/* ---- a program ---- */

static void two_columns(void)
{
	TEST_ASSERT_EQUAL_INT(0, endplate_trajectory_joint(t, arms[0].device, "j0"));
	TEST_ASSERT_EQUAL_INT(1, endplate_trajectory_joint(t, arms[1].device, "j1"));
}

static void add(double left, double right, double seconds)
{
	TEST_ASSERT_EQUAL_INT(0, endplate_trajectory_add(t, (double[]){ left, right }, seconds));
}

/* A tick of the drivers, which keep their limits, then one of the program. */
static int tick(void)
{
	clock_wait(NULL, 0, clock_now_ns() + TICK);
	for (size_t i = 0; i < 2; i++) {
		if (!arms[i].gone)
			drive(&arms[i]);
		for (unsigned int k = 0; k < JOINTS; k++) {
			const double v = arms[i].state.velocity[k];

			TEST_ASSERT_TRUE(fabs(v) <= VELOCITY + 1e-9);
			TEST_ASSERT_TRUE(fabs(v - arms[i].speeds[k]) <= ACCELERATION * 0.005 + 1e-9);
			arms[i].speeds[k] = v;
		}
	}
	publish();
	return endplate_trajectory_step(t);
}

static int ticks(int n)
{
	int status = 1;

	while (n-- > 0 && status == 1)
		status = tick();
	return status;
}

/* Until it ends; the number of ticks. */
static int finish(int *status)
{
	int n = 0;

	do {
		*status = tick();
		n++;
	} while (*status == 1 && n < 5000);
	return n;
}

static double shortest_s(double distance, double jerk)
{
	return fmax(15.0 / 8 * distance / VELOCITY,
		    fmax(sqrt(10 / sqrt(3) * distance / ACCELERATION), cbrt(60 * distance / jerk)));
}

/* ---- ways ---- */

TEST(joints_of_two_devices_arrive_together_and_as_fast_as_they_may)
{
	const double s = shortest_s(1, 30);
	int status, n;

	two_columns();
	add(0.25, -1, 0);
	TEST_ASSERT_EQUAL_INT(0, endplate_trajectory_start(t));
	n = finish(&status);
	TEST_ASSERT_EQUAL_INT_MESSAGE(0, status, endplate_errstr());
	TEST_ASSERT_DOUBLE_WITHIN(0.1, s, n * 0.005);
	TEST_ASSERT_DOUBLE_WITHIN(0.005, 0.25, arms[0].state.position[0]);
	TEST_ASSERT_DOUBLE_WITHIN(0.005, -1, arms[1].state.position[1]);
	/* the others were told nothing, and hold */
	TEST_ASSERT_EQUAL_UINT32(MSG_MODE_NONE, arms[0].ref.mode[1]);
	TEST_ASSERT_EQUAL_DOUBLE(0, arms[0].state.position[1]);
	TEST_ASSERT_EQUAL_INT(0, endplate_trajectory_step(t));
}

/* As measured: the ramp of a driver is on the way, one tick after it has read a reference. */
TEST(the_drivers_are_on_the_way_in_every_tick)
{
	const double s = 5, d = 1;
	int status = 1;

	two_columns();
	add(d, d / 2, s);
	TEST_ASSERT_EQUAL_INT(0, endplate_trajectory_start(t));
	for (int n = 0; status == 1 && n < 990; n++) {
		const double u = n * 0.005 / s, way = u * u * u * (10 + u * (6 * u - 15));

		TEST_ASSERT_DOUBLE_WITHIN(2.2e-3, d * way, arms[0].state.position[0]); /* a tick at 0.38 rad/s */
		TEST_ASSERT_DOUBLE_WITHIN(1e-4, arms[0].state.position[0] / 2, arms[1].state.position[1]);
		status = tick();
	}
	/* and without the lead it would be v^2 / 2a behind: 0.035 rad */
	TEST_ASSERT_EQUAL_INT(1, status);
}

TEST(references_say_how_fast_the_way_is)
{
	two_columns();
	add(1, 0, 5);
	TEST_ASSERT_EQUAL_INT(0, endplate_trajectory_start(t));
	TEST_ASSERT_EQUAL_INT(1, ticks(500));
	TEST_ASSERT_DOUBLE_WITHIN(1e-3, 15.0 / 8 / 5, arms[0].ref.velocity[0]);
}

TEST(trapezoids_are_faster_and_a_share_is_slower)
{
	int status, quintic, trapezoid, slow;

	two_columns();
	add(1, 0, 0);
	TEST_ASSERT_EQUAL_INT(0, endplate_trajectory_start(t));
	quintic = finish(&status);
	TEST_ASSERT_EQUAL_INT(0, endplate_trajectory_shape(t, ENDPLATE_TRAPEZOID));
	add(0, 0, 0);
	TEST_ASSERT_EQUAL_INT(0, endplate_trajectory_start(t));
	trapezoid = finish(&status);
	TEST_ASSERT_EQUAL_INT(0, status);
	TEST_ASSERT_INT_WITHIN(6, (int)((1 / VELOCITY + VELOCITY / ACCELERATION) / 0.005), trapezoid);
	TEST_ASSERT_TRUE(trapezoid < quintic);
	TEST_ASSERT_EQUAL_INT(0, endplate_trajectory_share(t, 0.5));
	add(1, 0, 0);
	TEST_ASSERT_EQUAL_INT(0, endplate_trajectory_start(t));
	slow = finish(&status);
	TEST_ASSERT_INT_WITHIN(6, (int)((2 / VELOCITY + VELOCITY / 2 / ACCELERATION) / 0.005), slow);
	TEST_ASSERT_EQUAL_INT(-EINVAL, endplate_trajectory_shape(t, (enum endplate_shape)7));
	TEST_ASSERT_EQUAL_INT(-EDOM, endplate_trajectory_share(t, 0));
	TEST_ASSERT_EQUAL_INT(-EDOM, endplate_trajectory_share(t, 1.01));
	TEST_ASSERT_EQUAL_INT(-EDOM, endplate_trajectory_share(t, NAN));
}

TEST(several_waypoints_and_a_joint_that_stays)
{
	int status;

	two_columns();
	add(0.3, NAN, 0);
	add(NAN, 0.2, 0);
	add(0.1, NAN, 2);
	TEST_ASSERT_EQUAL_INT(0, endplate_trajectory_start(t));
	finish(&status);
	TEST_ASSERT_EQUAL_INT_MESSAGE(0, status, endplate_errstr());
	TEST_ASSERT_DOUBLE_WITHIN(0.005, 0.1, arms[0].state.position[0]);
	TEST_ASSERT_DOUBLE_WITHIN(0.005, 0.2, arms[1].state.position[1]);
}

/* A circle of two joints, by points alone: it is passed through without a stop. */
TEST(points_are_passed_without_a_stop)
{
	double least = INFINITY;
	int status = 1;

	two_columns();
	for (int i = 1; i <= 40; i++) {
		const double turn = 2 * M_PI * i / 40;

		TEST_ASSERT_EQUAL_INT(0,
				      endplate_trajectory_pass(t, (double[]){ 0.2 - 0.2 * cos(turn), 0.2 * sin(turn) },
							       NULL, NULL, i == 1 || i == 40 ? 0.5 : 0.2));
	}
	TEST_ASSERT_EQUAL_INT_MESSAGE(0, endplate_trajectory_start(t), endplate_errstr());
	for (int n = 0; status == 1; n++) {
		const double speed = hypot(arms[0].state.velocity[0], arms[1].state.velocity[1]);

		status = tick();
		if (n < 120 || n > 1640)
			continue;
		least = fmin(least, speed);
		TEST_ASSERT_DOUBLE_WITHIN(3e-3, 0.2, hypot(arms[0].state.position[0] - 0.2, arms[1].state.position[1]));
	}
	TEST_ASSERT_EQUAL_INT_MESSAGE(0, status, endplate_errstr());
	TEST_ASSERT_TRUE(least > 0.1);
}

TEST(given_velocities_and_accelerations_are_those_of_the_way)
{
	const double v[2] = { 0.2, 0.1 }, a[2] = { 0, 0 };

	two_columns();
	TEST_ASSERT_EQUAL_INT(0, endplate_trajectory_pass(t, (double[]){ 0.1, 0.05 }, v, a, 1));
	TEST_ASSERT_EQUAL_INT(0, endplate_trajectory_pass(t, (double[]){ 0.3, 0.15 }, v, a, 1));
	add(0.4, 0.2, 1);
	TEST_ASSERT_EQUAL_INT_MESSAGE(0, endplate_trajectory_start(t), endplate_errstr());
	for (int n = 0; n < 200; n++)
		tick();
	TEST_ASSERT_DOUBLE_WITHIN(2e-3, 0.1, arms[0].state.position[0]);
	TEST_ASSERT_DOUBLE_WITHIN(4e-3, 0.2, arms[0].state.velocity[0]);
	for (int n = 0; n < 100; n++) /* a line between two of the same velocity */
		tick();
	TEST_ASSERT_DOUBLE_WITHIN(2e-3, 0.2, arms[0].state.position[0]);
}

/* ---- replacing and stopping ---- */

TEST(a_new_way_replaces_the_former_one_without_a_step)
{
	int status;

	two_columns();
	add(1, 1, 0);
	TEST_ASSERT_EQUAL_INT(0, endplate_trajectory_start(t));
	TEST_ASSERT_EQUAL_INT(1, ticks(300)); /* which check the limits */
	add(-0.5, 1.5, 0);
	TEST_ASSERT_EQUAL_INT(0, endplate_trajectory_start(t));
	TEST_ASSERT_EQUAL_INT(1, ticks(3));
	TEST_ASSERT_TRUE(arms[0].state.velocity[0] > 0.2);
	finish(&status);
	TEST_ASSERT_EQUAL_INT(0, status);
	TEST_ASSERT_DOUBLE_WITHIN(0.005, -0.5, arms[0].state.position[0]);
	TEST_ASSERT_DOUBLE_WITHIN(0.005, 1.5, arms[1].state.position[1]);
}

TEST(a_way_that_is_refused_leaves_the_former_one)
{
	int status;

	two_columns();
	add(1, 1, 0);
	TEST_ASSERT_EQUAL_INT(0, endplate_trajectory_start(t));
	TEST_ASSERT_EQUAL_INT(1, ticks(300));
	add(-0.5, 0, 0.1);
	TEST_ASSERT_EQUAL_INT(-ERANGE, endplate_trajectory_start(t));
	TEST_ASSERT_TRUE(strstr(endplate_errstr(), "left: joint j0: waypoint 0 cannot be reached in 0.1 s; give it "));
	TEST_ASSERT_EQUAL_INT(-ENODATA, endplate_trajectory_start(t)); /* it is forgotten */
	finish(&status);
	TEST_ASSERT_EQUAL_INT(0, status);
	TEST_ASSERT_DOUBLE_WITHIN(0.005, 1, arms[0].state.position[0]);
}

TEST(a_stop_keeps_the_limits_and_ends)
{
	double at;
	int status;

	two_columns();
	add(1, 1, 0);
	TEST_ASSERT_EQUAL_INT(0, endplate_trajectory_start(t));
	TEST_ASSERT_EQUAL_INT(0, endplate_trajectory_stop(t)); /* before its first step */
	finish(&status);
	TEST_ASSERT_EQUAL_INT(-EINTR, status);
	add(1, 1, 0);
	TEST_ASSERT_EQUAL_INT(0, endplate_trajectory_start(t));
	TEST_ASSERT_EQUAL_INT(1, ticks(300));
	at = arms[0].state.position[0];
	TEST_ASSERT_EQUAL_INT(0, endplate_trajectory_stop(t));
	TEST_ASSERT_TRUE(finish(&status) < 60);
	TEST_ASSERT_EQUAL_INT(-EINTR, status);
	TEST_ASSERT_EQUAL_STRING("stopped", endplate_errstr());
	TEST_ASSERT_DOUBLE_WITHIN(1e-3, 0, arms[0].state.velocity[0]);
	TEST_ASSERT_TRUE(arms[0].state.position[0] < at + VELOCITY * VELOCITY / 2 / ACCELERATION + 0.01);
	TEST_ASSERT_EQUAL_INT(-EINTR, endplate_trajectory_step(t));
	TEST_ASSERT_EQUAL_INT(0, endplate_trajectory_stop(t));
}

/* ---- conditions ---- */

TEST(a_force_stops_the_motion)
{
	int status;

	two_columns();
	TEST_ASSERT_EQUAL_INT(0, endplate_trajectory_until(t, sensor, "force", 20));
	add(1, 1, 0);
	TEST_ASSERT_EQUAL_INT(0, endplate_trajectory_start(t));
	wrist.force[1] = -16;
	TEST_ASSERT_EQUAL_INT(1, ticks(300));
	wrist.force[2] = 12.1; /* 20.06 N */
	TEST_ASSERT_TRUE(finish(&status) < 60);
	TEST_ASSERT_EQUAL_INT(-EINTR, status);
	TEST_ASSERT_EQUAL_STRING("wrist: stopped: force is 20.06, above 20", endplate_errstr());
	wrist.force[1] = wrist.force[2] = 0;
}

TEST(a_sensor_that_cannot_be_trusted_stops_the_motion)
{
	int status;

	two_columns();
	TEST_ASSERT_EQUAL_INT(0, endplate_trajectory_until(t, sensor, "force[2]", 20));
	add(1, 1, 0);
	TEST_ASSERT_EQUAL_INT(0, endplate_trajectory_start(t));
	TEST_ASSERT_EQUAL_INT(1, ticks(300));
	wrist.force[2] = NAN;
	finish(&status);
	TEST_ASSERT_EQUAL_INT(-EINTR, status);
	wrist.force[2] = 0;
	add(1, 1, 0);
	TEST_ASSERT_EQUAL_INT(0, endplate_trajectory_start(t));
	wrist.common.lifecycle = MSG_LIFE_FAULT;
	finish(&status);
	TEST_ASSERT_EQUAL_INT(-EINTR, status);
	TEST_ASSERT_EQUAL_STRING("wrist: stopped, for its state cannot be trusted: not up", endplate_errstr());
	wrist.common.lifecycle = MSG_LIFE_ACTIVE;
}

TEST(conditions_that_cannot_be_meant_are_refused)
{
	struct endplate_device *any;

	TEST_ASSERT_EQUAL_INT(-EINVAL, endplate_trajectory_until(t, sensor, "farce", 20));
	TEST_ASSERT_TRUE(strstr(endplate_errstr(), "farce") != NULL);
	TEST_ASSERT_EQUAL_INT(-EINVAL, endplate_trajectory_until(t, sensor, "force", -1));
	TEST_ASSERT_EQUAL_INT(-EINVAL, endplate_trajectory_until(t, sensor, "force", NAN));
	TEST_ASSERT_EQUAL_INT(-EINVAL, endplate_trajectory_until(t, sensor, "header", 1));
	TEST_ASSERT_EQUAL_INT(0, endplate_device_open(robot, "other", 0, &any));
	TEST_ASSERT_EQUAL_INT(-ENODATA, endplate_trajectory_until(t, any, "force", 1));
	for (int i = 0; i < 8; i++)
		TEST_ASSERT_EQUAL_INT(0, endplate_trajectory_until(t, sensor, "force", 20));
	TEST_ASSERT_EQUAL_INT(-ENOBUFS, endplate_trajectory_until(t, sensor, "force", 20));
}

/* ---- what goes wrong ---- */

/* Its driver dies; the other arm stops, and both begin again when it is back. */
TEST(a_driver_that_was_restarted_is_moved_to_the_same_waypoint)
{
	int status;

	two_columns();
	add(1, 1, 0);
	TEST_ASSERT_EQUAL_INT(0, endplate_trajectory_start(t));
	TEST_ASSERT_EQUAL_INT(1, ticks(300));
	arms[1].gone = true;
	arms[1].state.velocity[1] = arms[1].speeds[1] = 0;
	TEST_ASSERT_EQUAL_INT(1, ticks(100));
	TEST_ASSERT_DOUBLE_WITHIN(1e-6, 0, arms[0].state.velocity[0]);
	arms[1].gone = false;
	arms[1].state.header.incarnation++;
	memset(arms[1].ramps, 0, sizeof(arms[1].ramps));
	put_info(&arms[1]);
	finish(&status);
	TEST_ASSERT_EQUAL_INT_MESSAGE(0, status, endplate_errstr());
	TEST_ASSERT_DOUBLE_WITHIN(0.005, 1, arms[0].state.position[0]);
	TEST_ASSERT_DOUBLE_WITHIN(0.005, 1, arms[1].state.position[1]);
}

TEST(a_driver_that_does_not_come_back_ends_it)
{
	int status;

	two_columns();
	add(1, 1, 0);
	TEST_ASSERT_EQUAL_INT(0, endplate_trajectory_start(t));
	TEST_ASSERT_EQUAL_INT(1, ticks(300));
	arms[1].state.common.lifecycle = MSG_LIFE_FAULT;
	TEST_ASSERT_INT_WITHIN(60, 1000, finish(&status));
	TEST_ASSERT_EQUAL_INT(-EHOSTDOWN, status);
	TEST_ASSERT_EQUAL_STRING("right: lifecycle fault: see its events", endplate_errstr());
}

TEST(a_joint_in_fault_stops_all)
{
	int status;

	two_columns();
	add(1, 1, 0);
	TEST_ASSERT_EQUAL_INT(0, endplate_trajectory_start(t));
	TEST_ASSERT_EQUAL_INT(1, ticks(300));
	arms[1].state.lifecycle[1] = MSG_LIFE_FAULT;
	finish(&status);
	TEST_ASSERT_EQUAL_INT(-EHOSTDOWN, status);
	TEST_ASSERT_TRUE(strstr(endplate_errstr(), "right: a joint follows no references") != NULL);
	TEST_ASSERT_TRUE(arms[0].state.position[0] < 0.8);
}

/* Its times are over. */
TEST(a_way_through_points_ends_when_a_driver_is_restarted)
{
	int status;

	two_columns();
	TEST_ASSERT_EQUAL_INT(0, endplate_trajectory_pass(t, (double[]){ 0.3, 0.3 }, NULL, NULL, 2));
	add(0.6, 0.6, 2);
	TEST_ASSERT_EQUAL_INT(0, endplate_trajectory_start(t));
	TEST_ASSERT_EQUAL_INT(1, ticks(300));
	arms[1].state.header.incarnation++;
	put_info(&arms[1]);
	memset(&arms[1].ref, 0, sizeof(arms[1].ref));
	finish(&status);
	TEST_ASSERT_EQUAL_INT(-EHOSTDOWN, status);
	TEST_ASSERT_EQUAL_STRING("right: its driver was restarted", endplate_errstr());
}

TEST(a_level_above_run_ends_it)
{
	two_columns();
	add(1, 1, 0);
	TEST_ASSERT_EQUAL_INT(0, endplate_trajectory_start(t));
	TEST_ASSERT_EQUAL_INT(1, ticks(300));
	arms[0].state.common.level = MSG_LEVEL_HOLD;
	TEST_ASSERT_EQUAL_INT(-EHOSTDOWN, ticks(2));
	TEST_ASSERT_EQUAL_STRING("left: level hold: achctl arm", endplate_errstr());
	add(1, 1, 0);
	TEST_ASSERT_EQUAL_INT(-EHOSTDOWN, endplate_trajectory_start(t));
	TEST_ASSERT_EQUAL_STRING("left: level hold: achctl arm", endplate_errstr());
}

/* It was hold for a while, and a person has armed since: not for this motion. */
TEST(a_level_that_was_above_run_meanwhile_ends_it)
{
	two_columns();
	add(1, 1, 0);
	TEST_ASSERT_EQUAL_INT(0, endplate_trajectory_start(t));
	TEST_ASSERT_EQUAL_INT(1, ticks(300));
	arms[0].state.common.base_seq++;
	TEST_ASSERT_EQUAL_INT(-EHOSTDOWN, ticks(2));
	TEST_ASSERT_EQUAL_STRING("left: the level was above run meanwhile: start again", endplate_errstr());
	TEST_ASSERT_EQUAL_INT(-ENODATA, endplate_trajectory_start(t));
	add(1, 1, 0);
	TEST_ASSERT_EQUAL_INT(0, endplate_trajectory_start(t));
}

TEST(a_start_that_is_refused_forgets_its_waypoints)
{
	two_columns();
	add(1, 1, 0);
	arms[1].gone = true;
	arms[1].state.common.lifecycle = MSG_LIFE_FAULT;
	clock_wait(NULL, 0, clock_now_ns() + 1000 * (int64_t)MS);
	TEST_ASSERT_EQUAL_INT(-EHOSTDOWN, endplate_trajectory_start(t));
	TEST_ASSERT_EQUAL_INT(-ENODATA, endplate_trajectory_start(t));
}

/* Else one arm would go its whole way alone. */
TEST(a_reference_that_cannot_be_put_stops_all)
{
	int status;

	two_columns();
	TEST_ASSERT_EQUAL_INT(0, endplate_source(arms[1].device, "nosuch"));
	add(1, 1, 0);
	TEST_ASSERT_EQUAL_INT(0, endplate_trajectory_start(t));
	TEST_ASSERT_TRUE(finish(&status) < 20);
	TEST_ASSERT_EQUAL_INT(-ENOENT, status);
	TEST_ASSERT_DOUBLE_WITHIN(0.01, 0, arms[0].state.position[0]);
}

/* The robot file was edited meanwhile. */
TEST(a_restarted_driver_may_have_its_joints_in_another_order)
{
	int status;

	two_columns();
	add(1, 1, 0);
	TEST_ASSERT_EQUAL_INT(0, endplate_trajectory_start(t));
	TEST_ASSERT_EQUAL_INT(1, ticks(100));
	arms[0].state.header.incarnation++;
	strcpy(arms[0].info.joint[0], "j1");
	strcpy(arms[0].info.joint[1], "j0");
	put_info(&arms[0]);
	memset(arms[0].ramps, 0, sizeof(arms[0].ramps));
	for (int i = 0; i < JOINTS; i++)
		arms[0].state.velocity[i] = arms[0].speeds[i] = 0;
	finish(&status);
	TEST_ASSERT_EQUAL_INT_MESSAGE(0, status, endplate_errstr());
	TEST_ASSERT_DOUBLE_WITHIN(0.005, 1, arms[0].state.position[1]);
	TEST_ASSERT_TRUE(arms[0].state.position[0] < 0.5);
}

TEST(a_program_that_was_stopped_begins_again_where_the_joints_are)
{
	double left;
	int status;

	two_columns();
	add(1, 1, 0);
	TEST_ASSERT_EQUAL_INT(0, endplate_trajectory_start(t));
	TEST_ASSERT_EQUAL_INT(1, ticks(300));
	for (int i = 0; i < 200; i++) { /* a second */
		clock_wait(NULL, 0, clock_now_ns() + TICK);
		for (size_t k = 0; k < 2; k++) {
			drive(&arms[k]);
			arms[k].speeds[k] = arms[k].state.velocity[k];
		}
	}
	publish();
	TEST_ASSERT_EQUAL_DOUBLE(0, arms[0].state.velocity[0]);
	left = 1 - arms[0].state.position[0];
	TEST_ASSERT_TRUE(left > 0.2);
	TEST_ASSERT_TRUE(finish(&status) * 0.005 > shortest_s(left, 30)); /* a way of its own, not what is left */
	TEST_ASSERT_EQUAL_INT_MESSAGE(0, status, endplate_errstr());
	TEST_ASSERT_DOUBLE_WITHIN(0.005, 1, arms[0].state.position[0]);
}

TEST(a_joint_that_does_not_arrive_is_named)
{
	int status;

	two_columns();
	add(0.2, 0.2, 0);
	TEST_ASSERT_EQUAL_INT(0, endplate_trajectory_start(t));
	do { /* it is held */
		arms[1].state.position[1] = arms[1].state.velocity[1] = arms[1].speeds[1] = 0;
		arms[1].ramps[1].begun = false;
		status = tick();
	} while (status == 1);
	TEST_ASSERT_EQUAL_INT(-ETIME, status);
	TEST_ASSERT_TRUE(strstr(endplate_errstr(), "right: joint j1 is at ") != NULL);
}

/* ---- what is refused ---- */

TEST(joints_need_names_limits_and_modes)
{
	TEST_ASSERT_EQUAL_INT(-ENOENT, endplate_trajectory_joint(t, arms[0].device, "elbow"));
	arms[0].info.velocity[0] = INFINITY;
	put_info(&arms[0]);
	TEST_ASSERT_EQUAL_INT(-EDOM, endplate_trajectory_joint(t, arms[0].device, "j0"));
	TEST_ASSERT_EQUAL_STRING(
		"left: joint j0 has no limit of velocity that a motion can be planned with; write limits: "
		"{velocity: ...} for it in the robot file",
		endplate_errstr());
	arms[0].info.modes[1] = MSG_MODE_BIT_CURRENT;
	put_info(&arms[0]);
	TEST_ASSERT_EQUAL_INT(-EOPNOTSUPP, endplate_trajectory_joint(t, arms[0].device, "j1"));
	TEST_ASSERT_EQUAL_INT(0, endplate_trajectory_joint(t, arms[1].device, "j1"));
	TEST_ASSERT_EQUAL_INT(-EEXIST, endplate_trajectory_joint(t, arms[1].device, "j1"));
	TEST_ASSERT_EQUAL_INT(0, endplate_trajectory_add(t, (double[]){ 1 }, 0));
	TEST_ASSERT_EQUAL_INT(-EBUSY, endplate_trajectory_joint(t, arms[1].device, "j0"));
}

TEST(waypoints_that_cannot_be_meant_are_refused)
{
	static const double bad[] = { INFINITY, -INFINITY, 1e7 };

	TEST_ASSERT_EQUAL_INT(-ENODATA, endplate_trajectory_add(t, bad, 0));
	two_columns();
	for (size_t i = 0; i < 3; i++) {
		const double values[2] = { 0, bad[i] };

		TEST_ASSERT_EQUAL_INT(-EDOM, endplate_trajectory_add(t, values, 0));
		TEST_ASSERT_EQUAL_INT(-EDOM, endplate_trajectory_add(t, (double[]){ 0, 0 }, bad[i]));
		TEST_ASSERT_EQUAL_INT(-EDOM, endplate_trajectory_pass(t, (double[]){ 0, 0 }, values, NULL, 1));
		TEST_ASSERT_EQUAL_INT(-EDOM, endplate_trajectory_pass(t, (double[]){ 0, 0 }, NULL, values, 1));
	}
	TEST_ASSERT_EQUAL_INT(-EDOM, endplate_trajectory_add(t, (double[]){ 0, 0 }, NAN));
	TEST_ASSERT_EQUAL_INT(-EDOM, endplate_trajectory_add(t, (double[]){ 0, 0 }, -1));
	TEST_ASSERT_EQUAL_INT(-ERANGE, endplate_trajectory_add(t, (double[]){ 0, 2.1 }, 0));
	TEST_ASSERT_EQUAL_STRING("right: joint j1: position 2.1 is outside its range, -2 to 2", endplate_errstr());
	TEST_ASSERT_EQUAL_INT(-EINVAL, endplate_trajectory_pass(t, (double[]){ 0, 0 }, NULL, NULL, 0));
	TEST_ASSERT_EQUAL_INT(0, endplate_trajectory_pass(t, (double[]){ 0.1, 0 }, NULL, NULL, 1));
	TEST_ASSERT_EQUAL_INT(-EINVAL, endplate_trajectory_add(t, (double[]){ 0, 0 }, 0));
	TEST_ASSERT_EQUAL_INT(-ENODATA, endplate_trajectory_step(t));
	endplate_trajectory_clear(t);
	TEST_ASSERT_EQUAL_INT(-ENODATA, endplate_trajectory_start(t));
}

TEST(a_passed_point_beyond_the_limits_is_refused_with_joint_and_limit)
{
	two_columns();
	TEST_ASSERT_EQUAL_INT(0, endplate_trajectory_pass(t, (double[]){ 1, 0 }, NULL, NULL, 1));
	add(1, 0, 1);
	TEST_ASSERT_EQUAL_INT(-ERANGE, endplate_trajectory_start(t));
	TEST_ASSERT_TRUE(strstr(endplate_errstr(), "left: joint j0: velocity ") == endplate_errstr());
	TEST_ASSERT_TRUE(strstr(endplate_errstr(), "waypoint 0, limit 0.4;") != NULL);
}

TEST(there_is_a_bound_of_waypoints)
{
	two_columns();
	for (int i = 0; i < 10000; i++)
		add(i % 2 * 0.1, 0, 1);
	TEST_ASSERT_EQUAL_INT(-ENOBUFS, endplate_trajectory_add(t, (double[]){ 0, 0 }, 1));
	TEST_ASSERT_EQUAL_INT(0, endplate_trajectory_start(t));
	TEST_ASSERT_EQUAL_INT(1, ticks(500));
}
