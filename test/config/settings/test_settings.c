/* test_settings.c: the settings table. */
#include <math.h>

#include "test/lib/testcase.h"

#include "config/settings/settings.h"
#include "test/config/settings/lines.h"
#include "test/config/settings/sample.h"

static struct settings *settings;

void setUp(void)
{
	settings = sample_start();
}

TEST(defaults)
{
	TEST_ASSERT_EQUAL_STRING("", lines);
	TEST_ASSERT_EQUAL_INT64(5000000, sample_loop.tick_ns);
	TEST_ASSERT_EQUAL_INT(SAMPLE_HOLD, sample_loop.on_estop);
	TEST_ASSERT_FALSE(sample_loop.balance);
	TEST_ASSERT_TRUE(sample.torque_limit == 20.5);
	TEST_ASSERT_TRUE(sample.current_a == 5);
	TEST_ASSERT_EQUAL_INT64(3, sample.retries);
	TEST_ASSERT_EQUAL_UINT(2, sample.gains_n);
	TEST_ASSERT_TRUE(sample.gains[0] == 1 && sample.gains[1] == 0.5);
	TEST_ASSERT_EQUAL_UINT(0, sample.ids_n);
	TEST_ASSERT_FALSE(settings_given(settings, "tick"));
}

/* ---- from a command line ---- */

static void assigned(const char *assignment)
{
	TEST_ASSERT_EQUAL_INT_MESSAGE(0, settings_assign(settings, "--set", assignment, lines_start()), assignment);
	TEST_ASSERT_EQUAL_STRING("", lines);
}

TEST(assignments)
{
	assigned("tick=200us");
	TEST_ASSERT_EQUAL_INT64(200000, sample_loop.tick_ns);
	assigned("on_estop=zero-current");
	TEST_ASSERT_EQUAL_INT(SAMPLE_ZERO_CURRENT, sample_loop.on_estop);
	assigned("balance=yes");
	TEST_ASSERT_TRUE(sample_loop.balance);
	assigned("modules=larm0:4-7,larm1:8=10");
	TEST_ASSERT_EQUAL_STRING("larm0:4-7,larm1:8=10", sample.modules);
	assigned("limit=49");
	TEST_ASSERT_TRUE(sample.current_a == 49);
	assigned("limit=0");
	TEST_ASSERT_TRUE(sample.current_a == 0);
	assigned("retries=0x10");
	TEST_ASSERT_EQUAL_INT64(16, sample.retries);
	assigned("gains=[ 1 , 2,3 ]");
	TEST_ASSERT_EQUAL_UINT(3, sample.gains_n);
	TEST_ASSERT_TRUE(sample.gains[2] == 3);
	assigned("gains=");
	TEST_ASSERT_EQUAL_UINT(0, sample.gains_n);
	assigned("ids=4,5");
	TEST_ASSERT_EQUAL_UINT(2, sample.ids_n);
	TEST_ASSERT_EQUAL_INT64(5, sample.ids[1]);
	TEST_ASSERT_TRUE(settings_given(settings, "ids"));
	TEST_ASSERT_FALSE(settings_given(settings, "torque_limit"));
	TEST_ASSERT_FALSE(settings_given(settings, "nothing"));
}

static void refused(const char *assignment, const char *line)
{
	struct sample before = sample;
	struct sample_loop loop_before = sample_loop;
	char expected[ERROR_LINE_MAX];

	snprintf(expected, sizeof(expected), "--set: %s\n", line);
	TEST_ASSERT_EQUAL_INT(-EINVAL, settings_assign(settings, "--set", assignment, lines_start()));
	TEST_ASSERT_EQUAL_STRING(expected, lines);
	/* A live driver keeps what it had. */
	TEST_ASSERT_EQUAL_MEMORY(&before, &sample, sizeof(sample));
	TEST_ASSERT_EQUAL_MEMORY(&loop_before, &sample_loop, sizeof(sample_loop));
}

TEST(refusals)
{
	assigned("ids=4,5,6");
	refused("tick=fast", "tick: \"fast\" is not a duration such as 5ms");
	refused("tick=5", "tick: \"5\" is not a duration such as 5ms");
	refused("tick=2s", "tick: 2s is above the maximum 1s");
	refused("tick=99us", "tick: 99us is below the minimum 100us");
	refused("tick=", "tick: \"\" is not a duration such as 5ms");
	refused("limit=900", "limit: 900 is above the maximum 49 A");
	refused("limit=-0.1", "limit: -0.1 is below the minimum 0 A");
	refused("limit=nan", "limit: \"nan\" is not a number");
	refused("limit=1e999", "limit: \"1e999\" is out of range");
	refused("retries=1.5", "retries: \"1.5\" is not a whole number");
	refused("retries=17", "retries: 17 is above the maximum 0x10");
	refused("retries=-2", "retries: -2 is below the minimum -1");
	refused("balance=maybe", "balance: \"maybe\" is not yes or no");
	refused("on_estop=fly", "on_estop: \"fly\" is not one of hold, zero-velocity, zero-current");
	refused("modules=4", "modules: \"4\" is not modules such as torso:4-7,9");
	refused("modules=torso:1,2,3,4,5,6,7,8,10", "modules: \"torso:1,2,3,4,5,6,7,8,10\" is longer than 23 bytes");
	refused("gains=1,2,3,4,5", "gains: 5 values, at most 4 are allowed");
	refused("gains=3,2,x", "gains: \"x\" is not a list of numbers such as [0.5, 1]");
	refused("gains=3,11", "gains: 11 is above the maximum 10");
	refused("gains=1,2]", "gains: \"2]\" is not a list of numbers such as [0.5, 1]");
	refused("gains=[1", "gains: \"[1\" is not a list of numbers such as [0.5, 1]");
	refused("gains=1,,2", "gains: \"\" is not a list of numbers such as [0.5, 1]");
	refused("ids=9,0", "ids: 0 is below the minimum 1");
	refused("torque_limti=1", "torque_limti: unknown setting; did you mean torque_limit?");
	refused("upright=yes", "upright: unknown setting; did you mean balance?");
	refused("tikc=1", "tikc: unknown setting; did you mean tick?");
	refused("colour=red", "colour: unknown setting; --settings lists them");
	refused("tick", "\"tick\" is not KEY=VALUE");
	refused("=5", "\"=5\" is not KEY=VALUE");
#define K32 "kkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkk"
	refused(K32 K32 "kkkk=1", K32 K32 "k: unknown setting; --settings lists them");
}

/* ---- units ---- */

static struct {
	double angles[4], speed, turn, length, current, torque, share, part;
	size_t angles_n;
	int64_t bitrate, restart_ms;
} measured;

#define ROW(type, key, unit) SETTINGS_##type(#key, __typeof__(measured), key, unit, NULL, NULL, NULL, #key)
static const struct settings_row measured_rows[] = {
	SETTINGS_REALS("angles", __typeof__(measured), angles, angles_n, "rad", NULL, "-6.3", "6.3", "angles"),
	SETTINGS_REAL("speed", __typeof__(measured), speed, "rad/s^2", NULL, "0", "30", "speed"),
	ROW(REAL, turn, "deg"),
	ROW(REAL, length, "m"),
	ROW(REAL, current, "A"),
	ROW(REAL, torque, "N m s/rad"),
	ROW(REAL, share, ""),
	ROW(REAL, part, "1"),
	ROW(INT, bitrate, "bit/s"),
	ROW(INT, restart_ms, "ms"),
	SETTINGS_END,
};
static struct settings of_measured = { .rows = measured_rows, .values = &measured };

TEST(values_with_a_unit_are_converted_to_that_of_the_row)
{
	settings = &of_measured;
	assigned("angles=[-165 deg, 90deg, 1 rad, 0.5]");
	TEST_ASSERT_TRUE(measured.angles[0] == -165 * M_PI / 180 && measured.angles[1] == M_PI / 2);
	TEST_ASSERT_TRUE(measured.angles[2] == 1 && measured.angles[3] == 0.5);
	assigned("speed=1000 deg/s^2");
	TEST_ASSERT_TRUE(measured.speed == 1000 * M_PI / 180);
	assigned("turn=2 turn");
	TEST_ASSERT_TRUE(measured.turn == 720);
	assigned("length=3 mm");
	TEST_ASSERT_TRUE(measured.length == 0.003);
	assigned("current=900 mA");
	TEST_ASSERT_TRUE(measured.current == 0.9);
	assigned("torque=2 N m s/rad");
	TEST_ASSERT_TRUE(measured.torque == 2);
	assigned("share=12.5 %");
	TEST_ASSERT_TRUE(measured.share == 0.125);
	assigned("part=50%");
	TEST_ASSERT_TRUE(measured.part == 0.5);
	assigned("bitrate=0.5 Mbit/s");
	TEST_ASSERT_EQUAL_INT64(500000, measured.bitrate);
	assigned("restart_ms=2s");
	TEST_ASSERT_EQUAL_INT64(2000, measured.restart_ms);
}

static void refused_unit(const char *assignment, const char *line)
{
	const __typeof__(measured) before = measured;

	refused(assignment, line);
	TEST_ASSERT_EQUAL_MEMORY(&before, &measured, sizeof(measured));
}

TEST(wrong_unit_is_refused_with_those_that_are_taken)
{
	settings = &of_measured;
	refused_unit("speed=25 deg/s", "speed: \"25 deg/s\" is not in one of rad/s^2, deg/s^2, turn/s^2");
	refused_unit("speed=2000 deg/s^2", "speed: 2000 deg/s^2 is above the maximum 30 rad/s^2");
	refused_unit("angles=[1 rad, 2 m]", "angles: \"2 m\" is not in one of rad, deg, turn");
	refused_unit("angles=[1 rad, 2  deg]", "angles: \"2  deg\" is not in one of rad, deg, turn");
	refused_unit("turn=1e308 rad", "turn: \"1e308 rad\" is out of range");
	refused_unit("current=5 Amp", "current: \"5 Amp\" is not in one of A, mA");
	refused_unit("torque=5 N m", "torque: \"5 N m\" is not in one of N m s/rad");
	refused_unit("share=3 A", "share: \"3 A\" is not a number");
	refused_unit("part=3 A", "part: \"3 A\" is not in one of 1, %");
	refused_unit("bitrate=0.5 bit/s", "bitrate: \"0.5 bit/s\" is not a whole number");
	refused_unit("bitrate=500.0", "bitrate: \"500.0\" is not a whole number");
	refused_unit("bitrate=1e300 bit/s", "bitrate: \"1e300 bit/s\" is not a whole number");
	refused_unit("bitrate=5 kB/s", "bitrate: \"5 kB/s\" is not in one of bit/s, kbit/s, Mbit/s");
	settings = sample_start();
	assigned("modules=m:1");
	refused("retries=3 %", "retries: \"3 %\" is not a whole number");
}

/* ---- from a file ---- */

static int read_text(const char *text)
{
	struct error_sink *errors = lines_start();
	struct yaml *doc = NULL;
	int err;

	TEST_ASSERT_EQUAL_INT(0, yaml_open_text(&doc, "f", text, strlen(text), errors));
	err = settings_read(settings, yaml_root(doc), errors);
	TEST_ASSERT_EQUAL_INT(errors->count ? -EINVAL : 0, err);
	yaml_close(doc);
	return err;
}

TEST(mapping)
{
	TEST_ASSERT_EQUAL_INT(0, read_text("tick: 2ms\n"
					   "on_estop: 'zero-velocity'\n"
					   "modules: torso:15\n"
					   "gains: [4, 3, 2, 1]\n"
					   "ids: [0x0F]\n"
					   "limit: 1e1\n"
					   "balance: true\n"));
	TEST_ASSERT_EQUAL_INT64(2000000, sample_loop.tick_ns);
	TEST_ASSERT_EQUAL_INT(SAMPLE_ZERO_VELOCITY, sample_loop.on_estop);
	TEST_ASSERT_EQUAL_STRING("torso:15", sample.modules);
	TEST_ASSERT_EQUAL_UINT(4, sample.gains_n);
	TEST_ASSERT_TRUE(sample.gains[3] == 1);
	TEST_ASSERT_EQUAL_INT64(15, sample.ids[0]);
	TEST_ASSERT_TRUE(sample.current_a == 10);
	TEST_ASSERT_TRUE(sample_loop.balance);
	TEST_ASSERT_TRUE(settings_given(settings, "modules"));
	TEST_ASSERT_FALSE(settings_given(settings, "retries"));
	TEST_ASSERT_EQUAL_INT(0, settings_missing(settings, "f:1: settings", lines_start()));
	TEST_ASSERT_EQUAL_INT(0, settings_read(settings, NULL, lines_start()));
	TEST_ASSERT_EQUAL_INT(0, read_text("~\n"));
}

TEST(all_errors_of_a_file)
{
	read_text("tick: fast\n"
		  "torque_limti: 3\n"
		  "limit: 900\n"
		  "retries: [1]\n"
		  "balance: 'yes'\n"
		  "limit2: {a: 1}\n"
		  "on_estop:\n"
		  "gains: ['1']\n"
		  "ids: [[1]]\n");
	TEST_ASSERT_EQUAL_STRING(
		"f:1: tick: \"fast\" is not a duration such as 5ms\n"
		"f:2: torque_limti: unknown setting; did you mean torque_limit?\n"
		"f:3: limit: 900 is above the maximum 49 A\n"
		"f:4: retries: a list is not a whole number\n"
		"f:5: balance: \"yes\" in quotes is not yes or no\n"
		"f:6: limit2: unknown setting; did you mean limit?\n"
		"f:7: on_estop: no value; write one of hold, zero-velocity, zero-current\n"
		"f:8: gains: a list of text is not a list of numbers such as [0.5, 1]\n"
		"f:9: ids: a list of lists or mappings is not a list of whole numbers such as [4, 5]\n",
		lines);
	read_text("retries: '3'\ngains: '1'\n");
	TEST_ASSERT_EQUAL_STRING("f:1: retries: \"3\" in quotes is not a whole number\n"
				 "f:2: gains: \"1\" in quotes is not a list of numbers such as [0.5, 1]\n",
				 lines);
	read_text("[1]");
	TEST_ASSERT_EQUAL_STRING("f:1: a list where a mapping (key: value) is expected\n", lines);
}

TEST(missing)
{
	TEST_ASSERT_EQUAL_INT(-EINVAL, settings_missing(settings, "f:3: settings", lines_start()));
	TEST_ASSERT_EQUAL_STRING("f:3: settings: modules is missing: modules of each bus\n", lines);
	/* A wrong value is reported once. */
	read_text("modules: 4\n");
	TEST_ASSERT_EQUAL_INT(0, settings_missing(settings, "f:3: settings", lines_start()));
}

TEST(table_is_checked_too)
{
	static const struct settings_row wrong[] = {
		SETTINGS_INT("retries", struct sample, retries, "", "20", "0", "10", ""),
		SETTINGS_REAL("limit", struct sample, current_a, "A", "1", "zero", NULL, ""),
		SETTINGS_REAL("limit", struct sample, current_a, "A", "1", NULL, NULL, ""),
		SETTINGS_END,
	};
	static const struct settings_row again[] = {
		SETTINGS_INT("retries", struct sample, retries, "", "1", NULL, NULL, ""),
		SETTINGS_END,
	};
	struct settings second = { .rows = again, .values = &sample };
	struct settings first = { .rows = wrong, .values = &sample, .next = &second };

	TEST_ASSERT_EQUAL_INT(-EINVAL, settings_defaults(&first, lines_start()));
	TEST_ASSERT_EQUAL_STRING("default: retries: 20 is above the maximum 10\n"
				 "default: limit: zero is not a limit of this type\n"
				 "default: limit: two rows of this key\n"
				 "default: retries: two rows of this key\n",
				 lines);
}

TEST(table_has_room_for_64)
{
	static char keys[65][4];
	static struct settings_row many[66];
	struct settings table = { .rows = many, .values = &sample };

	for (int i = 0; i < 65; i++) {
		struct settings_row row = SETTINGS_INT(keys[i], struct sample, retries, "", "1", NULL, NULL, "");

		snprintf(keys[i], sizeof(keys[i]), "k%d", i);
		many[i] = row;
	}
	TEST_ASSERT_EQUAL_INT(-EINVAL, settings_defaults(&table, lines_start()));
	TEST_ASSERT_EQUAL_STRING("default: k64: more than 64 rows in one table\n", lines);
	many[64].key = NULL;
	TEST_ASSERT_EQUAL_INT(0, settings_defaults(&table, lines_start()));
	TEST_ASSERT_EQUAL_INT(0, settings_assign(&table, "--set", "k63=2", lines_start()));
	TEST_ASSERT_TRUE(settings_given(&table, "k63"));
	TEST_ASSERT_FALSE(settings_given(&table, "k62"));
}

/* ---- parts of files and borrowed text ---- */

TEST(other_types)
{
	struct other {
		const struct yaml_node *part;
		const char *string;
	} other = { NULL, NULL };
	static const struct settings_row rows[] = {
		SETTINGS_NODE("part", struct other, part, NULL, ""),
		SETTINGS_STRING("string", struct other, string, "borrowed", ""),
		SETTINGS_END,
	};
	struct settings table = { .rows = rows, .values = &other };
	char text[32];

	TEST_ASSERT_EQUAL_INT(0, settings_defaults(&table, lines_start()));
	TEST_ASSERT_EQUAL_INT(-EINVAL, settings_assign(&table, "--set", "part=x", lines_start()));
	TEST_ASSERT_EQUAL_STRING("--set: part: \"x\" is not a part of a file\n", lines);
	settings_text(&table, "string", text, sizeof(text));
	TEST_ASSERT_EQUAL_STRING("borrowed", text);
	settings_text(&table, "part", text, sizeof(text));
	TEST_ASSERT_EQUAL_STRING("", text);
}

/* ---- lists of words ---- */

struct words {
	char text[16];
};

static const char *no_x(const char *text)
{
	return strchr(text, 'x') ? "without x" : NULL;
}

static const struct settings_row word_rows[] = {
	SETTINGS_TEXT("words", struct words, text, "", "some", .check = no_x, .joined = true),
	SETTINGS_END,
};

TEST(a_joined_text_takes_a_list)
{
	static const struct {
		const char *yaml, *text, *said;
	} cases[] = {
		{ "words: a,b", "a,b", "" },
		{ "words: [a]", "a", "" },
		{ "words: [a, b:5ms, c]", "a,b:5ms,c", "" },
		{ "words: []", "", "" },
		{ "words: [a, x]", "", "f:1: words: \"a,x\" is not without x\n" },
		{ "words: [a, [b]]", "", "f:1: words: a list of lists or mappings is not text\n" },
		{ "words: [a2345678, b2345678]", "", "f:1: words: \"a2345678,b2345678\" is longer than 15 bytes\n" },
	};

	for (size_t i = 0; i < sizeof(cases) / sizeof(*cases); i++) {
		struct words words = { "" };
		struct settings table = { .rows = word_rows, .values = &words };
		struct yaml *doc;

		TEST_ASSERT_EQUAL_INT(0,
				      yaml_open_text(&doc, "f", cases[i].yaml, strlen(cases[i].yaml), lines_start()));
		settings_read(&table, yaml_root(doc), lines_start());
		TEST_ASSERT_EQUAL_STRING(cases[i].said, lines);
		TEST_ASSERT_EQUAL_STRING(cases[i].text, words.text);
		yaml_close(doc);
	}
}

/* ---- what depends on other settings ---- */

struct watched {
	double axis[3];
	int64_t late_ns, lost_ns, silent_ns, feed_ns;
};
static const struct settings_row watched_rows[] = {
	SETTINGS_VECTOR("axis", struct watched, axis, "1", "[0, 0, -1]", "-1", "1", "a direction"),
	SETTINGS_DURATION("late", struct watched, late_ns, "4ms", "1ms", "1s", "of a reply"),
	SETTINGS_DURATION("lost", struct watched, lost_ns, "8ms", "1ms", "1s", "of a reply", .of = "late"),
	SETTINGS_DURATION("silent", struct watched, silent_ns, "50ms", "1ms", "1s", "of all", .ticks = 2, .twice = true,
			  .of = "late"),
	SETTINGS_DURATION("feed", struct watched, feed_ns, "0s", "0s", "1s", "of its watchdog", .ticks = 1),
	SETTINGS_END,
};

TEST(a_duration_is_as_long_as_its_row_demands)
{
	static const struct {
		const char *assignment;
		const char *line;
	} rows[] = {
		{ "late=8ms", "" },    { "late=9ms", "lost: it must be at least late, 9ms\n" },
		{ "silent=28ms", "" }, { "silent=27ms", "silent: it must be at least 2 ticks and twice late, 28ms\n" },
		{ "feed=10ms", "" },   { "feed=9ms", "feed: it must be at least 1 tick, 10ms, or 0s\n" },
	};

	for (size_t i = 0; i < sizeof(rows) / sizeof(*rows); i++) {
		struct watched values = { 0 };
		struct settings table = { .rows = watched_rows, .values = &values };
		struct error_sink *errors = lines_start();

		TEST_ASSERT_EQUAL(0, settings_defaults(&table, errors));
		TEST_ASSERT_EQUAL(0, settings_assign(&table, "--set", rows[i].assignment, errors));
		TEST_ASSERT_EQUAL(*rows[i].line ? -EINVAL : 0, settings_check(&table, 10000000, errors));
		TEST_ASSERT_EQUAL_STRING(rows[i].line, lines);
	}
}

TEST(a_vector_is_full)
{
	struct watched values = { 0 };
	struct settings table = { .rows = watched_rows, .values = &values };
	struct error_sink *errors = lines_start();
	char text[64];

	TEST_ASSERT_EQUAL(0, settings_defaults(&table, errors));
	TEST_ASSERT_EQUAL(0, settings_assign(&table, "--set", "axis=[0, 1, 0]", errors));
	TEST_ASSERT_EQUAL(-EINVAL, settings_assign(&table, "--set", "axis=[1, 0]", errors));
	TEST_ASSERT_EQUAL_STRING("--set: axis: 2 values, 3 are needed, such as [0, 0, -1]\n", lines);
	settings_text(&table, "axis", text, sizeof(text));
	TEST_ASSERT_EQUAL_STRING("[0, 1, 0]", text);
}
