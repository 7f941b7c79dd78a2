/* test_engine_errors.c: errors on the soft wire, by the rules of ISO 11898-1: acknowledgement, error flags,
 * counters step by step to bus-off and back. */
#include "test/lib/testcase.h"

#include "test/can/wire/test_engine_lib.h"

#define HAPPENED(text) TEST_ASSERT_EQUAL_STRING(text, what_happened())

static void counters(char node, int tx, int rx)
{
	const char name[2] = { node, 0 };

	TEST_ASSERT_EQUAL_INT_MESSAGE(tx, info(node)->tx_errors, name);
	TEST_ASSERT_EQUAL_INT_MESSAGE(rx, info(node)->rx_errors, name);
}

/* ---- no acknowledgement ---- */

/* 123#DEADBEEF: 70 bits to the acknowledge slot, flag 6, delimiter 8: reported at 84; space 3: repeated at 87. */
TEST(a_lone_node_repeats)
{
	char expected[256];

	bus_start("a");
	see = SEE_ERRORS | SEE_STATES | SEE_FRAMES | SEE_ECHOES;
	at(0, 'a', "123#DEADBEEF");
	for (int attempt = 1; attempt <= 16; attempt++) {
		int end = 87 * attempt - 3;

		until(end - 1);
		HAPPENED("");
		until(end);
		snprintf(expected, sizeof(expected), "%d error a 200002A0#00000019%04X%02X00\n", end, 0, 8 * attempt);
		if (attempt == 12)
			snprintf(expected + strlen(expected), 128,
				 "%d error a 20000204#0008000000006000\n%d state a warning 96 0\n", end, end);
		if (attempt == 16)
			snprintf(expected + strlen(expected), 128,
				 "%d error a 20000204#0020000000008000\n%d state a passive 128 0\n", end, end);
		HAPPENED(expected);
		counters('a', 8 * attempt, 0);
	}
	/* From now on nothing changes, and no event is due. */
	TEST_ASSERT_EQUAL_INT64(ENGINE_NEVER, engine_next_ns(&bus));
	until(10000000);
	HAPPENED("");
	counters('a', 128, 0);
	TEST_ASSERT_EQUAL_INT(BUS_PASSIVE, info('a')->state);
	TEST_ASSERT_EQUAL_INT(1, info('a')->waiting);
}

/* The seventeenth starts at 16 x 87 + 8, and each further one 95 later. */
TEST(attempts_are_added_up_when_the_stats_are_read)
{
	struct engine_stats s;

	bus_start("a");
	see = 0;
	at(0, 'a', "123#DEADBEEF");
	engine_stats(&bus, &s, 1389 * US);
	TEST_ASSERT_EQUAL_UINT64(16, s.attempts);
	engine_stats(&bus, &s, (1400 + 83) * US);
	TEST_ASSERT_EQUAL_UINT64(16, s.attempts);
	engine_stats(&bus, &s, (1400 + 84) * US);
	TEST_ASSERT_EQUAL_UINT64(17, s.attempts);
	engine_stats(&bus, &s, (1400 + 84 + 95 * 1000) * US);
	TEST_ASSERT_EQUAL_UINT64(1017, s.attempts);
	TEST_ASSERT_EQUAL_UINT64(1017, s.errors);
	TEST_ASSERT_EQUAL_UINT64(1017, s.unacknowledged);
	TEST_ASSERT_EQUAL_UINT64(1017, info('a')->stats.retransmissions);
	engine_stats(&bus, &s, INT64_C(3600000) * MS);
	TEST_ASSERT_EQUAL_UINT64(16 + (3600000000 - 1400 - 84) / 95 + 1, s.attempts);
	TEST_ASSERT_DOUBLE_WITHIN(0.001, 87.0 / 95, s.load);
}

/* It comes in the middle of an attempt: the next one, 1400 + 95 n, it acknowledges. */
TEST(a_node_comes_and_acknowledges)
{
	bus_start("a");
	at(0, 'a', "123#DEADBEEF");
	until(1400 + 950 + 40);
	what_happened();
	engine_attach(&bus, "b", (1400 + 950 + 40) * US);
	until(10000);
	HAPPENED("2523 echo a 1\n2523 frame a 123#DEADBEEF > b\n"
		 "2523 error a 20000204#0008000000007F00\n2523 state a warning 127 0\n");
	TEST_ASSERT_EQUAL_INT64(ENGINE_NEVER, engine_next_ns(&bus));
	see = SEE_STATES | SEE_ERRORS;
	for (int i = 0; i < 32; i++) {
		at(20000 + 100 * i, 'a', "123#");
		until(20000 + 100 * i + 60);
	}
	HAPPENED("23145 error a 20000204#0040000000005F00\n23145 state a error-active 95 0\n");
}

/* 8 bits after a frame of its own a passive node waits; another may begin meanwhile. */
TEST(a_passive_sender_suspends)
{
	bus_start("ab");
	see = SEE_FRAMES;
	bus.node[0].tx_errors = 140;
	bus.node[0].state = BUS_PASSIVE;
	at(0, 'a', "100#");
	at(0, 'a', "100#");
	at(20, 'b', "700#");
	until(1000);
	/* 51 bits; 700# in the pause; then 51 again.  Alone it would have started at 59. */
	HAPPENED("48 frame a 100# > b\n98 frame b 700# > a\n149 frame a 100# > b\n");
	at(2000, 'a', "100#");
	at(2000, 'a', "100#");
	until(3000);
	HAPPENED("2048 frame a 100# > b\n2107 frame a 100# > b\n");
}

/* ---- a bit is flipped ---- */

/* Bit 40 of 123#DEADBEEF, recessive and in the data, is read as dominant.  The sender sees it at once and sends its
 * flag, 41 to 46; the others see six dominant bits with it, at 45, and theirs is 46 to 51.  52 bits, delimiter 8:
 * reported at 60, the bus free at 63. */
TEST(a_corrupted_frame_is_sent_again)
{
	bus_start("abc");
	fault(0, "corrupt 1 at 40");
	at(0, 'a', "123#DEADBEEF");
	until(10000);
	HAPPENED("60 error a 20000288#0000900A00000800\n"
		 "60 error b 20000288#0000040A00000001\n"
		 "60 error c 20000288#0000040A00000001\n"
		 "141 echo a 1\n141 frame a 123#DEADBEEF > bc\n");
	counters('a', 7, 0);
	counters('b', 0, 0);
	TEST_ASSERT_EQUAL_UINT64(1, bus.stats.corrupted);
	TEST_ASSERT_EQUAL_UINT64(1, bus.stats.errors);
	TEST_ASSERT_EQUAL_UINT64(1, info('a')->stats.retransmissions);
}

/* Where which error is found; 81 bits: delimiter of the CRC at 68, slot 69, its delimiter 70, end of frame 71 to 77. */
TEST(places)
{
	static const struct {
		int bit, end;
		const char *sender, *listener;
	} rows[] = {
		/* the start bit itself: nothing was sent, six dominant bits of flag are an error */
		{ 0, 20, "20000288#0000880300000800", "20000288#0000040300000001" },
		/* identifier, recessive read as dominant: a lost arbitration, then nothing; six recessive bits, six of
		 * flag */
		{ 3, 23, "20000288#0000040200000001", "20000288#0000040200000001" },
		/* identifier, dominant read as recessive */
		{ 4, 24, "20000288#0000880200000800", "20000288#0000040200000001" },
		/* delimiters: all see it at once */
		{ 68, 82, "20000288#0000901800000800", "20000288#0000021800000001" },
		{ 69, 83, "200002A0#0000001900000800", "20000288#0000081900000001" },
		{ 70, 84, "20000288#0000901B00000800", "20000288#0000021B00000001" },
		{ 76, 90, "20000288#0000901A00000800", "20000288#0000021A00000001" },
	};

	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		char words[32], expected[256];

		bus_start("ab");
		see = SEE_ERRORS;
		snprintf(words, sizeof(words), "corrupt 1 at %d", rows[i].bit);
		fault(0, words);
		at(0, 'a', "123#DEADBEEF");
		until(10000);
		snprintf(expected, sizeof(expected), "%d error a %s\n%d error b %s\n", rows[i].end + 1, rows[i].sender,
			 rows[i].end + 1, rows[i].listener);
		TEST_ASSERT_EQUAL_STRING_MESSAGE(expected, what_happened(), words);
		TEST_ASSERT_EQUAL_UINT64(1, info('a')->stats.sent);
		TEST_ASSERT_EQUAL_UINT64(1, info('b')->stats.received);
	}
}

/* The listeners have it, the sender does not believe it: they get it twice. */
TEST(the_last_bit)
{
	bus_start("ab");
	see = SEE_FRAMES | SEE_ECHOES;
	fault(0, "corrupt 1 at 77");
	at(0, 'a', "123#DEADBEEF");
	until(10000);
	HAPPENED("78 frame a 123#DEADBEEF > b again\n173 echo a 1\n173 frame a 123#DEADBEEF > b\n");
	counters('a', 7, 0);
	counters('b', 0, 0);
}

/* Only b hears it wrong.  It says so behind the acknowledge slot, 71 to 76; the others find that at 71 and say so 72 to
 * 77; b sees a dominant bit behind its flag: 1 and 8. */
TEST(one_receiver_hears_it_wrong)
{
	bus_start("abc");
	see = SEE_FRAMES | SEE_ERRORS;
	fault(0, "corrupt 1 b");
	at(0, 'a', "123#DEADBEEF");
	until(100);
	HAPPENED("86 error b 20000288#0000000800000009\n"
		 "86 error c 20000288#0000021A00000001\n"
		 "86 error a 20000288#0000901A00000800\n");
	until(10000);
	HAPPENED("167 frame a 123#DEADBEEF > bc\n");
	counters('b', 0, 8);
	/* b alone there: a gets no acknowledge. */
	bus_start("ab");
	see = SEE_FRAMES | SEE_ERRORS;
	fault(0, "corrupt 1 b");
	at(0, 'a', "123#DEADBEEF");
	until(100);
	HAPPENED("85 error a 200002A0#0000001900000800\n85 error b 20000288#0000000800000001\n");
	/* A passive one cannot break it for the others. */
	bus_start("abc");
	see = SEE_FRAMES;
	bus.node[1].rx_errors = 130;
	bus.node[1].state = BUS_PASSIVE;
	fault(0, "corrupt 1 b");
	at(0, 'a', "123#DEADBEEF");
	until(10000);
	HAPPENED("78 frame a 123#DEADBEEF > c\n");
	counters('b', 0, 131);
}

/* ---- two senders ---- */

TEST(equal_frames_are_one)
{
	bus_start("abc");
	at(0, 'a', "123#01");
	at(0, 'b', "123#01");
	until(10000);
	HAPPENED("55 echo a 1\n55 echo b 2\n55 frame a 123#01 > c\n");
	/* No other node acknowledges. */
	bus_start("ab");
	see = SEE_FRAMES;
	at(0, 'a', "123#01");
	at(0, 'b', "123#01");
	until(50);
	until(100);
	HAPPENED("");
	counters('a', 8, 0);
	counters('b', 8, 0);
}

/* 123#00 and 123#01 differ in their last bit of data, the 29th with two stuff bits.  b sees its recessive bit dominant;
 * flag 29 to 34.  c has seen 000 and sees the sixth dominant bit at 31, flag 32 to 37: 38 bits, reported at 46. */
TEST(same_identifier_different_data)
{
	bus_start("abc");
	see = SEE_FRAMES | SEE_ERRORS;
	at(0, 'a', "123#00");
	at(0, 'b', "123#01");
	until(46);
	HAPPENED("46 error a 20000288#0000900A00000800\n"
		 "46 error b 20000288#0000900A00000800\n"
		 "46 error c 20000288#0000040A00000001\n");
	counters('a', 8, 0);
	counters('b', 8, 0);
	TEST_ASSERT_EQUAL_UINT64(1, bus.stats.collisions);
	see = SEE_FRAMES;
	until(16 * 49 - 4);
	counters('a', 120, 0);
	/* Passive, b can no longer break what a sends: 16 x 49 + 8 is their next start.  It takes six bits of end of
	 * frame for its flag, then come delimiter and space as for the others, and the wait of 8: 850 + 6 + 8. */
	until(10000);
	HAPPENED("847 frame a 123#00 > c\n919 frame b 123#01 > ac\n");
	counters('a', 127, 0);
	counters('b', 128 + 8 - 1, 0);
}

/* ---- bus-off and back ---- */

/* Each attempt breaks at bit 40.  8 each: warning with the 12th, passive with the 16th, off with the 32nd. */
TEST(step_by_step_to_bus_off)
{
	bus_start("ab");
	see = SEE_STATES | SEE_PURGED;
	fault(0, "corrupt 32 at 40");
	at(0, 'a', "123#DEADBEEF");
	at(0, 'a', "123#DEADBEEF");
	for (int attempt = 1; attempt < 32; attempt++) {
		engine_advance(&bus, engine_next_ns(&bus));
		counters('a', 8 * attempt, 0);
		counters('b', 0, attempt);
	}
	HAPPENED("753 state a warning 96 0\n1005 state a passive 128 0\n");
	engine_advance(&bus, engine_next_ns(&bus));
	counters('b', 0, 32);
	/* 16 attempts of 63 bits; then the flag is recessive, b finds that after six bits: 64, and the wait of 8. */
	TEST_ASSERT_EQUAL_INT64((16 * 63 + 8 + 15 * (64 + 8) + 61) * US, bus.event_ns);
	TEST_ASSERT_EQUAL_INT(BUS_OFF, info('a')->state);
	TEST_ASSERT_EQUAL_INT(0, info('a')->waiting);
	TEST_ASSERT_EQUAL_INT(-ENETDOWN, at(5000, 'a', "123#"));
	TEST_ASSERT_EQUAL_INT64(ENGINE_NEVER, engine_next_ns(&bus));
	/* It does not acknowledge either. */
	what_happened();
	at(5000, 'b', "123#");
	until(5100);
	counters('b', 8, 32);
}

static void go_off(int64_t us)
{
	see = 0;
	bus.node[0].tx_errors = 248;
	bus.node[0].state = BUS_PASSIVE;
	fault(us, "corrupt 1 at 40");
	at(us, 'a', "123#DEADBEEF");
	until(us + 200);
	TEST_ASSERT_EQUAL_INT(BUS_OFF, info('a')->state);
	see = SEE_ALL;
	what_happened();
}

TEST(recovery_takes_128_times_11_recessive_bits)
{
	bus_start("ab");
	go_off(0);
	TEST_ASSERT_EQUAL_INT(-EBUSY, engine_restart(&bus, 1, 1000 * US));
	TEST_ASSERT_EQUAL_INT(0, engine_restart(&bus, 0, 1000 * US));
	TEST_ASSERT_TRUE(info('a')->recovering);
	TEST_ASSERT_EQUAL_INT64((1000 + 1408) * US, engine_next_ns(&bus));
	until(2407);
	TEST_ASSERT_EQUAL_INT(BUS_OFF, info('a')->state);
	TEST_ASSERT_EQUAL_INT(-ENETDOWN, at(2407, 'a', "123#"));
	HAPPENED("");
	until(2408);
	HAPPENED("2408 error a 20000300#0000000000000000\n2408 state a error-active 0 0\n");
	at(2408, 'a', "123#");
	until(3000);
	HAPPENED("2453 echo a 3\n2453 frame a 123# > b\n");
	TEST_ASSERT_EQUAL_UINT64(1, info('a')->stats.bus_offs);
	TEST_ASSERT_EQUAL_UINT64(1, info('a')->stats.restarts);
}

/* On a busy bus each pause between two frames counts once: 53 bits each, 128 of them. */
TEST(recovery_on_a_busy_bus)
{
	bus_start("abc");
	go_off(0);
	fault(1000, "babble b 000#");
	engine_restart(&bus, 0, 1010 * US);
	see = SEE_STATES;
	until(100000);
	/* The first frame ends recessive at 1042; 128 pauses of 11 bits, the last one ends with the 128th frame. */
	HAPPENED("7784 state a error-active 0 0\n");
	TEST_ASSERT_EQUAL_INT(1000 + 128 * 53, 7784);
}

TEST(restart_by_itself)
{
	bus_start_with("ab", (struct engine_settings){ .bitrate = 1000000, .restart_ms = 100 });
	go_off(0);
	see = SEE_STATES;
	until(1000000);
	/* The failed attempt was reported at 61: 61 + 100000 + 1408. */
	HAPPENED("101469 state a error-active 0 0\n");
	engine_set_restart(&bus, 0, 0);
	go_off(2000000);
	see = SEE_STATES;
	until(9000000);
	HAPPENED("");
}

TEST(reset_brings_it_back_at_once)
{
	bus_start("ab");
	go_off(0);
	engine_reset(&bus, 0, 1000 * US);
	HAPPENED("1000 state a stopped 0 0\n1000 state a error-active 0 0\n");
	at(1000, 'a', "123#");
	until(2000);
	/* After 11 recessive bits. */
	HAPPENED("1056 echo a 2\n1056 frame a 123# > b\n");
}

TEST(quiet_buses_report_states_only)
{
	bus_start_with("a", (struct engine_settings){ .bitrate = 1000000, .quiet = true });
	at(0, 'a', "123#DEADBEEF");
	until(10000);
	HAPPENED("1041 error a 20000204#0008000000006000\n1041 state a warning 96 0\n"
		 "1389 error a 20000204#0020000000008000\n1389 state a passive 128 0\n");
	TEST_ASSERT_EQUAL_UINT64(16, info('a')->stats.errors);
}

/* A good frame takes one off; of a passive receiver the counter goes below the limit. */
TEST(counters_go_down)
{
	bus_start("abc");
	see = SEE_STATES;
	bus.node[0].tx_errors = 1;
	bus.node[1].rx_errors = 200;
	bus.node[1].state = BUS_PASSIVE;
	bus.node[2].rx_errors = 1;
	at(0, 'a', "123#");
	at(0, 'a', "123#");
	until(1000);
	counters('a', 0, 0);
	counters('b', 0, 126);
	counters('c', 0, 0);
	HAPPENED("45 state b warning 0 127\n");
}
