/* test_robotsim_life.c: what a simulated module does by itself: watchdog, faults and what ends them, power, brake,
 * halt, homing, sync motion. */
#include <math.h>

#include "test/lib/testcase.h"

#include "test/daemons/robotsim/robotsim_desk.h"

#define DEG (3.14159265358979323846 / 180)
#define CONFIG 0x118u /* with a brake, closed at power-on, and a home switch */
#define WATCHDOG PCUBE_CONFIG_WATCHDOG
#define SAFE (PCUBE_ERROR | PCUBE_HALTED | PCUBE_COMM_ERROR)

void setUp(void)
{
	desk_is("home: 1");
}

static void has(uint32_t bits)
{
	TEST_ASSERT_EQUAL_HEX32(bits, desk_state() & bits);
}

static void has_not(uint32_t bits)
{
	TEST_ASSERT_EQUAL_HEX32(0, desk_state() & bits);
}

/* At its largest velocity; config must have no watchdog that runs out. */
static void run(void)
{
	desk_move(17, 0.436f);
	desk_pass(500 * MS);
	TEST_ASSERT_DOUBLE_WITHIN(0.01, 0.436, desk.joint.velocity);
}

/* ---- watchdog ---- */

TEST(test_watchdog_sleeps_until_it_is_fed)
{
	desk_set_config(CONFIG | WATCHDOG);
	desk_pass(1000 * MS);
	has_not(SAFE);
	desk_set_config(CONFIG);
	desk_hear("100#07");
	desk_set_config(CONFIG | WATCHDOG);
	desk_pass(1000 * MS);
	has_not(SAFE); /* fed before the bit was set: not armed */
}

TEST(test_watchdog_trips_after_its_time)
{
	desk_set_config(CONFIG | WATCHDOG);
	desk_hear("100#07");
	for (int i = 0; i < 20; i++) {
		desk_pass(49 * MS);
		desk_hear("100#07");
	}
	has_not(SAFE);
	desk_pass(50 * MS - PCUBE_STEP_NS);
	has_not(SAFE);
	desk_pass(2 * PCUBE_STEP_NS);
	has(SAFE);
	TEST_ASSERT_EQUAL(1, desk.counts.trips);
	desk_is("watchdog: 200ms");
	desk_set_config(CONFIG | WATCHDOG);
	desk_hear("100#07");
	desk_pass(199 * MS);
	has_not(SAFE);
	desk_pass(2 * MS);
	has(SAFE);
}

/* The promise of the page: 300 ms after its driver died a joint stands still, at most 5 degrees further. */
TEST(test_watchdog_stops_a_moving_joint)
{
	double from;

	run();
	desk_set_config(CONFIG | WATCHDOG);
	desk_hear("100#07");
	from = desk.joint.position;
	desk_pass(305 * MS);
	has(SAFE | PCUBE_BRAKE);
	TEST_ASSERT_EQUAL_DOUBLE(0, desk.joint.velocity);
	TEST_ASSERT_DOUBLE_WITHIN(5 * DEG, from, desk.joint.position);
	TEST_ASSERT_TRUE(desk.joint.position > from + 3 * DEG); /* it cannot stop at once, either */
	/* a frame does not wake it */
	desk_hear("100#07");
	desk_move(17, 0.1f);
	desk_pass(40 * MS);
	has(SAFE);
	TEST_ASSERT_EQUAL_DOUBLE(0, desk.joint.velocity);
}

TEST(test_watchdog_after_a_reset)
{
	desk_set_config(CONFIG | WATCHDOG);
	desk_hear("100#07");
	desk_pass(100 * MS);
	has(SAFE);
	desk_ask("0EF#00");
	has_not(SAFE | PCUBE_BRAKE);
	desk_pass(48 * MS);
	has_not(SAFE);
	desk_pass(10 * MS);
	has(SAFE); /* it is still armed, and the time counts from the reset */
	desk_ask("0EF#00");
	desk_set_config(CONFIG);
	desk_pass(100 * MS);
	has_not(SAFE);
}

TEST(test_only_the_watchdog_frame_feeds)
{
	desk_set_config(CONFIG | WATCHDOG);
	desk_hear("100#07");
	for (int i = 0; i < 5; i++) {
		desk_pass(12 * MS);
		desk_hear("100#0F");
		desk_hear("100#0700");
		desk_hear("0EF#07");
		desk_hear("0CF#0A27");
	}
	has(SAFE);
}

/* ---- halt ---- */

TEST(test_halt)
{
	run();
	desk_expect("0EF#02", "0AF#02");
	has(PCUBE_HALTED);
	has_not(PCUBE_ERROR | PCUBE_BRAKE);
	desk_until(PCUBE_BRAKE | PCUBE_MOVING, PCUBE_BRAKE);
	desk_expect("0EF#0B070000803E", "0AF#0B0700");
	desk_pass(100 * MS);
	TEST_ASSERT_EQUAL_DOUBLE(0, desk.joint.velocity);
	desk_ask("0EF#00");
	has_not(PCUBE_HALTED | PCUBE_BRAKE);
	run();
}

TEST(test_halt_to_all)
{
	run();
	desk_expect_nothing("100#02");
	desk_until(PCUBE_BRAKE | PCUBE_MOVING | PCUBE_HALTED, PCUBE_BRAKE | PCUBE_HALTED);
}

TEST(test_disable_on_halt)
{
	desk_is("config: 0, gravity: 60, position: 1, home: 0");
	desk_set_config(PCUBE_CONFIG_DISABLE_ON_HALT);
	desk_pass(500 * MS);
	TEST_ASSERT_DOUBLE_WITHIN(1e-2, 1, desk.joint.position);
	desk_ask("0EF#02");
	desk_pass(500 * MS);
	TEST_ASSERT_TRUE(desk.joint.position < 0.8); /* without a brake it falls */
	TEST_ASSERT_EQUAL_FLOAT(0, desk_real(0x4D));
	desk_is("gravity: 60, position: 1, home: 0");
	desk_set_config(CONFIG | PCUBE_CONFIG_DISABLE_ON_HALT);
	run();
	desk_ask("0EF#02");
	desk_pass(MS);
	has(PCUBE_BRAKE); /* at once */
	desk_pass(500 * MS);
	TEST_ASSERT_EQUAL_DOUBLE(0, desk.joint.velocity);
}

TEST(test_without_a_brake_it_holds)
{
	desk_is("config: 0, gravity: 60, position: 1, home: 0");
	desk_ask("0EF#02");
	desk_pass(1000 * MS);
	has(PCUBE_HALTED);
	has_not(PCUBE_BRAKE);
	TEST_ASSERT_DOUBLE_WITHIN(1e-2, 1, desk.joint.position);
	TEST_ASSERT_TRUE(fabsf(desk_real(0x4D)) > 0.5f);
}

/* ---- brake ---- */

TEST(test_brake_opens_with_the_first_move)
{
	has(PCUBE_BRAKE);
	desk_move(17, 0);
	has_not(PCUBE_BRAKE);
	desk_is("config: 0x8");
	has_not(PCUBE_BRAKE);
}

TEST(test_a_brake_that_sticks)
{
	pcube_fault(&desk, PCUBE_BRAKE, true, desk_now_ns);
	desk_move(17, 0.4f);
	desk_until(PCUBE_TOW_ERROR, PCUBE_TOW_ERROR);
	TEST_ASSERT_DOUBLE_WITHIN(0.01, 0, desk.joint.position);
	pcube_fault(&desk, PCUBE_BRAKE, false, desk_now_ns);
	desk_ask("0EF#00");
	has_not(PCUBE_BRAKE | PCUBE_TOW_ERROR);
	run();
}

/* ---- faults ---- */

/* Each as the page says that it ends. */
TEST(test_faults_end_as_the_page_says)
{
	for (unsigned int bit = 0; bit < 28; bit++) {
		const uint32_t fault = 1u << bit;

		if (!(fault & PCUBE_FAULTS))
			continue;
		desk_is("home: 1");
		run();
		pcube_fault(&desk, fault, true, desk_now_ns);
		has(fault | PCUBE_ERROR | PCUBE_HALTED);
		desk_until(PCUBE_MOVING | PCUBE_BRAKE, PCUBE_BRAKE);
		desk_ask("0EF#00");
		if (fault & PCUBE_ENDS_BY_POWER) {
			has(fault | PCUBE_ERROR | PCUBE_HALTED);
			pcube_power(&desk, false, desk_now_ns);
			desk_pass(MS);
			pcube_power(&desk, true, desk_now_ns);
			desk_pass(301 * MS);
		}
		has_not(fault | PCUBE_ERROR | PCUBE_HALTED);
	}
}

TEST(test_faults_are_cleared_on_command)
{
	pcube_fault(&desk, PCUBE_MOTOR_TEMPERATURE, true, desk_now_ns);
	pcube_fault(&desk, PCUBE_TOW_ERROR, true, desk_now_ns);
	pcube_fault(&desk, PCUBE_MOTOR_TEMPERATURE, false, desk_now_ns);
	has(PCUBE_TOW_ERROR | PCUBE_ERROR | PCUBE_HALTED);
	pcube_fault(&desk, PCUBE_TOW_ERROR, false, desk_now_ns);
	has_not(PCUBE_ERROR);
	has(PCUBE_HALTED); /* until it is reset */
	pcube_fault(&desk, PCUBE_HALTED, false, desk_now_ns);
	has_not(PCUBE_HALTED);
	run();
	pcube_fault(&desk, PCUBE_HALTED, true, desk_now_ns);
	has(PCUBE_HALTED);
}

TEST(test_other_bits_on_command)
{
	static const uint32_t bits[] = { PCUBE_ERROR, PCUBE_HOME_SWITCH, PCUBE_LIMIT_SWITCH_1, PCUBE_LIMIT_SWITCH_2,
					 PCUBE_CURRENT_LIMIT };

	for (size_t i = 0; i < sizeof(bits) / sizeof(*bits); i++) {
		has_not(bits[i]);
		pcube_fault(&desk, bits[i], true, desk_now_ns);
		desk_pass(MS);
		has(bits[i]);
		pcube_fault(&desk, bits[i], false, desk_now_ns);
		has_not(bits[i]);
	}
	pcube_fault(&desk, PCUBE_HOMED, false, desk_now_ns);
	has_not(PCUBE_HOMED);
	pcube_fault(&desk, PCUBE_HOMED, true, desk_now_ns);
	has(PCUBE_HOMED);
}

TEST(test_motor_supply)
{
	run();
	pcube_supply(&desk, true, desk_now_ns);
	has(PCUBE_ERROR | PCUBE_HALTED | PCUBE_POWER_FAULT | PCUBE_VOLTAGE);
	TEST_ASSERT_EQUAL_FLOAT(0, desk_real(0x71));
	desk_ask("0EF#00");
	has(PCUBE_ERROR | PCUBE_HALTED | PCUBE_POWER_FAULT | PCUBE_VOLTAGE);
	pcube_supply(&desk, false, desk_now_ns);
	has(PCUBE_ERROR | PCUBE_HALTED | PCUBE_POWER_FAULT | PCUBE_VOLTAGE); /* until it is reset */
	TEST_ASSERT_EQUAL_FLOAT(24, desk_real(0x71));
	desk_ask("0EF#00");
	has_not(PCUBE_ERROR | PCUBE_HALTED | PCUBE_POWER_FAULT | PCUBE_VOLTAGE);
	/* A power fault of its own does not end by reset. */
	pcube_fault(&desk, PCUBE_POWER_FAULT, true, desk_now_ns);
	pcube_supply(&desk, true, desk_now_ns);
	pcube_supply(&desk, false, desk_now_ns);
	desk_ask("0EF#00");
	has(PCUBE_POWER_FAULT);
	has_not(PCUBE_VOLTAGE);
}

TEST(test_motor_supply_is_low_at_power_on)
{
	pcube_power(&desk, false, desk_now_ns);
	pcube_supply(&desk, true, desk_now_ns);
	pcube_power(&desk, true, desk_now_ns);
	desk_pass(301 * MS);
	has(PCUBE_ERROR | PCUBE_HALTED | PCUBE_POWER_FAULT | PCUBE_VOLTAGE);
}

TEST(test_tow_error)
{
	desk.jammed = true;
	desk_move(17, 0.4f);
	desk_pass(100 * MS);
	has_not(PCUBE_TOW_ERROR);
	TEST_ASSERT_FLOAT_WITHIN(1e-4, desk_real(0x3E) - desk_real(0x3C), desk_real(0x3F));
	TEST_ASSERT_TRUE(desk_real(0x3F) > 0.005f);
	desk_until(PCUBE_TOW_ERROR, PCUBE_TOW_ERROR);
	has(PCUBE_ERROR | PCUBE_HALTED);
	desk.jammed = false;
	desk_ask("0EF#00");
	has_not(PCUBE_TOW_ERROR);
	desk_set_real(0x40, 1);
	desk.jammed = true;
	desk_move(17, 0.4f);
	desk_pass(1000 * MS);
	has_not(PCUBE_TOW_ERROR); /* 0.4 rad behind, and 1 is allowed */
	has(PCUBE_CURRENT_LIMIT);
}

TEST(test_soft_limit)
{
	desk_is("position: 1.9, home: 0");
	desk_move(17, 0.4f);
	desk_until(PCUBE_SOFT_LIMIT, PCUBE_SOFT_LIMIT);
	TEST_ASSERT_DOUBLE_WITHIN(0.002, 2, desk.joint.position);
	has(PCUBE_ERROR | PCUBE_HALTED);
	desk_until(PCUBE_BRAKE, PCUBE_BRAKE);
	TEST_ASSERT_TRUE(desk.joint.position > 2);
	desk_ask("0EF#00");
	has_not(PCUBE_SOFT_LIMIT);
	desk_move(17, 0.1f);
	desk_pass(200 * MS);
	has(PCUBE_SOFT_LIMIT); /* further out: again */
	desk_until(PCUBE_BRAKE, PCUBE_BRAKE);
	desk_ask("0EF#00");
	desk_move(17, -0.1f);
	desk_pass(1500 * MS);
	has_not(PCUBE_SOFT_LIMIT);
	TEST_ASSERT_TRUE(desk.joint.position < 2);
	desk_set_real(0x45, 1.8f);
	desk_until(PCUBE_SOFT_LIMIT, PCUBE_SOFT_LIMIT);
	TEST_ASSERT_DOUBLE_WITHIN(0.002, 1.8, desk.joint.position);
}

TEST(test_soft_limits_wait_for_homing)
{
	desk_is("position: 1.9, homed: no, ends: [-3, 3], home: 0");
	desk_move(17, 0.4f);
	desk_pass(1000 * MS);
	has_not(PCUBE_SOFT_LIMIT);
}

TEST(test_hard_limit)
{
	desk_is("position: 1.9, homed: no, home: 0"); /* ends at 2.1 */
	desk_move(17, 0.4f);
	desk_until(PCUBE_HARD_LIMIT, PCUBE_HARD_LIMIT);
	has(PCUBE_ERROR | PCUBE_HALTED);
	TEST_ASSERT_EQUAL_DOUBLE(2.1, desk.joint.position);
	desk_until(PCUBE_BRAKE, PCUBE_BRAKE);
	desk_ask("0EF#00");
	has(PCUBE_HARD_LIMIT | PCUBE_ERROR); /* not by reset alone */
	pcube_fault(&desk, PCUBE_TOW_ERROR, false, desk_now_ns);
	TEST_ASSERT_EQUAL_DOUBLE(2.1, desk.joint.position);
	pcube_fault(&desk, PCUBE_HARD_LIMIT, false, desk_now_ns); /* by hand */
	desk_ask("0EF#00");
	desk_pass(100 * MS);
	has_not(PCUBE_HARD_LIMIT | PCUBE_ERROR | PCUBE_HALTED);
	TEST_ASSERT_TRUE(desk.joint.position < 2.09);
}

TEST(test_overload)
{
	desk_is("config: 0x80000, following_error: 10, home: 1");
	desk.jammed = true;
	desk_move(18, 10);
	desk_pass(3900 * MS);
	has_not(PCUBE_OVERLOAD);
	desk_pass(200 * MS);
	has(PCUBE_OVERLOAD | PCUBE_ERROR | PCUBE_HALTED);
	desk_pass(MS);
	TEST_ASSERT_EQUAL_FLOAT(0, desk_real(0x4D));
}

/* ---- power ---- */

TEST(test_power)
{
	desk_set_config(CONFIG | WATCHDOG);
	desk_set_real(0x45, -1);
	desk_hear("100#07");
	desk_move(17, 0.4f);
	desk_pass(20 * MS);
	pcube_power(&desk, false, desk_now_ns);
	desk_expect_nothing("0CF#0A27");
	desk_pass(1000 * MS);
	TEST_ASSERT_EQUAL_DOUBLE(0, desk.joint.velocity); /* the brake needs no power */
	pcube_power(&desk, true, desk_now_ns);
	desk_pass(299 * MS);
	desk_expect_nothing("0CF#0A27");
	desk_pass(2 * MS);
	desk_expect("0CF#0A39", "0AF#0A3918010000");
	TEST_ASSERT_EQUAL_FLOAT(-2, desk_real(0x45));
	TEST_ASSERT_EQUAL_FLOAT(0, desk_real(0x3C)); /* it counts from where it woke up */
	has(PCUBE_BRAKE);
	has_not(PCUBE_HOMED | SAFE);
	desk_pass(200 * MS);
	has_not(SAFE);
	desk_hear("100#07");
	desk_pass(200 * MS);
	has_not(SAFE); /* the bit is gone, too */
}

TEST(test_power_and_an_absolute_encoder)
{
	desk_is("absolute: yes, position: 0.5, boot: 0");
	pcube_power(&desk, false, desk_now_ns);
	desk_pass(10 * MS);
	pcube_power(&desk, true, desk_now_ns);
	desk_pass(MS);
	TEST_ASSERT_FLOAT_WITHIN(1e-3, 0.5f, desk_real(0x3C));
}

/* What was before is forgotten. */
TEST(test_power_forgets)
{
	desk_set_config(CONFIG | WATCHDOG);
	desk_hear("100#07");
	desk_ask("0EF#00");
	pcube_power(&desk, false, desk_now_ns);
	desk_pass(MS);
	pcube_power(&desk, true, desk_now_ns);
	desk_pass(301 * MS);
	TEST_ASSERT_EQUAL_FLOAT(0, desk_real(0x3C)); /* not wrong, though it was reset */
	desk_set_config(CONFIG | WATCHDOG);
	desk_pass(200 * MS);
	has_not(SAFE); /* not armed, though it was fed */
}

/* Without a brake nothing holds it until its processor does. */
TEST(test_booting_it_falls)
{
	desk_is("config: 0, gravity: 60, position: 1, home: 0, absolute: yes");
	pcube_power(&desk, false, desk_now_ns);
	pcube_power(&desk, true, desk_now_ns);
	desk_pass(299 * MS);
	TEST_ASSERT_TRUE(desk.joint.position < 0.95);
	TEST_ASSERT_EQUAL_DOUBLE(0, desk.joint.current);
	desk_pass(500 * MS);
	TEST_ASSERT_TRUE(fabs(desk.joint.velocity) < 1e-3); /* caught */
	TEST_ASSERT_TRUE(desk.joint.current > 0.5);
}

TEST(test_off_at_the_start)
{
	desk_is("power: no");
	desk_expect_nothing("0CF#0A27");
	pcube_power(&desk, true, desk_now_ns);
	desk_pass(301 * MS);
	TEST_ASSERT_NOT_EQUAL_CHAR(0, *desk_ask("0CF#0A27"));
}

/* ---- homing ---- */

TEST(test_homing)
{
	desk_is("position: 0.5, home: 1, home_offset: 0.25");
	desk_expect("0EF#01", "0AF#01");
	has(PCUBE_MOVING);
	has_not(PCUBE_HOMED);
	desk_pass(500 * MS);
	TEST_ASSERT_DOUBLE_WITHIN(1e-3, 0.2, desk.joint.velocity);
	desk_until(PCUBE_HOME_SWITCH, PCUBE_HOME_SWITCH);
	has_not(PCUBE_HOMED);
	desk_until(PCUBE_HOMED | PCUBE_MOVING, PCUBE_HOMED);
	desk_pass(300 * MS);
	TEST_ASSERT_DOUBLE_WITHIN(1e-3, 1, desk.joint.position);
	TEST_ASSERT_FLOAT_WITHIN(1e-3, 0.25f, desk_real(0x3C));
	TEST_ASSERT_EQUAL(1, desk.counts.homings);
}

/* After power-up it knows nothing; homing tells it, in the words of home-offset as it is then. */
TEST(test_homing_finds_the_zero)
{
	desk_is("position: 0.5, home: 1");
	pcube_power(&desk, false, desk_now_ns);
	desk_pass(MS);
	pcube_power(&desk, true, desk_now_ns);
	desk_pass(301 * MS);
	TEST_ASSERT_EQUAL_FLOAT(0, desk_real(0x3C));
	desk_ask("0EF#01");
	desk_until(PCUBE_HOMED | PCUBE_MOVING, PCUBE_HOMED);
	TEST_ASSERT_FLOAT_WITHIN(1e-3, 1, desk_real(0x3C));
	desk_set_real(0x59, -0.5f);
	desk_ask("0EF#01");
	desk_until(PCUBE_HOMED | PCUBE_MOVING, PCUBE_HOMED);
	TEST_ASSERT_FLOAT_WITHIN(1e-3, -0.5f, desk_real(0x3C));
	TEST_ASSERT_DOUBLE_WITHIN(1e-3, 1, desk.joint.position);
}

/* The other way first, to the end, and back. */
TEST(test_homing_turns_at_the_end)
{
	desk_is("position: 1.5, home: 1");
	desk_ask("0EF#01");
	desk_until(PCUBE_HOMED | PCUBE_MOVING, PCUBE_HOMED);
	TEST_ASSERT_DOUBLE_WITHIN(1e-3, 1, desk.joint.position);
	has_not(PCUBE_HARD_LIMIT | PCUBE_ERROR);
	desk_is("position: 1, home: 1, home_velocity: -0.4"); /* on the switch */
	desk_ask("0EF#01");
	desk_until(PCUBE_HOME_SWITCH, 0);
	TEST_ASSERT_TRUE(desk.joint.position > 1); /* off it against the direction in which it will come */
	desk_until(PCUBE_HOMED | PCUBE_MOVING, PCUBE_HOMED);
	TEST_ASSERT_DOUBLE_WITHIN(1e-3, 1, desk.joint.position);
}

TEST(test_homing_without_a_switch)
{
	desk_is("position: 0, home: 9, home_velocity: 0.4");
	desk_ask("0EF#01");
	desk_until(PCUBE_ERROR, PCUBE_ERROR);
	has(PCUBE_TOW_ERROR | PCUBE_HALTED);
	has_not(PCUBE_HOMED);
}

TEST(test_zero_after_home)
{
	desk_is("position: 0.5, home: 1");
	desk_set_config(CONFIG | PCUBE_CONFIG_ZERO_AFTER_HOME);
	desk_ask("0EF#01");
	desk_until(PCUBE_HOMED, PCUBE_HOMED);
	has(PCUBE_MOVING);
	TEST_ASSERT_DOUBLE_WITHIN(1e-2, 1, desk.joint.position);
	desk_pass(1000 * MS);
	TEST_ASSERT_DOUBLE_WITHIN(1e-3, -0.2, desk.joint.velocity);
	desk_until(PCUBE_MOVING, 0);
	TEST_ASSERT_DOUBLE_WITHIN(1e-3, 0, desk.joint.position);
}

TEST(test_what_ends_homing)
{
	desk_ask("0EF#01");
	desk_pass(100 * MS);
	desk_ask("0EF#02");
	desk_until(PCUBE_BRAKE, PCUBE_BRAKE);
	desk_pass(20000 * MS);
	has_not(PCUBE_HOMED);
	desk_ask("0EF#01"); /* halted: answered, and not done */
	desk_pass(1000 * MS);
	has_not(PCUBE_MOVING);
	desk_ask("0EF#00");
	desk_ask("0EF#01");
	desk_pass(100 * MS);
	desk_move(17, 0); /* a move takes its place */
	desk_until(PCUBE_MOVING, 0);
	desk_pass(20000 * MS);
	has_not(PCUBE_HOMED);
	/* the watchdog too */
	desk_set_config(CONFIG | WATCHDOG);
	desk_ask("0EF#01");
	desk_hear("100#07");
	desk_pass(100 * MS);
	has(SAFE);
	has_not(PCUBE_HOMED);
}

TEST(test_m3_wants_homing)
{
	desk_is("homed: no, home: 0.1, config: 0x100118, home_velocity: 0.4");
	desk_expect("0EF#0B070000803E", "0AF#0B0700");
	desk_pass(100 * MS);
	TEST_ASSERT_EQUAL_DOUBLE(0, desk.joint.velocity);
	desk_ask("0EF#01");
	desk_until(PCUBE_HOMED | PCUBE_MOVING, PCUBE_HOMED);
	desk_expect("0EF#0B070000803E", "0AF#0B0764");
}

/* ---- sync motion ---- */

TEST(test_sync_motion)
{
	desk_set_config(CONFIG | PCUBE_CONFIG_SYNC_MOTION);
	desk_expect("0EF#0B070000803E", "0AF#0B0764");
	desk_pass(100 * MS);
	TEST_ASSERT_EQUAL_DOUBLE(0, desk.joint.velocity);
	desk_move(7, 0.125f); /* the newest counts */
	desk_hear("100#0F");
	desk_pass(500 * MS);
	TEST_ASSERT_DOUBLE_WITHIN(0.005, 0.125, desk.joint.velocity);
	desk_move(7, 0.25f);
	desk_ask("0EF#02");
	desk_ask("0EF#00");
	desk_hear("100#0F"); /* what waited went with the halt */
	desk_pass(500 * MS);
	TEST_ASSERT_EQUAL_DOUBLE(0, desk.motion.velocity);
	desk_move(7, 0.25f);
	desk_hear("100#0F");
	desk_hear("0EF#02");
	desk_hear("0EF#00");
	desk_hear("100#0F"); /* each move begins once */
	desk_pass(500 * MS);
	TEST_ASSERT_EQUAL_DOUBLE(0, desk.motion.velocity);
	desk_move(7, 0.25f);
	desk_ask("0EF#01");
	desk_hear("100#0F"); /* homing takes its place */
	desk_pass(300 * MS);
	TEST_ASSERT_EQUAL_HEX32(PCUBE_MOVING, desk_state() & (PCUBE_MOVING | PCUBE_HOMED));
	TEST_ASSERT_NOT_EQUAL(PCUBE_HOME_NOT, desk.motion.homing);
	desk_ask("0EF#00");
	while (*desk_said())
		;
	desk_set_config(CONFIG);
	desk_hear("100#0F");
	desk_move(7, 0.125f);
	desk_pass(500 * MS);
	TEST_ASSERT_DOUBLE_WITHIN(0.005, 0.125, desk.joint.velocity);
}

TEST(test_reset_stops)
{
	run();
	desk_ask("0EF#00");
	desk_until(PCUBE_MOVING, 0);
	has_not(PCUBE_HALTED);
	has(PCUBE_HOMED);
}
