/* test_drv_bus.c: which row takes a frame, against a search through all of them. */
#include "daemons/drv/drv_inside.h"
#include "test/lib/testcase.h"

static struct drv_bus bus;
static uint32_t chance_state;

void setUp(void)
{
	memset(&bus, 0, sizeof(bus));
}

static uint32_t chance(uint32_t n)
{
	chance_state = chance_state * 1664525 + 1013904223;
	return (chance_state >> 8) % n;
}

static int add(uint32_t id, uint32_t mask, uint8_t len_min, uint8_t len_max)
{
	return drv_bus_add_receive(
		&bus, &(struct drv_receive){ .id = id, .id_mask = mask, .len_min = len_min, .len_max = len_max }, 0);
}

/* The row's number, from 0; -1: none. */
static int takes(uint32_t id, uint8_t len)
{
	const struct bus_frame got = { .t_ns = 7, .frame = { .id = id, .len = len } };
	const struct drv_bus_receive *r = drv_bus_takes(&bus, &got);

	return r ? (int)(r - bus.receives) : -1;
}

/* As the documentation has it: the first row with the identifier and the length. */
static int first_of_all(uint32_t id, uint8_t len, bool *odd)
{
	const uint32_t kind = FRAME_EXT | FRAME_RTR | FRAME_ERR;

	*odd = false;
	for (unsigned int i = 0; i < bus.receives_n; i++) {
		const struct drv_receive *row = &bus.receives[i].row;

		if ((id & kind) != (row->id & kind) || (id ^ row->id) & row->id_mask & FRAME_EXT_MASK)
			continue;
		*odd = len < row->len_min || len > row->len_max;
		if (!*odd)
			return (int)i;
	}
	return -1;
}

static void expect_same(uint32_t id)
{
	for (uint8_t len = 0; len <= 8; len += 4) {
		const uint64_t before = bus.odd;
		bool odd;

		TEST_ASSERT_EQUAL_INT(first_of_all(id, len, &odd), takes(id, len));
		TEST_ASSERT_EQUAL_UINT64(odd, bus.odd - before);
	}
}

TEST(every_frame_goes_to_the_first_row_that_takes_it)
{
	static const uint32_t kinds[] = { 0, 0, 0, 0, FRAME_RTR, FRAME_EXT, FRAME_EXT | FRAME_RTR };
	static const uint32_t masks[] = { 0, 0, 0, 0x7f0, 0x600, 0x00f };

	for (unsigned int run = 0; run < 10; run++) {
		setUp();
		for (unsigned int n = run == 9 ? DRV_BUS_RECEIVES_MAX : 1 + chance(60); n > 0; n--) {
			const uint32_t id = kinds[chance(7)] | chance(FRAME_STD_MASK + 1);
			const uint8_t len = (uint8_t)chance(9);
			const unsigned int number = bus.receives_n;

			TEST_ASSERT_EQUAL_INT(number, add(id, masks[chance(6)], (uint8_t)chance(len + 1u), len));
		}
		for (uint32_t id = 0; id <= FRAME_STD_MASK; id++)
			for (unsigned int kind = 3; kind < 7; kind++)
				expect_same(kinds[kind] | id);
		expect_same(FRAME_EXT | 0x1fffffff);
	}
	TEST_ASSERT_EQUAL_INT(-ENOSPC, add(0, 0, 0, 8));
}

/* Of frames that take 95 us, from the last stamp on. */
TEST(a_rest_ends_before_the_answers_can_be_there)
{
	static const struct {
		unsigned int awaited;
		int64_t us, rest_us;
	} table[] = {
		{ 0, 1000, 0 }, { 2, 1000, 0 },	    { 4, 1000, 1380 },	{ 4, 1095, 1380 }, { 4, 1096, 0 },
		{ 4, 2000, 0 }, { 40, 1000, 4800 }, { 60, 1000, 5000 }, { 3, 999, 1285 },  { 3, 1001, 0 },
	};

	TEST_ASSERT_EQUAL_INT(0, slots_init(&bus.slots, NULL, 0, NULL, &(struct error_sink){ 0 }));
	slots_received(&bus.slots, &(struct frame){ 0 }, 1000000);
	bus.awaited_ns = 95000;
	for (size_t i = 0; i < sizeof(table) / sizeof(*table); i++) {
		bus.awaited = table[i].awaited;
		TEST_ASSERT_EQUAL_INT64(table[i].rest_us * 1000, drv_bus_rest_ns(&bus, table[i].us * 1000));
	}
}

/* Of a bus that is only watched; a row, or a frame that ticks, has to be heard at once. */
TEST(what_is_only_counted_can_wait)
{
	TEST_ASSERT_EQUAL_INT(0, slots_init(&bus.slots, NULL, 0, NULL, &(struct error_sink){ 0 }));
	bus.watched = true;
	TEST_ASSERT_EQUAL_INT64(4000001, drv_bus_rest_ns(&bus, 1));
	bus.tick_wanted = true;
	TEST_ASSERT_EQUAL_INT64(0, drv_bus_rest_ns(&bus, 1));
	bus.tick_wanted = false;
	TEST_ASSERT_EQUAL_INT(0, add(0x181, 0, 2, 2));
	TEST_ASSERT_EQUAL_INT64(0, drv_bus_rest_ns(&bus, 1));
}

TEST(a_frame_of_the_bus_is_noted_an_own_one_is_not)
{
	struct bus_frame got = { .t_ns = 7, .flags = BUS_OWN, .frame = { .id = 0x181, .len = 2 } };

	TEST_ASSERT_EQUAL_INT(0, add(0x181, 0, 2, 2));
	TEST_ASSERT_NULL(drv_bus_takes(&bus, &got));
	TEST_ASSERT_EQUAL_INT64(0, bus.receives[0].heard_ns);
	TEST_ASSERT_EQUAL_INT(0, takes(0x181, 2));
	TEST_ASSERT_EQUAL_INT64(7, bus.receives[0].heard_ns);
	TEST_ASSERT_EQUAL_INT(-1, takes(0x182, 2));
	bus.watched = true;
	TEST_ASSERT_EQUAL_PTR(&bus.watch, drv_bus_takes(&bus, &(struct bus_frame){ .frame = { .id = 0x182 } }));
}

/* ---- bounds ---- */

TEST(bounds_are_read_by_bus_and_identifier)
{
	static const struct setup_bus setup = { .name = "torso" };
	static const struct {
		const char *text;
		int64_t bounds_ns[4];
	} cases[] = {
		{ "", { 0, 0, 0, 0 } },
		{ "torso:0EF=1250000", { 1250000, 1250000, 0, 0 } },
		{ "torso:100=7 torso:0EF=8", { 8, 8, 7, 0 } },
		{ "torso2:100=7 tors:100=7 torso=7  torso:000000EF=9", { 0, 0, 0, 9 } },
		{ "torso:100 torso:100=-1 torso:100=x torso:=5 torso:0FF=5", { 0, 0, 0, 0 } },
	};

	for (size_t i = 0; i < sizeof(cases) / sizeof(*cases); i++) {
		setUp();
		bus.setup = &setup;
		drv_bus_add_send(&bus, &(struct drv_send){ .row = { .id = 0xef } }, 0);
		drv_bus_add_send(&bus, &(struct drv_send){ .row = { .id = 0xef } }, 1);
		drv_bus_add_send(&bus, &(struct drv_send){ .row = { .id = 0x100 } }, 2);
		drv_bus_add_send(&bus, &(struct drv_send){ .row = { .id = 0xef | FRAME_EXT } }, 3);
		drv_bus_bounds(&bus, cases[i].text);
		TEST_ASSERT_EQUAL_INT64_ARRAY_MESSAGE(cases[i].bounds_ns, bus.bounds_ns, 4, cases[i].text);
	}
}

/* Of a driver whose events go nowhere. */
TEST(a_frame_that_is_late_by_a_pause_is_not_reported)
{
	static const struct setup_bus setup = { .name = "torso" };
	static const struct slots_row row = { .id = 0x201, .class = SLOTS_LATEST, .deadline_ns = 5000000 };
	static struct drv drv;
	static const struct {
		int64_t from, to; /* ms; the frame was handed over at 100 and is there at 103 */
		bool reported;
	} pauses[] = {
		{ 0, 0, true },	   { 101, 102, false }, { 50, 100, false },
		{ 50, 92, false }, { 50, 90, true },	{ 103, 140, true },
	};
	const struct frame frame = { .id = 0x201 };

	for (size_t i = 0; i < sizeof(pauses) / sizeof(*pauses); i++) {
		const int64_t ms = 1000000;

		setUp();
		memset(&drv, 0, sizeof(drv));
		drv.report.port.type = msg_type_by_number(msg_event_number);
		drv.report.holding = true;
		bus.drv = &drv;
		bus.setup = &setup;
		bus.rows[0] = row;
		bus.bounds_ns[0] = ms;
		slots_init(&bus.slots, &row, 1, NULL, NULL);
		slots_put(&bus.slots, 0, &frame, 100 * ms);
		slots_take(&bus.slots, 100 * ms);
		slots_handed(&bus.slots, 100 * ms);
		slots_echo(&bus.slots, &frame, 103 * ms);
		pauses_add(&bus.pauses, pauses[i].from * ms, pauses[i].to * ms);
		drv_bus_check_bound(&bus, 0, 103 * ms, true);
		TEST_ASSERT_EQUAL_MESSAGE(pauses[i].reported, drv.report.codes_n, "a row");
	}
}
