/* test_engine_faults.c: faults on demand, and outages of the hub. */
#include "test/lib/testcase.h"

#include "test/can/wire/test_engine_lib.h"

#define HAPPENED(text) TEST_ASSERT_EQUAL_STRING(text, what_happened())

/* ---- drop, corrupt, delay ---- */

TEST(dropped_frames_are_acknowledged_and_lost)
{
	bus_start("abc");
	see = SEE_FRAMES | SEE_ECHOES;
	fault(0, "drop 1 b");
	at(0, 'a', "123#");
	at(0, 'a', "124#");
	until(1000);
	HAPPENED("45 echo a 1\n45 frame a 123# > c lost b\n93 echo a 2\n93 frame a 124# > bc\n");
	fault(1000, "drop 2");
	for (int i = 0; i < 3; i++)
		at(1000, 'a', "123#");
	until(2000);
	HAPPENED("1045 echo a 3\n1045 frame a 123# >  lost bc\n1093 echo a 4\n1093 frame a 123# >  lost bc\n"
		 "1141 echo a 5\n1141 frame a 123# > bc\n");
	TEST_ASSERT_EQUAL_UINT64(3, info('b')->stats.lost);
	TEST_ASSERT_EQUAL_UINT64(5, bus.stats.lost);
	TEST_ASSERT_EQUAL_INT(0, info('b')->rx_errors);
}

/* The luck of a frame is its own: the same with the same seed, in whatever steps time goes on. */
static uint64_t unlucky(uint64_t seed, const char *words, int step_us)
{
	bus_start_with("ab", (struct engine_settings){ .bitrate = 1000000, .seed = seed });
	see = 0;
	fault(0, words);
	for (int i = 0; i < 4000; i++) {
		at(i * 200, 'a', "123#");
		for (int us = i * 200; us < i * 200 + 200; us += step_us)
			until(us);
	}
	until(1000000);
	TEST_ASSERT_EQUAL_UINT64(4000, info('a')->stats.sent);
	return info('b')->stats.lost * 10000 + bus.stats.corrupted;
}

TEST(chance_is_as_asked)
{
	uint64_t lost = unlucky(1, "drop 10%", 200), other = unlucky(2, "drop 10%", 200);

	TEST_ASSERT_INT_WITHIN(80, 400, lost / 10000);
	TEST_ASSERT_INT_WITHIN(80, 400, other / 10000);
	TEST_ASSERT_EQUAL_UINT64(lost, unlucky(1, "drop 10%", 7));
	TEST_ASSERT_INT_WITHIN(80, 400, unlucky(1, "drop 10% b", 200) / 10000);
	/* 4000 frames and those sent again: 4000 x 0.1 / 0.9. */
	TEST_ASSERT_INT_WITHIN(90, 444, unlucky(1, "corrupt 10%", 200));
	TEST_ASSERT_EQUAL_UINT64(unlucky(3, "corrupt 10% b", 200), unlucky(3, "corrupt 10% b", 13));
	TEST_ASSERT_NOT_EQUAL(unlucky(3, "corrupt 10% b", 200), unlucky(4, "corrupt 10% b", 200));
}

TEST(delayed_requests_come_later)
{
	bus_start("ab");
	see = SEE_FRAMES;
	fault(0, "delay a 1ms");
	at(0, 'a', "100#");
	at(500, 'b', "700#");
	until(10000);
	HAPPENED("547 frame b 700# > a\n1048 frame a 100# > b\n");
	fault(10000, "delay a off");
	at(10000, 'a', "100#");
	until(20000);
	HAPPENED("10048 frame a 100# > b\n");
}

/* ---- stuck ---- */

/* No node can send for a second; waiting frames are sent then, unless there is a reset. */
TEST(a_held_bus_stalls_and_goes_on)
{
	struct engine_stats s;

	bus_start("ab");
	see = SEE_FRAMES | SEE_STATES;
	at(0, 'a', "123#");
	until(20);
	fault(20, "stuck 1s");
	at(30, 'a', "124#");
	until(999999);
	HAPPENED("45 frame a 123# > b\n"); /* had begun */
	TEST_ASSERT_EQUAL_INT64((1000020 + 45) * US, engine_next_ns(&bus));
	engine_stats(&bus, &s, 999999 * US);
	TEST_ASSERT_DOUBLE_WITHIN(0.001, 1, s.load);
	until(2000000);
	HAPPENED("1000065 frame a 124# > b\n");
	TEST_ASSERT_EQUAL_INT(0, info('a')->tx_errors);

	fault(2000000, "stuck 1s");
	at(2000010, 'a', "124#");
	see = SEE_FRAMES | SEE_PURGED;
	engine_reset(&bus, 0, 2500000 * US);
	until(4000000);
	HAPPENED("2500000 purged a 3 reset\n");
	fault(4000000, "stuck 1s");
	at(4000010, 'a', "125#");
	until(4000100);
	fault(4000100, "stuck off");
	until(5000000);
	TEST_ASSERT_EQUAL_UINT64(3, info('a')->stats.sent);
}

/* From idle: six dominant bits are seen, six of flag, and each eight more count eight.  Receivers become passive; no
 * one is bus-off.  Nothing is due until the end; 8 + 3 recessive bits later the bus is free. */
TEST(a_short_on_an_idle_bus)
{
	bus_start("ab");
	see = SEE_STATES | SEE_FRAMES;
	fault(0, "stuck dominant 1s");
	at(100, 'a', "123#");
	until(12);
	TEST_ASSERT_EQUAL_INT(1, info('b')->rx_errors);
	until(20);
	TEST_ASSERT_EQUAL_INT(9, info('b')->rx_errors);
	until(900000);
	HAPPENED("108 state a warning 0 97\n108 state b warning 0 97\n"
		 "140 state a passive 0 129\n140 state b passive 0 129\n");
	TEST_ASSERT_EQUAL_INT64((1000011 + 45) * US, engine_next_ns(&bus));
	until(2000000);
	HAPPENED("1000056 frame a 123# > b\n1000056 state b warning 0 127\n");
}

/* In mid-frame the sender's counter climbs by eight each eight bits, to bus-off. */
TEST(a_short_in_a_frame)
{
	bus_start("ab");
	see = SEE_STATES | SEE_PURGED | SEE_FRAMES;
	at(0, 'a', "123#DEADBEEF");
	until(20);
	fault(20, "stuck dominant 10ms");
	until(9000);
	HAPPENED("114 state a warning 96 0\n122 state b warning 0 97\n146 state a passive 128 0\n"
		 "154 state b passive 0 129\n"
		 "274 state a bus-off 256 0\n274 purged a 1 bus-off\n");
	/* It cannot recover while there are no recessive bits. */
	engine_restart(&bus, 0, 9000 * US);
	until(100000);
	HAPPENED("11428 state a error-active 0 0\n");
	TEST_ASSERT_EQUAL_INT(10020 + 1408, 11428);
}

/* Nothing that is sent is seen.  Start bit and each bit of an active flag count eight: passive within 16 bits; then 26
 * bits an attempt, 16 more of them. */
TEST(an_open_wire)
{
	bus_start("ab");
	see = SEE_STATES | SEE_PURGED;
	fault(0, "stuck recessive 10ms");
	at(0, 'a', "123#DEADBEEF");
	until(10000);
	HAPPENED("30 state a warning 96 0\n30 state a passive 128 0\n"
		 "446 state a bus-off 256 0\n446 purged a 1 bus-off\n");
	TEST_ASSERT_EQUAL_INT(0, info('b')->rx_errors);
	see = SEE_FRAMES;
	engine_restart(&bus, 0, 10000 * US);
	at(12000, 'b', "123#");
	until(20000);
	HAPPENED("12045 frame b 123# > a\n");
}

/* ---- babble ---- */

/* It takes what CAN lets it take: higher priority passes at the next end of frame, lower never. */
TEST(a_babbling_node)
{
	bus_start("abc");
	see = 0;
	fault(0, "babble c 300#0102030405060708");
	for (int i = 0; i < 100; i++) {
		int64_t before = (int64_t)info('b')->stats.received;

		until(i * 1000);
		at(i * 1000, 'a', "123#");
		at(i * 1000, 'b', "700#");
		until(i * 1000 + 400);
		TEST_ASSERT_EQUAL_UINT64(i + 1, info('a')->stats.sent);
		TEST_ASSERT_GREATER_THAN_INT64(before, (int64_t)info('b')->stats.received);
	}
	TEST_ASSERT_EQUAL_UINT64(0, info('b')->stats.sent);
	TEST_ASSERT_EQUAL_UINT64(11, info('b')->waiting);
	TEST_ASSERT_EQUAL_INT64(ENGINE_NEVER, info('c')->babble_until_ns);
	see = SEE_FRAMES;
	until(100000);
	what_happened();
	fault(100000, "babble c off");
	until(200000);
	TEST_ASSERT_EQUAL_UINT64(11, info('b')->stats.sent);
	TEST_ASSERT_EQUAL_INT64(100000 * US, info('c')->babble_until_ns);
	TEST_ASSERT_EQUAL_INT64(ENGINE_NEVER, engine_next_ns(&bus));
}

TEST(babble_for_a_while)
{
	bus_start("ab");
	see = SEE_FRAMES | SEE_ECHOES;
	fault(0, "babble a 000# 100us");
	at(0, 'a', "123#");
	until(10000);
	HAPPENED("50 frame a 000# > b babble\n103 frame a 000# > b babble\n151 echo a 1\n151 frame a 123# > b\n");
	/* Alone it repeats, and no event is due. */
	bus_start("a");
	see = SEE_STATES;
	fault(0, "babble a 000#");
	until(10000);
	TEST_ASSERT_EQUAL_INT(128, info('a')->tx_errors);
	TEST_ASSERT_EQUAL_INT64(ENGINE_NEVER, engine_next_ns(&bus));
}

/* ---- power and wires ---- */

TEST(power_off_and_on)
{
	bus_start("abc");
	see = SEE_FRAMES | SEE_STATES | SEE_PURGED;
	at(0, 'b', "123#");
	at(0, 'b', "123#");
	until(45);
	fault(50, "power off b");
	HAPPENED("45 frame b 123# > ac\n50 purged b 2 power\n50 state b stopped 0 0\n");
	TEST_ASSERT_FALSE(info('b')->power);
	TEST_ASSERT_EQUAL_INT(-ENETDOWN, at(60, 'b', "123#"));
	engine_reset(&bus, 1, 70 * US); /* no link command brings it up */
	TEST_ASSERT_EQUAL_INT(BUS_STOPPED, info('b')->state);
	at(1000, 'a', "123#");
	until(2000);
	HAPPENED("1045 frame a 123# > c\n");
	fault(2000, "power on b");
	at(2011, 'a', "123#");
	until(3000);
	HAPPENED("2000 state b error-active 0 0\n2056 frame a 123# > bc\n");
}

/* Cut behind its CRC a frame is complete for those who listen; before it is not. */
TEST(power_lost_in_mid_frame)
{
	bus_start("ab");
	see = SEE_FRAMES | SEE_ERRORS | SEE_ECHOES;
	at(0, 'a', "123#DEADBEEF");
	until(68);
	fault(68, "power off a");
	until(1000);
	HAPPENED("78 frame a 123#DEADBEEF > b\n");
	/* Bits 37 to 39 are recessive, and so is what follows: six of them at 42, flag 43 to 48, delimiter: reported at
	 * 57.
	 * */
	bus_start("ab");
	see = SEE_FRAMES | SEE_ERRORS;
	at(0, 'a', "123#DEADBEEF");
	until(40);
	fault(40, "power off a");
	until(1000);
	HAPPENED("57 error b 20000288#0000040A00000001\n");
}

/* The only one who could acknowledge goes. */
TEST(the_last_listener_loses_power)
{
	bus_start("ab");
	see = SEE_FRAMES | SEE_ERRORS;
	at(0, 'a', "123#DEADBEEF");
	until(40);
	fault(40, "power off b");
	until(84);
	HAPPENED("84 error a 200002A0#0000001900000800\n");
	/* After the acknowledge slot it is too late for that. */
	bus_start("ab");
	see = SEE_FRAMES | SEE_ECHOES;
	at(0, 'a', "123#DEADBEEF");
	until(71);
	fault(71, "power off b");
	until(84);
	HAPPENED("78 echo a 1\n78 frame a 123#DEADBEEF > \n");
}

/* On a wire of its own: it receives nothing, no node receives its frames, and it repeats at its own pace. */
TEST(a_disconnected_node_is_alone)
{
	bus_start("abc");
	see = SEE_FRAMES | SEE_STATES;
	fault(0, "disconnect a");
	TEST_ASSERT_FALSE(info('a')->connected);
	at(0, 'a', "000#DEADBEEF");
	at(0, 'b', "123#");
	at(60, 'c', "124#");
	until(3000);
	TEST_ASSERT_EQUAL_INT(128, info('a')->tx_errors);
	TEST_ASSERT_EQUAL_INT64(ENGINE_NEVER, engine_next_ns(&bus));
	fault(3000, "connect a");
	until(4000);
	TEST_ASSERT_EQUAL_INT(127, info('a')->tx_errors);
	TEST_ASSERT_EQUAL_UINT64(1, info('a')->stats.sent);
	TEST_ASSERT_EQUAL_UINT64(0, info('a')->stats.received);
	/* 11 recessive bits after it is back. */
	TEST_ASSERT_NOT_NULL(strstr(what_happened(), "\n3092 frame a 000#DEADBEEF > bc\n"));
}

TEST(faults_without_their_node)
{
	bus_start("ab");
	TEST_ASSERT_EQUAL_INT(-ENOENT, fault(0, "power off z"));
	TEST_ASSERT_EQUAL_INT(-ENOENT, engine_fault(&bus, &(struct engine_fault){ .kind = ENGINE_POWER_OFF }, 0));
	TEST_ASSERT_EQUAL_INT(0, fault(0, "clear"));
}

/* ---- the hub was away ---- */

static const struct engine_settings real = { .bitrate = 1000000, .outage_ns = ENGINE_OUTAGE_NS };

TEST(the_past_is_not_played)
{
	bus_start_with("ab", real);
	see = SEE_FRAMES | SEE_PURGED;
	until(0);
	at(0, 'a', "123#");
	at(0, 'a', "124#");
	until(100000);
	HAPPENED("100000 outage since 45\n100000 purged a 1 outage\n100000 purged a 2 outage\n");
	TEST_ASSERT_EQUAL_UINT64(1, bus.stats.outages);
	TEST_ASSERT_EQUAL_INT64(99955 * US, bus.stats.outage_ns);
	/* A frame handed over meanwhile is void, too. */
	TEST_ASSERT_EQUAL_INT(-ECANCELED, stamped(50000, 100001, 'a', "125#"));
	TEST_ASSERT_EQUAL_INT(0, stamped(100001, 100002, 'a', "126#"));
	until(100100);
	HAPPENED("100047 frame a 126# > b\n");
}

/* The first thing after it is a request: that one finds the bus idle and the others gone. */
TEST(a_request_finds_that_the_hub_was_away)
{
	bus_start_with("ab", real);
	see = SEE_FRAMES | SEE_PURGED;
	until(0);
	at(0, 'a', "123#");
	TEST_ASSERT_EQUAL_INT(-ECANCELED, stamped(20, 60000, 'b', "124#"));
	TEST_ASSERT_EQUAL_INT(0, at(60000, 'b', "125#"));
	until(60100);
	HAPPENED("60000 outage since 45\n60000 purged a 1 outage\n60045 frame b 125# > a\n");
}

TEST(a_hub_that_slept_because_nothing_was_due_was_not_away)
{
	bus_start_with("ab", real);
	see = SEE_FRAMES | SEE_PURGED;
	until(0);
	at(10000000, 'a', "123#");
	until(10000100);
	HAPPENED("10000045 frame a 123# > b\n");
	/* A stamp from long ago is not believed. */
	stamped(10000200, 10900000, 'a', "123#");
	until(10900100);
	HAPPENED("10900045 frame a 123# > b\n");
	TEST_ASSERT_EQUAL_UINT64(1, info('a')->stats.late);
	/* A lone node that repeats endlessly is not an outage. */
	bus_start_with("a", real);
	see = SEE_PURGED;
	until(0);
	at(0, 'a', "123#DEADBEEF");
	until(2000);
	until(1000000);
	HAPPENED("");
	TEST_ASSERT_EQUAL_INT(1, info('a')->waiting);
}
