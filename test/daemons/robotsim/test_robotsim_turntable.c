/* test_robotsim_turntable.c: the simulated turntable. */
#include "test/daemons/robotsim/robotsim_unit.h"
#include "test/lib/testcase.h"

#define MS ((int64_t)1000000)

void tearDown(void)
{
	unit_unload();
}

static int load(const char *rest)
{
	return unit_load("robot: test\nbuses: {b: {interface: wire:b, bitrate: 1000000}}\n"
			 "devices: {table: {driver: exampled, bus: b%s}}\n",
			 rest);
}

static void *start(const char *rest)
{
	TEST_ASSERT_EQUAL_MESSAGE(0, load(rest), said);
	unit_start(0);
	return sim.units[0].state;
}

/* In mrad/s. */
static void turn(int16_t velocity)
{
	const struct frame frame = { .id = sim.units[0].filters[0].id,
				     .len = 2,
				     .data = { (uint8_t)velocity, (uint8_t)(velocity >> 8) } };

	sim.units[0].kind->frame(sim.units[0].state, &frame, now_ns);
}

static void pass(int64_t ns)
{
	now_ns += ns;
	sim.units[0].kind->advance(sim.units[0].state, now_ns);
}

static const char *report(void)
{
	struct rpc_text to = { said, 0, sizeof(said) };

	sim.units[0].kind->report(sim.units[0].state, &to);
	return said;
}

/* 1 rad/s with 20 rad/s^2 is there after 50 ms and 0.025 rad, however often anyone looks. */
TEST(test_how_often_it_is_advanced_makes_no_difference)
{
	start("");
	turn(1000);
	pass(90 * MS);
	TEST_ASSERT_EQUAL_STRING(" position 0.065000 velocity 1.000000 turns 1", report());
	start("");
	turn(1000);
	for (int i = 0; i < 30; i++)
		pass(3 * MS);
	TEST_ASSERT_EQUAL_STRING(" position 0.065000 velocity 1.000000 turns 1", report());
}

/* 0.075 rad after 100 ms, then 0.025 to rest. */
TEST(test_watchdog)
{
	start("");
	turn(1000);
	pass(1000 * MS);
	TEST_ASSERT_EQUAL_STRING(" position 0.100000 velocity 0.000000 turns 1", report());
}

TEST(test_state)
{
	struct frame frame;
	void *state = start(", sim: {position: -1}");

	TEST_ASSERT_TRUE(sim.units[0].kind->send(state, now_ns, &frame));
	TEST_ASSERT_EQUAL_HEX32(0x191, frame.id);
	TEST_ASSERT_EQUAL(6, frame.len);
	TEST_ASSERT_EQUAL_HEX8_ARRAY("\xC0\xBD\xF0\xFF\x00\x00", frame.data, 6);
	TEST_ASSERT_FALSE(sim.units[0].kind->send(state, now_ns + 4 * MS, &frame));
	turn(-1000);
	now_ns += 60 * MS;
	TEST_ASSERT_TRUE(sim.units[0].kind->send(state, now_ns, &frame));
	TEST_ASSERT_EQUAL_HEX8_ARRAY("\x08\x35\xF0\xFF\x18\xFC", frame.data, 6); /* -1.035 rad, -1 rad/s */
}

TEST(test_noise)
{
	struct frame frame;
	void *state = start(", sim: {noise: 0.01, seed: 5}");
	bool moved = false;

	for (int i = 0; i < 100; i++, now_ns += 5 * MS) {
		int32_t position;

		TEST_ASSERT_TRUE(sim.units[0].kind->send(state, now_ns, &frame));
		memcpy(&position, frame.data, sizeof(position));
		TEST_ASSERT_INT32_WITHIN(10000, 0, position);
		moved = moved || abs(position) > 5000;
	}
	TEST_ASSERT_TRUE(moved);
	TEST_ASSERT_EQUAL_STRING(" position 0.000000 velocity 0.000000 turns 0", report());
}

TEST(test_settings_of_the_driver)
{
	start(", settings: {node: 15, tick: 10ms}");
	TEST_ASSERT_EQUAL_STRING("table.15", sim.units[0].name);
	TEST_ASSERT_EQUAL_HEX32(0x19F, sim.units[0].sends);
	TEST_ASSERT_EQUAL_HEX32(0x21F, sim.units[0].filters[0].id);
	TEST_ASSERT_NOT_EQUAL(0, load(", settings: {node: 16}"));
	TEST_ASSERT_NOT_NULL_MESSAGE(strstr(said, "node: 16 is above the maximum 15"), said);
	TEST_ASSERT_NOT_EQUAL(0, load(", settings: {nod: 1}"));
	TEST_ASSERT_NOT_NULL_MESSAGE(strstr(said, "nod: unknown setting; did you mean node?"), said);
}
