/* test_json.c: JSON, read as the YAML that it nearly is. */
#include <string.h>

#include "unity.h"

#include "config/yaml.h"
#include "test/config/lines.h"

static struct yaml *doc;

void setUp(void)
{
	doc = NULL;
}

void tearDown(void)
{
	yaml_close(doc);
}

static const struct yaml_node *parse(const char *text)
{
	int err = yaml_open_text(&doc, "t", text, strlen(text), lines_start());

	TEST_ASSERT_EQUAL_STRING("", lines);
	TEST_ASSERT_EQUAL_INT(0, err);
	return yaml_root(doc);
}

static void refused(const char *text, const char *line)
{
	TEST_ASSERT_TRUE(yaml_open_text(&doc, "t", text, strlen(text), lines_start()) < 0);
	TEST_ASSERT_EQUAL_STRING(line, lines);
	TEST_ASSERT_NULL(doc);
}

static void json(void)
{
	const struct yaml_node *root = parse("{\"type\":\"imu\",\"n\":[1,-2.5,1e3,2E-2],\"on\":true,\"off\":false,"
					     "\"none\":null,\n\t\"deep\" : {\"a\":{\"b\":[]}} ,\"empty\":{},"
					     "\"url\":\"http:\\/\\/x\",\"s\":\"a: b # c, d\"}");
	const struct yaml_node *n = yaml_find(root, "n");
	bool b = false;
	double r = 0;

	TEST_ASSERT_EQUAL_STRING("imu", yaml_find(root, "type")->text);
	TEST_ASSERT_EQUAL_UINT(4, n->count);
	TEST_ASSERT_EQUAL_INT(0, yaml_real(n->first->next, &r));
	TEST_ASSERT_TRUE(r == -2.5);
	TEST_ASSERT_EQUAL_INT(0, yaml_real(n->first->next->next, &r));
	TEST_ASSERT_TRUE(r == 1000);
	TEST_ASSERT_EQUAL_INT(0, yaml_real(n->first->next->next->next, &r));
	TEST_ASSERT_TRUE(r == 0.02);
	TEST_ASSERT_EQUAL_INT(0, yaml_bool(yaml_find(root, "on"), &b));
	TEST_ASSERT_TRUE(b);
	TEST_ASSERT_EQUAL_INT(0, yaml_bool(yaml_find(root, "off"), &b));
	TEST_ASSERT_FALSE(b);
	TEST_ASSERT_TRUE(yaml_is_null(yaml_find(root, "none")));
	TEST_ASSERT_EQUAL_UINT(0, yaml_find(yaml_find(yaml_find(root, "deep"), "a"), "b")->count);
	TEST_ASSERT_EQUAL_UINT(2, yaml_find(root, "deep")->line);
	TEST_ASSERT_EQUAL_STRING("http://x", yaml_find(root, "url")->text);
	TEST_ASSERT_EQUAL_STRING("a: b # c, d", yaml_find(root, "s")->text);
}

static void json_escapes(void)
{
	const struct yaml_node *n = parse("[\"\\u00e4\\u20AC\", \"\\\" \\\\ \\b\\f\\n\\r\\t\", \"\\ud83d\\ude00!\","
					  " \"\\\\ud83d\\\\ude00\", \"\xC3\xA4\", \"\\uD83D\\uDE00\\uD83D\\uDE01\"]")
					    ->first;

	TEST_ASSERT_EQUAL_STRING("\xC3\xA4\xE2\x82\xAC", n->text);
	TEST_ASSERT_EQUAL_STRING("\" \\ \b\f\n\r\t", n->next->text);
	TEST_ASSERT_EQUAL_STRING("\xF0\x9F\x98\x80!", n->next->next->text);
	TEST_ASSERT_EQUAL_STRING("\\ud83d\\ude00", n->next->next->next->text);
	TEST_ASSERT_EQUAL_STRING("\xC3\xA4", n->next->next->next->next->text);
	TEST_ASSERT_EQUAL_STRING("\xF0\x9F\x98\x80\xF0\x9F\x98\x81", n->next->next->next->next->next->text);
}

static void only_json_has_two_escapes(void)
{
	const struct yaml_node *root = parse("a: '\\ud83d\\ude00'\nb: \"\\U0001f600\"\n");

	TEST_ASSERT_EQUAL_STRING("\\ud83d\\ude00", root->first->text);
	TEST_ASSERT_EQUAL_STRING("\xF0\x9F\x98\x80", root->first->next->text);
}

static void json_refused(void)
{
	refused("{\"a\":\"\\u0000\"}", "t:1: a zero byte in text\n");
	refused("{\"a\":\"\\ud83d\"}",
		"t:1: while parsing a quoted scalar: found invalid Unicode character escape code in column 9\n");
	refused(" \n[\"\\ud8xx\"]",
		"t:2: while parsing a quoted scalar: did not find expected hexdecimal number in column 5\n");
	refused("{\"a\":1", "t:1: while parsing a flow mapping: did not find expected ',' or '}' at the end\n");
	refused("{\"a\":1} x", "t:1: did not find expected <document start> in column 9\n");
	refused("[\"\\ud83d",
		"t:1: while parsing a quoted scalar: found invalid Unicode character escape code in column 5\n");
}

int main(void)
{
	UNITY_BEGIN();
	RUN_TEST(json);
	RUN_TEST(json_escapes);
	RUN_TEST(only_json_has_two_escapes);
	RUN_TEST(json_refused);
	return UNITY_END();
}
