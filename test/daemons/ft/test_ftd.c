/* test_ftd.c: ftd and a simulated sensor on a soft wire, on a virtual clock. */
#include <math.h>
#include <signal.h>

#include "test/lib/device_lib.h"
#include "test/lib/testcase.h"

#define RIG_STATES_MAX 8000
#define LOAD "force: [3, -4, 25], torque: [0.2, -0.3, 0.5]"
#define STILL "noise: 0, " LOAD

static struct {
	struct msg_ft states[RIG_STATES_MAX];
	unsigned int states_n;
} rig;

static const struct device_lib_what what = {
	.driver = "ftd",
	.name = "ft",
	.bus = "wrist",
	.step_ms = 1,
	.frames_max = 60000,
	.events_max = 400,
	.requests = true,
	.state = msg_ft_number,
	.states = rig.states,
	.states_n = &rig.states_n,
	.states_max = RIG_STATES_MAX,
};

static bool is_new(unsigned int i)
{
	return !(rig.states[i].header.flags & MSG_FLAG_PARTIAL);
}

static unsigned int samples_since(unsigned int from)
{
	unsigned int n = 0;

	for (unsigned int i = from; i < rig.states_n; i++)
		n += is_new(i);
	return n;
}

static const struct msg_ft *newest_sample(void)
{
	unsigned int i = rig.states_n;

	while (i && !is_new(i - 1))
		i--;
	TEST_ASSERT_GREATER_THAN(0, i);
	return &rig.states[i - 1];
}

static unsigned int frames_since(unsigned int from, uint32_t id, unsigned int len)
{
	unsigned int n = 0;

	for (unsigned int i = from; i < device_lib.frames_n; i++)
		n += device_lib.frames[i].frame.id == id && device_lib.frames[i].frame.len == len &&
		     !(device_lib.frames[i].flags & BUS_QUEUED);
	return n;
}

void tearDown(void)
{
	device_lib_end();
}

static void up_beside(const char *settings, const char *sim, const char *devices)
{
	device_lib_begin(&what, settings, sim, devices);
	device_lib_driver();
	device_lib_pass(60);
	TEST_ASSERT_EQUAL(MSG_LIFE_ACTIVE, device_lib_life());
}

static void up(const char *settings, const char *sim)
{
	up_beside(settings, sim, "");
}

static void expect(const double force[3], const double torque[3])
{
	const struct msg_ft *s = newest_sample();

	for (unsigned int i = 0; i < 3; i++) {
		TEST_ASSERT_DOUBLE_WITHIN(0.03, force[i], s->force[i]);
		TEST_ASSERT_DOUBLE_WITHIN(0.003, torque[i], s->torque[i]);
	}
}
#define EXPECT(fx, fy, fz, tx, ty, tz) expect((const double[3]){ fx, fy, fz }, (const double[3]){ tx, ty, tz })

/* Each sample is of its own time, and was on the wire just before. */
static void expect_no_stale_samples(void)
{
	int64_t last_ns = 0;

	for (unsigned int i = 0; i < rig.states_n; i++) {
		const struct msg_ft *s = &rig.states[i];

		if (s->header.flags & MSG_FLAG_PARTIAL)
			continue;
		TEST_ASSERT(s->header.t_sample_ns > last_ns);
		TEST_ASSERT_LESS_THAN(3 * DEVICE_LIB_MS, s->age_ns);
		last_ns = s->header.t_sample_ns;
	}
}

/* Every pair of halves on the wire is a state with its time, in the last ms. */
static void expect_every_sample(int ms, unsigned int wanted)
{
	const unsigned int frames = device_lib.frames_n, states = rig.states_n;

	device_lib_pass(ms);
	TEST_ASSERT_UINT_WITHIN(1, wanted, frames_since(frames, 0x201, 6));
	TEST_ASSERT_UINT_WITHIN(1, frames_since(frames, 0x201, 6), samples_since(states));
	TEST_ASSERT_EQUAL(0, device_lib_events("samples-lost"));
	expect_no_stale_samples();
}

/* ---- start ---- */

TEST(start_up_reads_all_and_then_measures)
{
	device_lib_begin(&what, "", STILL, "");
	device_lib_driver();
	device_lib_pass(60);
	TEST_ASSERT_EQUAL(MSG_LIFE_ACTIVE, device_lib_life());
	TEST_ASSERT_EQUAL_STRING("sensor", device_lib.events[0].code);
	TEST_ASSERT_EQUAL_STRING(
		"serial number FT12345, firmware 2.1.97, counts per unit 1000000, 1000000, calibration 0",
		device_lib.events[0].text);
	TEST_ASSERT_TRUE(isnan(rig.states[0].force[0]) && isnan(rig.states[0].torque[2]));
	TEST_ASSERT_EQUAL(0, rig.states[0].header.t_sample_ns);
	TEST_ASSERT_EQUAL(6, frames_since(0, 0x202, 1));
	EXPECT(3, -4, 25, 0.2, -0.3, 0.5);
	expect_every_sample(1000, 100);
}

TEST(a_restarted_driver_measures_within_30_ms)
{
	up("", STILL);
	for (unsigned int i = 0; i < 5; i++) {
		unsigned int before;

		device_lib_signal(SIGKILL);
		device_lib_pass(7);
		before = rig.states_n;
		device_lib_driver();
		device_lib_pass(30);
		TEST_ASSERT_GREATER_THAN(0, samples_since(before));
		TEST_ASSERT_EQUAL(MSG_LIFE_ACTIVE, device_lib_life());
	}
}

TEST(settings_of_the_sensor)
{
	static const struct {
		const char *settings, *sim;
		double fx, tx;
	} cases[] = {
		{ "", "same_ids: yes", 10, 1 },
		{ "calibration: 3", "", 13, 1.3 },
		{ "", "force_code: 1, torque_code: 1", 44.482, 0.11298 },
		{ "force_unit: kgf, torque_unit: Nmm", "force_code: 99, torque_code: 99", 98.0665, 0.001 },
		{ "", "force_counts: 2000000, torque_counts: 500000", 5, 2 },
		{ "base: 0x7F", "", 10, 1 },
		{ "mounting: [0, 0, 90]", "", 0, 0 },
		{ "tool_mass: 1", "", 10, 1 },
		{ "tool_mass: 1, gravity: [-0.5, 0, 0]", "", 19.80665, 1 },
		{ "tool_mass: 1, tool_center: [0, 0.1, 0]", "", 10, 1.980665 },
	};

	for (size_t i = 0; i < sizeof(cases) / sizeof(*cases); i++) {
		char sim[200];

		if (i)
			device_lib_end();
		snprintf(sim, sizeof(sim), "noise: 0, force: [10, 0, 0], torque: [1, 0, 0]%s%s",
			 *cases[i].sim ? ", " : "", cases[i].sim);
		up(cases[i].settings, sim);
		TEST_ASSERT_DOUBLE_WITHIN_MESSAGE(0.05, cases[i].fx, newest_sample()->force[0], cases[i].settings);
		TEST_ASSERT_DOUBLE_WITHIN_MESSAGE(0.003, cases[i].tx, newest_sample()->torque[0], cases[i].settings);
	}
}

TEST(an_unusable_calibration_is_a_fault_until_it_changes)
{
	static const struct {
		const char *wrong, *right, *text;
	} cases[] = {
		{ "force_counts: 0", "set ft.1 force_counts=1000000", "invalid counts per unit: 8 bytes, 00 00 ..." },
		{ "torque_code: 7", "set ft.1 torque_code=3", "invalid unit codes: 2 bytes, 02 07 ..." },
	};

	for (size_t i = 0; i < sizeof(cases) / sizeof(*cases); i++) {
		if (i)
			device_lib_end();
		device_lib_begin(&what, "", cases[i].wrong, "");
		device_lib_driver();
		device_lib_pass(500);
		TEST_ASSERT_EQUAL(MSG_LIFE_FAULT, device_lib_life());
		TEST_ASSERT_EQUAL(0, samples_since(0));
		TEST_ASSERT_EQUAL_STRING(cases[i].text, device_lib.events[0].text);
		TEST_ASSERT_EQUAL(1, device_lib_events("answer"));
		device_lib_sim(cases[i].right);
		device_lib_pass(100);
		TEST_ASSERT_EQUAL(MSG_LIFE_ACTIVE, device_lib_life());
	}
}

/* ---- halves ---- */

TEST(a_lost_half_loses_the_sample)
{
	static const char *const faults[] = { "no-first", "no-second" };

	for (unsigned int i = 0; i < 2; i++) {
		char question[64];
		unsigned int before;

		if (i)
			device_lib_end();
		up("silent_after: 1s", STILL);
		snprintf(question, sizeof(question), "fault ft.1 %s", faults[i]);
		device_lib_sim(question);
		device_lib_pass(20);
		before = rig.states_n;
		device_lib_pass(300);
		TEST_ASSERT_EQUAL(0, samples_since(before));
		TEST_ASSERT_EQUAL(MSG_LIFE_ACTIVE, device_lib_life());
		TEST_ASSERT_GREATER_THAN(0, device_lib_events("samples-lost"));
		snprintf(question, sizeof(question), "fault ft.1 %s clear", faults[i]);
		device_lib_sim(question);
		before = rig.states_n;
		device_lib_pass(300);
		TEST_ASSERT_UINT_WITHIN(3, 30, samples_since(before));
		expect_no_stale_samples();
	}
}

/* The load jumps with each sample; a sample of two halves would be far from either. */
static void expect_whole_samples(unsigned int least)
{
	unsigned int low = 0, high = 0;

	for (unsigned int i = 0; i < rig.states_n; i++) {
		const struct msg_ft *s = &rig.states[i];
		const bool is_high = s->force[0] > 5;

		if (s->header.flags & MSG_FLAG_PARTIAL)
			continue;
		TEST_ASSERT_DOUBLE_WITHIN(0.03, is_high ? 100 : 0, s->force[0]);
		TEST_ASSERT_DOUBLE_WITHIN(0.03, is_high ? -90 : 0, s->force[1]);
		TEST_ASSERT_DOUBLE_WITHIN(0.03, is_high ? 80 : 0, s->force[2]);
		high += is_high;
		low += !is_high;
	}
	TEST_ASSERT_GREATER_THAN(least, low);
	TEST_ASSERT_GREATER_THAN(least, high);
}

TEST(halves_are_never_mixed)
{
	static const char *const delays[] = { "100us", "3700us", "1500us" };

	for (unsigned int i = 0; i < 3; i++) {
		char question[64];

		if (i)
			device_lib_end();
		up("tick: 2ms, silent_after: 500ms", "noise: 0");
		snprintf(question, sizeof(question), "set ft.1 delay=%s", delays[i]);
		device_lib_sim(question);
		device_lib_sim("set ft.1 lose=0.15");
		for (unsigned int n = 0; n < 80; n++) {
			device_lib_sim(n % 2 ? "set ft.1 force=[0,0,0]" : "set ft.1 force=[100,-90,80]");
			device_lib_pass(7);
			if (n % 5 == 0)
				device_lib_hear("200#"); /* another host asks, too */
		}
		expect_whole_samples(10);
		expect_no_stale_samples();
		device_lib_sim("set ft.1 lose=0");
		device_lib_pass(200);
		TEST_ASSERT_EQUAL(MSG_LIFE_ACTIVE, device_lib_life());
	}
}

TEST(replies_that_are_late_are_not_taken_for_the_next)
{
	unsigned int before;

	up("tick: 2ms", "noise: 0, delay: 1ms");
	device_lib_sim("set ft.1 delay=6ms"); /* later than reply_late, not than reply_lost */
	device_lib_pass(5);
	before = rig.states_n;
	device_lib_pass(135);
	TEST_ASSERT_EQUAL(0, samples_since(before));
	TEST_ASSERT_EQUAL(MSG_LIFE_FAULT, device_lib_life());
	device_lib_sim("set ft.1 delay=1ms");
	device_lib_pass(100);
	TEST_ASSERT_EQUAL(MSG_LIFE_ACTIVE, device_lib_life());
	expect_no_stale_samples();
}

TEST(another_host_is_reported_and_its_samples_are_not_taken)
{
	unsigned int before;

	up("calibration: 2", "noise: 0, force: [10, 0, 0]");
	before = rig.states_n;
	for (unsigned int i = 0; i < 20; i++) {
		device_lib_hear("200#");
		device_lib_pass(9);
	}
	TEST_ASSERT_GREATER_THAN(0, device_lib_events("other-host"));
	TEST_ASSERT_LESS_THAN(20, samples_since(before));
	device_lib_hear("206#00"); /* another calibration */
	device_lib_pass(100);
	device_lib_sim("report ft.1");
	TEST_ASSERT_NOT_NULL_MESSAGE(strstr(device_lib.said, "calibration 2 "), device_lib.said);
	TEST_ASSERT_DOUBLE_WITHIN(0.03, 12, newest_sample()->force[0]);
	TEST_ASSERT_EQUAL(MSG_LIFE_ACTIVE, device_lib_life());
}

/* ---- rates ---- */

TEST(at_500_hz_no_sample_is_lost)
{
	up("tick: 2ms", LOAD);
	expect_every_sample(2000, 1000);
	TEST_ASSERT_EQUAL(0, newest_sample()->common.skipped);
}

TEST(beside_arm_modules_no_sample_is_lost)
{
	static const struct {
		const char *settings;
		unsigned int samples;
	} cases[] = { { "", 100 }, { "tick: 5ms", 200 } };

	for (unsigned int i = 0; i < 2; i++) {
		unsigned int frames;

		if (i)
			device_lib_end();
		device_lib_begin(
			&what, cases[i].settings, LOAD,
			"  arm: {driver: pciod, bus: wrist, settings: {lock_memory: no, modules: 8-10, tick: 5ms}, "
			"limits: {velocity: 0.5, acceleration: 2}}\n");
		device_lib_driver();
		device_lib_other("pciod", "arm");
		device_lib_pass(1000);
		TEST_ASSERT_EQUAL(MSG_LIFE_ACTIVE, device_lib_life());
		frames = device_lib.frames_n;
		expect_every_sample(1000, cases[i].samples);
		for (uint32_t module = 8; module <= 10; module++) { /* which are read 200 times a second, as ever */
			unsigned int answers = 0;

			for (unsigned int len = 1; len <= 8; len++)
				answers += frames_since(frames, 0x0A0 + module, len);
			TEST_ASSERT_GREATER_THAN_MESSAGE(199, answers, "modules");
		}
	}
}

TEST(two_sensors_on_one_wire)
{
	up_beside("", LOAD,
		  "  second: {driver: ftd, bus: wrist, settings: {lock_memory: no, base: 0x21}, "
		  "sim: {noise: 0, force: [1, 1, 1]}}\n");
	device_lib_other("ftd", "second");
	device_lib_pass(100);
	expect_every_sample(1000, 100);
	EXPECT(3, -4, 25, 0.2, -0.3, 0.5);
	TEST_ASSERT_GREATER_THAN(100, frames_since(0, 0x211, 6));
}

/* ---- status, saturation, bias ---- */

TEST(a_can_error_is_ended_by_a_reset)
{
	unsigned int before;

	up("", STILL);
	before = rig.states_n;
	device_lib_sim("fault ft.1 can-error");
	device_lib_pass(200);
	TEST_ASSERT_EQUAL(1, device_lib_events("reset"));
	TEST_ASSERT_EQUAL(1, device_lib_events("status"));
	TEST_ASSERT_EQUAL(1, frames_since(0, 0x20C, 0));
	TEST_ASSERT_EQUAL(MSG_LIFE_ACTIVE, device_lib_life());
	TEST_ASSERT_GREATER_THAN(10, samples_since(before));
	device_lib_sim("report ft.1");
	TEST_ASSERT_NOT_NULL_MESSAGE(strstr(device_lib.said, "resets 1 early 0"), device_lib.said);
}

TEST(an_error_that_a_reset_does_not_end_is_reset_ever_later)
{
	int64_t last_ns = 0;
	unsigned int before, resets = 0;

	up("", STILL);
	device_lib_sim("set ft.1 status=0x4001");
	device_lib_pass(20);
	before = rig.states_n;
	device_lib_pass(3000);
	TEST_ASSERT_EQUAL(MSG_LIFE_FAULT, device_lib_life());
	TEST_ASSERT_EQUAL(0, samples_since(before)); /* what it measures meanwhile is not published */
	TEST_ASSERT_EQUAL(0x4001, rig.states[rig.states_n - 1].status);
	for (unsigned int i = 0; i < device_lib.frames_n; i++) {
		if (device_lib.frames[i].frame.id != 0x20C || device_lib.frames[i].flags & BUS_QUEUED)
			continue;
		TEST_ASSERT(!last_ns || device_lib.frames[i].t_ns - last_ns >= 10 * DEVICE_LIB_MS);
		last_ns = device_lib.frames[i].t_ns;
		resets++;
	}
	TEST_ASSERT_UINT_WITHIN(3, 9, resets);
	for (unsigned int i = 0; i < device_lib.events_n; i++)
		if (!strcmp(device_lib.events[i].code, "status"))
			TEST_ASSERT_EQUAL_STRING("the sensor reports a CAN error and a problem, status 4001",
						 device_lib.events[i].text);
	device_lib_sim("set ft.1 status=0");
	device_lib_pass(1200);
	TEST_ASSERT_EQUAL(MSG_LIFE_ACTIVE, device_lib_life());
	device_lib_sim("report ft.1");
	TEST_ASSERT_NOT_NULL_MESSAGE(strstr(device_lib.said, "early 0"), device_lib.said);
}

TEST(other_bits_are_a_fault_unless_ignored)
{
	up("", STILL);
	device_lib_sim("set ft.1 status=2");
	device_lib_pass(100);
	TEST_ASSERT_EQUAL(MSG_LIFE_FAULT, device_lib_life());
	TEST_ASSERT_EQUAL(1, device_lib_events("status"));
	TEST_ASSERT_EQUAL(0, frames_since(0, 0x20C, 0));
	device_lib_sim("set ft.1 status=0");
	device_lib_pass(50);
	TEST_ASSERT_EQUAL(MSG_LIFE_ACTIVE, device_lib_life());
	device_lib_end();
	up("status_ignored: 0x4003", STILL ", status: 0x4002");
	TEST_ASSERT_EQUAL(0x4002, newest_sample()->status);
	EXPECT(3, -4, 25, 0.2, -0.3, 0.5);
}

TEST(saturated_gauges_are_named)
{
	up("saturation_counts: 1000", "noise: 0");
	TEST_ASSERT_EQUAL(0, newest_sample()->saturated);
	device_lib_sim("set ft.1 torque=[0,0,-1]");
	device_lib_pass(200);
	TEST_ASSERT_EQUAL(0x20, newest_sample()->saturated);
	TEST_ASSERT_EQUAL(1, device_lib_events("saturated"));
	TEST_ASSERT_EQUAL_STRING("saturated gauges: 5", device_lib.events[device_lib.events_n - 1].text);
	TEST_ASSERT_EQUAL(MSG_LIFE_ACTIVE, device_lib_life());
	device_lib_request(MSG_VERB_BIAS, "", "");
	device_lib_pass(50);
	TEST_ASSERT_EQUAL(-ERANGE, device_lib_reply()->result);
}

static void take_bias(void)
{
	const unsigned int before = device_lib.replies_n;

	device_lib_request(MSG_VERB_BIAS, "", "");
	device_lib_pass(50);
	TEST_ASSERT_EQUAL(before, device_lib.replies_n); /* it averages */
	device_lib_pass(200);
	TEST_ASSERT_EQUAL(before + 1, device_lib.replies_n);
	TEST_ASSERT_EQUAL(0, device_lib_reply()->result);
}

TEST(a_bias_outlives_the_driver_until_it_is_cleared)
{
	up("bias_samples: 20", LOAD ", noise: 10");
	take_bias();
	TEST_ASSERT_DOUBLE_WITHIN(1, 0, newest_sample()->force[2]);
	for (int ms = 1; ms < 20; ms += 2) { /* also before it has measured */
		device_lib_signal(SIGKILL);
		device_lib_driver();
		device_lib_pass(ms);
	}
	device_lib_sim("set ft.1 noise=0");
	device_lib_sim("set ft.1 force=[4,-4,25]");
	device_lib_pass(50);
	TEST_ASSERT_DOUBLE_WITHIN(0.15, 1, newest_sample()->force[0]);
	TEST_ASSERT_DOUBLE_WITHIN(0.15, 25, newest_sample()->bias_force[2]);
	TEST_ASSERT_DOUBLE_WITHIN(0.01, 0.5, newest_sample()->bias_torque[2]);
	device_lib_request(MSG_VERB_CLEAR, "", "");
	device_lib_pass(50);
	TEST_ASSERT_EQUAL(0, device_lib_reply()->result);
	EXPECT(4, -4, 25, 0.2, -0.3, 0.5);
	device_lib_signal(SIGKILL);
	device_lib_driver();
	device_lib_pass(100);
	EXPECT(4, -4, 25, 0.2, -0.3, 0.5);
	TEST_ASSERT_EQUAL_DOUBLE(0, newest_sample()->bias_force[2]);
}

TEST(a_bias_ends_with_the_sensor)
{
	up("bias_samples: 200", STILL);
	device_lib_request(MSG_VERB_BIAS, "", "");
	device_lib_pass(50);
	device_lib_request(MSG_VERB_BIAS, "", "");
	device_lib_pass(50);
	TEST_ASSERT_EQUAL(-EBUSY, device_lib_reply()->result);
	device_lib_sim("fault ft.1 power-off");
	device_lib_pass(200);
	TEST_ASSERT_EQUAL(2, device_lib.replies_n);
	TEST_ASSERT_EQUAL(-EIO, device_lib_reply()->result);
	device_lib_request(MSG_VERB_BIAS, "", "");
	device_lib_pass(50);
	TEST_ASSERT_EQUAL(-EAGAIN, device_lib_reply()->result);
	TEST_ASSERT_EQUAL_DOUBLE(0, rig.states[rig.states_n - 1].bias_force[2]);
}

/* ---- a sensor that fails ---- */

TEST(a_sensor_that_fails_is_one_fault_and_recovers_by_itself)
{
	static const struct {
		const char *fault, *over;
		bool garbage;
	} cases[] = {
		{ "fault ft.1 power-off", "fault ft.1 power-on", false },
		{ "fault ft.1 silent", "fault ft.1 silent clear", false },
		{ "fault ft.1 cut", "fault ft.1 cut clear", false },
		{ "fault ft.1 wrong-length", "fault ft.1 wrong-length clear", false },
		{ "fault ft.1 garbage", "fault ft.1 garbage clear", true },
	};

	for (size_t i = 0; i < sizeof(cases) / sizeof(*cases); i++) {
		unsigned int before;

		if (i)
			device_lib_end();
		up("calibration: 1", STILL);
		device_lib_sim(cases[i].fault);
		device_lib_pass(10);
		before = rig.states_n;
		device_lib_pass(1000);
		TEST_ASSERT_EQUAL_MESSAGE(MSG_LIFE_FAULT, device_lib_life(), cases[i].fault);
		TEST_ASSERT_EQUAL_MESSAGE(0, samples_since(before), cases[i].fault);
		TEST_ASSERT_GREATER_THAN_MESSAGE(50, rig.states_n - before, cases[i].fault);
		TEST_ASSERT_EQUAL_MESSAGE(1, device_lib_events("no-answer") + device_lib_events("bus"), cases[i].fault);
		device_lib_sim(cases[i].over);
		device_lib_pass(1500);
		TEST_ASSERT_EQUAL_MESSAGE(MSG_LIFE_ACTIVE, device_lib_life(), cases[i].fault);
		EXPECT(3.3, -4.4, 27.5, 0.22, -0.33, 0.55);
		expect_no_stale_samples();
	}
}

/* Off and on again before it is missed: its calibration would be another one. */
TEST(a_short_power_cycle_is_noticed)
{
	up("calibration: 2", STILL);
	device_lib_sim("fault ft.1 power-off");
	device_lib_sim("fault ft.1 power-on");
	device_lib_pass(15);
	TEST_ASSERT_EQUAL(MSG_LIFE_ACTIVE, device_lib_life());
	device_lib_pass(100);
	device_lib_sim("report ft.1");
	TEST_ASSERT_NOT_NULL_MESSAGE(strstr(device_lib.said, "calibration 2 "), device_lib.said);
}

TEST(a_driver_without_a_sensor_waits_for_it)
{
	device_lib_begin(&what, "", STILL, "");
	device_lib_sim("fault ft.1 power-off");
	device_lib_driver();
	device_lib_pass(2000);
	TEST_ASSERT_EQUAL(MSG_LIFE_FAULT, device_lib_life());
	TEST_ASSERT_TRUE(isnan(rig.states[rig.states_n - 1].force[0]));
	TEST_ASSERT_EQUAL_STRING("the sensor does not answer: no serial number for 60 ms", device_lib.events[0].text);
	TEST_ASSERT_EQUAL(1, device_lib_events("no-answer"));
	device_lib_sim("fault ft.1 power-on");
	device_lib_pass(1500);
	TEST_ASSERT_EQUAL(MSG_LIFE_ACTIVE, device_lib_life());
	EXPECT(3, -4, 25, 0.2, -0.3, 0.5);
}
