/* test_drv_tick_parse.c: ticks as people write them. */
#include "test/lib/testcase.h"

#include "can/bus/frame.h"
#include "daemons/drv/drv_tick.h"

#define COUNT(array) (sizeof(array) / sizeof(*(array)))
#define MS INT64_C(1000000)
#define NAME_23 "a2345678901234567890123"

TEST(test_right)
{
	static const struct {
		const char *text;
		struct drv_tick_rule rule;
	} right[] = {
		{ "5ms", { DRV_TICK_PERIOD, 5 * MS, 1, 0, "", 0 } },
		{ "100us", { DRV_TICK_PERIOD, MS / 10, 1, 0, "", 0 } },
		{ "10s", { DRV_TICK_PERIOD, 10000 * MS, 1, 0, "", 0 } },
		{ "clock", { DRV_TICK_CLOCK, MS, 1, 0, "", 0 } },
		{ "clock/1", { DRV_TICK_CLOCK, MS, 1, 0, "", 0 } },
		{ "clock/5", { DRV_TICK_CLOCK, 5 * MS, 5, 0, "", 0 } },
		{ "clock/1000", { DRV_TICK_CLOCK, 1000 * MS, 1000, 0, "", 0 } },
		{ "clock+0", { DRV_TICK_CLOCK, MS, 1, 0, "", 0 } },
		{ "clock+250us", { DRV_TICK_CLOCK, MS, 1, MS / 4, "", 0 } },
		{ "clock+999999ns", { DRV_TICK_CLOCK, MS, 1, MS - 1, "", 0 } },
		{ "clock/5+1ms", { DRV_TICK_CLOCK, 5 * MS, 5, MS, "", 0 } },
		{ "clock/5+4999999ns", { DRV_TICK_CLOCK, 5 * MS, 5, 5 * MS - 1, "", 0 } },
		{ "frame torso 0x0AF 10ms", { DRV_TICK_FRAME, 10 * MS, 1, 0, "torso", 0x0AF } },
		{ "frame 0x0AF 10ms", { DRV_TICK_FRAME, 10 * MS, 1, 0, "", 0x0AF } },
		{ "frame 0x000000AF 10ms", { DRV_TICK_FRAME, 10 * MS, 1, 0, "", 0xAF | FRAME_EXT } },
		{ "frame torso 0x0 10ms", { DRV_TICK_FRAME, 10 * MS, 1, 0, "torso", 0 } },
		{ "frame torso 0x7fF 10ms", { DRV_TICK_FRAME, 10 * MS, 1, 0, "torso", 0x7FF } },
		{ "frame torso 0x00007FF 10ms", { DRV_TICK_FRAME, 10 * MS, 1, 0, "torso", 0x7FF } },
		{ "frame torso 0x000000AF 10ms", { DRV_TICK_FRAME, 10 * MS, 1, 0, "torso", 0xAF | FRAME_EXT } },
		{ "frame torso 0x1FFFFFFF 10ms", { DRV_TICK_FRAME, 10 * MS, 1, 0, "torso", 0x1FFFFFFF | FRAME_EXT } },
		{ "frame " NAME_23 " 0x001 1ms", { DRV_TICK_FRAME, MS, 1, 0, NAME_23, 1 } },
		{ "ref 2ms", { DRV_TICK_REF, 2 * MS, 1, 0, "", 0 } },
		{ "  ref   2ms ", { DRV_TICK_REF, 2 * MS, 1, 0, "", 0 } },
	};

	for (size_t i = 0; i < COUNT(right); i++) {
		struct drv_tick_rule rule;

		memset(&rule, 0xA5, sizeof(rule));
		TEST_ASSERT_NULL_MESSAGE(drv_tick_parse(&rule, right[i].text), right[i].text);
		TEST_ASSERT_NULL(drv_tick_parse(NULL, right[i].text));
		TEST_ASSERT_EQUAL_INT_MESSAGE(right[i].rule.kind, rule.kind, right[i].text);
		TEST_ASSERT_EQUAL_INT64_MESSAGE(right[i].rule.period_ns, rule.period_ns, right[i].text);
		TEST_ASSERT_EQUAL_INT64_MESSAGE(right[i].rule.divider, rule.divider, right[i].text);
		TEST_ASSERT_EQUAL_INT64_MESSAGE(right[i].rule.offset_ns, rule.offset_ns, right[i].text);
		TEST_ASSERT_EQUAL_STRING_MESSAGE(right[i].rule.bus, rule.bus, right[i].text);
		TEST_ASSERT_EQUAL_HEX32_MESSAGE(right[i].rule.id, rule.id, right[i].text);
	}
}

#define FORM "such as 5ms, clock/5+1ms, frame torso 0x0AF 10ms or ref 2ms"
#define PERIOD "a period from 0.1ms to 10s"
#define DIVIDER "1 to 1000 cycles"
#define OFFSET "offset from 0 to less than its period"
#define BUS "a bus with a name"
#define ID "an identifier such as"

TEST(test_wrong)
{
	static const struct {
		const char *text, *why;
	} wrong[] = {
		{ "", FORM },
		{ " ", FORM },
		{ "5", FORM },
		{ "often", FORM },
		{ "0", PERIOD },
		{ "-5ms", PERIOD },
		{ "99999ns", PERIOD },
		{ "10000000001ns", PERIOD },
		{ "5ms 5ms", FORM },
		{ "clocks", FORM },
		{ "cloc", FORM },
		{ "clocx", FORM },
		{ "clock5", FORM },
		{ "clock/", FORM },
		{ "clock/x", FORM },
		{ "clock /5", FORM },
		{ "clock/5+", FORM },
		{ "clock/5+1", FORM },
		{ "clock/5+1ms+1ms", FORM },
		{ "clock+1ms/5", FORM },
		{ "clock/0", DIVIDER },
		{ "clock/-1", DIVIDER },
		{ "clock/1001", DIVIDER },
		{ "clock+-1ns", OFFSET },
		{ "clock/5+-1ns", OFFSET },
		{ "clock 5ms", FORM },
		{ "ref", FORM },
		{ "ref often", FORM },
		{ "ref 0.01ms", PERIOD },
		{ "ref 11s", PERIOD },
		{ "ref torso 0x0AF 10ms", FORM },
		{ "reference 2ms", FORM },
		{ "frame", FORM },
		{ "frame torso", FORM },
		{ "frame 2ms", FORM },
		{ "frame torso 0x0AF", FORM },
		{ "frame torso 0x0AF 10", FORM },
		{ "frame torso 0x0AF 11s", PERIOD },
		{ "frame torso 0x0AF 10ms 1", FORM },
		{ "frames torso 0x0AF 10ms", FORM },
		{ "frame -torso 0x0AF 10ms", BUS },
		{ "frame " NAME_23 "4 0x0AF 10ms", BUS },
		{ "frame " NAME_23 "45678901 0x0AF 10ms", BUS },   /* a word of 31 bytes */
		{ "frame " NAME_23 "456789012 0x0AF 10ms", FORM }, /* of 32 */
		{ "frame " NAME_23 NAME_23 " 0x0AF 10ms", FORM },
		{ "frame torso 0AF 10ms", ID },
		{ "frame torso 175 10ms", ID },
		{ "frame torso 017 10ms", ID },
		{ "frame torso 0x 10ms", ID },
		{ "frame torso 0xG 10ms", ID },
		{ "frame torso -0x1 10ms", ID },
		{ "frame torso 0x800 10ms", ID },
		{ "frame torso 0x20000000 10ms", ID },
		{ "frame torso 0x0000000AF 10ms", ID },
	};

	for (size_t i = 0; i < COUNT(wrong); i++) {
		struct drv_tick_rule rule, before;
		const char *why;

		memset(&rule, 0xA5, sizeof(rule));
		before = rule;
		why = drv_tick_parse(&rule, wrong[i].text);
		TEST_ASSERT_NOT_NULL_MESSAGE(why, wrong[i].text);
		TEST_ASSERT_NOT_NULL_MESSAGE(strstr(why, wrong[i].why), wrong[i].text);
		TEST_ASSERT_EQUAL_INT(0, strncmp(why, "a tick ", 7)); /* "5" is not a tick ... */
		TEST_ASSERT_EQUAL_MEMORY_MESSAGE(&before, &rule, sizeof(rule), wrong[i].text);
	}
}

TEST(test_paced_by_the_clock)
{
	static const struct {
		const char *text;
		int64_t clock_ns, period_ns;
		const char *why;
	} cases[] = {
		{ "clock", 0, MS, NULL },
		{ "clock/5", 0, 5 * MS, NULL },
		{ "clock/5", 4 * MS, 20 * MS, NULL },
		{ "clock/1000", 10 * MS, 10000 * MS, NULL },
		{ "clock/1000", 10 * MS + 1, 10000 * MS + 1000, "at most 10s" },
		{ "clock+999999ns", 0, MS, NULL },
		{ "clock+1ms", 0, MS, OFFSET },
		{ "clock+2ms", 0, MS, OFFSET },
		{ "clock+1ms", 2 * MS, 2 * MS, NULL },
		{ "clock/5+5ms", MS, 5 * MS, OFFSET },
		{ "clock/5+4999999ns", MS, 5 * MS, NULL },
		{ "3ms", 4 * MS, 3 * MS, NULL },
		{ "ref 3ms", 4 * MS, 3 * MS, NULL },
		{ "frame torso 0x0AF 3ms", 4 * MS, 3 * MS, NULL },
	};

	for (size_t i = 0; i < COUNT(cases); i++) {
		struct drv_tick_rule rule;
		const char *why;

		TEST_ASSERT_NULL(drv_tick_parse(&rule, cases[i].text));
		why = drv_tick_pace(&rule, cases[i].clock_ns);
		TEST_ASSERT_EQUAL_INT64_MESSAGE(cases[i].period_ns, rule.period_ns, cases[i].text);
		if (cases[i].why)
			TEST_ASSERT_NOT_NULL_MESSAGE(why && strstr(why, cases[i].why) ? why : NULL, cases[i].text);
		else
			TEST_ASSERT_NULL_MESSAGE(why, cases[i].text);
	}
}
