/* test_console.c: the verbs of hubo-console: lines, what is refused when, completion, requests. */
#include <errno.h>
#include <string.h>

#include "launch/hubo/console.h"
#include "test/lib/testcase.h"

static struct console_call call;
static char why[160];

void setUp(void)
{
	*why = 0;
}

void tearDown(void)
{
}

static int parse(const char *line)
{
	return console_parse(&call, line, why, sizeof(why));
}

TEST(lines_are_requests)
{
	static const struct {
		const char *line;
		enum msg_verb verb;
		const char *key, *value;
	} rows[] = {
		{ "home RSP", MSG_VERB_HOME, "RSP", "" },
		{ "home  rarm", MSG_VERB_HOME, "rarm", "" },
		{ " homeAll # all", MSG_VERB_HOME, "", "" },
		{ "startup", MSG_VERB_ACTIVATE, "", "" },
		{ "fet rhy 1", MSG_VERB_SET, "RHY.fet", "1" },
		{ "fet RHY 0", MSG_VERB_SET, "RHY.fet", "0" },
		{ "ctrl LF5 1", MSG_VERB_SET, "LF5.control-on", "" },
		{ "ctrl LF5 0", MSG_VERB_SET, "LF5.control-off", "" },
		{ "ctrlAll 1", MSG_VERB_SET, "all.control-on", "" },
		{ "ctrlAll 0", MSG_VERB_SET, "all.control-off", "" },
		{ "initialize WST", MSG_VERB_SET, "WST.initialize", "" },
		{ "initializeAll", MSG_VERB_SET, "all.initialize", "" },
		{ "reset NK2", MSG_VERB_RESET, "NK2", "" },
		{ "zero RFFT", MSG_VERB_BIAS, "RFFT", "" },
		{ "zeroacc LFFT", MSG_VERB_BIAS, "LFFT.tilt", "" },
		{ "beep RSP 0.5", MSG_VERB_SET, "RSP.beep", "5" },
		{ "beep RSP 25", MSG_VERB_SET, "RSP.beep", "250" },
		{ "beep RSP 0.1", MSG_VERB_SET, "RSP.beep", "1" },
		{ "kp RSP 62.5", MSG_VERB_SET, "RSP.comply-kp", "62.5" },
		{ "kd rsp 0", MSG_VERB_SET, "RSP.comply-kd", "0" },
		{ "maxPWM LEB 8", MSG_VERB_SET, "LEB.comply-pwm", "8" },
		{ "grav REB -2.25", MSG_VERB_SET, "REB.comply-grav", "-2.25" },
		{ "homefile all", MSG_VERB_SET, "home-file", "all" },
		{ "homefile lleg", MSG_VERB_SET, "home-file", "lleg" },
	};
	char key[MSG_NAME_SIZE], value[MSG_TEXT_SIZE];

	for (size_t i = 0; i < sizeof(rows) / sizeof(*rows); i++) {
		TEST_ASSERT_EQUAL_INT_MESSAGE(0, parse(rows[i].line), why);
		TEST_ASSERT_EQUAL_MESSAGE(CONSOLE_ASK, call.verb->does, rows[i].line);
		TEST_ASSERT_EQUAL_MESSAGE(rows[i].verb, call.verb->verb, rows[i].line);
		console_request(&call, key, value);
		TEST_ASSERT_EQUAL_STRING_MESSAGE(rows[i].key, key, rows[i].line);
		TEST_ASSERT_EQUAL_STRING_MESSAGE(rows[i].value, value, rows[i].line);
	}
}

TEST(other_lines)
{
	static const char *const empty[] = { "", "  ", "# home RSP", "\n" };

	for (size_t i = 0; i < sizeof(empty) / sizeof(*empty); i++) {
		TEST_ASSERT_EQUAL_INT(0, parse(empty[i]));
		TEST_ASSERT_NULL(call.verb);
	}
	TEST_ASSERT_EQUAL_INT(0, parse("goto REB -1.25"));
	TEST_ASSERT_EQUAL(CONSOLE_GOTO, call.verb->does);
	TEST_ASSERT_EQUAL_STRING("REB", call.word);
	TEST_ASSERT_TRUE(call.number == -1.25);
	TEST_ASSERT_EQUAL_INT(0, parse("comp RSP -0.5 12"));
	TEST_ASSERT_EQUAL(CONSOLE_COMPLY, call.verb->does);
	TEST_ASSERT_EQUAL_STRING("RSP", call.word);
	TEST_ASSERT_TRUE(call.number == -0.5 && call.time_s == 12);
}

TEST(bad_lines_say_what_to_write)
{
	static const struct {
		const char *line, *why;
	} rows[] = {
		{ "hom RSP", "\"hom\" is not a verb; did you mean home?; help lists them" },
		{ "xyzzy", "\"xyzzy\" is not a verb; help lists them" },
		{ "home", "it is: home JOINT|LIMB" },
		{ "home RSP RSR", "it is: home JOINT|LIMB" },
		{ "home RSQ", "home: \"RSQ\" is not known; did you mean RSP?; it is home JOINT|LIMB" },
		{ "get rarm", "get: \"rarm\" is not known; it is get JOINT" },
		{ "homefile", "it is: homefile JOINT|LIMB|all" },
		{ "fet RHY", "it is: fet JOINT 0|1" },
		{ "fet RHY 2", "fet: \"2\" is neither 0 nor 1" },
		{ "ctrlAll on", "ctrlAll: \"on\" is neither 0 nor 1" },
		{ "goto RHY", "it is: goto JOINT NUMBER" },
		{ "goto RHY x", "goto: \"x\" is not a number from -10 to 10" },
		{ "goto RHY 10.5", "goto: \"10.5\" is not a number from -10 to 10" },
		{ "beep RHY 0", "beep: \"0\" is not a number from 0.1 to 25" },
		{ "comp RSP 0", "it is: comp JOINT NUMBER SECONDS" },
		{ "comp RSP 0 5 5", "it is: comp JOINT NUMBER SECONDS" },
		{ "comp RSP 11 5", "comp: \"11\" is not a number from -10 to 10" },
		{ "comp RSP 0 0", "comp: \"0\" is not a number from 0.1 to 3600" },
		{ "comp RSP 0 nan", "comp: \"nan\" is not a number from 0.1 to 3600" },
		{ "kp RSP nan", "kp: \"nan\" is not a number from 0 to 10000" },
		{ "kd RSP -1", "kd: \"-1\" is not a number from 0 to 10000" },
		{ "maxPWM RSP 101", "maxPWM: \"101\" is not a number from 0 to 100" },
		{ "grav RSP -101", "grav: \"-101\" is not a number from -100 to 100" },
		{ "quit now", "it is: quit" },
	};
	char longest[600];

	for (size_t i = 0; i < sizeof(rows) / sizeof(*rows); i++) {
		TEST_ASSERT_EQUAL_MESSAGE(-1, parse(rows[i].line), rows[i].line);
		TEST_ASSERT_EQUAL_STRING(rows[i].why, why);
	}
	memset(longest, 'a', sizeof(longest) - 1);
	longest[sizeof(longest) - 1] = 0;
	TEST_ASSERT_NOT_EQUAL(0, parse(longest));
	TEST_ASSERT_EQUAL_STRING("a line has at most 255 bytes", why);
}

TEST(a_lifecycle_refuses)
{
	TEST_ASSERT_EQUAL_INT(0, parse("home RSP"));
	TEST_ASSERT_EQUAL(-1, console_allowed(&call, MSG_LIFE_DISARMED, why, sizeof(why)));
	TEST_ASSERT_EQUAL_STRING("home is refused while the driver is disarmed", why);
	TEST_ASSERT_EQUAL(0, console_allowed(&call, MSG_LIFE_HOLDING, why, sizeof(why)));
	TEST_ASSERT_EQUAL_INT(0, parse("fet RSP 1"));
	TEST_ASSERT_EQUAL(-1, console_allowed(&call, MSG_LIFE_DISARMED, why, sizeof(why)));
	TEST_ASSERT_EQUAL_INT(0, parse("fet RSP 0"));
	TEST_ASSERT_EQUAL(0, console_allowed(&call, MSG_LIFE_DISARMED, why, sizeof(why)));
	TEST_ASSERT_EQUAL(-1, console_allowed(&call, MSG_LIFE_DOWN, why, sizeof(why)));
}

/* Nothing that moves is possible unless the robot is armed, and nothing that changes zeros or limits while it is. */
TEST(what_moves_needs_an_armed_robot_and_what_changes_zeros_a_stopped_one)
{
	for (const struct console_verb *v = console_verbs; v->name; v++) {
		const bool moves = v->verb == MSG_VERB_HOME || v->verb == MSG_VERB_ACTIVATE ||
				   v->does == CONSOLE_GOTO || v->does == CONSOLE_COMPLY;
		const bool changes = v->verb == MSG_VERB_RESET || v->does == CONSOLE_RESET_ALL ||
				     !strncmp(v->name, "initialize", 10) || !strcmp(v->name, "homefile");

		if (moves)
			TEST_ASSERT_FALSE_MESSAGE(v->in & (1u << MSG_LIFE_DISARMED | 1u << MSG_LIFE_HOMING), v->name);
		if (changes)
			TEST_ASSERT_FALSE_MESSAGE(v->in & (1u << MSG_LIFE_HOLDING | 1u << MSG_LIFE_ACTIVE |
							   1u << MSG_LIFE_HOMING),
						  v->name);
	}
}

static void completes(const char *line, const char *first, const char *second)
{
	const char *one = console_complete(line, strlen(line), 0), *two = console_complete(line, strlen(line), 1);

	TEST_ASSERT_EQUAL_STRING_MESSAGE(first ? first : "", one ? one : "", line);
	TEST_ASSERT_EQUAL_STRING_MESSAGE(second ? second : "", two ? two : "", line);
}

TEST(words_are_completed)
{
	char line[300];

	completes("", "get", "status");
	completes("hom", "home", "homeAll");
	completes("homeA", "homeAll", NULL);
	completes("x", NULL, NULL);
	completes("get RS", "RSP", "RSR");
	completes("get  RSP", "RSP", NULL);
	completes("get r", NULL, NULL); /* no limbs */
	completes("home ra", "rarm", NULL);
	completes("homefile a", "all", NULL);
	completes("zero L", "LHFT", "LFFT");
	completes("zero R", "RHFT", "RFFT");
	completes("get W", "WST", NULL);
	completes("home l", "larm", "lleg");
	completes("fet RSP ", "0", "1");
	completes("ctrlAll ", "0", "1");
	completes("goto RSP ", NULL, NULL);
	completes("comp RS", "RSP", "RSR");
	completes("k", "kp", "kd");
	completes("quit ", NULL, NULL);
	completes("nothing ", NULL, NULL);
	memset(line, 'a', sizeof(line) - 1);
	line[sizeof(line) - 1] = 0;
	completes(line, NULL, NULL);
}
