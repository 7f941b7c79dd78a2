/* test_text.c: values as people write them, the nearest word, UTF-8, columns. */

#include "test/lib/testcase.h"

#include "config/base/nearest.h"
#include "config/base/text.h"
#include "config/base/utf8.h"
#include "config/settings/settings_value.h"

TEST(bools)
{
	bool v = false;

	TEST_ASSERT_EQUAL_INT(0, text_bool("yes", &v));
	TEST_ASSERT_TRUE(v);
	TEST_ASSERT_EQUAL_INT(0, text_bool("no", &v));
	TEST_ASSERT_FALSE(v);
	TEST_ASSERT_EQUAL_INT(0, text_bool("true", &v));
	TEST_ASSERT_TRUE(v);
	TEST_ASSERT_EQUAL_INT(0, text_bool("false", &v));
	TEST_ASSERT_FALSE(v);
	TEST_ASSERT_EQUAL_INT(-EINVAL, text_bool("on", &v));
	TEST_ASSERT_EQUAL_INT(-EINVAL, text_bool("Yes", &v));
	TEST_ASSERT_EQUAL_INT(-EINVAL, text_bool("", &v));
}

TEST(ints)
{
	static const struct {
		const char *text;
		int err;
		int64_t value;
	} cases[] = {
		{ "0", 0, 0 },
		{ "42", 0, 42 },
		{ "-7", 0, -7 },
		{ "+7", 0, 7 },
		{ "010", 0, 10 }, /* decimal, not octal */
		{ "0x1F", 0, 31 },
		{ "-0x10", 0, -16 },
		{ "9223372036854775807", 0, INT64_MAX },
		{ "-9223372036854775808", 0, INT64_MIN },
		{ "9223372036854775808", -ERANGE, 0 },
		{ "0xFFFFFFFFFFFFFFFF", -ERANGE, 0 },
		{ "", -EINVAL, 0 },
		{ "-", -EINVAL, 0 },
		{ "0x", -EINVAL, 0 },
		{ "1.5", -EINVAL, 0 },
		{ "1e3", -EINVAL, 0 },
		{ " 1", -EINVAL, 0 },
		{ "1 ", -EINVAL, 0 },
		{ "--1", -EINVAL, 0 },
		{ "0x1G", -EINVAL, 0 },
		{ "one", -EINVAL, 0 },
	};

	for (size_t i = 0; i < sizeof(cases) / sizeof(*cases); i++) {
		int64_t v = 0;

		TEST_ASSERT_EQUAL_INT_MESSAGE(cases[i].err, text_int(cases[i].text, &v), cases[i].text);
		TEST_ASSERT_EQUAL_INT64_MESSAGE(cases[i].value, v, cases[i].text);
	}
}

TEST(reals)
{
	static const struct {
		const char *text;
		int err;
		double value;
	} cases[] = {
		{ "0", 0, 0 },		 { "-0.5", 0, -0.5 },
		{ "2e-3", 0, 0.002 },	 { "+1E2", 0, 100 },
		{ ".5", 0, 0.5 },	 { "5.", 0, 5 },
		{ "1e400", -ERANGE, 0 }, { "-1e400", -ERANGE, 0 },
		{ "1e-400", 0, 0 },	 { "inf", -EINVAL, 0 },
		{ "nan", -EINVAL, 0 },	 { "0x10", -EINVAL, 0 },
		{ "1,5", -EINVAL, 0 },	 { "", -EINVAL, 0 },
		{ ".", -EINVAL, 0 },	 { "-", -EINVAL, 0 },
		{ "1e", -EINVAL, 0 },	 { "1e+", -EINVAL, 0 },
		{ " 1", -EINVAL, 0 },	 { "1 A", -EINVAL, 0 },
		{ "--1", -EINVAL, 0 },	 { "infinity", -EINVAL, 0 },
		{ "-inf", -EINVAL, 0 },
	};

	for (size_t i = 0; i < sizeof(cases) / sizeof(*cases); i++) {
		double v = 0;

		TEST_ASSERT_EQUAL_INT_MESSAGE(cases[i].err, text_real(cases[i].text, &v), cases[i].text);
		TEST_ASSERT_TRUE_MESSAGE(cases[i].value == v, cases[i].text);
	}
}

TEST(durations)
{
	static const struct {
		const char *text;
		int err;
		int64_t ns;
	} cases[] = {
		{ "5ms", 0, 5000000 },
		{ "200us", 0, 200000 },
		{ "1s", 0, 1000000000 },
		{ "1.5ms", 0, 1500000 },
		{ "0.1us", 0, 100 },
		{ "40ns", 0, 40 },
		{ "2min", 0, INT64_C(120000000000) },
		{ "1h", 0, INT64_C(3600000000000) },
		{ "0", 0, 0 },
		{ "0s", 0, 0 },
		{ "-50us", 0, -50000 },
		{ "1e3ns", 0, 1000 },
		{ "5", -EINVAL, 0 },
		{ "ms", -EINVAL, 0 },
		{ "fast", -EINVAL, 0 },
		{ "5 ms", -EINVAL, 0 },
		{ "5msec", -EINVAL, 0 },
		{ "5MS", -EINVAL, 0 },
		{ "", -EINVAL, 0 },
		{ "0x5ms", -EINVAL, 0 },
		{ "1e30s", -ERANGE, 0 },
		{ "3000000h", -ERANGE, 0 },
	};

	for (size_t i = 0; i < sizeof(cases) / sizeof(*cases); i++) {
		int64_t v = 0;

		TEST_ASSERT_EQUAL_INT_MESSAGE(cases[i].err, text_duration(cases[i].text, &v), cases[i].text);
		TEST_ASSERT_EQUAL_INT64_MESSAGE(cases[i].ns, v, cases[i].text);
	}
}

TEST(written_as_read)
{
	static const char *const same_real[] = { "0", "-0.5", "0.1", "1e+20", "3.14159265358979", "0.43" };
	static const char *const same_duration[] = { "5ms", "200us", "1s", "1500us", "0s", "-7ns", "90s" };
	char text[TEXT_VALUE_MAX];
	double r = 0;
	int64_t ns = 0;

	for (size_t i = 0; i < sizeof(same_real) / sizeof(*same_real); i++) {
		TEST_ASSERT_EQUAL_INT(0, text_real(same_real[i], &r));
		text_from_real(text, r);
		TEST_ASSERT_EQUAL_STRING(same_real[i], text);
	}
	text_from_real(text, 0.1 + 0.2);
	TEST_ASSERT_TRUE(strtod(text, NULL) == 0.1 + 0.2);
	for (size_t i = 0; i < sizeof(same_duration) / sizeof(*same_duration); i++) {
		TEST_ASSERT_EQUAL_INT(0, text_duration(same_duration[i], &ns));
		text_from_duration(text, ns);
		TEST_ASSERT_EQUAL_STRING(same_duration[i], text);
	}
	text_from_duration(text, INT64_MIN);
	TEST_ASSERT_EQUAL_STRING("-9223372036854775808ns", text);
}

TEST(quotes)
{
	char quoted[TEXT_QUOTED_MAX];

	TEST_ASSERT_EQUAL_STRING("\"fast\"", text_quote(quoted, "fast"));
	TEST_ASSERT_EQUAL_STRING("\"0123456789012345678901234567890123456789\"",
				 text_quote(quoted, "0123456789012345678901234567890123456789"));
	TEST_ASSERT_EQUAL_STRING("\"0123456789012345678901234567890123456789...\"",
				 text_quote(quoted, "01234567890123456789012345678901234567890"));
	/* A character of two bytes across the end goes whole. */
	TEST_ASSERT_EQUAL_STRING("\"012345678901234567890123456789012345678...\"",
				 text_quote(quoted, "012345678901234567890123456789012345678\xC3\xA4z"));
}

TEST(names)
{
	static const char *const good[] = { "waist", "l", "0", "hubo-ref", "a.b_c-d", "abcdefghijklmnopqrstuvw" };
	static const char *const bad[] = { "", ".a", "-a", "_a", "a b", "a/b", "\xC3\xA4", "abcdefghijklmnopqrstuvwx" };

	for (size_t i = 0; i < sizeof(good) / sizeof(*good); i++)
		TEST_ASSERT_TRUE_MESSAGE(text_is_name(good[i]), good[i]);
	for (size_t i = 0; i < sizeof(bad) / sizeof(*bad); i++)
		TEST_ASSERT_FALSE_MESSAGE(text_is_name(bad[i]), bad[i]);
}

TEST(distances)
{
	char longest[NEAREST_LEN_MAX + 2];

	TEST_ASSERT_EQUAL_UINT(0, nearest_distance("tick", "tick"));
	TEST_ASSERT_EQUAL_UINT(1, nearest_distance("limti", "limit")); /* swapped */
	TEST_ASSERT_EQUAL_UINT(1, nearest_distance("tik", "tick"));
	TEST_ASSERT_EQUAL_UINT(1, nearest_distance("tiick", "tick"));
	TEST_ASSERT_EQUAL_UINT(1, nearest_distance("tock", "tick"));
	TEST_ASSERT_EQUAL_UINT(3, nearest_distance("kitten", "sitting"));
	TEST_ASSERT_EQUAL_UINT(4, nearest_distance("", "tick"));
	TEST_ASSERT_EQUAL_UINT(4, nearest_distance("tick", ""));
	memset(longest, 'a', sizeof(longest));
	longest[NEAREST_LEN_MAX + 1] = '\0';
	TEST_ASSERT_EQUAL_UINT(NEAREST_LEN_MAX + 1, nearest_distance(longest, "a"));
	TEST_ASSERT_EQUAL_UINT(NEAREST_LEN_MAX + 1, nearest_distance("a", longest));
	longest[NEAREST_LEN_MAX] = '\0';
	TEST_ASSERT_EQUAL_UINT(NEAREST_LEN_MAX, nearest_distance(longest, ""));
}

TEST(nearest)
{
	static const char *const keys[] = { "tick", "torque_limit", "torque_limits", "balance", NULL };

	TEST_ASSERT_EQUAL_STRING("torque_limit", nearest_word("torque_limti", keys));
	TEST_ASSERT_EQUAL_STRING("torque_limits", nearest_word("torqe_limits", keys));
	TEST_ASSERT_EQUAL_STRING("balance", nearest_word("blaance", keys));
	TEST_ASSERT_EQUAL_STRING("tick", nearest_word("tik", keys));
	TEST_ASSERT_NULL(nearest_word("x", keys));
	TEST_ASSERT_NULL(nearest_word("rock", keys));
	TEST_ASSERT_NULL(nearest_word("", keys));
	TEST_ASSERT_NULL(nearest_word("temperature", keys));
}

TEST(utf8)
{
	static const struct {
		const char *text, *wrong;
		unsigned int line;
	} cases[] = {
		{ "plain\ttext\r\n", NULL, 2 },
		{ "\xEF\xBB\xBF"
		  "a: \xC3\xA4 \xE2\x82\xAC \xF0\x9F\x98\x80",
		  NULL, 1 },
		{ "a\nb\r\nc\rd\xFF", "not UTF-8", 4 },
		{ "\xC0\x80", "not UTF-8", 1 },		/* zero in two bytes */
		{ "\xE0\x80\x80", "not UTF-8", 1 },	/* in three */
		{ "\xF0\x80\x80\x80", "not UTF-8", 1 }, /* in four */
		{ "\xED\xA0\x80", "not UTF-8", 1 },	/* half a pair */
		{ "\xF4\x90\x80\x80", "not UTF-8", 1 }, /* beyond the last */
		{ "\xC3", "not UTF-8", 1 },
		{ "\xC3(", "not UTF-8", 1 },
		{ "\x80", "not UTF-8", 1 },
		{ "a\n\033[0m", "a control character", 2 },
		{ "\x7F", "a control character", 1 },
		{ "a\xEF\xBB\xBF", "a control character", 1 },
		{ "\xEF\xBF\xBF", "a control character", 1 },
		{ "\xEF\xBF\xBE", "a control character", 1 },
		{ "a\nb\xC2\x85", "U+0085", 2 }, /* lines end there in YAML, and in no editor */
		{ "a\n\n\xE2\x80\xA8", "U+2028", 3 },
		{ "\xE2\x80\xA9", "U+2029", 1 },
		{ "\xF4\x8F\xBF\xBF", NULL, 1 }, /* the last one */
	};
	unsigned int line;

	for (size_t i = 0; i < sizeof(cases) / sizeof(*cases); i++) {
		const char *wrong = utf8_check(cases[i].text, strlen(cases[i].text), &line);

		TEST_ASSERT_EQUAL_STRING_MESSAGE(cases[i].wrong, wrong, cases[i].text);
		TEST_ASSERT_EQUAL_UINT_MESSAGE(cases[i].line, line, cases[i].text);
	}
	TEST_ASSERT_EQUAL_STRING("a zero byte", utf8_check("a\n\0b", 4, &line));
	TEST_ASSERT_EQUAL_UINT(2, line);
	TEST_ASSERT_NULL(utf8_check("", 0, &line));
	TEST_ASSERT_EQUAL_STRING("not UTF-8", utf8_check("\xC3\xA4", 1, &line)); /* cut in two */
}

/* What a terminal gets, and what stands in JSON, of the same bytes. */
TEST(text_for_terminals_and_json)
{
	static const struct {
		const char *text, *clean, *json;
	} cases[] = {
		{ "", "", "\"\"" },
		{ "a \"b\" \\c/", "a \"b\" \\c/", "\"a \\\"b\\\" \\\\c/\"" },
		{ "\033[2J\x7f\n\t", "?[2J???", "\"\\u001b[2J\\u007f\\u000a\\u0009\"" },
		{ "\xc3\xa4\xf0\x9f\x98\x80", "\xc3\xa4\xf0\x9f\x98\x80", "\"\xc3\xa4\xf0\x9f\x98\x80\"" },
		{ "\xc2\x85\xc2\x9b", "????", "\"\\u0085\\u009b\"" },
		{ "\xe2\x80\xa8\xe2\x80\xa9", "??????", "\"\\u2028\\u2029\"" },
		{ "\xe2\x80\xae", "???", "\"\\u202e\"" },
		{ "\xe2\x80\x8e", "???", "\"\\u200e\"" },
		{ "\xe2\x81\xa6", "???", "\"\\u2066\"" },
		{ "\xd8\x9c", "??", "\"\\u061c\"" },
		{ "\xef\xbb\xbf\xef\xbf\xbf", "??????", "\"\\ufeff\\uffff\"" },
		{ "a\xff\xc3", "a??", "\"a\\ufffd\\ufffd\"" },
		{ "\xed\xa0\x80", "???", "\"\\ufffd\\ufffd\\ufffd\"" }, /* half a pair */
	};

	for (size_t i = 0; i < sizeof(cases) / sizeof(*cases); i++) {
		char clean[64], *json = NULL;
		size_t size = 0;
		FILE *to = open_memstream(&json, &size);

		text_json(to, cases[i].text);
		fclose(to);
		TEST_ASSERT_EQUAL_STRING(cases[i].json, json);
		free(json);
		snprintf(clean, sizeof(clean), "%s", cases[i].text);
		utf8_clean(clean);
		TEST_ASSERT_EQUAL_STRING(cases[i].clean, clean);
	}
}

TEST(text_cut_inside_a_character)
{
	static const char whole[] = "\xc3\xa4"
				    "b\xe2\x82\xac\xf0\x9f\x98\x80";
	static const size_t expected[] = { 0, 0, 2, 3, 3, 3, 6, 6, 6, 6, 10 };
	char cut[sizeof(whole)];

	for (size_t len = 0; len < sizeof(whole); len++) {
		snprintf(cut, len + 1, "%s", whole);
		utf8_mend(cut);
		TEST_ASSERT_EQUAL_size_t(expected[len], strlen(cut));
	}
	snprintf(cut, sizeof(cut), "%s", "a\x80\x80\x80\x80"); /* what never was a character stays */
	utf8_mend(cut);
	TEST_ASSERT_EQUAL_STRING("a\x80\x80\x80\x80", cut);
	snprintf(cut, sizeof(cut), "%s", "\x80\x80");
	utf8_mend(cut);
	TEST_ASSERT_EQUAL_STRING("\x80\x80", cut);
}

TEST(wrapping)
{
	char *text = NULL;
	size_t size = 0;
	FILE *to = open_memstream(&text, &size);
	int at = 0;

	fprintf(to, "ab");
	at = 2;
	wrap_pad(to, &at, 4);
	wrap_text(to, "one  two", at, 4);
	at = fprintf(to, "abc");
	wrap_pad(to, &at, 4); /* no gap left: a new line */
	wrap_text(to, "three", at, 4);
	wrap_text(to, "aaaaa bbb", 92, 2);
	wrap_text(to, "aaaaa bb", 92, 2);
	fclose(to);
	TEST_ASSERT_EQUAL_STRING("ab  one two\nabc\n    three\naaaaa\n  bbb\naaaaa bb\n", text);
	free(text);
}
