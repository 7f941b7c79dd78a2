/* test_post_body.c: what the body of a POST may ask for, and what not. */
#include "test/lib/testcase.h"

#include "launch/achweb/post_body.h"

static struct post_body o;

static int read_body(enum post_body_kind kind, const char *body)
{
	char line[ERROR_LINE_MAX] = "";
	struct error_sink errors = { error_keep_last, line, 0 };
	const int status = post_body_read(&o, kind, body, strlen(body), &errors);

	TEST_ASSERT_EQUAL_INT_MESSAGE(status != 0, *line != 0, body);
	return status;
}

TEST(orders_are_read)
{
	TEST_ASSERT_EQUAL_INT(0, read_body(POST_BODY_ARM, "{\"do\":\"home\",\"name\":\"waist\"}"));
	TEST_ASSERT_EQUAL_INT(POST_BODY_HOME, o.kind);
	TEST_ASSERT_EQUAL_STRING("waist", o.name);
	TEST_ASSERT_EQUAL_INT(0, read_body(POST_BODY_ARM, "{\"do\":\"clear\",\"name\":\"larm\"}"));
	TEST_ASSERT_EQUAL_INT(POST_BODY_CLEAR, o.kind);
	TEST_ASSERT_EQUAL_INT(0, read_body(POST_BODY_ARM, "{\"name\":\"larm\",\"do\":\"restart\"}"));
	TEST_ASSERT_EQUAL_INT(POST_BODY_RESTART, o.kind);
	TEST_ASSERT_EQUAL_INT(0, read_body(POST_BODY_ARM,
					   "{\"do\":\"arm\",\"seen\":[\"18446744073709551615\",\"2\",\"3\",\"4\"]}"));
	TEST_ASSERT_EQUAL_INT(POST_BODY_ARM, o.kind);
	TEST_ASSERT_EQUAL_UINT64(UINT64_MAX, o.seen.id[0]);
	TEST_ASSERT_EQUAL_UINT64(2, o.seen.seq[0]);
	TEST_ASSERT_EQUAL_UINT64(3, o.seen.id[1]);
	TEST_ASSERT_EQUAL_UINT64(4, o.seen.seq[1]);
}

TEST(any_stop_is_a_stop)
{
	static const struct {
		const char *body;
		enum msg_level level;
	} cases[] = {
		{ "{\"level\":\"hold\"}", MSG_LEVEL_HOLD },
		{ "{\"level\":\"estop\"}", MSG_LEVEL_ESTOP },
		{ "{\"level\":\"run\"}", MSG_LEVEL_ESTOP },
		{ "{}", MSG_LEVEL_ESTOP },
		{ "", MSG_LEVEL_ESTOP },
		{ "\"", MSG_LEVEL_ESTOP },
		{ "{\"level\":[\"hold\"]}", MSG_LEVEL_ESTOP },
		{ "hold", MSG_LEVEL_ESTOP },
	};

	for (size_t i = 0; i < sizeof(cases) / sizeof(*cases); i++) {
		TEST_ASSERT_EQUAL_INT(0, post_body_read(&o, POST_BODY_STOP, cases[i].body, strlen(cases[i].body),
							&(struct error_sink){ 0 }));
		TEST_ASSERT_EQUAL_INT(POST_BODY_STOP, o.kind);
		TEST_ASSERT_EQUAL_INT_MESSAGE(cases[i].level, o.level, cases[i].body);
	}
}

TEST(nothing_else_can_be_asked_for)
{
	static const char *const cases[] = {
		"",
		"{",
		"[]",
		"home",
		"{}",
		"{\"do\":\"\"}",
		"{\"do\":\"set\",\"name\":\"waist\"}",
		"{\"do\":\"login\",\"name\":\"waist\"}",
		"{\"do\":\"stop\",\"name\":\"waist\"}",
		"{\"do\":\"home\"}",
		"{\"do\":home,\"name\":\"waist\"}",
		"{\"do\":\"home\",\"name\":\"\"}",
		"{\"do\":\"home\",\"name\":\"../x\"}",
		"{\"do\":\"home\",\"name\":\"a\\tb\"}",
		"{\"do\":\"home\",\"name\":\"a b\"}",
		"{\"do\":\"home\",\"name\":[\"waist\"]}",
		"{\"do\":\"home\",\"name\":\"abcdefghijklmnopqrstuvwxyz\"}",
		"{\"do\":\"arm\"}",
		"{\"do\":\"arm\",\"seen\":[]}",
		"{\"do\":\"arm\",\"seen\":[\"1\",\"2\",\"3\"]}",
		"{\"do\":\"arm\",\"seen\":[\"1\",\"2\",\"3\",\"4\",\"5\"]}",
		"{\"do\":\"arm\",\"seen\":[\"1\",\"2\",\"3\",\"x\"]}",
		"{\"do\":\"arm\",\"seen\":[\"1\",\"2\",\"3\",\"4x\"]}",
		"{\"do\":\"arm\",\"seen\":[\"-1\",\"2\",\"3\",\"4\"]}",
		"{\"do\":\"arm\",\"seen\":[\"18446744073709551616\",\"2\",\"3\",\"4\"]}",
		"{\"do\":\"arm\",\"seen\":[[\"1\"],\"2\",\"3\",\"4\"]}",
		"{\"do\":\"arm\",\"seen\":\"1\"}",
	};

	for (size_t i = 0; i < sizeof(cases) / sizeof(*cases); i++)
		TEST_ASSERT_EQUAL_INT_MESSAGE(-EINVAL, read_body(POST_BODY_ARM, cases[i]), cases[i]);
}
