/* test_imud.c: imud and a simulated sensor on a soft wire, on a virtual clock. */
#include <math.h>
#include <signal.h>

#include "test/lib/device_lib.h"
#include "test/lib/testcase.h"

#define RIG_STATES_MAX 8000
#define STREAMING "streams: yes"

static struct {
	struct msg_imu states[RIG_STATES_MAX];
	unsigned int states_n;
} rig;

static const struct device_lib_what what = {
	.driver = "imud",
	.name = "imu",
	.bus = "base",
	.step_ms = 1,
	.frames_max = 60000,
	.events_max = 200,
	.state = msg_imu_number,
	.states = rig.states,
	.states_n = &rig.states_n,
	.states_max = RIG_STATES_MAX,
};

static unsigned int samples_since(unsigned int from)
{
	unsigned int n = 0;

	for (unsigned int i = from; i < rig.states_n; i++)
		n += rig.states[i].samples;
	return n;
}

static unsigned int toggles(void)
{
	return device_lib_sent(0x090);
}

void tearDown(void)
{
	device_lib_end();
}

static void up(const char *settings, const char *sim)
{
	device_lib_begin(&what, settings, sim, "");
	device_lib_driver();
	device_lib_pass(200);
	TEST_ASSERT_EQUAL(MSG_LIFE_ACTIVE, device_lib_life());
}

/* Every sample is of its own time, and is published within a few frames of it. */
static void expect_no_stale_samples(void)
{
	int64_t last_ns = 0;

	for (unsigned int i = 0; i < rig.states_n; i++) {
		const struct msg_imu *s = &rig.states[i];

		if (!s->samples)
			continue;
		TEST_ASSERT_EQUAL(0, s->header.flags & MSG_FLAG_PARTIAL);
		TEST_ASSERT(s->header.t_sample_ns > last_ns);
		TEST_ASSERT_LESS_THAN(3 * DEVICE_LIB_MS, s->age_ns);
		last_ns = s->header.t_sample_ns;
	}
}

/* A frame with the sequence of the sample: each one that was on the wire is published. */
static void expect_each_published(uint32_t last_id, unsigned int from_ms)
{
	const int64_t from_ns = device_lib.frames[0].t_ns + from_ms * DEVICE_LIB_MS,
		      to_ns = device_lib.frames[device_lib.frames_n - 1].t_ns - DEVICE_LIB_MS;
	unsigned int sent = 0, published = 0;

	for (unsigned int i = 0; i < device_lib.frames_n; i++)
		sent += device_lib.frames[i].frame.id == last_id && device_lib.frames[i].t_ns > from_ns &&
			device_lib.frames[i].t_ns <= to_ns;
	for (unsigned int i = 0; i < rig.states_n; i++) {
		const struct msg_imu *s = &rig.states[i];
		const int64_t t_ns = s->header.t_publish_ns;

		published += s->samples && t_ns > from_ns && t_ns <= to_ns + DEVICE_LIB_MS / 2;
	}
	TEST_ASSERT_UINT_WITHIN(1, sent, published);
	TEST_ASSERT_GREATER_THAN(100, sent);
}

TEST(a_dmu_that_streams_is_left_alone)
{
	device_lib_begin(&what, "kind: dmu", STREAMING, "");
	device_lib_driver();
	device_lib_pass(30);
	TEST_ASSERT_EQUAL(MSG_LIFE_ACTIVE, device_lib_life()); /* without waiting for listen */
	device_lib_pass(970);
	TEST_ASSERT_EQUAL(0, toggles());
	TEST_ASSERT_UINT_WITHIN(2, 198, samples_since(0));
	expect_no_stale_samples();
}

TEST(a_dmu_that_does_not_stream_is_toggled_once)
{
	device_lib_begin(&what, "kind: dmu", "streams: no", "");
	device_lib_driver();
	device_lib_pass(1000);
	TEST_ASSERT_EQUAL(MSG_LIFE_ACTIVE, device_lib_life());
	TEST_ASSERT_EQUAL(1, toggles());
	TEST_ASSERT_EQUAL(0, device_lib_events("no-sample"));
	expect_no_stale_samples();
}

TEST(a_dmu_that_begins_late_is_not_switched_off_for_good)
{
	device_lib_begin(&what, "kind: dmu", "streams: no, toggle_delay: 300ms", "");
	device_lib_driver();
	device_lib_pass(3000);
	TEST_ASSERT_EQUAL(MSG_LIFE_ACTIVE, device_lib_life());
	device_lib_sim("report imu.1");
	TEST_ASSERT_NOT_NULL_MESSAGE(strstr(device_lib.said, "streams yes"), device_lib.said);
}

/* Just as the driver's toggle is due another one begins the stream, at any instant around it. */
TEST(a_stream_that_begins_as_it_is_toggled_is_recovered)
{
	unsigned int most = 0;

	for (int ms = 40; ms < 60; ms++) {
		if (ms > 40)
			device_lib_end();
		device_lib_begin(&what, "kind: dmu", "streams: no, toggle_delay: 0s", "");
		device_lib_driver();
		device_lib_pass(ms);
		device_lib_hear("090#0F");
		device_lib_pass(600);
		TEST_ASSERT_EQUAL(MSG_LIFE_ACTIVE, device_lib_life());
		TEST_ASSERT_EQUAL(1, toggles() % 2);
		most = toggles() > most ? toggles() : most;
	}
	TEST_ASSERT_EQUAL(3, most); /* once it was ended by the driver's, and begun again */
}

TEST(a_restarted_driver_sends_nothing)
{
	up("kind: dmu", STREAMING);
	for (unsigned int i = 0; i < 5; i++) {
		unsigned int before;

		device_lib_signal(SIGKILL);
		device_lib_pass(7);
		before = rig.states_n;
		device_lib_driver();
		device_lib_pass(30);
		TEST_ASSERT_GREATER_THAN(2, samples_since(before));
		TEST_ASSERT_EQUAL(MSG_LIFE_ACTIVE, device_lib_life());
	}
	TEST_ASSERT_EQUAL(0, toggles());
}

TEST(a_dmu_that_was_switched_off_and_on_streams_again)
{
	up("kind: dmu", "streams: no");
	device_lib_sim("fault imu.1 power-off");
	device_lib_pass(300);
	TEST_ASSERT_EQUAL(MSG_LIFE_FAULT, device_lib_life());
	device_lib_sim("fault imu.1 power-on");
	device_lib_pass(2500);
	TEST_ASSERT_EQUAL(MSG_LIFE_ACTIVE, device_lib_life());
	device_lib_sim("report imu.1");
	TEST_ASSERT_NOT_NULL_MESSAGE(strstr(device_lib.said, "streams yes"), device_lib.said);
	expect_no_stale_samples();
}

TEST(a_frozen_driver_does_not_take_what_it_missed_for_silence)
{
	up("kind: dmu", STREAMING);
	device_lib_signal(SIGSTOP);
	device_lib_pass(1500);
	device_lib_signal(SIGCONT);
	device_lib_pass(200);
	TEST_ASSERT_EQUAL(MSG_LIFE_ACTIVE, device_lib_life());
	TEST_ASSERT_EQUAL(0, toggles());
}

/* 450 ms without a wire, and 250 ms until the sensor is on it: the driver has listened to a bus for 250 ms. */
TEST(a_dead_bus_is_not_silence)
{
	up("kind: dmu, listen: 500ms", STREAMING);
	device_lib_outage(450, 250);
	device_lib_pass(600);
	TEST_ASSERT_EQUAL(MSG_LIFE_ACTIVE, device_lib_life());
	TEST_ASSERT_EQUAL(0, toggles());
}

TEST(a_cable_that_was_cut)
{
	up("kind: dmu", STREAMING);
	device_lib_sim("fault imu.1 cut");
	device_lib_pass(300);
	TEST_ASSERT_EQUAL(MSG_LIFE_FAULT, device_lib_life());
	device_lib_sim("fault imu.1 cut clear");
	device_lib_pass(2500);
	TEST_ASSERT_EQUAL(MSG_LIFE_ACTIVE, device_lib_life());
}

/* What is wrong, and what the driver says; it is the same for both makes. */
static const struct {
	const char *fault, *event;
} faults[] = { { "silent", "no-sample" },
	       { "half", "no-sample" },
	       { "garbage", "no-sample" },
	       { "repeats", "no-sample" },
	       { "stuck", "frozen" } };

static void expect_faults(const char *settings)
{
	char question[64];

	up(settings, STREAMING);
	for (unsigned int i = 0; i < sizeof(faults) / sizeof(*faults); i++) {
		const unsigned int events = device_lib_events(faults[i].event);
		unsigned int before;

		sprintf(question, "fault imu.1 %s", faults[i].fault);
		device_lib_sim(question);
		device_lib_pass(160);
		before = rig.states_n;
		device_lib_pass(300);
		TEST_ASSERT_EQUAL_MESSAGE(MSG_LIFE_FAULT, device_lib_life(), faults[i].fault);
		TEST_ASSERT_EQUAL_MESSAGE(0, samples_since(before), faults[i].fault);
		TEST_ASSERT_GREATER_THAN_MESSAGE(before, rig.states_n, faults[i].fault); /* it lives */
		TEST_ASSERT_GREATER_THAN(300 * DEVICE_LIB_MS, rig.states[rig.states_n - 1].age_ns);
		TEST_ASSERT_EQUAL_MESSAGE(events + 1, device_lib_events(faults[i].event), faults[i].fault);
		strcat(question, " clear");
		device_lib_sim(question);
		device_lib_pass(1500);
		TEST_ASSERT_EQUAL_MESSAGE(MSG_LIFE_ACTIVE, device_lib_life(), faults[i].fault);
	}
	expect_no_stale_samples();
}

TEST(faults_of_a_dmu)
{
	expect_faults("kind: dmu");
	TEST_ASSERT_EQUAL(0, toggles() % 2); /* those of the silence */
}

TEST(faults_of_an_mti)
{
	expect_faults("kind: mti");
	TEST_ASSERT_EQUAL(0, toggles());
}

TEST(frames_that_are_lost_cost_their_samples_only)
{
	unsigned int lost = 0;

	up("kind: dmu", STREAMING ", lose: 0.05");
	device_lib_pass(2000);
	expect_no_stale_samples();
	for (unsigned int i = 0; i < rig.states_n; i++) /* never rate and acceleration of two samples */
		lost += rig.states[i].samples == 0;
	TEST_ASSERT_UINT_WITHIN(25, 390, samples_since(0));
	TEST_ASSERT_GREATER_THAN(0, device_lib_events("samples-lost"));
	TEST_ASSERT_LESS_THAN(5, lost);
}

TEST(no_sample_of_a_dmu_is_lost_at_1_khz)
{
	up("kind: dmu, rate: 1000", STREAMING);
	device_lib_pass(1000);
	expect_each_published(0x050, 150);
	TEST_ASSERT_EQUAL(0, device_lib_events("samples-lost"));
	expect_no_stale_samples();
}

TEST(no_sample_of_an_mti_is_lost_at_1_khz)
{
	up("kind: mti, rate: 1000", STREAMING);
	device_lib_pass(1000);
	expect_each_published(0x034, 150);
	expect_no_stale_samples();
}

/* The sensor is mounted in any way; what is published is the robot's. */
static void expect_motion(const char *settings, double tolerance)
{
	const struct msg_imu *s;

	up(settings, STREAMING ", noise_force: 0.005, noise_rate: 0.001, bias_rate: [0, 0, 0.1]");
	s = &rig.states[rig.states_n - 1];
	TEST_ASSERT_DOUBLE_WITHIN(tolerance, 0, s->acceleration[0]);
	TEST_ASSERT_DOUBLE_WITHIN(tolerance, 0, s->acceleration[1]);
	TEST_ASSERT_DOUBLE_WITHIN(tolerance, 9.81, s->acceleration[2]);
	TEST_ASSERT_DOUBLE_WITHIN(0.01, 0.01,
				  s->rate[0] * s->rate[0] + s->rate[1] * s->rate[1] + s->rate[2] * s->rate[2]);
}

TEST(a_mounted_dmu_at_rest)
{
	expect_motion("kind: dmu, mounting: [20, -30, 135]", 0.05);
	TEST_ASSERT_TRUE(isnan(rig.states[rig.states_n - 1].orientation[0]));
	TEST_ASSERT_TRUE(isnan(rig.states[rig.states_n - 1].temperature));
}

TEST(a_mounted_mti_at_rest)
{
	const struct msg_imu *s = &rig.states[0];

	expect_motion("kind: mti, mounting: [90, 0, 45], orientation: yes", 0.05);
	s = &rig.states[rig.states_n - 1];
	/* Its z axis is up in the world: the robot stands. */
	TEST_ASSERT_DOUBLE_WITHIN(
		0.01, 1, 1 - 2 * (s->orientation[1] * s->orientation[1] + s->orientation[2] * s->orientation[2]));
	TEST_ASSERT_DOUBLE_WITHIN(1e-9, 273.15 + 30.5, s->temperature);
	TEST_ASSERT_EQUAL_HEX32(3, s->status);
}

TEST(the_status_word_of_an_mti)
{
	up("kind: mti", STREAMING);
	device_lib_sim("set imu.1 bias_rate=[100,0,0]");
	device_lib_pass(50);
	TEST_ASSERT_EQUAL_HEX32(0x803, rig.states[rig.states_n - 1].status);
	TEST_ASSERT_EQUAL(1, device_lib_events("clipped"));
	device_lib_hear("001#07");
	device_lib_hear("002#08");
	device_lib_pass(50);
	TEST_ASSERT_EQUAL(1, device_lib_events("sensor-error"));
	TEST_ASSERT_EQUAL(1, device_lib_events("sensor-warning"));
}
