/* test_pylon.c: the codec of a Pylontech pack says the vectors of its page; telegrams are made of any order. */
#include <math.h>

#include "can/bus/frame_text.h"
#include "daemons/bms/pylon.h"
#include "test/daemons/drv/page_lib.h"
#include "test/lib/testcase.h"

#define MS ((int64_t)1000000)
#define PAUSE_NS (500 * MS)

static void say_keep_alive(char said[PAGE_LIB_TEXT], char *words)
{
	struct frame frame;

	(void)words;
	memset(&frame, 0x5A, sizeof(frame));
	pylon_encode_keep_alive(&frame);
	TEST_ASSERT_TRUE(frame_valid(&frame));
	frame_text_write(said, &frame);
}

static void say_pylon(char said[PAGE_LIB_TEXT], char *words)
{
	struct pylon pylon = { .pause_ns = PAUSE_NS };
	struct pylon_pack p = { .t_ns = -1 };
	struct frame frame;
	int64_t t_ns = MS;

	for (; page_lib_frame(&words, &frame); t_ns += MS)
		pylon_take(&pylon, &frame, t_ns, &p);
	pylon_pause(&pylon, t_ns + PAUSE_NS, &p);
	snprintf(said, PAGE_LIB_TEXT,
		 "voltage %.3f current %.1f charge %.4f health %.2f temperature %.2f limits %.1f %.1f "
		 "alarms %02x %02x %02x",
		 p.voltage_v, p.current_a, p.charge, p.health, p.temperature_k, p.charge_limit_a, p.discharge_limit_a,
		 p.protections, p.warnings, p.refused);
	if (p.t_ns < 0)
		strcpy(said, "nothing");
	else
		TEST_ASSERT_EQUAL_INT64(MS, p.t_ns); /* of the first frame */
}

TEST(the_pages_vectors)
{
	TEST_ASSERT_EQUAL(8, page_lib_each("hw-docs/devices/bms.md", "pylon", say_pylon));
	TEST_ASSERT_EQUAL(1, page_lib_each("hw-docs/devices/bms.md", "keep-alive", say_keep_alive));
}

/* ---- telegrams ---- */

/* A letter is a frame, 1 ms after the one before: l 351, c 355, m 356, a 359, p 35C with its permits, n 35C without,
 * x an odd one, ? 357; - a pause of 499 ms more, = one of 500 ms more, ~ the same and a look at the codec.  For each
 * whether it completes a telegram. */
static const struct {
	const char *frames, *complete;
	unsigned int incomplete, odd, lacked, refused;
} orders[] = {
	{ "lcmap", "....+", 0, 0, 0, 0 },
	{ "pamcl", "....+", 0, 0, 0, 0 },
	{ "acpml", "....+", 0, 0, 0, 0 },
	{ "lcmaplcmap", "....+....+", 0, 0, 0, 0 },
	{ "lcma", "....", 0, 0, 0, 0 },		  /* it may still come */
	{ "lcma~", "....+", 0, 0, 0, 0 },	  /* none did */
	{ "lcma~~", "....+.", 0, 0, 0, 0 },	  /* once */
	{ "lcma~lcma", "....+...+", 0, 0, 0, 0 }, /* now it is known */
	{ "lcmalcma", "....+..+", 0, 0, 0, 0 },	  /* by the next telegram */
	{ "lcma=lcma", "....@+..+", 0, 0, 0, 0 },
	{ "lcma~lcmap", "....+...+.", 0, 0, 0, 0 }, /* it begins to send permits: */
	{ "lcma~lcman~lcman", "....+...+......+", 0, 0, 0, 0x60 },
	{ "lcma~lcmapl", "....+...+..", 0, 0, 0, 0 },
	{ "lcman~lcma~", "....+.....+", 0, 0, 0, 0x60 }, /* what they said last holds */
	{ "lcmap~lcmanlcmap", "....+.....+....+", 0, 0, 0, 0 },
	{ "lcm~", "....", 1, 0, PYLON_ALARMS, 0 },
	{ "lma~", "....", 1, 0, PYLON_CHARGE, 0 },
	{ "cma~", "....", 1, 0, PYLON_LIMITS, 0 },
	{ "lca~", "....", 1, 0, PYLON_MEASURED, 0 },
	{ "l~~", "...", 1, 0, PYLON_CHARGE | PYLON_MEASURED | PYLON_ALARMS, 0 },
	{ "lcmlcmap", ".......+", 1, 0, 0, 0 }, /* a part that comes again */
	{ "lcm~lcmap", "........+", 1, 0, 0, 0 },
	{ "lc=map", "..@...", 1, 0, PYLON_MEASURED | PYLON_ALARMS, 0 }, /* two telegrams */
	{ "lc-map", "..@..+", 0, 0, 0, 0 },				/* one, slowly */
	{ "l-c-m-a-p", ".@.@.@.@+", 0, 0, 0, 0 },
	{ "p~", "..", 0, 0, 0, 0 }, /* permits alone are nothing */
	{ "lcmaxp", ".....+", 0, 1, 0, 0 },
	{ "lc?map", ".....+", 0, 1, 0, 0 },
	{ "xxx", "...", 0, 3, 0, 0 },
};

static struct frame frame_of(char letter)
{
	static const char *const texts[] = {
		['l'] = "351#2802F4012003E001", ['c'] = "355#3C006400",	   ['m'] = "356#6C140000DC00",
		['a'] = "359#0000000001504E",	['p'] = "35C#C000",	   ['n'] = "35C#0000",
		['x'] = "356#6C140000DC",	['?'] = "357#6C140000DC00"
	};

	return page_lib_read(texts[(unsigned char)letter]);
}

TEST(a_telegram_is_complete_when_each_part_has_come_once)
{
	for (unsigned int i = 0; i < sizeof(orders) / sizeof(*orders); i++) {
		struct pylon pylon = { .pause_ns = PAUSE_NS };
		struct pylon_pack pack = { 0 };
		char complete[32] = "", *to = complete;
		int64_t t_ns = MS;

		for (const char *f = orders[i].frames; *f; f++, t_ns += MS) {
			struct frame frame;

			t_ns += *f == '-' ? PAUSE_NS - 2 * MS : *f == '=' || *f == '~' ? PAUSE_NS - MS : 0;
			if (*f == '-' || *f == '=') {
				*to++ = '@';
			} else if (*f == '~') {
				*to++ = pylon_pause(&pylon, t_ns + MS, &pack) ? '+' : '.';
			} else {
				frame = frame_of(*f);
				*to++ = pylon_take(&pylon, &frame, t_ns, &pack) ? '+' : '.';
			}
		}
		TEST_ASSERT_EQUAL_STRING_MESSAGE(orders[i].complete, complete, orders[i].frames);
		TEST_ASSERT_EQUAL_MESSAGE(orders[i].incomplete, pylon.incomplete, orders[i].frames);
		TEST_ASSERT_EQUAL_MESSAGE(orders[i].odd, pylon.odd, orders[i].frames);
		TEST_ASSERT_EQUAL_MESSAGE(orders[i].lacked, pylon.lacked, orders[i].frames);
		TEST_ASSERT_EQUAL_HEX_MESSAGE(orders[i].refused, pack.refused, orders[i].frames);
	}
}

TEST(a_pause_is_longer_than_its_time)
{
	struct pylon pylon = { .pause_ns = PAUSE_NS };
	struct pylon_pack pack;

	for (const char *f = "lcma"; *f; f++) {
		struct frame frame = frame_of(*f);

		TEST_ASSERT_FALSE(pylon_take(&pylon, &frame, MS, &pack));
	}
	TEST_ASSERT_FALSE(pylon_pause(&pylon, MS + PAUSE_NS, &pack));
	TEST_ASSERT_TRUE(pylon_pause(&pylon, MS + PAUSE_NS + 1, &pack));
}

TEST(the_time_is_that_of_the_first_frame_of_its_own_telegram)
{
	struct pylon pylon = { .pause_ns = PAUSE_NS };
	struct pylon_pack pack = { 0 };
	struct frame frame;
	int64_t t_ns = 0;

	for (const char *f = "lclcmap"; *f; f++) {
		frame = frame_of(*f);
		pylon_take(&pylon, &frame, t_ns += MS, &pack);
	}
	TEST_ASSERT_EQUAL_INT64(3 * MS, pack.t_ns);
}

static bool take(struct pylon *pylon, const char *frames, int64_t t_ns, struct pylon_pack *pack)
{
	bool complete = false;

	for (; *frames; frames++) {
		const struct frame frame = frame_of(*frames);

		complete = pylon_take(pylon, &frame, t_ns, pack);
	}
	return complete;
}

TEST(after_an_absence_nothing_of_before_counts)
{
	struct pylon pylon = { .pause_ns = PAUSE_NS };
	struct pylon_pack pack = { 0 };

	TEST_ASSERT_TRUE(take(&pylon, "lcman", MS, &pack));
	TEST_ASSERT_FALSE(take(&pylon, "l", MS, &pack));
	pylon_forget(&pylon);
	TEST_ASSERT_FALSE(take(&pylon, "cma", MS, &pack));
	TEST_ASSERT_FALSE(pylon_pause(&pylon, 2 * MS + PAUSE_NS, &pack)); /* that l was before */
	TEST_ASSERT_FALSE(take(&pylon, "lcma", MS, &pack));
	TEST_ASSERT_TRUE(pylon_pause(&pylon, 2 * MS + PAUSE_NS, &pack));
	TEST_ASSERT_EQUAL_HEX(0, pack.refused);		   /* nor what was refused */
	TEST_ASSERT_TRUE(take(&pylon, "lcma", MS, &pack)); /* without permits, */
	pylon_forget(&pylon);
	TEST_ASSERT_FALSE(take(&pylon, "lcma", MS, &pack)); /* which may come now */
}

/* ---- values ---- */

static const struct {
	const char *frame; /* odd: NULL in field */
	bool odd;
} lengths[] = {
	{ "351#28020A000A00", false },
	{ "351#28020A000A000000", false },
	{ "351#28020A000A0000", true },
	{ "351#28020A000A", true },
	{ "355#3C006400", false },
	{ "355#3C0064006400", false },
	{ "355#3C00640064", true },
	{ "355#3C0064", true },
	{ "355#3C00640064000000", true },
	{ "355#64006400", false },
	{ "355#65006400", true },
	{ "356#000000000000", false },
	{ "356#0000000000", true },
	{ "356#00000000000000", true },
	{ "359#00000000000000", false },
	{ "359#000000000000", true },
	{ "359#0000000000000000", true },
	{ "35C#0000", false },
	{ "35C#00", true },
	{ "35C#000000", true },
	{ "35E#50594C4F4E202020", true },
};

TEST(other_lengths_and_values_are_counted_and_dropped)
{
	for (unsigned int i = 0; i < sizeof(lengths) / sizeof(*lengths); i++) {
		struct pylon pylon = { .pause_ns = PAUSE_NS };
		const struct frame frame = page_lib_read(lengths[i].frame);
		struct pylon_pack pack;

		TEST_ASSERT_FALSE(pylon_take(&pylon, &frame, MS, &pack));
		TEST_ASSERT_EQUAL_MESSAGE(lengths[i].odd, pylon.odd, lengths[i].frame);
		TEST_ASSERT_EQUAL_MESSAGE(lengths[i].odd, !pylon.has, lengths[i].frame);
	}
}

static struct pylon_pack with(const char *text)
{
	struct pylon pylon = { .pause_ns = PAUSE_NS };
	struct pylon_pack pack = { 0 };
	const struct frame first = page_lib_read(text);

	pylon_take(&pylon, &first, MS, &pack);
	for (const char *f = "lcmap"; *f; f++) {
		const struct frame frame = frame_of(*f);

		if (frame.id != first.id)
			pylon_take(&pylon, &frame, MS, &pack);
	}
	TEST_ASSERT_EQUAL_INT64(MS, pack.t_ns);
	return pack;
}

TEST(each_alarm_has_its_bit)
{
	static const struct {
		const char *frame;
		uint32_t alarm;
	} rows[] = {
		{ "359#02000000000000", MSG_ALARM_OVER_VOLTAGE },
		{ "359#04000000000000", MSG_ALARM_UNDER_VOLTAGE },
		{ "359#08000000000000", MSG_ALARM_OVER_TEMPERATURE },
		{ "359#10000000000000", MSG_ALARM_UNDER_TEMPERATURE },
		{ "359#80000000000000", MSG_ALARM_OVER_CURRENT },
		{ "359#00010000000000", MSG_ALARM_OVER_CURRENT },
		{ "359#00080000000000", MSG_ALARM_INTERNAL },
		{ "359#00800000000000", MSG_ALARM_INTERNAL },
		{ "359#61760000FFFFFF", 0 },
	};

	for (unsigned int i = 0; i < sizeof(rows) / sizeof(*rows); i++) {
		char text[24];
		struct pylon_pack pack = with(rows[i].frame);

		TEST_ASSERT_EQUAL_HEX_MESSAGE(rows[i].alarm, pack.protections, rows[i].frame);
		TEST_ASSERT_EQUAL_HEX_MESSAGE(0, pack.warnings, rows[i].frame);
		snprintf(text, sizeof(text), "359#0000%.4s000000", rows[i].frame + 4);
		pack = with(text);
		TEST_ASSERT_EQUAL_HEX_MESSAGE(rows[i].alarm, pack.warnings, text);
		TEST_ASSERT_EQUAL_HEX_MESSAGE(0, pack.protections, text);
	}
}

TEST(permits_and_requests)
{
	TEST_ASSERT_EQUAL_HEX(0, with("35C#C000").refused);
	TEST_ASSERT_EQUAL_HEX(MSG_ALARM_CHARGE_REFUSED, with("35C#4000").refused);
	TEST_ASSERT_EQUAL_HEX(MSG_ALARM_DISCHARGE_REFUSED, with("35C#8000").refused);
	TEST_ASSERT_TRUE(with("35C#D000").wants_charge);
	TEST_ASSERT_TRUE(with("35C#E000").wants_charge);
	TEST_ASSERT_FALSE(with("35C#C800").wants_charge);
	TEST_ASSERT_FALSE(with("35C#0F00").wants_charge);
	TEST_ASSERT_EQUAL_HEX(MSG_ALARM_CHARGE_REFUSED | MSG_ALARM_DISCHARGE_REFUSED, with("35C#0F00").refused);
}

TEST(limits_of_either_sign_are_magnitudes)
{
	TEST_ASSERT_DOUBLE_WITHIN(1e-9, 25, with("351#0000FA00FA000000").discharge_limit_a);
	TEST_ASSERT_DOUBLE_WITHIN(1e-9, 25, with("351#0000FA0006FF0000").discharge_limit_a);
	TEST_ASSERT_DOUBLE_WITHIN(1e-9, 25, with("351#000006FF06FF").charge_limit_a);
	TEST_ASSERT_DOUBLE_WITHIN(1e-9, 3276.8, with("351#000006FF0080").discharge_limit_a);
}

TEST(hundredths_of_a_percent_count_if_they_agree)
{
	TEST_ASSERT_DOUBLE_WITHIN(1e-9, 0.6050, with("355#3C006400A217").charge);
	TEST_ASSERT_DOUBLE_WITHIN(1e-9, 0.61, with("355#3C006400D417").charge); /* 61.00 */
	TEST_ASSERT_DOUBLE_WITHIN(1e-9, 0.60, with("355#3C006400D517").charge); /* 61.01 */
	TEST_ASSERT_DOUBLE_WITHIN(1e-9, 0.59, with("355#3C0064000C17").charge); /* 59.00 */
	TEST_ASSERT_DOUBLE_WITHIN(1e-9, 0.60, with("355#3C0064000B17").charge);
	TEST_ASSERT_DOUBLE_WITHIN(1e-9, 1, with("355#630064001027").charge); /* 99 and 100.00 */
	TEST_ASSERT_DOUBLE_WITHIN(1e-9, 1, with("355#640064001127").charge); /* 100.01 */
	TEST_ASSERT_DOUBLE_WITHIN(1e-9, 1, with("355#64006400").health);
	TEST_ASSERT_TRUE(isnan(with("355#64006500").health));
	TEST_ASSERT_DOUBLE_WITHIN(1e-9, 0, with("355#00000000").charge);
}
