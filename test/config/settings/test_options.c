/* test_options.c: command lines. */
#include "test/lib/testcase.h"

#include "config/settings/options.h"
#include "test/config/settings/lines.h"
#include "test/config/settings/sample.h"

static struct pciod_options {
	const char *name, *config;
	struct settings_strings bus, set;
	int64_t count, for_ns;
	double hz;
	bool check, once;
	int level;
} values;

static const char *const levels[] = { "run", "hold", "estop", NULL };

static const struct settings_row rows[] = {
	SETTINGS_STRING("name", struct pciod_options, name, SETTINGS_REQUIRED, "the device's name in the robot file",
			.value = "N"),
	SETTINGS_STRINGS("bus", struct pciod_options, bus, "the bus that plays a role", .value = "[ROLE=]BUS"),
	SETTINGS_STRINGS("set", struct pciod_options, set, "a setting; wins over the file", .value = "K=V"),
	SETTINGS_STRING("config", struct pciod_options, config, NULL, "the robot file", .value = "FILE"),
	SETTINGS_INT("count", struct pciod_options, count, "", "10", "1", "1000", "messages kept", .value = "N",
		     .letter = 'm'),
	SETTINGS_REAL("hz", struct pciod_options, hz, "Hz", "1", "0.1", "8000", "messages a second", .value = "N"),
	SETTINGS_DURATION("for", struct pciod_options, for_ns, NULL, "0", NULL, "stop after this time",
			  .value = "TIME"),
	SETTINGS_WORD("level", struct pciod_options, level, levels, "estop", "how much to stop", .value = "LEVEL"),
	SETTINGS_BOOL("check", struct pciod_options, check, "no", "check everything and stop"),
	SETTINGS_BOOL("once", struct pciod_options, once, "no", "only if it is not there", .letter = '1',
		      .was = "unless"),
	SETTINGS_END,
};

static struct options options;

void setUp(void)
{
	memset(&values, 0, sizeof(values));
	options = (struct options){ .program = "pciod",
				    .about = "drives Schunk PowerCube modules",
				    .rows = rows,
				    .values = &values,
				    .version = "1.2",
				    .settings = sample_start() };
}

#define WORDS_MAX 100
static char *words[WORDS_MAX];
static int words_n;

/* Splits and reads a command line. */
static enum options_outcome run(const char *text)
{
	static char copy[1024];
	char *rest = NULL;

	snprintf(copy, sizeof(copy), "%s", text);
	words_n = 0;
	for (char *w = strtok_r(copy, " ", &rest); w; w = strtok_r(NULL, " ", &rest))
		words[words_n++] = w;
	words[words_n] = NULL;
	return options_read(&options, &words_n, words, lines_start());
}

TEST(everything_said)
{
	enum options_outcome outcome =
		run("pciod --name waist --bus left=larm0 --bus larm1 --set a=b=c --set=d=e --count=7 "
		    "--hz 2.5 --for 3s --level hold --check --config -");

	TEST_ASSERT_EQUAL_STRING("", lines);
	TEST_ASSERT_EQUAL_INT(OPTIONS_GO, outcome);
	TEST_ASSERT_EQUAL_STRING("waist", values.name);
	TEST_ASSERT_EQUAL_UINT(2, values.bus.n);
	TEST_ASSERT_EQUAL_STRING("left=larm0", values.bus.item[0]);
	TEST_ASSERT_EQUAL_STRING("larm1", values.bus.item[1]);
	TEST_ASSERT_EQUAL_UINT(2, values.set.n);
	TEST_ASSERT_EQUAL_STRING("a=b=c", values.set.item[0]);
	TEST_ASSERT_EQUAL_STRING("d=e", values.set.item[1]);
	TEST_ASSERT_EQUAL_INT64(7, values.count);
	TEST_ASSERT_TRUE(values.hz == 2.5);
	TEST_ASSERT_EQUAL_INT64(INT64_C(3000000000), values.for_ns);
	TEST_ASSERT_EQUAL_INT(1, values.level);
	TEST_ASSERT_TRUE(values.check);
	TEST_ASSERT_FALSE(values.once);
	TEST_ASSERT_EQUAL_STRING("-", values.config);
	TEST_ASSERT_EQUAL_INT(0, words_n);
}

TEST(defaults)
{
	TEST_ASSERT_EQUAL_INT(OPTIONS_GO, run("pciod --name waist"));
	TEST_ASSERT_EQUAL_INT64(10, values.count);
	TEST_ASSERT_EQUAL_INT(2, values.level);
	TEST_ASSERT_NULL(values.config);
	TEST_ASSERT_EQUAL_UINT(0, values.bus.n);
}

TEST(letters)
{
	TEST_ASSERT_EQUAL_INT(OPTIONS_GO, run("pciod --name a -m 5 -1"));
	TEST_ASSERT_EQUAL_INT64(5, values.count);
	TEST_ASSERT_TRUE(values.once);
	setUp();
	TEST_ASSERT_EQUAL_INT(OPTIONS_GO, run("pciod --name a -1m64"));
	TEST_ASSERT_EQUAL_INT64(64, values.count);
	TEST_ASSERT_TRUE(values.once);
}

TEST(arguments)
{
	options.arguments = "CHANNEL...";
	options.arguments_min = 1;
	options.arguments_max = -1;
	TEST_ASSERT_EQUAL_INT(OPTIONS_GO, run("pciod one --name a two - -- --three -- -4"));
	TEST_ASSERT_EQUAL_INT(6, words_n);
	TEST_ASSERT_EQUAL_STRING("one", words[0]);
	TEST_ASSERT_EQUAL_STRING("two", words[1]);
	TEST_ASSERT_EQUAL_STRING("-", words[2]);
	TEST_ASSERT_EQUAL_STRING("--three", words[3]);
	TEST_ASSERT_EQUAL_STRING("--", words[4]);
	TEST_ASSERT_EQUAL_STRING("-4", words[5]);
	TEST_ASSERT_EQUAL_INT(OPTIONS_WRONG, run("pciod --name a"));
	TEST_ASSERT_EQUAL_STRING("pciod: CHANNEL... is missing (pciod --help says more)\n", lines);
	options.arguments_max = 1;
	TEST_ASSERT_EQUAL_INT(OPTIONS_GO, run("pciod --name a x"));
	TEST_ASSERT_EQUAL_INT(OPTIONS_WRONG, run("pciod --name a x y"));
	TEST_ASSERT_EQUAL_STRING("pciod: \"y\": one argument too many\n", lines);
	options.arguments = NULL;
	TEST_ASSERT_EQUAL_INT(OPTIONS_WRONG, run("pciod --name a x"));
	TEST_ASSERT_EQUAL_STRING("pciod: \"x\": it takes no arguments\n", lines);
}

static void wrong(const char *text, const char *expected)
{
	setUp();
	TEST_ASSERT_EQUAL_INT(OPTIONS_WRONG, run(text));
	TEST_ASSERT_EQUAL_STRING(expected, lines);
}

TEST(refusals)
{
	wrong("pciod --name a --buss x",
	      "pciod: --buss: unknown option; did you mean --bus? (pciod --help lists them)\n"
	      "pciod: \"x\": it takes no arguments\n");
	wrong("pciod --name a --buss=x",
	      "pciod: --buss: unknown option; did you mean --bus? (pciod --help lists them)\n");
	wrong("pciod --name a --colour", "pciod: --colour: unknown option (pciod --help lists them)\n");
	wrong("pciod --name a --hepl",
	      "pciod: --hepl: unknown option; did you mean --help? (pciod --help lists them)\n");
	wrong("pciod --name a --help=x",
	      "pciod: --help: unknown option; did you mean --help? (pciod --help lists them)\n");
	wrong("pciod --name a --unless",
	      "pciod: --unless: unknown option; did you mean --once? (pciod --help lists them)\n");
	wrong("pciod --name a -x", "pciod: -x: unknown option (pciod --help lists them)\n");
	wrong("pciod --name a -name", "pciod: -name: unknown option; did you mean --name? (pciod --help lists them)\n");
	wrong("pciod --name", "pciod: --name: needs a value: --name N\n");
	wrong("pciod --name a -m", "pciod: -m: needs a value: -m N\n");
	wrong("pciod --name a --name b", "pciod: --name: said twice\n");
	wrong("pciod --name a --check=yes", "pciod: --check: takes no value\n");
	wrong("pciod --name a --hz 0", "pciod: --hz: 0 is below the minimum 0.1 Hz\n");
	wrong("pciod --name a --for long", "pciod: --for: \"long\" is not a duration such as 5ms\n");
	wrong("pciod --name a --level high", "pciod: --level: \"high\" is not one of run, hold, estop\n");
	wrong("pciod --name a --count=", "pciod: --count: \"\" is not a whole number\n");
	wrong("pciod", "pciod: --name N is missing: the device's name in the robot file\n");
}

TEST(too_many_strings)
{
	char text[1024] = "pciod --name a";

	for (int i = 0; i < SETTINGS_STRINGS_MAX; i++)
		strcat(text, " --bus=x");
	TEST_ASSERT_EQUAL_INT(OPTIONS_GO, run(text));
	TEST_ASSERT_EQUAL_UINT(SETTINGS_STRINGS_MAX, values.bus.n);
	strcat(text, " --bus=x");
	wrong(text, "pciod: --bus: said more than 64 times\n");
}

static char *answered(const char *text)
{
	char *got = NULL;
	size_t size = 0;
	FILE *to = open_memstream(&got, &size);

	setUp();
	options.notes = "See pciod(8).\n";
	TEST_ASSERT_EQUAL_INT(OPTIONS_ANSWER, run(text));
	options_answer(&options, to);
	fclose(to);
	return got;
}

TEST(help)
{
	char *text = answered("pciod --help");

	TEST_ASSERT_EQUAL_STRING("usage: pciod [OPTION...]\n"
				 "pciod: drives Schunk PowerCube modules\n"
				 "\n"
				 "  --name N          the device's name in the robot file (required)\n"
				 "  --bus [ROLE=]BUS  the bus that plays a role (may be repeated)\n"
				 "  --set K=V         a setting; wins over the file (may be repeated)\n"
				 "  --config FILE     the robot file\n"
				 "  -m, --count N     messages kept (1 to 1000; default 10)\n"
				 "  --hz N            messages a second (0.1 to 8000 Hz; default 1)\n"
				 "  --for TIME        stop after this time (at least 0)\n"
				 "  --level LEVEL     how much to stop (run, hold, estop; default estop)\n"
				 "  --check           check everything and stop\n"
				 "  -1, --once        only if it is not there\n"
				 "  --settings        list the settings that --set and the robot file take\n"
				 "  --help            print this help\n"
				 "  --version         print the version\n"
				 "\n"
				 "See pciod(8).\n",
				 text);
	free(text);
}

TEST(help_of_little)
{
	static const struct settings_row none[] = { SETTINGS_END };
	struct options little = {
		.program = "ach ls", .about = "lists channels", .rows = none, .arguments = "[NAME...]", .answer = "help"
	};
	char *text = NULL;
	size_t size = 0;
	FILE *to = open_memstream(&text, &size);

	options_answer(&little, to);
	fclose(to);
	TEST_ASSERT_EQUAL_STRING("usage: ach ls [NAME...]\n"
				 "ach ls: lists channels\n"
				 "\n"
				 "  --help      print this help\n",
				 text);
	free(text);
}

TEST(version_and_settings)
{
	char *text = answered("pciod --version --help"); /* the first one asked */

	TEST_ASSERT_EQUAL_STRING("pciod 1.2\n", text);
	free(text);
	text = answered("pciod --settings");
	TEST_ASSERT_EQUAL_STRING_LEN("setting       default", text, 21);
	free(text);
	setUp();
	options.version = NULL;
	options.settings = NULL;
	TEST_ASSERT_EQUAL_INT(OPTIONS_WRONG, run("pciod --name a --version --settings"));
	TEST_ASSERT_EQUAL_STRING("pciod: --version: unknown option (pciod --help lists them)\n"
				 "pciod: --settings: unknown option (pciod --help lists them)\n",
				 lines);
}
