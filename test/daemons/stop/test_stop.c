/* test_stop.c: when a stop input is closed, and where a frame has its channels. */
#include "daemons/stop/stop.h"
#include "test/daemons/drv/page_lib.h"
#include "test/lib/testcase.h"

#define MS INT64_C(1000000)
#define BEGIN (1000 * MS)
#define LOST 9u
#define NOTHING 8u

static struct stop stop;

void setUp(void)
{
	stop = (struct stop){ .rules = { .channels = 2,
					 .close_after_ns = 100 * MS,
					 .silent_after_ns = 50 * MS,
					 .differ_after_ns = 200 * MS } };
}

void tearDown(void)
{
}

/* At at_ms the input is read as closed (a bit for each channel), or lost, or not read; then it is looked at. */
struct step {
	int at_ms;
	unsigned int closed;
	enum stop_state state;
};

static void play(const struct step *steps, size_t n, const char *name)
{
	for (size_t i = 0; i < n; i++) {
		const int64_t t_ns = BEGIN + steps[i].at_ms * MS;
		char what[96];

		if (steps[i].closed == LOST)
			stop_lose(&stop);
		else if (steps[i].closed != NOTHING)
			stop_read(&stop, steps[i].closed, t_ns);
		snprintf(what, sizeof(what), "%s at %d ms", name, steps[i].at_ms);
		TEST_ASSERT_EQUAL_MESSAGE(steps[i].state, stop_evaluate(&stop, t_ns), what);
	}
}

#define PLAY(name, ...)                                             \
	do {                                                        \
		static const struct step steps[] = { __VA_ARGS__ }; \
		setUp();                                            \
		play(steps, sizeof(steps) / sizeof(*steps), name);  \
	} while (0)

TEST(it_is_closed_after_all_channels_were_for_the_time_and_open_at_once)
{
	PLAY("never read", { 0, NOTHING, STOP_SILENT }, { 1, NOTHING, STOP_SILENT });
	PLAY("closes", { 0, 3, STOP_OPEN }, { 40, 3, STOP_OPEN }, { 80, 3, STOP_OPEN }, { 99, NOTHING, STOP_OPEN },
	     { 100, NOTHING, STOP_CLOSED }, { 120, 3, STOP_CLOSED });
	PLAY("opens", { 0, 3, STOP_OPEN }, { 50, 3, STOP_OPEN }, { 100, 3, STOP_CLOSED }, { 101, 0, STOP_OPEN },
	     { 102, 3, STOP_OPEN }, { 150, 3, STOP_OPEN }, { 200, 3, STOP_OPEN }, { 201, 3, STOP_OPEN },
	     { 202, 3, STOP_CLOSED });
	PLAY("bounces while it closes", { 0, 3, STOP_OPEN }, { 50, 3, STOP_OPEN }, { 60, 0, STOP_OPEN },
	     { 61, 3, STOP_OPEN }, { 100, 3, STOP_OPEN }, { 140, 3, STOP_OPEN }, { 160, 3, STOP_OPEN },
	     { 161, 3, STOP_CLOSED });
	PLAY("one channel opens", { 0, 3, STOP_OPEN }, { 50, 3, STOP_OPEN }, { 100, 3, STOP_CLOSED },
	     { 105, 1, STOP_OPEN }, { 110, 3, STOP_OPEN });
	PLAY("the other channel opens", { 0, 3, STOP_OPEN }, { 50, 3, STOP_OPEN }, { 100, 3, STOP_CLOSED },
	     { 105, 2, STOP_OPEN });
	PLAY("bits beyond the channels do not count", { 0, 7, STOP_OPEN }, { 50, 7, STOP_OPEN },
	     { 100, 7, STOP_CLOSED }, { 101, 4, STOP_OPEN });
}

/* Between two looks, as in frames that come within one tick. */
TEST(an_opening_between_two_looks_counts)
{
	PLAY("closed", { 0, 3, STOP_OPEN }, { 50, 3, STOP_OPEN }, { 100, 3, STOP_CLOSED });
	stop_read(&stop, 0, BEGIN + 101 * MS);
	stop_read(&stop, 3, BEGIN + 102 * MS);
	TEST_ASSERT_EQUAL(STOP_OPEN, stop_evaluate(&stop, BEGIN + 103 * MS));
}

TEST(silence_and_loss_count_as_open_and_it_has_to_close_again)
{
	PLAY("silent", { 0, 3, STOP_OPEN }, { 50, 3, STOP_OPEN }, { 100, 3, STOP_CLOSED },
	     { 150, NOTHING, STOP_CLOSED }, { 151, NOTHING, STOP_SILENT }, { 152, 3, STOP_OPEN }, { 200, 3, STOP_OPEN },
	     { 251, 3, STOP_OPEN }, { 252, 3, STOP_CLOSED });
	PLAY("lost", { 0, 3, STOP_OPEN }, { 50, 3, STOP_OPEN }, { 100, 3, STOP_CLOSED }, { 101, LOST, STOP_SILENT },
	     { 102, 3, STOP_OPEN }, { 150, 3, STOP_OPEN }, { 201, 3, STOP_OPEN }, { 202, 3, STOP_CLOSED });
	stop_lose(&stop);
	TEST_ASSERT_EQUAL(0, stop.closed);
	/* Silence ends the readings even without a tick in between. */
	PLAY("silent between looks", { 0, 3, STOP_OPEN }, { 50, 3, STOP_OPEN });
	stop_evaluate(&stop, BEGIN + 101 * MS);
	stop_read(&stop, 3, BEGIN + 102 * MS);
	TEST_ASSERT_EQUAL(STOP_OPEN, stop_evaluate(&stop, BEGIN + 120 * MS));
}

TEST(channels_that_differ_for_too_long_have_to_be_open_once)
{
	PLAY("within the time", { 0, 1, STOP_OPEN }, { 50, 1, STOP_OPEN }, { 100, 1, STOP_OPEN }, { 150, 1, STOP_OPEN },
	     { 200, 1, STOP_OPEN }, { 201, 3, STOP_OPEN }, { 250, 3, STOP_OPEN }, { 300, 3, STOP_OPEN },
	     { 301, 3, STOP_CLOSED });
	PLAY("for too long", { 0, 1, STOP_OPEN }, { 50, 1, STOP_OPEN }, { 100, 1, STOP_OPEN }, { 150, 1, STOP_OPEN },
	     { 200, 1, STOP_OPEN }, { 201, 1, STOP_DIFFER }, { 210, 3, STOP_DIFFER }, { 250, 3, STOP_DIFFER },
	     { 300, 3, STOP_DIFFER }, { 340, 3, STOP_DIFFER }, { 345, LOST, STOP_SILENT }, { 350, 3, STOP_DIFFER },
	     { 355, 0, STOP_OPEN }, { 360, 3, STOP_OPEN }, { 400, 3, STOP_OPEN }, { 440, 3, STOP_OPEN },
	     { 460, 3, STOP_CLOSED });
	PLAY("the time begins again with each", { 0, 1, STOP_OPEN }, { 50, 1, STOP_OPEN }, { 100, 1, STOP_OPEN },
	     { 140, 1, STOP_OPEN }, { 180, 3, STOP_OPEN }, { 190, 2, STOP_OPEN }, { 230, 2, STOP_OPEN },
	     { 270, 2, STOP_OPEN }, { 310, 2, STOP_OPEN }, { 350, 2, STOP_OPEN }, { 390, 2, STOP_OPEN },
	     { 391, 2, STOP_DIFFER });
	PLAY("a loss ends it", { 0, 1, STOP_OPEN }, { 50, 1, STOP_OPEN }, { 100, 1, STOP_OPEN }, { 150, 1, STOP_OPEN },
	     { 160, LOST, STOP_SILENT }, { 210, 1, STOP_OPEN }, { 250, 1, STOP_OPEN });
}

TEST(one_channel_alone_never_differs)
{
	stop.rules.channels = 1;
	for (int ms = 0; ms < 1000; ms += 20) {
		stop_read(&stop, 2 | (ms / 20 % 2), BEGIN + ms * MS);
		TEST_ASSERT_EQUAL(STOP_OPEN, stop_evaluate(&stop, BEGIN + ms * MS));
	}
	stop.rules.close_after_ns = 0;
	stop_read(&stop, 1, BEGIN + 1000 * MS);
	TEST_ASSERT_EQUAL(STOP_CLOSED, stop_evaluate(&stop, BEGIN + 1000 * MS));
	TEST_ASSERT_EQUAL(1, stop.closed);
}

TEST(channels_of_a_frame)
{
	static const struct {
		unsigned int byte, bits[2], channels;
		bool closed_is_0;
		struct frame frame;
		unsigned int closed;
	} rows[] = {
		{ 0, { 0, 1 }, 2, false, { .id = 0x181, .len = 8, .data = { 0x03 } }, 3 },
		{ 0, { 0, 1 }, 2, false, { .id = 0x181, .len = 8, .data = { 0x01 } }, 1 },
		{ 0, { 0, 1 }, 2, false, { .id = 0x181, .len = 8, .data = { 0x02 } }, 2 },
		{ 0, { 0, 1 }, 2, false, { .id = 0x181, .len = 8, .data = { 0xFC } }, 0 },
		{ 0, { 0, 1 }, 2, true, { .id = 0x181, .len = 8, .data = { 0xFC } }, 3 },
		{ 0, { 0, 1 }, 2, true, { .id = 0x181, .len = 8, .data = { 0xFD } }, 2 },
		{ 0, { 7, 0 }, 1, false, { .id = 0x181, .len = 8, .data = { 0x80 } }, 1 },
		{ 0, { 7, 0 }, 1, false, { .id = 0x181, .len = 8, .data = { 0x7F } }, 0 },
		{ 2, { 4, 3 }, 2, false, { .id = 0x181, .len = 3, .data = { 0, 0, 0x10 } }, 1 },
		{ 2, { 4, 3 }, 2, false, { .id = 0x181, .len = 3, .data = { 0, 0, 0x08 } }, 2 },
		{ 2, { 4, 3 }, 2, false, { .id = 0x181, .len = 2, .data = { 0, 0, 0xFF } }, 0 }, /* too short */
		{ 2, { 4, 3 }, 2, true, { .id = 0x181, .len = 2, .data = { 0 } }, 0 },
		{ 0, { 0, 1 }, 2, true, { .id = 0x181 | FRAME_RTR, .len = 8, .data = { 0 } }, 0 },
		{ 7, { 0, 1 }, 2, false, { .id = 0x18F | FRAME_EXT, .len = 8, .data = { [7] = 0xFF } }, 3 },
	};

	for (size_t i = 0; i < sizeof(rows) / sizeof(*rows); i++) {
		const struct stop_frame where = {
			rows[i].byte, { rows[i].bits[0], rows[i].bits[1] }, rows[i].channels, rows[i].closed_is_0
		};
		char what[16];

		snprintf(what, sizeof(what), "row %zu", i);
		TEST_ASSERT_EQUAL_MESSAGE(rows[i].closed, stop_decode(&where, &rows[i].frame), what);
	}
}

/* ---- the page ---- */

static void say_channels(char *said, const struct stop_frame *where, unsigned int closed)
{
	*said = 0;
	for (unsigned int i = 0; i < where->channels; i++)
		if (closed & 1u << i)
			said += sprintf(said, "%s%u", said[-1] ? "," : "", where->bits[i]);
}

static bool take_vector(char *line)
{
	const char *expected = strstr(line, " =");
	char bits[16], level[16], text[64], room[64] = "", *said = room + 1;
	struct stop_frame where = { 0 };
	struct frame frame;

	TEST_ASSERT_NOT_NULL_MESSAGE(expected, line);
	TEST_ASSERT_EQUAL_MESSAGE(4, sscanf(line, "%u %15s %15s %63s", &where.byte, bits, level, text), line);
	where.channels = (unsigned int)sscanf(bits, "%u,%u", &where.bits[0], &where.bits[1]);
	where.closed_is_0 = !strcmp(level, "low");
	frame = page_lib_read(text);
	say_channels(said, &where, stop_decode(&where, &frame));
	TEST_ASSERT_EQUAL_STRING_MESSAGE(expected + 2 + (expected[2] == ' '), said, line);
	return true;
}

TEST(the_pages_vectors)
{
	TEST_ASSERT_EQUAL(14, page_lib_lines("hw-docs/devices/stop.md", take_vector));
}
