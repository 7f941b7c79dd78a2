/* test_robotsim_imu.c: the simulated inertial sensors. */
#include <math.h>

#include "can/bus/frame_text.h"
#include "daemons/robotsim/imu_unit.h"
#include "test/daemons/robotsim/robotsim_unit.h"
#include "test/lib/testcase.h"

#define MS ((int64_t)1000000)
#define QUIET "noise_force: 0, noise_rate: 0, delay: 0s"

void tearDown(void)
{
	unit_unload();
}

static int load(const char *settings, const char *rows)
{
	return unit_load("robot: test\nbuses: {b: {interface: wire:b, bitrate: 1000000}}\n"
			 "devices: {imu: {driver: imud, bus: b, settings: {%s}, sim: {%s}}}\n",
			 settings, rows);
}

static struct imu_unit *start(const char *settings, const char *rows)
{
	TEST_ASSERT_EQUAL_MESSAGE(0, load(settings, rows), said);
	unit_start(0);
	return sim.units[0].state;
}

TEST(a_dmu_at_rest_sends_the_frames_of_its_page)
{
	start("kind: dmu", QUIET ", streams: yes");
	TEST_ASSERT_EQUAL_STRING("imu.1", sim.units[0].name);
	TEST_ASSERT_EQUAL_HEX32(0x090, sim.units[0].filters[0].id);
	TEST_ASSERT_EQUAL_STRING("", unit_sends(5 * MS)); /* the first after a period */
	TEST_ASSERT_EQUAL_STRING("040#0000000000000001 050#00000000060D0001", unit_sends(10 * MS));
	TEST_ASSERT_EQUAL_STRING("040#0000000000000002 050#00000000060D0002", unit_sends(15 * MS));
}

/* All at once they would fill the bus after a pause of the machine.  The body advances its units in steps. */
TEST(frames_that_waited_for_10_ms_are_not_sent)
{
	struct imu_unit *u = start("kind: dmu", QUIET ", streams: yes");
	struct frame f;

	for (int64_t t_ns = 0; t_ns <= 90 * MS; t_ns += MS)
		sim.units[0].kind->advance(u, t_ns);
	for (unsigned int i = 0; i < 4; i++) { /* those of 85 and 90 ms */
		TEST_ASSERT_TRUE(sim.units[0].kind->send(u, 90 * MS, &f));
		TEST_ASSERT_EQUAL_HEX32(i % 2 ? 0x050 : 0x040, f.id);
		TEST_ASSERT_EQUAL_HEX8(0x11 + i / 2, f.data[7]);
	}
	TEST_ASSERT_FALSE(sim.units[0].kind->send(u, 90 * MS, &f));
}

/* The robot's y rate is the sensor's x at 90 degrees, and its x force the sensor's -y. */
TEST(the_mounting_is_applied_inversely)
{
	struct imu_unit *u = start("kind: dmu, mounting: [0, 0, 90]", QUIET ", streams: yes");
	struct sim_motion *m = sim.units[0].kind->motion(u);

	m->rate_rad_s[1] = 100 * 0.008 * M_PI / 180;
	m->force_m_s2[0] = 256 * 0.0003 * 9.80665;
	unit_sends(5 * MS);
	TEST_ASSERT_EQUAL_STRING("040#6400000000000001 050#000000FF060D0001", unit_sends(10 * MS));
	u = start("kind: dmu, mounting: [90, 0, 0]", QUIET ", streams: yes"); /* its y points up */
	unit_sends(5 * MS);
	TEST_ASSERT_EQUAL_STRING("040#0000000000000001 050#0000060D00000001", unit_sends(10 * MS));
	u = start("kind: dmu, mounting: [0, 90, 0]", QUIET ", streams: yes"); /* its x points down */
	unit_sends(5 * MS);
	TEST_ASSERT_EQUAL_STRING("040#0000000000000001 050#FAF2000000000001", unit_sends(10 * MS));
}

TEST(an_mti_at_rest_sends_the_frames_of_its_page)
{
	start("kind: mti", QUIET);
	unit_sends(5 * MS);
	TEST_ASSERT_EQUAL_STRING("005#00001388 006#0001 011#00000003 021#7FFF000000000000 032#000000000000 "
				 "034#0000000009CF 051#1E80",
				 unit_sends(10 * MS));
	start("kind: mti, rate_id: 0x61, acceleration_id: 0x62",
	      QUIET ", orientation: no, bias_rate: [0.5, -0.25, 99]");
	unit_sends(5 * MS);
	TEST_ASSERT_EQUAL_STRING("005#00001388 006#0001 011#00002003 061#0100FF807FFF 062#0000000009CF 051#1E80",
				 unit_sends(10 * MS));
}

TEST(a_toggle_begins_and_ends_the_stream)
{
	start("kind: dmu", QUIET ", toggle_delay: 12ms");
	TEST_ASSERT_EQUAL_STRING("", unit_sends(20 * MS));
	unit_hear("090#0F0F");
	unit_hear("090#0E");
	TEST_ASSERT_EQUAL_STRING("", unit_sends(60 * MS));
	unit_hear("090#0F");
	TEST_ASSERT_EQUAL_STRING("", unit_sends(72 * MS));
	TEST_ASSERT_EQUAL_STRING("040#0000000000000001 050#00000000060D0001", unit_sends(77 * MS));
	unit_hear("090#0F");
	TEST_ASSERT_EQUAL_STRING("", unit_sends(100 * MS));
}

TEST(frames_come_after_the_delay)
{
	struct imu_unit *u =
		start("kind: dmu, rate: 1000", "noise_force: 0, noise_rate: 0, streams: yes, delay: 3500us");

	TEST_ASSERT_EQUAL_STRING("", unit_sends(4500000));
	u->motion.force_m_s2[2] = 0; /* measured from 5 ms on */
	TEST_ASSERT_EQUAL_STRING("040#0000000000000001 050#00000000060D0001", unit_sends(5500000));
	TEST_ASSERT_EQUAL_STRING("040#0000000000000002 050#00000000060D0002", unit_sends(6500000));
	unit_sends(8500000);
	TEST_ASSERT_EQUAL_STRING("040#0000000000000005 050#0000000000000005", unit_sends(9500000));
}

TEST(noise_depends_on_the_seed_alone)
{
	static char first[2048];
	double sum = 0, squares = 0;
	struct imu_unit *u;

	start("kind: dmu", "streams: yes, seed: 5");
	strcpy(first, unit_sends(50 * MS));
	start("kind: dmu", "streams: yes, seed: 5");
	TEST_ASSERT_EQUAL_STRING(first, unit_sends(50 * MS));
	start("kind: dmu", "streams: yes, seed: 6");
	TEST_ASSERT_NOT_EQUAL(0, strcmp(first, unit_sends(50 * MS)));
	u = start("kind: dmu", "streams: yes, noise_rate: 0.1, bias_rate: [1, 0, 0]");
	for (int i = 1; i <= 2000; i++) {
		unit_sends(i * 5 * MS);
		sum += u->rate[0] / 2000;
		squares += (u->rate[0] - 1) * (u->rate[0] - 1) / 2000;
	}
	TEST_ASSERT_DOUBLE_WITHIN(0.01, 1, sum);
	TEST_ASSERT_DOUBLE_WITHIN(0.01, 0.1, sqrt(squares));
}

TEST(faults)
{
	static const struct {
		const char *word, *sends; /* of the sample after 0002 */
	} words[] = { { "silent", "" },
		      { "half", "040#0000000000000003" },
		      { "stuck", "040#0000000000000003 050#00000000060D0003" },
		      { "repeats", "040#0000000000000002 050#00000000060D0002" },
		      { "power-off", "" } };

	for (unsigned int i = 0; i < sizeof(words) / sizeof(*words); i++) {
		struct imu_unit *u = start("kind: dmu", QUIET ", streams: yes");

		unit_sends(14 * MS);
		u->motion.force_m_s2[2] = strcmp(words[i].word, "stuck") ? 9.81 : 0;
		unit_fault(words[i].word, false);
		TEST_ASSERT_EQUAL_STRING(words[i].sends, unit_sends(20 * MS));
	}
	start("kind: dmu", QUIET ", streams: yes");
	unit_fault("garbage", false);
	unit_sends(100 * MS);
	TEST_ASSERT_GREATER_THAN(100, strlen(said));
	for (const char *f = strchr(said, '#'); f; f = strchr(f + 1, '#'))
		TEST_ASSERT_LESS_THAN(16, strcspn(f + 1, " ")); /* never as long as a frame of its own */
	unit_fault("garbage", true);
	unit_sends(105 * MS);
	TEST_ASSERT_EQUAL_STRING("040#0000000000000015 050#00000000060D0015", unit_sends(110 * MS));
}

/* Off, as it was set up at first, and it counts from the beginning. */
TEST(after_power_on_it_has_forgotten)
{
	start("kind: dmu", QUIET ", toggle_delay: 0s");
	unit_hear("090#0F");
	unit_sends(20 * MS);
	unit_fault("power-off", false);
	TEST_ASSERT_FALSE(sim.units[0].kind->has_power(sim.units[0].state));
	unit_hear("090#0F");
	unit_fault("power-on", false);
	TEST_ASSERT_TRUE(sim.units[0].kind->has_power(sim.units[0].state));
	TEST_ASSERT_EQUAL_STRING("", unit_sends(100 * MS));
	unit_hear("090#0F");
	TEST_ASSERT_EQUAL_STRING("040#0000000000000001 050#00000000060D0001", unit_sends(105 * MS));
}

TEST(what_a_robot_file_may_not_say)
{
	TEST_ASSERT_NOT_EQUAL(0, load("kind: xyz", ""));
	TEST_ASSERT_NOT_EQUAL(0, load("rate: 100", ""));
	TEST_ASSERT_NOT_NULL_MESSAGE(strstr(said, "kind is missing"), said);
	TEST_ASSERT_NOT_EQUAL(0, load("kind: dmu, mounting: [1, 2]", ""));
	TEST_ASSERT_NOT_NULL_MESSAGE(strstr(said, "3 are needed"), said);
	TEST_ASSERT_NOT_EQUAL(0, load("kind: dmu", "nois: 1"));
}
