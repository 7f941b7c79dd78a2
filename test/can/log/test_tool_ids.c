/* test_tool_ids.c: lists of identifiers against the plain definition, and the bus's filters against the lists. */
#include "test/lib/testcase.h"

#include "can/log/id_filter.h"

static struct id_filter ids;
static struct error_sink errors;

void setUp(void)
{
	errors = (struct error_sink){ 0 };
}

static struct settings_strings list(const char *text)
{
	struct settings_strings s = { .n = *text ? 1 : 0 };

	s.item[0] = text;
	return s;
}

static int read_lists(const char *only, const char * not )
{
	struct settings_strings o = list(only), n = list(not );

	return id_filter_read(&ids, &o, &n, &errors);
}

static bool wants(uint32_t id)
{
	struct frame f = { .id = id };

	return id_filter_want(&ids, &f);
}

TEST(test_nothing_said_is_everything)
{
	TEST_ASSERT_EQUAL(0, read_lists("", ""));
	TEST_ASSERT_TRUE(ids.all);
	TEST_ASSERT_TRUE(wants(0x7ff));
	TEST_ASSERT_TRUE(wants(0x1fffffff | FRAME_EXT));
}

TEST(test_widths_are_apart)
{
	TEST_ASSERT_EQUAL(0, read_lists("123,00000456", ""));
	TEST_ASSERT_TRUE(wants(0x123));
	TEST_ASSERT_TRUE(wants(0x123 | FRAME_RTR));
	TEST_ASSERT_FALSE(wants(0x123 | FRAME_EXT));
	TEST_ASSERT_TRUE(wants(0x456 | FRAME_EXT));
	TEST_ASSERT_FALSE(wants(0x456));
}

TEST(test_ranges_join)
{
	TEST_ASSERT_EQUAL(0, read_lists("300,100-1FF,200-2FF,7FF,180-280", ""));
	TEST_ASSERT_EQUAL(2, ids.n);
	TEST_ASSERT_EQUAL_HEX32(0x100, ids.range[0].first);
	TEST_ASSERT_EQUAL_HEX32(0x300, ids.range[0].last);
}

TEST(test_nothing_left)
{
	struct bus_filter filters[4];

	TEST_ASSERT_EQUAL(0, read_lists("123", "000-7FF"));
	TEST_ASSERT_EQUAL(0, ids.n);
	TEST_ASSERT_FALSE(wants(0x123));
	TEST_ASSERT_EQUAL(0, id_filter_filters(&ids, filters, 4));
}

TEST(test_too_many_filters)
{
	struct bus_filter filters[4];

	TEST_ASSERT_EQUAL(0, read_lists("001-00F", "")); /* 1, 2-3, 4-7, 8-F */
	TEST_ASSERT_EQUAL(4, id_filter_filters(&ids, filters, 4));
	TEST_ASSERT_EQUAL(-E2BIG, id_filter_filters(&ids, filters, 3));
	TEST_ASSERT_EQUAL_HEX32(0x8, filters[3].id);
	TEST_ASSERT_EQUAL_HEX32(FRAME_EXT | 0x7f8, filters[3].mask);
}

TEST(test_all_of_a_width_is_one_filter)
{
	struct bus_filter filters[2];

	TEST_ASSERT_EQUAL(0, read_lists("00000000-1FFFFFFF,000-7FF", ""));
	TEST_ASSERT_EQUAL(2, id_filter_filters(&ids, filters, 2));
	TEST_ASSERT_EQUAL_HEX32(FRAME_EXT, filters[0].mask);
	TEST_ASSERT_EQUAL_HEX32(0, filters[0].id);
	TEST_ASSERT_EQUAL_HEX32(FRAME_EXT, filters[1].mask);
	TEST_ASSERT_EQUAL_HEX32(FRAME_EXT, filters[1].id);
}

/* A range that lies anywhere, in both widths. */
struct range {
	bool ext;
	uint32_t first, last;
};

static struct range any_range(char *text, size_t size)
{
	struct range r = { .ext = rand() % 2 };
	uint32_t mask = r.ext ? FRAME_EXT_MASK : FRAME_STD_MASK;

	r.first = ((uint32_t)rand() << 8 ^ (uint32_t)rand()) & mask;
	r.last = r.first + ((uint32_t)rand() & mask >> rand() % 12);
	r.last = r.last > mask ? mask : r.last;
	snprintf(text, size, r.ext ? "%08X-%08X" : "%03X-%03X", r.first, r.last);
	return r;
}

static bool among(const struct range *r, int n, uint32_t id, bool ext)
{
	while (n--)
		if (r[n].ext == ext && id >= r[n].first && id <= r[n].last)
			return true;
	return false;
}

static bool filters_take(const struct bus_filter *filters, int n, uint32_t id)
{
	while (n--)
		if (!((id ^ filters[n].id) & filters[n].mask))
			return true;
	return false;
}

static void check_id(const struct range *only, const struct range * not, const struct bus_filter *filters, int n,
		     uint32_t id, bool ext)
{
	uint32_t whole = id | (ext ? FRAME_EXT : 0);
	bool wanted = among(only, 3, id, ext) && !among(not, 3, id, ext);

	TEST_ASSERT_EQUAL_MESSAGE(wanted, wants(whole), "list");
	TEST_ASSERT_EQUAL_MESSAGE(wanted, filters_take(filters, n, whole), "filters");
	TEST_ASSERT_EQUAL_MESSAGE(wanted, filters_take(filters, n, whole | FRAME_RTR), "remote");
}

TEST(test_as_defined)
{
	static struct bus_filter filters[BUS_FILTERS_MAX];

	srand(1);
	for (int round = 0; round < 300; round++) {
		char text[2][3][24], lists[2][400];
		struct range r[2][3];
		int n;

		for (int i = 0; i < 6; i++)
			r[i / 3][i % 3] = any_range(text[i / 3][i % 3], sizeof(text[0][0]));
		for (int i = 0; i < 2; i++)
			snprintf(lists[i], sizeof(lists[i]), "%s,%s,%s", text[i][0], text[i][1], text[i][2]);
		TEST_ASSERT_EQUAL_MESSAGE(0, read_lists(lists[0], lists[1]), lists[0]);
		n = id_filter_filters(&ids, filters, BUS_FILTERS_MAX);
		TEST_ASSERT_GREATER_OR_EQUAL(0, n);
		for (uint32_t id = 0; id <= FRAME_STD_MASK; id++)
			check_id(r[0], r[1], filters, n, id, false);
		for (int i = 0; i < 6; i++) { /* at the ends of all ranges */
			const struct range *end = &r[i / 3][i % 3];

			for (int step = -1; step <= 1; step++) {
				check_id(r[0], r[1], filters, n, (end->first + (uint32_t)step) & FRAME_EXT_MASK, true);
				check_id(r[0], r[1], filters, n, (end->last + (uint32_t)step) & FRAME_EXT_MASK, true);
			}
		}
	}
}

/* More ranges than there is room for are refused, not cut. */
TEST(test_too_many_ranges)
{
	static char text[2048 * 9];
	size_t len = 0;

	for (int i = 0; i <= ID_FILTER_RANGES_MAX; i++)
		len += (size_t)snprintf(text + len, sizeof(text) - len, "%s%08X", i ? "," : "", i * 2);
	TEST_ASSERT_EQUAL(-EINVAL, read_lists(text, ""));
	TEST_ASSERT_EQUAL(1, errors.count);
	TEST_ASSERT_EQUAL(-EINVAL, read_lists("", text));
	text[strrchr(text, ',') - text] = '\0';
	TEST_ASSERT_EQUAL(0, read_lists(text, ""));
	TEST_ASSERT_EQUAL(ID_FILTER_RANGES_MAX, ids.n);
}
