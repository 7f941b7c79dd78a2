/* test_pciod_list.c: the setting modules. */
#include "test/lib/testcase.h"

#include "daemons/pcio/pciod_list.h"

static const char *names[3];
static unsigned int names_n;
static char said[512];
static struct pciod_list list;

static void line(void *to, const char *text)
{
	(void)to;
	TEST_ASSERT_EQUAL_STRING_MESSAGE("", said, "one line, not two");
	snprintf(said, sizeof(said), "%s", text);
}

static int find(const void *of, const char *name)
{
	(void)of;
	for (unsigned int i = 0; i < names_n; i++)
		if (!strcmp(names[i], name))
			return (int)i;
	return -ENOENT;
}

static const char *name(const void *of, unsigned int bus)
{
	(void)of;
	return names[bus];
}

static int read_list(const char *text)
{
	const struct pciod_list_buses buses = { "modules", names_n, find, name, NULL };
	struct error_sink errors = { line, NULL, 0 };

	said[0] = '\0';
	memset(&list, 0x55, sizeof(list));
	return pciod_list_read(&list, text, &buses, &errors);
}

/* "0.15 1.8": bus and number of each, in order */
static void is(const char *text, const char *expected)
{
	char got[512] = "";

	TEST_ASSERT_EQUAL_INT_MESSAGE(0, read_list(text), said);
	for (unsigned int i = 0; i < list.n; i++)
		snprintf(got + strlen(got), sizeof(got) - strlen(got), "%s%u.%u", i ? " " : "", list.item[i].bus,
			 list.item[i].number);
	TEST_ASSERT_EQUAL_STRING(expected, got);
}

static void is_wrong(const char *text, const char *expected)
{
	TEST_ASSERT_EQUAL_INT(-EINVAL, read_list(text));
	TEST_ASSERT_EQUAL_STRING(expected, said);
}

void setUp(void)
{
	names[0] = "torso";
	names_n = 1;
}

static void two_buses(void)
{
	names[0] = "larm0";
	names[1] = "larm1";
	names_n = 2;
}

TEST(one_bus_needs_no_name)
{
	is("15", "0.15");
	is("13,15", "0.13 0.15");
	is("15,13", "0.15 0.13");
	is("4-7", "0.4 0.5 0.6 0.7");
	is("1-2,31,4-4", "0.1 0.2 0.31 0.4");
	is("torso:15", "0.15");
	is(" 13 , 15 ", "0.13 0.15");
}

TEST(two_buses_do)
{
	two_buses();
	is("larm0:4-7,larm1:8-10", "0.4 0.5 0.6 0.7 1.8 1.9 1.10");
	is_wrong("4", "modules: \"4\": on which bus? write larm0:4; there are larm0, larm1");
	is_wrong("larm0:4,5", "modules: \"5\": on which bus? write larm0:5; there are larm0, larm1");
	is_wrong("rarm:4", "modules: \"rarm\": this device has no such bus; there is larm0, larm1");
}

TEST(joints_are_called_by_their_numbers)
{
	is("13,15", "0.13 0.15");
	TEST_ASSERT_EQUAL_STRING("13", list.item[0].joint);
	TEST_ASSERT_EQUAL_STRING("15", list.item[1].joint);
	two_buses();
	is("larm0:4-5,larm1:5", "0.4 0.5 1.5");
	TEST_ASSERT_EQUAL_STRING("4", list.item[0].joint);
	TEST_ASSERT_EQUAL_STRING("larm0.5", list.item[1].joint);
	TEST_ASSERT_EQUAL_STRING("larm1.5", list.item[2].joint);
}

TEST(an_invalid_module_is_refused)
{
#define NONE(text) is_wrong(text, "modules: \"" text "\" is not a module; write 15, 4-7 or larm0:4-7,larm1:8-10")
	NONE("");
	NONE("x");
	NONE("-4");
	NONE("4-");
	NONE("4-x");
	NONE("4x");
	NONE("0x4");
	NONE("4 5");
	NONE("torso");
	NONE("torso:");
	NONE("4-5-6");
	NONE("1.5");
	is_wrong("4,", "modules: \"\" is not a module; write 15, 4-7 or larm0:4-7,larm1:8-10");
	is_wrong(",4", "modules: \"\" is not a module; write 15, 4-7 or larm0:4-7,larm1:8-10");
	is_wrong("nothing-that-is-ever-going-to-be-a-module-of-any-bus-or-robot-in-the-whole-world",
		 "modules: \"nothing-that-is-ever-going-to-be-a-modul...\" is not a module; write 15, 4-7 or "
		 "larm0:4-7,larm1:8-10");
}

TEST(numbers_are_1_to_31)
{
	is("1", "0.1");
	is("31", "0.31");
	is_wrong("0", "modules: 0: modules have the numbers 1 to 31");
	is_wrong("0-3", "modules: 0-3: modules have the numbers 1 to 31");
	is_wrong("32", "modules: 32: modules have the numbers 1 to 31");
	is_wrong("30-32", "modules: 30-32: modules have the numbers 1 to 31");
	is_wrong("torso:40", "modules: torso:40: modules have the numbers 1 to 31");
	is_wrong("4294967297", "modules: \"4294967297\" is not a module; write 15, 4-7 or larm0:4-7,larm1:8-10");
	is_wrong("7-4", "modules: 7-4: the lower number comes first; write 4-7");
}

TEST(no_module_is_there_twice)
{
	is_wrong("15,15", "modules: module 15 of torso is there twice; write it once");
	is_wrong("4-7,6", "modules: module 6 of torso is there twice; write it once");
	two_buses();
	is_wrong("larm1:4,larm0:4,larm1:4", "modules: module 4 of larm1 is there twice; write it once");
}

TEST(there_is_an_end)
{
	two_buses();
	TEST_ASSERT_EQUAL_INT(0, read_list("larm0:1-31,larm1:1-17"));
	TEST_ASSERT_EQUAL_UINT(48, list.n);
	is_wrong("larm0:1-31,larm1:1-18", "modules: more than 48: give some of them to another pciod");
}
