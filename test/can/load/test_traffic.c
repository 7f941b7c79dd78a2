/* test_traffic.c: what drivers declare, and whether it fits.  Also for traffic_read.c. */
#include <errno.h>

#include "test/lib/testcase.h"

#include "can/load/traffic.h"

#define US INT64_C(1000)
#define MS INT64_C(1000000)

static struct traffic traffic;

void setUp(void)
{
	traffic_free(&traffic);
	traffic.reply_ns = TRAFFIC_REPLY_NS;
}

void tearDown(void)
{
	traffic_free(&traffic);
}

static void add(unsigned int driver, struct traffic_row row)
{
	row.driver = driver;
	TEST_ASSERT_EQUAL_INT(0, traffic_add(&traffic, &row));
}

static void driver(const char *name, int64_t tick_ns)
{
	const size_t place = traffic.drivers_n;

	TEST_ASSERT_EQUAL_INT(place, traffic_driver(&traffic, name, tick_ns));
}

static const struct traffic_frame *frame(enum traffic_kind kind, uint32_t id)
{
	for (size_t i = 0; i < traffic.frames_n; i++)
		if (traffic.frames[i].kind == kind && traffic.frames[i].id == id)
			return &traffic.frames[i];
	return NULL;
}

static void solve(void)
{
	TEST_ASSERT_EQUAL_INT(0, traffic_bus(&traffic, "bus"));
	TEST_ASSERT_EQUAL_INT(0, traffic_solve(&traffic));
}

/* ---- frames ---- */

TEST(a_period_shorter_than_the_tick_is_a_burst)
{
	driver("larm", 5 * MS);
	add(0, (struct traffic_row){ .tx = true, .id = 0xc4, .len = 2, .period_ns = 1666666 });
	add(0, (struct traffic_row){ .tx = true, .id = 0xe4, .len = 6, .period_ns = 10 * MS });
	solve();
	TEST_ASSERT_EQUAL_UINT(3, frame(TRAFFIC_SENT, 0xc4)->r.burst);
	TEST_ASSERT_EQUAL_INT64(5 * MS, frame(TRAFFIC_SENT, 0xc4)->r.period_ns);
	TEST_ASSERT_EQUAL_UINT(1, frame(TRAFFIC_SENT, 0xe4)->r.burst);
	TEST_ASSERT_EQUAL_INT64(10 * MS, frame(TRAFFIC_SENT, 0xe4)->r.period_ns);
	TEST_ASSERT_DOUBLE_WITHIN(1e-9, 3 * 75e-6 / 5e-3 + 115e-6 / 10e-3, traffic.buses[0].load_most);
	TEST_ASSERT_DOUBLE_WITHIN(1e-9, 3 * 63e-6 / 5e-3 + 95e-6 / 10e-3, traffic.buses[0].load_least);
	TEST_ASSERT_DOUBLE_WITHIN(1e-6, 700, traffic.buses[0].hz);
}

TEST(answers_are_as_long_as_their_rows_and_as_often_as_their_requests)
{
	driver("waist", 5 * MS);
	add(0, (struct traffic_row){
		       .tx = true, .id = 0xcf, .len = 2, .period_ns = 5 * MS, .answered = true, .reply_id = 0xaf });
	add(0, (struct traffic_row){
		       .tx = true, .id = 0xdf, .len = 2, .period_ns = 5 * MS, .answered = true, .reply_id = 0xbf });
	add(0, (struct traffic_row){ .id = 0xaf, .len = 4, .period_ns = 5 * MS }); /* not more often than it is asked */
	solve();
	TEST_ASSERT_EQUAL_UINT(4, traffic.frames_n);
	TEST_ASSERT_EQUAL_UINT(4, frame(TRAFFIC_ANSWER, 0xaf)->len);
	TEST_ASSERT_EQUAL_UINT(8, frame(TRAFFIC_ANSWER, 0xbf)->len); /* that no row describes */
	TEST_ASSERT_NULL(frame(TRAFFIC_CYCLIC, 0xaf));
}

TEST(frames_of_devices_come_by_themselves_or_are_shared)
{
	driver("clock", 1 * MS);
	driver("wheels", 1 * MS);
	driver("imu", 5 * MS);
	add(0, (struct traffic_row){ .tx = true, .id = 0x80, .period_ns = 1 * MS });
	add(1, (struct traffic_row){ .id = 0x80, .shared = true, .period_ns = 1 * MS }); /* that of the clock */
	add(2, (struct traffic_row){ .id = 0x40, .len = 4, .period_ns = 10 * MS });	 /* of two lengths, in turn */
	add(2, (struct traffic_row){ .id = 0x40, .len = 8, .period_ns = 10 * MS });
	add(1, (struct traffic_row){ .id = 0x90, .shared = true, .period_ns = 2 * MS }); /* of another device, once */
	add(2, (struct traffic_row){ .id = 0x90, .shared = true, .period_ns = 2 * MS });
	solve();
	TEST_ASSERT_EQUAL_UINT(3, traffic.frames_n);
	TEST_ASSERT_NULL(frame(TRAFFIC_CYCLIC, 0x80));
	TEST_ASSERT_EQUAL_INT64(5 * MS, frame(TRAFFIC_CYCLIC, 0x40)->r.period_ns);
	TEST_ASSERT_EQUAL_UINT(8, frame(TRAFFIC_CYCLIC, 0x40)->len);
	TEST_ASSERT_EQUAL_INT64(2 * MS, frame(TRAFFIC_CYCLIC, 0x90)->r.period_ns);
}

TEST(a_row_without_a_period_is_counted_and_blocks)
{
	driver("waist", 5 * MS);
	add(0, (struct traffic_row){ .tx = true, .id = 0x10, .len = 0, .period_ns = 5 * MS });
	add(0, (struct traffic_row){ .id = 0x700, .len = 8, .period_ns = 1000 * MS });
	solve();
	TEST_ASSERT_EQUAL_INT64(135 * US + 55 * US, frame(TRAFFIC_SENT, 0x10)->r.response_ns);
	add(0, (struct traffic_row){ .tx = true, .id = 0x701 | FRAME_EXT, .len = 8 });
	solve();
	TEST_ASSERT_EQUAL_UINT(1, traffic.buses[0].any);
	TEST_ASSERT_FALSE(frame(TRAFFIC_SENT, 0x701 | FRAME_EXT)->late);
}

/* ---- late ---- */

/* 115 bits each, and one frame that blocks: with deadlines of 400 us the fourth is too much. */
static void make_late(unsigned int frames)
{
	setUp();
	driver("larm", 1 * MS);
	for (unsigned int i = 0; i < frames; i++)
		add(0, (struct traffic_row){
			       .tx = true, .id = 0x10 + i, .len = 6, .period_ns = 1 * MS, .deadline_ns = 460 * US });
	solve();
}

TEST(a_frame_that_may_miss_its_deadline_does_not_fit)
{
	make_late(4);
	TEST_ASSERT_EQUAL_INT64(460 * US, frame(TRAFFIC_SENT, 0x13)->r.response_ns);
	TEST_ASSERT_TRUE(traffic_fits(&traffic, 0));
	make_late(5);
	TEST_ASSERT_FALSE(traffic_fits(&traffic, 0));
	TEST_ASSERT_EQUAL_UINT(5, traffic.buses[0].late);
	traffic.buses[0].bitrate = 2000000;
	TEST_ASSERT_EQUAL_INT(0, traffic_solve(&traffic));
	TEST_ASSERT_TRUE(traffic_fits(&traffic, 0));
}

TEST(a_load_above_nine_tenths_does_not_fit)
{
	driver("imu", 0);
	add(0, (struct traffic_row){ .id = 0x10, .len = 8, .period_ns = 150 * US });
	solve();
	TEST_ASSERT_TRUE(traffic_fits(&traffic, 0));
	traffic.rows[0].period_ns = 149 * US;
	solve();
	TEST_ASSERT_FALSE(traffic_fits(&traffic, 0));
}

TEST(jitter_of_drivers_is_part_of_their_responses)
{
	make_late(4);
	traffic.jitter_ns = 1 * US;
	solve();
	TEST_ASSERT_EQUAL_INT64(461 * US, frame(TRAFFIC_SENT, 0x13)->r.response_ns);
	TEST_ASSERT_FALSE(traffic_fits(&traffic, 0));
}

/* ---- what if ---- */

TEST(advice_names_the_tick_that_helps)
{
	char text[TRAFFIC_ADVICE_MAX];

	driver("larm", 1 * MS);
	driver("lft", 1 * MS);
	for (unsigned int i = 0; i < 5; i++)
		add(0, (struct traffic_row){
			       .tx = true, .id = 0x10 + i, .len = 8, .period_ns = 1 * MS, .deadline_ns = 1 * MS });
	for (unsigned int i = 0; i < 3; i++)
		add(1, (struct traffic_row){
			       .tx = true, .id = 0x20 + i, .len = 8, .period_ns = 1 * MS, .deadline_ns = 1 * MS });
	solve();
	TEST_ASSERT_FALSE(traffic_fits(&traffic, 0));
	TEST_ASSERT_EQUAL_INT(0, traffic_advice(&traffic, 0, text));
	/* 8 x 135 us are more than the shorter deadline, whoever is slower: lft keeps 1 ms, and waits for larm's. */
	TEST_ASSERT_EQUAL_STRING("give larm another bus", text);
	for (size_t i = 5; i < traffic.rows_n; i++)
		traffic.rows[i].deadline_ns = 2 * MS;
	traffic.drivers[1].tick_ns = 1 * MS;
	solve();
	TEST_ASSERT_EQUAL_INT(0, traffic_advice(&traffic, 0, text));
	TEST_ASSERT_EQUAL_STRING("it fits with a tick of 2 ms for larm instead of 1 ms", text);
}

TEST(room_is_the_number_of_modules_that_still_fit)
{
	int room;

	driver("larm", 5 * MS);
	add(0, (struct traffic_row){ .tx = true, .id = 0x10, .len = 8, .period_ns = 5 * MS, .deadline_ns = 5 * MS });
	solve();
	room = traffic_room(&traffic, 0, 10 * MS);
	/* Each takes 2 x 135 us; of 5 ms for the frame of larm. */
	TEST_ASSERT_GREATER_THAN_INT(10, room);
	TEST_ASSERT_LESS_THAN_INT(19, room);
	/* One more does not fit: with room modules declared there is none left. */
	for (int i = 0; i < room; i++)
		add(0, (struct traffic_row){ .tx = true,
					     .id = 0x10,
					     .len = 8,
					     .period_ns = 10 * MS,
					     .deadline_ns = 10 * MS,
					     .answered = true,
					     .reply_id = 0x10 });
	solve();
	TEST_ASSERT_TRUE(traffic_fits(&traffic, 0));
	TEST_ASSERT_EQUAL_INT(0, traffic_room(&traffic, 0, 10 * MS));
}

TEST(an_idle_bus_has_all_the_room)
{
	driver("larm", 5 * MS);
	TEST_ASSERT_EQUAL_INT(0, traffic_bus(&traffic, "bus"));
	TEST_ASSERT_EQUAL_INT(0, traffic_solve(&traffic));
	TEST_ASSERT_EQUAL_INT(TRAFFIC_MODULES_MAX, traffic_room(&traffic, 0, 1000 * MS));
}

TEST(offsets_put_drivers_of_one_bus_behind_each_other)
{
	driver("lft", 10 * MS);
	driver("larm", 5 * MS);
	driver("other", 5 * MS);
	TEST_ASSERT_EQUAL_INT(0, traffic_bus(&traffic, "bus"));
	TEST_ASSERT_EQUAL_INT(1, traffic_bus(&traffic, "second"));
	add(0, (struct traffic_row){ .tx = true, .id = 0x200, .period_ns = 10 * MS });
	add(1, (struct traffic_row){
		       .tx = true, .id = 0x10, .len = 8, .period_ns = 5 * MS, .answered = true, .reply_id = 0x11 });
	add(2, (struct traffic_row){ .tx = true, .id = 0x10, .bus = 1, .period_ns = 5 * MS });
	solve();
	traffic_offsets(&traffic);
	TEST_ASSERT_EQUAL_INT64(0, traffic.drivers[1].offset_ns);	 /* the fastest first */
	TEST_ASSERT_EQUAL_INT64(300 * US, traffic.drivers[0].offset_ns); /* behind 2 x 135 us */
	TEST_ASSERT_EQUAL_INT64(0, traffic.drivers[2].offset_ns);	 /* alone on its bus */
}

/* ---- clashes ---- */

TEST(identifiers_clash)
{
	static const struct {
		struct traffic_row a, b;
		bool clash;
	} cases[] = {
		{ { .driver = 0, .id = 5, .tx = true }, { .driver = 1, .id = 5, .tx = true }, true },
		{ { .driver = 0, .id = 5, .tx = true }, { .driver = 1, .id = 6, .tx = true }, false },
		{ { .driver = 0, .id = 5, .tx = true }, { .driver = 1, .id = 5 | FRAME_EXT, .tx = true }, false },
		{ { .driver = 0, .id = 5, .tx = true }, { .driver = 1, .bus = 1, .id = 5, .tx = true }, false },
		{ { .driver = 0, .id = 5, .tx = true }, { .driver = 0, .id = 5, .tx = true }, false },
		{ { .driver = 0, .id = 5, .tx = true, .shared = true }, { .driver = 1, .id = 5, .tx = true }, true },
		{ { .driver = 0, .id = 5, .tx = true, .shared = true },
		  { .driver = 1, .id = 5, .tx = true, .shared = true },
		  false },
		{ { .driver = 0, .id = 5, .tx = true }, { .driver = 1, .id = 5 }, true },
		{ { .driver = 0, .id = 5, .tx = true }, { .driver = 1, .id = 5, .shared = true }, false },
		{ { .driver = 0, .id = 5 }, { .driver = 1, .id = 5 }, true },
		{ { .driver = 0, .id = 5 }, { .driver = 1, .id = 5, .shared = true }, false },
		{ { .driver = 0, .id = 5, .tx = true, .answered = true, .reply_id = 5 },
		  { .driver = 0, .id = 5 },
		  false },
		{ { .driver = 0, .id = 5, .tx = true }, { .driver = 0, .id = 5 }, true },
	};

	for (size_t i = 0; i < sizeof(cases) / sizeof(*cases); i++) {
		TEST_ASSERT_EQUAL(cases[i].clash, traffic_clash(&cases[i].a, &cases[i].b));
		TEST_ASSERT_EQUAL(cases[i].clash, traffic_clash(&cases[i].b, &cases[i].a));
	}
}

/* ---- reading ---- */

static char last[ERROR_LINE_MAX];

static int read_text(const char *text)
{
	struct error_sink errors = { error_keep_last, last, 0 };

	*last = 0;
	return traffic_read(&traffic, "x.json", text, strlen(text), &errors);
}

#define ROW(more) "{\"name\":\"a\",\"frames\":[\n{\"bus\":\"b\",\"id\":\"0EF\",\"dir\":\"tx\",\"len\":8" more "}]}"

TEST(one_driver_or_a_whole_robot_is_read)
{
	TEST_ASSERT_EQUAL_INT(0, read_text("{\"name\":\"waist\",\"driver\":\"pciod\",\"tick_us\":5000,\"frames\":["
					   "{\"bus\":\"torso\",\"id\":\"0CF\",\"ext\":false,\"dir\":\"tx\",\"len\":2,"
					   "\"period_us\":1666.666,\"deadline_us\":20000,\"shared\":true,"
					   "\"reply\":{\"id\":\"0AF\",\"key\":\"\",\"within_us\":100000}}]}"));
	TEST_ASSERT_EQUAL_INT(0, read_text("{\"robot\":\"r\",\"buses\":[{\"name\":\"fast\",\"bitrate\":500000,"
					   "\"data_bitrate\":2000000}],\"drivers\":[{\"name\":\"x\",\"frames\":["
					   "{\"bus\":\"fast\",\"id\":\"00012345\",\"dir\":\"rx\",\"len\":40,"
					   "\"fd\":true,\"brs\":true,\"period_us\":null}]}]}"));
	TEST_ASSERT_EQUAL_UINT(2, traffic.rows_n);
	TEST_ASSERT_EQUAL_INT64(5 * MS, traffic.drivers[0].tick_ns);
	TEST_ASSERT_EQUAL_HEX(0xcf, traffic.rows[0].id);
	TEST_ASSERT_EQUAL_INT64(1666666, traffic.rows[0].period_ns);
	TEST_ASSERT_EQUAL_INT64(20 * MS, traffic.rows[0].deadline_ns);
	TEST_ASSERT_EQUAL_INT64(100 * MS, traffic.rows[0].within_ns);
	TEST_ASSERT_TRUE(traffic.rows[0].tx && traffic.rows[0].shared && traffic.rows[0].answered);
	TEST_ASSERT_EQUAL_UINT(1000000, traffic.buses[traffic.rows[0].bus].bitrate);
	TEST_ASSERT_EQUAL_UINT(500000, traffic.buses[traffic.rows[1].bus].bitrate);
	TEST_ASSERT_EQUAL_UINT(2000000, traffic.buses[traffic.rows[1].bus].data_bitrate);
	TEST_ASSERT_EQUAL_UINT(48, traffic.rows[1].len);
	TEST_ASSERT_EQUAL_HEX(0x12345 | FRAME_EXT, traffic.rows[1].id);
	TEST_ASSERT_EQUAL_UINT(FRAME_FD | FRAME_BRS, traffic.rows[1].flags);
}

TEST(mistakes_have_a_line)
{
	static const struct {
		const char *text, *line;
	} cases[] = {
		{ "{}", "x.json:1: no list \"frames\": give the output of DRIVER --frames or achstart --frames" },
		{ "{\"frames\":[]}", "x.json:1: name is not a name, or tick_us is neither null nor above 0" },
		{ "{\"name\":\"a\",\"tick_us\":-1,\"frames\":[]}",
		  "x.json:1: name is not a name, or tick_us is neither null nor above 0" },
		{ ROW(",\"period_us\":0"), "x.json:2: period_us is neither null nor above 0" },
		{ ROW(",\"deadline_us\":\"x\""), "x.json:2: deadline_us is neither null nor above 0" },
		{ ROW(",\"brs\":true"), "x.json:2: fd or brs is not true or false, or brs without fd" },
		{ ROW(",\"shared\":1"), "x.json:2: shared is not true or false" },
		{ ROW(",\"reply\":{\"id\":7}"), "x.json:2: reply has no id of three or eight digits" },
		{ ROW(",\"reply\":{\"id\":\"007\",\"within_us\":0}"),
		  "x.json:2: within_us is neither null nor above 0" },
		{ "{\"name\":\"a\",\"frames\":[{\"id\":\"0EF\",\"dir\":\"tx\",\"len\":8}]}",
		  "x.json:1: bus is not a name" },
		{ "{\"name\":\"a\",\"frames\":[{\"bus\":\"b\",\"id\":\"0EF\",\"dir\":\"tx\",\"len\":9}]}",
		  "x.json:1: len is not 0 to 8" },
		{ "{\"name\":\"a\",\"frames\":[{\"bus\":\"b\",\"id\":\"0EF\",\"dir\":\"tx\",\"fd\":true,\"len\":65}]}",
		  "x.json:1: len is not 0 to 64" },
		{ "{\"buses\":[{\"name\":\"b\",\"bitrate\":5}],\"drivers\":[]}",
		  "x.json:1: bitrate or data_bitrate is not 1000 to 10000000" },
		{ "{\"buses\":[{}],\"drivers\":[]}", "x.json:1: not the name of a bus, or too many of them" },
		{ "{\"drivers\":[{\"name\":\"a\",\"frames\":[]},{\"name\":\"a\",\"frames\":[]}]}",
		  "x.json:1: two drivers of one name" },
	};

	for (size_t i = 0; i < sizeof(cases) / sizeof(*cases); i++) {
		setUp();
		TEST_ASSERT_EQUAL_INT_MESSAGE(-EINVAL, read_text(cases[i].text), cases[i].text);
		TEST_ASSERT_EQUAL_STRING(cases[i].line, last);
	}
}
