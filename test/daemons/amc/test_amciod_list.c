/* test_amciod_list.c: the setting `drives`. */
#include "daemons/amc/amciod_list.h"
#include "test/lib/testcase.h"

static char said[ERROR_LINE_MAX];

static int find(const void *of, const char *name)
{
	(void)of;
	return !strcmp(name, "base") ? 0 : !strcmp(name, "arm") ? 1 : -ENOENT;
}

static int read_list(struct amciod_list *list, const char *text, unsigned int buses)
{
	const struct amciod_list_buses on = { "drives", buses, find, NULL };
	struct error_sink errors = { error_keep_last, said, 0 };

	*said = '\0';
	return amciod_list_read(list, text, &on, &errors);
}

TEST(drives_have_a_bus_a_node_a_joint_and_a_direction)
{
	struct amciod_list list;

	TEST_ASSERT_EQUAL_MESSAGE(0, read_list(&list, "0x20 left,  base:33 right -", 1), said);
	TEST_ASSERT_EQUAL(2, list.n);
	TEST_ASSERT_EQUAL(0x20, list.item[0].node);
	TEST_ASSERT_EQUAL_STRING("left", list.item[0].joint);
	TEST_ASSERT_FALSE(list.item[0].backwards);
	TEST_ASSERT_EQUAL(0x21, list.item[1].node);
	TEST_ASSERT_TRUE(list.item[1].backwards);
	TEST_ASSERT_EQUAL(0, read_list(&list, "arm:5 elbow,base:5 wheel", 2));
	TEST_ASSERT_EQUAL(1, list.item[0].bus);
	TEST_ASSERT_EQUAL(0, list.item[1].bus);
}

TEST(errors_say_what_is_wrong)
{
	static const struct {
		const char *text, *words;
		unsigned int buses;
	} rows[] = {
		{ "0x20", "not a drive", 1 },
		{ "0x20 left right", "not a drive", 1 },
		{ "0x20 left - -", "not a drive", 1 },
		{ "", "not a drive", 1 },
		{ "leg:0x20 left", "no such bus", 1 },
		{ "0x20 left", "on which bus", 2 },
		{ "0 left", "1 to 0x7F", 1 },
		{ "0x80 left", "1 to 0x7F", 1 },
		{ "20x left", "1 to 0x7F", 1 },
		{ "x left", "1 to 0x7F", 1 },
		{ "1 l/ft", "name of a joint", 1 },
		{ "1 left,1 right", "this node", 1 },
		{ "1 left,2 left", "this joint", 1 },
		{ "1 a,2 b,3 c,4 d,5 e,6 f,7 g,8 h,9 i", "too many", 1 },
		{ "1                                                                      left", "too long", 1 },
	};
	struct amciod_list list;

	for (size_t i = 0; i < sizeof(rows) / sizeof(*rows); i++) {
		TEST_ASSERT_EQUAL_MESSAGE(-EINVAL, read_list(&list, rows[i].text, rows[i].buses), rows[i].text);
		TEST_ASSERT_NOT_NULL_MESSAGE(strstr(said, rows[i].words), said);
		TEST_ASSERT_EQUAL_MEMORY("drives: ", said, 8);
	}
}
