/* test_engine_corners.c: combinations of faults, commands and errors. */
#include "test/lib/testcase.h"

#include "test/can/wire/test_engine_lib.h"

#define HAPPENED(text) TEST_ASSERT_EQUAL_STRING(text, what_happened())

static void make_passive(int node, uint16_t tx, uint16_t rx)
{
	bus.node[node].tx_errors = tx;
	bus.node[node].rx_errors = rx;
	bus.node[node].state = BUS_PASSIVE;
}

TEST(attached_again_before_its_last_frame_is_over)
{
	bus_start("ab");
	see = SEE_FRAMES | SEE_ECHOES | SEE_PURGED;
	at(0, 'a', "123#");
	until(10);
	engine_detach(&bus, 0, 10 * US);
	TEST_ASSERT_EQUAL_INT(0, engine_attach(&bus, "a", 20 * US));
	TEST_ASSERT_EQUAL_INT(0, at(20, 'a', "124#"));
	until(1000);
	/* 11 recessive bits after its first it takes part. */
	HAPPENED("45 echo a 1\n45 frame a 123# > b\n93 echo a 2\n93 frame a 124# > b\n");
	TEST_ASSERT_EQUAL_INT(0, engine_attach(&bus, "a", 1000 * US));
	TEST_ASSERT_EQUAL_INT(0, engine_find(&bus, "a"));
	/* Nothing that was left behind: a lone detached sender has one attempt. */
	bus_start("a");
	see = SEE_PURGED;
	at(0, 'a', "123#");
	until(5);
	engine_detach(&bus, 0, 5 * US);
	until(1000);
	HAPPENED("51 purged a 1 detached\n");
	TEST_ASSERT_EQUAL_INT(-ENOENT, engine_find(&bus, "a"));
	TEST_ASSERT_EQUAL_INT64(ENGINE_NEVER, engine_next_ns(&bus));
}

/* Its start bit is out at 1: the others find six recessive bits behind it, at 6, flag to 12, delimiter: 21.  Half a
 * bit is nothing. */
TEST(power_lost_in_the_start_bit)
{
	struct engine_fault off = { .kind = ENGINE_POWER_OFF, .node = "a" };

	bus_start("ab");
	see = SEE_ERRORS;
	at(0, 'a', "123#");
	fault(1, "power off a");
	until(1000);
	HAPPENED("21 error b 20000288#0000040200000001\n");
	bus_start("ab");
	see = SEE_ERRORS;
	at(0, 'a', "123#");
	engine_fault(&bus, &off, 500);
	until(1000);
	HAPPENED("");
}

/* a breaks off; b, passive, finds it six bits later and is in its flag for six more.  It misses the next attempt, which
 * no node acknowledges; the flag of that brings it back. */
TEST(a_passive_listener_falls_behind)
{
	bus_start("ab");
	see = SEE_FRAMES | SEE_ERRORS;
	make_passive(1, 0, 130);
	fault(0, "corrupt 1 at 40");
	at(0, 'a', "123#DEADBEEF");
	until(10000);
	/* Flag of a alone, 41 to 46: reported at 55, free at 58; 58 + 84; 58 + 87 + 78. */
	HAPPENED("55 error a 20000288#0000900A00000800\n"
		 "55 error b 20000288#0000040A00000083\n"
		 "142 error a 200002A0#0000001900001000\n"
		 "223 frame a 123#DEADBEEF > b\n"
		 "223 error b 20000204#000400000000007F\n");
}

/* Only passive ones there to answer its flag: nothing dominant behind it, so 1 and not 9. */
TEST(heard_wrong_among_passive_nodes)
{
	bus_start("abc");
	see = SEE_ERRORS;
	make_passive(0, 130, 0);
	make_passive(2, 0, 130);
	fault(0, "corrupt 1 b");
	at(0, 'a', "123#DEADBEEF");
	until(90);
	HAPPENED("85 error b 20000288#0000000800000001\n"
		 "85 error c 20000288#0000021A00000083\n"
		 "85 error a 20000288#0000901A00008A00\n");
}

/* Both counters in warning: both are reported. */
TEST(both_counters)
{
	bus_start("ab");
	see = SEE_ERRORS;
	make_passive(0, 128, 100);
	at(0, 'a', "123#");
	until(1000);
	HAPPENED("45 error a 20000204#000C000000007F64\n");
}

TEST(drop_for_the_first_node)
{
	bus_start("abc");
	see = SEE_FRAMES;
	fault(0, "drop 1 a");
	at(0, 'b', "123#");
	until(1000);
	HAPPENED("45 frame b 123# > c lost a\n");
}

/* 8 + 3 recessive bits after the short is gone the bus is free. */
TEST(a_short_that_ends_early)
{
	bus_start("ab");
	see = SEE_FRAMES;
	fault(0, "stuck dominant 1s");
	at(10, 'a', "123#");
	until(500);
	fault(500, "stuck off");
	until(10000);
	HAPPENED("556 frame a 123# > b\n");
	fault(20000, "stuck recessive 1s");
	fault(20100, "clear");
	at(20200, 'a', "123#");
	until(30000);
	HAPPENED("20245 frame a 123# > b\n");
}

/* A node that has not seen 11 recessive bits does not count errors. */
TEST(a_node_that_attaches_within_a_frame_does_not_count_errors)
{
	bus_start("ab");
	see = 0;
	at(0, 'a', "123#DEADBEEF");
	engine_attach(&bus, "c", 5 * US);
	fault(40, "stuck dominant 1ms");
	until(2000);
	TEST_ASSERT_GREATER_THAN(100, info('b')->rx_errors);
	TEST_ASSERT_EQUAL_INT(0, info('c')->rx_errors);
}

/* The wire opens in mid-frame: senders and listeners alike see their flags fail, and are passive at once. */
TEST(an_open_wire_in_mid_frame)
{
	bus_start("ab");
	see = SEE_STATES | SEE_FRAMES;
	at(0, 'a', "123#DEADBEEF");
	fault(40, "stuck recessive 100us");
	until(10000);
	TEST_ASSERT_EQUAL_INT(127, info('b')->rx_errors);
	/* Bit 40 and 16 of flag are eight each for a, and 1 + 16 x 8 for b: 40 + 1 + 16 + 6 + 8; then 26 each; at 160
	 * the wire is whole. */
	HAPPENED(
		"71 state a warning 96 0\n71 state a passive 128 0\n71 state b warning 0 97\n71 state b passive 0 129\n"
		"238 frame a 123#DEADBEEF > b\n238 state b warning 0 127\n");
}

/* A stop of the bus is load too, and no more than there was. */
TEST(load_of_a_stuck_bus)
{
	struct engine_stats s;

	bus_start("ab");
	see = 0;
	at(20000000, 'a', "000#");
	until(20001000);
	engine_stats(&bus, &s, 20001 * MS);
	TEST_ASSERT_DOUBLE_WITHIN(0.0001, 0.000053, s.load);
	fault(30000000, "stuck 5s");
	engine_stats(&bus, &s, 30500 * MS);
	TEST_ASSERT_DOUBLE_WITHIN(0.03, 0.5, s.load);
	engine_stats(&bus, &s, 34000 * MS);
	TEST_ASSERT_DOUBLE_WITHIN(0.0001, 1, s.load);
	engine_stats(&bus, &s, 35500 * MS);
	TEST_ASSERT_DOUBLE_WITHIN(0.03, 0.5, s.load);
	engine_stats(&bus, &s, 36100 * MS);
	TEST_ASSERT_DOUBLE_WITHIN(0.0001, 0, s.load);
}

/* Three senders of two frames: two are one, and both meet the third. */
TEST(three_senders)
{
	bus_start("abcd");
	see = SEE_FRAMES | SEE_ECHOES;
	make_passive(0, 130, 0);
	at(0, 'a', "123#01");
	at(0, 'b', "123#00");
	at(0, 'c', "123#00");
	until(1000);
	HAPPENED("55 echo b 2\n55 echo c 3\n55 frame b 123#00 > d\n127 echo a 1\n127 frame a 123#01 > bcd\n");
	TEST_ASSERT_EQUAL_INT(130 + 8 - 1, info('a')->tx_errors);
}
