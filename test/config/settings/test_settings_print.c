/* test_settings_print.c: settings as text, and the table that people read. */
#include "test/lib/testcase.h"

#include "config/settings/settings.h"
#include "test/config/settings/lines.h"
#include "test/config/settings/sample.h"

static struct settings *settings;

void setUp(void)
{
	settings = sample_start();
}

static void assigned(const char *assignment)
{
	TEST_ASSERT_EQUAL_INT_MESSAGE(0, settings_assign(settings, "--set", assignment, lines_start()), assignment);
}

TEST(values_as_text)
{
	static const char *const same[] = { "tick=200us",	   "on_estop=zero-velocity",
					    "balance=yes",	   "modules=a:1",
					    "torque_limit=0.1",	   "retries=-1",
					    "gains=[1, 0.25, 10]", "ids=[]" };
	char text[64], got[128];

	for (size_t i = 0; i < sizeof(same) / sizeof(*same); i++) {
		const char *value = strchr(same[i], '=') + 1;

		assigned(same[i]);
		snprintf(got, sizeof(got), "%.*s", (int)(value - 1 - same[i]), same[i]);
		TEST_ASSERT_EQUAL_INT((int)strlen(value), settings_text(settings, got, text, sizeof(text)));
		TEST_ASSERT_EQUAL_STRING(value, text);
	}
	TEST_ASSERT_EQUAL_INT(13, settings_text(settings, "on_estop", text, 5));
	TEST_ASSERT_EQUAL_STRING("zero", text);
	assigned("gains=1,2,3,4");
	TEST_ASSERT_EQUAL_INT(12, settings_text(settings, "gains", text, 4));
	TEST_ASSERT_EQUAL_STRING("[1,", text);
	TEST_ASSERT_EQUAL_INT(-ENOENT, settings_text(settings, "nothing", text, sizeof(text)));
	TEST_ASSERT_EQUAL_STRING("", text);
}

static char *printed(void)
{
	char *text = NULL;
	size_t size = 0;
	FILE *to = open_memstream(&text, &size);

	settings_print(settings, to);
	fclose(to);
	return text;
}

TEST(table_for_people)
{
	char *text = printed();

	TEST_ASSERT_EQUAL_STRING(
		"setting       default   unit  allowed      what it is\n"
		"tick          5ms             100us to 1s  time between two references\n"
		"on_estop      hold                         what to do at estop (hold, zero-velocity, zero-current)\n"
		"balance       no              yes, no      the robot falls without it: goes on at hold\n"
		"modules       required                     modules of each bus\n"
		"torque_limit  20.5      N m   at least 0   largest torque\n"
		"limit         5         A     0 to 49      largest current that a reference may ask for; what the\n"
		"                                           module itself allows is read from it at start and the\n"
		"                                           smaller of the two holds\n"
		"retries       3               -1 to 0x10   times to ask again; -1: for ever\n"
		"gains         [1, 0.5]        0 to 10      of the regulator\n"
		"ids           -               1 to 31      addresses\n",
		text);
	free(text);
	assigned("modules=a:1,2,3,4,5,6,7,8,9");
	text = printed();
	TEST_ASSERT_NOT_NULL(strstr(text, "setting       value"));
	TEST_ASSERT_NOT_NULL(strstr(text, "modules       a:1,2,3,4,5,6,7,8,9"));
	free(text);
}

static struct long_text {
	char text[64];
} long_text;

TEST(table_fits_whatever_is_in_it)
{
	static const char *const words[] = { "a-very-long-word-indeed", "and-another-one-of-them", "x", NULL };
	static const struct settings_row rows[] = {
		SETTINGS_WORD("a_key_that_is_quite_long_too", struct sample_loop, on_estop, words,
			      "a-very-long-word-indeed",
			      "help that goes on and on and on and on and on and on and on and on and on and on"),
		SETTINGS_DURATION("tick", struct sample_loop, tick_ns, "123456789ns", "1000001ns", "900000001ns",
				  "short"),
		SETTINGS_END,
	};
	static const struct settings_row text_rows[] = {
		SETTINGS_TEXT("text", struct long_text, text, "the quick brown fox jumps over the lazy dog", "a text"),
		SETTINGS_END,
	};
	struct settings texts = { .rows = text_rows, .values = &long_text };
	struct settings wide = { .rows = rows, .values = &sample_loop, .next = &texts };
	char *text, *line, *rest;

	TEST_ASSERT_EQUAL_INT(0, settings_defaults(&wide, lines_start()));
	settings = &wide;
	text = printed();
	TEST_ASSERT_NOT_NULL(
		strstr(text, "\ntext                          the quick brown fox j...\n        a text\n"));
	for (line = strtok_r(text, "\n", &rest); line; line = strtok_r(NULL, "\n", &rest)) {
		TEST_ASSERT_TRUE_MESSAGE(strlen(line) <= 100, line);
		TEST_ASSERT_TRUE_MESSAGE(line[strlen(line) - 1] != ' ', line);
	}
	free(text);
}
