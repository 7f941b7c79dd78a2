/* test_engine.c: frames on the soft wire when all is well: stamps, arbitration, mailbox and FIFO, late requests. */
#include "test/lib/testcase.h"

#include "can/bus/bits.h"
#include "test/can/wire/test_engine_lib.h"

#define HAPPENED(text) TEST_ASSERT_EQUAL_STRING(text, what_happened())

/* ---- stamps ---- */

/* Bits counted by hand; the stamp is 3 bits before their end.
 *	000#	34 zeros from the start bit to the CRC, a stuff bit after each fifth: 6; 34 + 6 + 10 + 3 = 53, worst of
 * its kind
 *	123#R4	0 00100100011 1 0 0 0100 and the CRC 101010001101101: no five equal bits, 34 + 10 + 3 = 47, best
 *	078#3C.. the patterns that need most stuff bits: 98 + 20 and 21 + 13 */
TEST(a_frame_ends_after_its_bits)
{
	bus_start("ab");
	see = SEE_FRAMES;
	at(0, 'a', "000#");
	at(1000, 'a', "123#R4");
	at(2000, 'a', "078#3C3C3C3C3C3C3C3C");
	at(3000, 'a', "078#3C3C3C3C3C3C207F");
	at(4000, 'a', "123#DEADBEEF");
	until(10000);
	HAPPENED("50 frame a 000# > b\n"
		 "1044 frame a 123#R4 > b\n"
		 "2128 frame a 078#3C3C3C3C3C3C3C3C > b\n"
		 "3129 frame a 078#3C3C3C3C3C3C207F > b\n"
		 "4078 frame a 123#DEADBEEF > b\n");
}

TEST(the_next_one_starts_behind_the_interframe_space)
{
	bus_start("ab");
	see = SEE_FRAMES;
	for (int i = 0; i < 3; i++)
		at(0, 'a', "123#DEADBEEF");
	until(10000);
	HAPPENED("78 frame a 123#DEADBEEF > b\n"
		 "159 frame a 123#DEADBEEF > b\n"
		 "240 frame a 123#DEADBEEF > b\n");
}

TEST(nothing_is_reported_before_its_end)
{
	bus_start("ab");
	at(0, 'a', "123#DEADBEEF");
	TEST_ASSERT_EQUAL_INT64(78 * US, engine_next_ns(&bus));
	engine_advance(&bus, 78 * US - 1);
	HAPPENED("");
	engine_advance(&bus, 78 * US);
	HAPPENED("78 echo a 1\n78 frame a 123#DEADBEEF > b\n");
	TEST_ASSERT_EQUAL_INT64(ENGINE_NEVER, engine_next_ns(&bus));
	until(20); /* back: nothing */
	HAPPENED("");
}

/* At 600000 bit/s a bit is 1666.67 ns: 1000 frames of 53 bits end where 53000 bits end, less 3. */
TEST(time_does_not_drift)
{
	bus_start_with("ab", (struct engine_settings){ .bitrate = 600000 });
	see = 0;
	for (int i = 0; i < 1000; i++) {
		int64_t end_ns = ((53 * (i + 1) - 3) * INT64_C(1000000000) + 599999) / 600000;

		TEST_ASSERT_EQUAL_INT(0, at(0, 'a', "000#"));
		TEST_ASSERT_EQUAL_INT64(end_ns, engine_next_ns(&bus));
		engine_advance(&bus, end_ns);
	}
}

TEST(times_are_right_after_years)
{
	const int64_t year_us = INT64_C(31536000000000);
	struct engine_stats s;

	bus_start("ab");
	see = SEE_FRAMES;
	at(100 * year_us, 'a', "000#");
	until(100 * year_us + 1000);
	HAPPENED("3153600000000050 frame a 000# > b\n");
	engine_stats(&bus, &s, 200 * year_us * US);
	TEST_ASSERT_EQUAL_UINT64(1, s.frames);
	TEST_ASSERT_EQUAL_UINT64(53, s.bits);
}

/* ---- arbitration ---- */

TEST(the_lower_identifier_wins)
{
	bus_start("abc");
	see = SEE_FRAMES;
	at(0, 'a', "700#");
	at(0, 'b', "123#");
	at(0, 'c', "122#");
	until(10000);
	HAPPENED("45 frame c 122# > ab\n93 frame b 123# > ac\n143 frame a 700# > bc\n");
	TEST_ASSERT_EQUAL_UINT64(2, info('a')->stats.arbitration_lost);
	TEST_ASSERT_EQUAL_UINT64(1, info('b')->stats.arbitration_lost);
	TEST_ASSERT_EQUAL_UINT64(0, info('c')->stats.arbitration_lost);
}

/* Each wins over the next, from any sender: all have the same first eleven bits of identifier, 123. */
TEST(equal_prefixes)
{
	static const char *const order[] = { "123#",	  "123#R",     "048C0000#", "048C0000#R",
					     "048C0001#", "048DFFFF#", "048FFFFF#R" };

	for (size_t i = 0; i + 1 < sizeof(order) / sizeof(order[0]); i++) {
		for (int turn = 0; turn < 2; turn++) {
			char expected[64];

			bus_start("abc");
			see = SEE_FRAMES;
			at(0, 'a', order[turn ? i : i + 1]);
			at(0, 'b', order[turn ? i + 1 : i]);
			engine_advance(&bus, engine_next_ns(&bus));
			snprintf(expected, sizeof(expected), " frame %c %s > ", turn ? 'a' : 'b', order[i]);
			TEST_ASSERT_NOT_NULL_MESSAGE(strstr(what_happened(), expected), order[i]);
		}
	}
}

/* A frame waits for the one on the wire, whatever its identifier; then the lower one is next. */
TEST(a_frame_on_the_wire_is_not_interrupted)
{
	bus_start("abc");
	see = SEE_FRAMES;
	at(0, 'a', "700#");
	at(1, 'b', "701#");
	at(40, 'c', "000#");
	until(10000);
	HAPPENED("47 frame a 700# > bc\n100 frame c 000# > ab\n150 frame b 701# > ac\n");
}

/* The arbitration at 0 is decided at the end of the frame: what was stamped 0 takes part until then. */
TEST(a_request_on_its_way_takes_part)
{
	bus_start("abc");
	see = SEE_FRAMES;
	at(0, 'a', "700#");
	until(30);
	stamped(0, 30, 'b', "123#");
	stamped(1, 30, 'c', "000#");
	until(10000);
	HAPPENED("45 frame b 123# > ac\n98 frame c 000# > ab\n148 frame a 700# > bc\n");
	TEST_ASSERT_EQUAL_UINT64(0, info('b')->stats.late);
}

/* ... and not after it. */
TEST(a_late_request_is_counted_and_part_of_the_next)
{
	bus_start("abc");
	see = SEE_FRAMES;
	at(0, 'a', "700#");
	at(0, 'a', "701#");
	until(47);
	stamped(0, 50, 'b', "123#");
	stamped(45, 50, 'c', "100#"); /* during the frame: not late */
	until(10000);
	HAPPENED("47 frame a 700# > bc\n98 frame c 100# > ab\n146 frame b 123# > ac\n196 frame a 701# > bc\n");
	TEST_ASSERT_EQUAL_UINT64(1, info('b')->stats.late);
	TEST_ASSERT_EQUAL_UINT64(0, info('c')->stats.late);
	TEST_ASSERT_EQUAL_UINT64(1, bus.stats.late);
}

TEST(stamps_are_clamped)
{
	bus_start("ab");
	see = SEE_FRAMES;
	stamped(500, 100, 'a', "000#"); /* from the future */
	until(1000);
	HAPPENED("150 frame a 000# > b\n");
	stamped(2000, 2000, 'a', "000#");
	stamped(1500, 2000, 'a', "000#"); /* before its own previous */
	until(3000);
	HAPPENED("2050 frame a 000# > b\n2103 frame a 000# > b\n");
	stamped(3500, 9000, 'a', "000#"); /* a while ago on an idle bus: then */
	until(9000);
	HAPPENED("3550 frame a 000# > b\n");
}

/* ---- mailbox and FIFO ---- */

TEST(one_mailbox_and_ten_behind_it)
{
	bus_start("ab");
	see = SEE_ECHOES;
	for (int i = 0; i < 11; i++)
		TEST_ASSERT_EQUAL_INT(0, at(0, 'a', "000#"));
	TEST_ASSERT_EQUAL_INT(-ENOBUFS, at(0, 'a', "000#"));
	TEST_ASSERT_EQUAL_INT(11, info('a')->waiting);
	until(49);
	TEST_ASSERT_EQUAL_INT(-ENOBUFS, at(49, 'a', "000#"));
	until(50);
	HAPPENED("50 echo a 1\n");
	TEST_ASSERT_EQUAL_INT(0, at(50, 'a', "000#"));
	TEST_ASSERT_EQUAL_UINT64(2, info('a')->stats.refused);
	TEST_ASSERT_EQUAL_UINT64(2, bus.stats.refused);
	/* b has its own. */
	TEST_ASSERT_EQUAL_INT(0, at(50, 'b', "000#"));
}

/* The mailbox keeps its frame, even if a lower identifier waits behind it. */
TEST(the_fifo_keeps_its_order)
{
	bus_start("ab");
	see = SEE_FRAMES;
	at(0, 'a', "700#");
	at(0, 'a', "000#");
	at(0, 'b', "123#");
	until(10000);
	HAPPENED("45 frame b 123# > a\n95 frame a 700# > b\n148 frame a 000# > b\n");
}

TEST(the_length_of_the_queue_is_a_setting)
{
	bus_start_with("ab", (struct engine_settings){ .bitrate = 1000000, .queue = 2 });
	for (int i = 0; i < 3; i++)
		TEST_ASSERT_EQUAL_INT(0, at(0, 'a', "000#"));
	TEST_ASSERT_EQUAL_INT(-ENOBUFS, at(0, 'a', "000#"));
	TEST_ASSERT_EQUAL_INT(-EINVAL, engine_set_queue(&bus, 0, 0));
	TEST_ASSERT_EQUAL_INT(-EINVAL, engine_set_queue(&bus, 0, ENGINE_QUEUE_MAX + 1));
	TEST_ASSERT_EQUAL_INT(0, engine_set_queue(&bus, 0, ENGINE_QUEUE_MAX));
	for (int i = 3; i < ENGINE_QUEUE_MAX + 1; i++)
		TEST_ASSERT_EQUAL_INT(0, at(0, 'a', "000#"));
	TEST_ASSERT_EQUAL_INT(-ENOBUFS, at(0, 'a', "000#"));
	see = SEE_ECHOES;
	until(1000000);
	TEST_ASSERT_EQUAL_UINT64(ENGINE_QUEUE_MAX + 1, info('a')->stats.sent);
}

TEST(what_can_be_on_a_wire)
{
	struct frame error = { .id = FRAME_ERR, .len = 8 }, fd = { .id = 1, .len = 8, .flags = FRAME_FD };

	bus_start("ab");
	TEST_ASSERT_EQUAL_INT(-EINVAL, engine_request(&bus, 0, &error, 0, (struct engine_tag){ 0 }, 0));
	TEST_ASSERT_EQUAL_INT(-EINVAL, engine_request(&bus, 0, &fd, 0, (struct engine_tag){ 0 }, 0));
	TEST_ASSERT_EQUAL_INT(-ENOENT, engine_request(&bus, 2, &fd, 0, (struct engine_tag){ 0 }, 0));
	TEST_ASSERT_EQUAL_INT(-ENOENT, engine_request(&bus, -1, &fd, 0, (struct engine_tag){ 0 }, 0));
}

/* ---- reset, detach ---- */

/* 123#DEADBEEF cut at 30 is recessive from there on: the others find six equal bits, and nothing of a is left. */
TEST(reset_empties_everything)
{
	bus_start("abc");
	see = SEE_FRAMES | SEE_PURGED | SEE_STATES;
	for (int i = 0; i < 3; i++)
		at(0, 'a', "123#DEADBEEF");
	until(30);
	TEST_ASSERT_EQUAL_INT(0, engine_reset(&bus, 0, 30 * US));
	HAPPENED("30 purged a 1 reset\n30 purged a 2 reset\n30 purged a 3 reset\n30 state a stopped 0 0\n"
		 "30 state a error-active 0 0\n");
	TEST_ASSERT_EQUAL_INT(0, info('a')->waiting);
	until(1000);
	HAPPENED("");
	TEST_ASSERT_EQUAL_INT(1, info('b')->rx_errors);
	TEST_ASSERT_EQUAL_INT(1, info('c')->rx_errors);
	at(1000, 'a', "123#DEADBEEF");
	until(2000);
	HAPPENED("1078 frame a 123#DEADBEEF > bc\n");
	TEST_ASSERT_EQUAL_INT(0, info('b')->rx_errors);
}

TEST(a_node_that_is_down_takes_no_part)
{
	bus_start("abc");
	see = SEE_FRAMES;
	TEST_ASSERT_EQUAL_INT(0, engine_down(&bus, 1, 0));
	TEST_ASSERT_EQUAL_INT(BUS_STOPPED, info('b')->state);
	TEST_ASSERT_EQUAL_INT(-ENETDOWN, at(0, 'b', "000#"));
	at(0, 'a', "123#");
	until(1000);
	HAPPENED("45 frame a 123# > c\n");
	TEST_ASSERT_EQUAL_INT(0, engine_up(&bus, 1, 1000 * US));
	TEST_ASSERT_EQUAL_INT(BUS_ERROR_ACTIVE, info('b')->state);
	/* It has to see 11 recessive bits before it takes part. */
	at(1010, 'a', "123#");
	until(2000);
	HAPPENED("1055 frame a 123# > c\n");
	at(2000, 'a', "123#");
	until(3000);
	HAPPENED("2045 frame a 123# > bc\n");
}

/* 11 bits after it came; on a busy bus with the first frame that starts behind 11 recessive bits it saw. */
TEST(a_node_that_attaches_late_waits_for_eleven_recessive_bits)
{
	bus_start("ab");
	see = SEE_FRAMES;
	at(0, 'a', "123#");
	at(0, 'a', "123#");
	at(0, 'a', "123#");
	until(38);
	engine_attach(&bus, "c", 38 * US); /* one bit too late for the pause from 37 to 48 */
	until(60);
	engine_attach(&bus, "d", 60 * US);
	until(10000);
	HAPPENED("45 frame a 123# > b\n93 frame a 123# > b\n141 frame a 123# > bcd\n");
	engine_attach(&bus, "e", 20000 * US);
	at(20000, 'e', "123#");
	until(30000);
	HAPPENED("20056 frame e 123# > abcd\n");
}

TEST(a_detached_node_finishes_its_frame_and_is_gone)
{
	bus_start("ab");
	see = SEE_FRAMES | SEE_ECHOES | SEE_PURGED;
	at(0, 'a', "123#");
	at(0, 'a', "123#");
	until(10);
	TEST_ASSERT_EQUAL_INT(0, engine_detach(&bus, 0, 10 * US));
	HAPPENED("10 purged a 2 detached\n");
	TEST_ASSERT_EQUAL_INT(-ENETDOWN, at(10, 'a', "123#"));
	until(10000);
	HAPPENED("45 echo a 1\n45 frame a 123# > b\n");
	TEST_ASSERT_EQUAL_INT(-ENOENT, engine_find(&bus, "a"));
	TEST_ASSERT_EQUAL_INT(-ENOENT, engine_detach(&bus, 0, 10000 * US));
	/* b is alone now. */
	at(20000, 'b', "123#");
	until(20200);
	HAPPENED("");
	TEST_ASSERT_EQUAL_INT(1, info('b')->waiting);
	TEST_ASSERT_EQUAL_INT(0, engine_attach(&bus, "z", 20200 * US));
	until(21000);
	TEST_ASSERT_EQUAL_INT(0, info('b')->waiting);
}

TEST(names_and_room)
{
	char name[16];

	bus_start("");
	TEST_ASSERT_EQUAL_INT(-EINVAL, engine_attach(&bus, "", 0));
	TEST_ASSERT_EQUAL_INT(-EINVAL, engine_attach(&bus, "a b", 0));
	TEST_ASSERT_EQUAL_INT(-EINVAL, engine_attach(&bus, "a-name-of-twenty-four-by", 0));
	for (int i = 0; i < ENGINE_NODES; i++) {
		snprintf(name, sizeof(name), "a%d", i);
		TEST_ASSERT_EQUAL_INT(i, engine_attach(&bus, name, 0));
	}
	TEST_ASSERT_EQUAL_INT(-ENOSPC, engine_attach(&bus, "b", 0));
	TEST_ASSERT_EQUAL_INT(5, engine_attach(&bus, "a5", 0));
	TEST_ASSERT_EQUAL_INT(0, engine_detach(&bus, 7, 0));
	TEST_ASSERT_EQUAL_INT(7, engine_attach(&bus, "b", 0));
	TEST_ASSERT_EQUAL_INT(-EINVAL, engine_init(&bus, &(struct engine_settings){ .bitrate = 0 }, 0));
	TEST_ASSERT_EQUAL_INT(-EINVAL, engine_init(&bus, &(struct engine_settings){ .bitrate = 1000001 }, 0));
}

TEST(when_the_bus_is_free)
{
	bus_start("ab");
	TEST_ASSERT_LESS_OR_EQUAL_INT64(0, engine_free_ns(&bus, 0));
	at(0, 'a', "000#");
	TEST_ASSERT_EQUAL_INT64(53 * US, engine_free_ns(&bus, 10 * US));
	until(60);
	TEST_ASSERT_EQUAL_INT64(53 * US, engine_free_ns(&bus, 60 * US));
}

TEST(load_is_what_was_busy_in_the_last_second)
{
	struct engine_stats s;

	bus_start("ab");
	see = 0;
	for (int i = 0; i < 5000; i++) { /* half a second of 53 bits in each 100 */
		at(i * 100, 'a', "000#");
		until(i * 100 + 60);
	}
	engine_stats(&bus, &s, 500 * MS);
	TEST_ASSERT_DOUBLE_WITHIN(0.01, 0.265, s.load);
	engine_stats(&bus, &s, 999 * MS);
	TEST_ASSERT_DOUBLE_WITHIN(0.01, 0.265, s.load);
	engine_stats(&bus, &s, 1250 * MS);
	TEST_ASSERT_DOUBLE_WITHIN(0.015, 0.1325, s.load);
	engine_stats(&bus, &s, 1520 * MS);
	TEST_ASSERT_DOUBLE_WITHIN(0.0, 0, s.load);
	TEST_ASSERT_EQUAL_UINT64(5000, s.frames);
	TEST_ASSERT_EQUAL_UINT64(5000 * 53, s.bits);
}
