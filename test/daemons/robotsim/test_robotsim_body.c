/* test_robotsim_body.c: simulated units that are coupled with a body: a module as the waist, and as wheels and inertial
 * sensor some that only this test has. */
#include <fcntl.h>
#include <math.h>
#include <stdlib.h>
#include <unistd.h>

#include "test/lib/testcase.h"

#include "daemons/robotsim/pcube.h"
#include "daemons/robotsim/sim.h"
#include "test/daemons/robotsim/robotsim_unit.h"

#define MS ((int64_t)1000000)
#define DEG (3.14159265358979323846 / 180)
#define START_NS (7 * MS + 123456)

static struct robot robot;

/* ---- wheels and sensor, and a controller that needs no bus ---- */

static struct base {
	struct sim_shaft left, right;
	struct sim_motion motion;
	bool balances;
	double pitch; /* estimated */
	double wheel; /* where it stood at first */
	int64_t t_ns;
} base;

static struct sim_shaft *base_shaft(void *state, unsigned int n)
{
	struct base *b = state;

	return n == 0 ? &b->left : n == 1 ? &b->right : NULL;
}

static struct sim_motion *base_motion(void *state)
{
	return &((struct base *)state)->motion;
}

static void base_start(void *state, int64_t t_ns)
{
	struct base *b = state;

	b->t_ns = t_ns;
	b->wheel = b->left.position_rad; /* as an encoder that is read for the first time */
}

/* Pitch and rate as the sensor has them, wheels by the encoders, the waist by the module: each with its sign. */
static void base_advance(void *state, int64_t t_ns)
{
	struct base *b = state;
	const struct pcube *waist = sim.units[0].state;
	const double dt_s = (double)(t_ns - b->t_ns) * 1e-9, rate = b->motion.rate_rad_s[1];
	const double lean_s = rate + 0.53 * -waist->joint.velocity;
	double lean, wheel, wheel_s, a;

	b->t_ns = t_ns;
	if (!b->balances)
		return;
	b->pitch += rate * dt_s;
	lean = b->pitch - krang_balance_rad(&sim.body.krang, -waist->joint.position);
	wheel = (b->left.position_rad + b->right.position_rad) / 2 + b->pitch;
	wheel_s = (b->left.velocity_rad_s + b->right.velocity_rad_s) / 2 + rate;
	a = 329 * lean + 108 * lean_s + 3.02 * wheel + 9.14 * wheel_s;
	b->left.current_a = b->right.current_a = fmax(-49, fmin(49, a));
}

static const struct sim_kind base_kind = {
	.shaft = base_shaft, .motion = base_motion, .start = base_start, .advance = base_advance
};

/* ---- a robot ---- */

void setUp(void)
{
	said[0] = 0;
}

void tearDown(void)
{
	if (sim.units_n == 2)
		sim.units_n = 1; /* its state is not from the heap */
	sim_unload(&sim);
	if (robot.doc)
		robot_close(&robot);
	memset(&robot, 0, sizeof(robot));
	memset(&base, 0, sizeof(base));
}

static int load(const char *body, const char *waist)
{
	struct error_sink errors = { unit_keep_line, NULL, 0 };
	const struct yaml_node *node;
	char text[1024];
	int n = snprintf(text, sizeof(text),
			 "robot: test\nbuses: {b: {interface: wire:b}}\ndevices:\n"
			 "  waist: {driver: pciod, bus: b, settings: {modules: 'b:15'},\n"
			 "    limits: {position: [-2.88, 0]}, sim: {config: 0x80118, %s}}\n"
			 "  base: {driver: none, bus: b}\nbody: {%s}\n",
			 waist, body);

	tearDown();
	setUp();
	TEST_ASSERT_EQUAL_MESSAGE(0, robot_open_text(&robot, "test.yaml", text, (size_t)n, &errors), said);
	node = robot.body.node;
	robot.body.node = NULL;
	TEST_ASSERT_EQUAL_MESSAGE(0, sim_load(&sim, &robot, &errors), said);
	robot.body.node = node;
	sim.units[sim.units_n++] = (struct sim_unit){
		.device = robot_device(&robot, "base"), .name = "base.1", .kind = &base_kind, .state = &base
	};
	return sim_body_load(&sim, &robot, &errors);
}

#define KRANG "kind: krang, wheels: base, imu: base, waist: waist"

static struct pcube *start(const char *settings, const char *waist)
{
	char body[512];

	snprintf(body, sizeof(body), KRANG ", settings: {%s}", settings);
	TEST_ASSERT_EQUAL_MESSAGE(0, load(body, waist), said);
	now_ns = START_NS;
	sim_start(&sim, now_ns);
	return sim.units[0].state;
}

static void pass(int64_t ns)
{
	now_ns += ns;
	sim_body_advance(&sim, now_ns);
}

static const char *answer(const char *question)
{
	struct rpc_text to = { said, 0, sizeof(said) };
	char words[128];

	said[0] = 0;
	snprintf(words, sizeof(words), "%s", question);
	sim_control_answer(&sim, words, &to, now_ns);
	return said;
}

/* ---- the robot file ---- */

TEST(test_wrong_bodies)
{
	static const struct {
		const char *body, *line;
	} bad[] = {
		{ "kind: hubo", "test.yaml:7: kind: there is no body hubo; write krang" },
		{ "kind: krang, wheels: waist", "test.yaml:7: wheels: the simulated waist of pciod has no two shafts" },
		{ "kind: krang, imu: waist", "test.yaml:7: imu: the simulated waist of pciod has no sensor of motion" },
		{ "kind: krang, settings: {wheel_radus: 1}",
		  "wheel_radus: unknown setting; did you mean wheel_radius?" },
		{ "kind: krang, settings: {gear: 0}", "test.yaml:7: gear: 0 is below the minimum 1" },
		{ "kind: krang, settings: {start: lying}", "test.yaml:7: start: " },
	};

	for (size_t i = 0; i < sizeof(bad) / sizeof(*bad); i++) {
		TEST_ASSERT_NOT_EQUAL(0, load(bad[i].body, ""));
		TEST_ASSERT_NOT_NULL_MESSAGE(strstr(said, bad[i].line), said);
		TEST_ASSERT_FALSE(sim.body.is_there);
	}
}

TEST(test_body_without_devices)
{
	TEST_ASSERT_EQUAL_MESSAGE(0, load("kind: krang, settings: {start: standing, waist: 1.2}", ""), said);
	now_ns = START_NS;
	sim_start(&sim, now_ns);
	pass(10 * MS);
	TEST_ASSERT_DOUBLE_WITHIN(0.01, -39.07, sim.body.krang.pitch_rad / DEG);
	TEST_ASSERT_EQUAL_DOUBLE(1.2, sim.body.krang.waist_rad);
}

/* ---- coupling ---- */

/* What the units see when it sits still. */
TEST(test_units_see_the_body)
{
	const struct pcube *waist = start("", "position: -2.85");

	TEST_ASSERT_DOUBLE_WITHIN(0.01, 1.89, base.wheel);
	TEST_ASSERT_TRUE(base.left.coupled && base.left.driven && base.right.driven);
	TEST_ASSERT_TRUE(waist->shaft.coupled && !waist->shaft.driven);
	pass(3000 * MS);
	TEST_ASSERT_DOUBLE_WITHIN(0.01, 1.89, base.left.position_rad);
	TEST_ASSERT_DOUBLE_WITHIN(0.05, 9.81 * sin(1.89), base.motion.force_m_s2[0]);
	TEST_ASSERT_DOUBLE_WITHIN(0.05, 9.81 * cos(1.89), base.motion.force_m_s2[2]);
	TEST_ASSERT_DOUBLE_WITHIN(1e-3, 0, base.motion.rate_rad_s[1]);
	TEST_ASSERT_DOUBLE_WITHIN(1e-3, 2.85, sim.body.krang.waist_rad);
	TEST_ASSERT_EQUAL(KRANG_SITTING, sim.body.krang.mode);
}

/* Half of the upper body's weight is on each of two modules: 59.21 kg, CoM about 0.53 m before the axis. */
TEST(test_module_carries_its_share)
{
	struct pcube *waist = start("", "position: -2.85");
	struct frame reset = { .id = 0x0EF, .len = 1, .data = { 0x00 } };
	double load_nm;

	pcube_frame(waist, &reset, now_ns); /* the servo loop instead of the brake */
	pass(5000 * MS);
	load_nm = sim.body.krang.waist_load_nm;
	TEST_ASSERT_DOUBLE_WITHIN(15, 300, load_nm);
	TEST_ASSERT_DOUBLE_WITHIN(7, load_nm / 2, waist->joint.current * waist->joint.torque_per_a); /* friction */
	TEST_ASSERT_DOUBLE_WITHIN(2e-3, -2.85, waist->joint.position);
}

TEST(test_how_often_it_is_advanced_makes_no_difference)
{
	static const int64_t steps_ns[] = { 100000, 333333, 500000, 37 * MS, 1000 * MS };
	struct krang first;

	for (size_t i = 0; i < sizeof(steps_ns) / sizeof(*steps_ns); i++) {
		start("disturbance: 30", "position: -2.85, moving: 0.3");
		while (now_ns < START_NS + 2000 * MS)
			pass(steps_ns[i] < START_NS + 2000 * MS - now_ns ? steps_ns[i] : START_NS + 2000 * MS - now_ns);
		if (!i)
			first = sim.body.krang;
		TEST_ASSERT_TRUE(first.travel_m != 0);
		TEST_ASSERT_EQUAL_MEMORY(&first, &sim.body.krang, sizeof(first));
	}
}

TEST(test_seed_decides_the_disturbance)
{
	double travel[3];
	static const char *const settings[] = { "disturbance: 30, seed: 1", "disturbance: 30, seed: 2",
						"disturbance: 0" };

	for (int i = 0; i < 3; i++) {
		start(settings[i], "position: -2.85");
		pass(2000 * MS);
		travel[i] = sim.body.krang.travel_m;
	}
	TEST_ASSERT_TRUE(fabs(travel[0] - travel[1]) > 1e-4);
	TEST_ASSERT_DOUBLE_WITHIN(0.01, 0, travel[2]);
}

/* With the sensor, the encoders and the module as they are, and 0.43 rad/s. */
TEST(test_robot_stands_while_its_waist_moves)
{
	static const float velocity = -0.43F;
	struct pcube *waist = start("start: standing", "position: -0.3");
	struct frame reset = { .id = 0x0EF, .len = 1, .data = { 0x00 } };
	struct frame move = { .id = 0x0EF, .len = 6, .data = { 0x0B, 0x11 } };
	double lean_max = 0;

	base.balances = true;
	base.pitch = sim.body.krang.pitch_rad;
	pcube_frame(waist, &reset, now_ns);
	pass(1000 * MS);
	memcpy(move.data + 2, &velocity, 4);
	pcube_frame(waist, &move, now_ns);
	for (int i = 0; i < 2000; i++) {
		pass(MS);
		lean_max = fmax(lean_max, fabs(krang_lean_rad(&sim.body.krang)));
	}
	TEST_ASSERT_EQUAL(KRANG_STANDING, sim.body.krang.mode);
	TEST_ASSERT_DOUBLE_WITHIN(0.1, 1.1, sim.body.krang.waist_rad);
	TEST_ASSERT_TRUE(lean_max > 0.2 * DEG && lean_max < 3 * DEG);
	TEST_ASSERT_EQUAL_HEX32(0, waist->faults);
	TEST_ASSERT_DOUBLE_WITHIN(0.03, base.pitch, sim.body.krang.pitch_rad);
}

/* What two modules put in is what the body has more: both sides agree on every torque and acceleration. */
TEST(test_energy_comes_from_the_modules)
{
	static const float velocity = -0.43F;
	struct pcube *waist = start("start: standing, friction: 0, viscous: 0", "position: -0.3");
	struct frame reset = { .id = 0x0EF, .len = 1, .data = { 0x00 } };
	struct frame move = { .id = 0x0EF, .len = 6, .data = { 0x0B, 0x11 } };
	double work_j = 0, most_j = 0, before_j;

	memcpy(move.data + 2, &velocity, 4);
	pcube_frame(waist, &reset, now_ns);
	pcube_frame(waist, &move, now_ns);
	before_j = krang_energy_j(&sim.body.krang);
	for (int i = 0; i < 400; i++) {
		const struct sim_shaft was = waist->shaft;
		double change, mean;

		pass(SIM_BODY_STEP_NS);
		change = waist->shaft.velocity_rad_s - was.velocity_rad_s;
		mean = (waist->shaft.velocity_rad_s + was.velocity_rad_s) / 2;
		work_j += 2 * (was.inertia * change - was.load_nm * SIM_BODY_STEP_NS * 1e-9) * mean;
		most_j = fmax(most_j, fabs(work_j));
		TEST_ASSERT_DOUBLE_WITHIN(0.01 + 0.02 * most_j, work_j, krang_energy_j(&sim.body.krang) - before_j);
	}
	TEST_ASSERT_TRUE(most_j > 0.5);
}

TEST(test_robot_falls_without_current)
{
	start("start: standing, disturbance: 5", "position: -0.3");
	pass(6000 * MS);
	TEST_ASSERT_NOT_NULL_MESSAGE(strstr(answer("report body"), "ok body kind krang mode fallen"), said);
	TEST_ASSERT_NOT_NULL_MESSAGE(strstr(said, " falls 1 "), said);
}

/* ---- on command ---- */

TEST(test_push)
{
	start("start: standing", "position: -0.3");
	base.balances = true;
	base.pitch = sim.body.krang.pitch_rad;
	pass(100 * MS);
	TEST_ASSERT_EQUAL_STRING("ok", answer("push body 80N 0.2s"));
	pass(100 * MS);
	TEST_ASSERT_NOT_NULL_MESSAGE(strstr(answer("report body"), " push 80 "), said);
	pass(101 * MS);
	TEST_ASSERT_NOT_NULL_MESSAGE(strstr(answer("report body"), " push 0 "), said);
	TEST_ASSERT_TRUE(sim.body.krang.speed_m_s > 0.02);
	TEST_ASSERT_EQUAL_STRING("ok", answer("push body -80 200ms"));
	pass(5000 * MS);
	TEST_ASSERT_EQUAL(KRANG_STANDING, sim.body.krang.mode);
	TEST_ASSERT_NOT_NULL_MESSAGE(strstr(answer("push body 80Nm 1s"), "error push body: a force in N"), said);
	TEST_ASSERT_NOT_NULL_MESSAGE(strstr(answer("push waist.15 80N 1s"), "error push waist.15: a torque"), said);
	TEST_ASSERT_NOT_NULL_MESSAGE(strstr(answer("fault body silent"), "error body: nothing of that name"), said);
}

TEST(test_set_puts_it_back)
{
	start("start: standing, disturbance: 5", "position: -0.3");
	pass(6000 * MS);
	TEST_ASSERT_EQUAL(KRANG_FALLEN, sim.body.krang.mode);
	TEST_ASSERT_EQUAL_STRING("ok", answer("set body start=held"));
	pass(500 * MS);
	TEST_ASSERT_EQUAL(KRANG_HELD, sim.body.krang.mode);
	TEST_ASSERT_DOUBLE_WITHIN(1e-9, 0, krang_lean_rad(&sim.body.krang));
	TEST_ASSERT_EQUAL_STRING("ok", answer("set body start=sitting"));
	TEST_ASSERT_EQUAL(KRANG_SITTING, sim.body.krang.mode);
	TEST_ASSERT_EQUAL_STRING("ok", answer("set body upper_mass=65"));
	TEST_ASSERT_EQUAL_STRING("ok", answer("set body upper_mass=65 start=held upper_mass=66"));
	TEST_ASSERT_NOT_NULL_MESSAGE(strstr(answer("set body upper_mass=65 waist=1"), "error waist: is set in"), said);
	TEST_ASSERT_EQUAL_DOUBLE(65, sim.body.krang.settings.upper_mass);
	TEST_ASSERT_NOT_NULL_MESSAGE(strstr(answer("set body waist=1"), "error waist: is set in the robot file"), said);
	TEST_ASSERT_NOT_NULL_MESSAGE(strstr(answer("set body gear=0"), "below the minimum 1"), said);
	TEST_ASSERT_EQUAL(1, sim.body.krang.falls);
}

/* ---- after a kill ---- */

/* Another robotsim in that folder, at that time. */
static void start_next(int folder, const char *settings, int64_t t_ns)
{
	char body[512];

	snprintf(body, sizeof(body), KRANG ", settings: {%s}", settings);
	TEST_ASSERT_EQUAL_MESSAGE(0, load(body, "position: -0.3"), said);
	sim_keep_open(&sim, folder);
	TEST_ASSERT_NOT_NULL(sim.body.keep);
	now_ns = t_ns;
	sim_start(&sim, now_ns);
}

TEST(killed_robotsim_leaves_the_body_where_it_is)
{
	char path[] = "/tmp/test_robotsim_body.XXXXXX";
	const int folder = mkdtemp(path) ? open(path, O_RDONLY | O_DIRECTORY) : -1;
	double travel_m, heading_rad;

	TEST_ASSERT_TRUE(folder >= 0);
	start_next(folder, "start: held", START_NS);
	TEST_ASSERT_EQUAL_DOUBLE(0, sim.body.krang.travel_m);
	base.left.current_a = 5;
	pass(20 * MS);
	((struct pcube *)sim.units[0].state)->joint.position = -0.8;
	pass(20 * MS);
	travel_m = sim.body.krang.travel_m;
	heading_rad = sim.body.krang.heading_rad;
	TEST_ASSERT_TRUE(travel_m != 0 && heading_rad != 0);
	start_next(folder, "start: held", now_ns + 20 * MS);
	TEST_ASSERT_EQUAL(KRANG_HELD, sim.body.krang.mode);
	TEST_ASSERT_EQUAL_DOUBLE(travel_m, sim.body.krang.travel_m);
	TEST_ASSERT_EQUAL_DOUBLE(heading_rad, sim.body.krang.heading_rad);
	TEST_ASSERT_DOUBLE_WITHIN(0.02, 0.8, sim.body.krang.waist_rad);
	TEST_ASSERT_DOUBLE_WITHIN(1e-9, 0, krang_lean_rad(&sim.body.krang));
	TEST_ASSERT_TRUE(((struct pcube *)sim.units[0].state)->shaft.coupled);
	pass(MS);
	start_next(folder, "start: held", now_ns + 6000 * MS); /* another run */
	TEST_ASSERT_EQUAL_DOUBLE(0, sim.body.krang.travel_m);
	TEST_ASSERT_DOUBLE_WITHIN(1e-6, 0.3, sim.body.krang.waist_rad);
	pass(MS);
	start_next(folder, "start: held", now_ns - 1000 * MS); /* of another clock */
	TEST_ASSERT_EQUAL_DOUBLE(0, sim.body.krang.travel_m);
	sim_keep_close(&sim, folder);
	close(folder);
	TEST_ASSERT_EQUAL(0, rmdir(path));
}

TEST(killed_robotsim_of_a_fallen_body_begins_where_start_says)
{
	char path[] = "/tmp/test_robotsim_body.XXXXXX";
	const int folder = mkdtemp(path) ? open(path, O_RDONLY | O_DIRECTORY) : -1;

	TEST_ASSERT_TRUE(folder >= 0);
	start_next(folder, "start: standing, disturbance: 5", START_NS);
	pass(6000 * MS);
	TEST_ASSERT_EQUAL(KRANG_FALLEN, sim.body.krang.mode);
	start_next(folder, "start: standing", now_ns + 20 * MS);
	TEST_ASSERT_EQUAL(KRANG_STANDING, sim.body.krang.mode);
	TEST_ASSERT_EQUAL_DOUBLE(0, sim.body.krang.travel_m);
	TEST_ASSERT_EQUAL(1, sim.body.krang.falls);
	sim_keep_close(&sim, folder);
	close(folder);
	TEST_ASSERT_EQUAL(0, rmdir(path));
}
