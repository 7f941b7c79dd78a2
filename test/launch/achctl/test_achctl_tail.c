/* test_achctl_tail.c: the last lines of a log, and what comes after them, also when it is renamed meanwhile. */
#include "test/lib/testcase.h"

#include "launch/achctl/tail.h"
#include "test/launch/file/launch_lib.h"

static char folder[LAUNCH_LIB_PATH], path[LAUNCH_LIB_PATH + 8], before[LAUNCH_LIB_PATH + 16];
static char said[1 << 16];

static void keep(void *to, const char *line)
{
	const size_t len = strlen(said);

	TEST_ASSERT_EQUAL_PTR(said, to);
	snprintf(said + len, sizeof(said) - len, "%s|", line);
}

static void add(const char *file, const char *text)
{
	FILE *to = fopen(file, "a");

	TEST_ASSERT_NOT_NULL(to);
	fputs(text, to);
	fclose(to);
}

static const char *last(int64_t n)
{
	struct tail t;

	*said = 0;
	TEST_ASSERT_EQUAL_INT(0, tail_open(&t, path));
	tail_last(&t, n, keep, said);
	tail_close(&t);
	return said;
}

TEST(test_last_lines)
{
	add(path, "");
	TEST_ASSERT_EQUAL_STRING("", last(3));
	add(path, "a\n");
	TEST_ASSERT_EQUAL_STRING("a|", last(3));
	TEST_ASSERT_EQUAL_STRING("", last(0));
	add(path, "b\n\nd\n");
	TEST_ASSERT_EQUAL_STRING("d|", last(1));
	TEST_ASSERT_EQUAL_STRING("|d|", last(2));
	TEST_ASSERT_EQUAL_STRING("b||d|", last(3));
	TEST_ASSERT_EQUAL_STRING("a|b||d|", last(4));
	TEST_ASSERT_EQUAL_STRING("a|b||d|", last(5));
}

/* Lines of all lengths, so that pieces of the file end anywhere. */
TEST(test_last_lines_of_a_long_file)
{
	char line[256], expected[1 << 14], many[98];

	memset(many, 'x', sizeof(many) - 1);
	many[sizeof(many) - 1] = 0;
	for (int i = 0; i < 2000; i++) {
		snprintf(line, sizeof(line), "%d %.*s\n", i, i % 97, many);
		add(path, line);
	}
	for (int n = 1; n < 200; n += 7) {
		size_t len = 0;

		for (int i = 2000 - n; i < 2000; i++)
			len += (size_t)snprintf(expected + len, sizeof(expected) - len, "%d %.*s|", i, i % 97, many);
		TEST_ASSERT_EQUAL_STRING(expected, last(n));
	}
}

TEST(test_lines_of_the_file_before)
{
	add(before, "1\n2\n3\n");
	add(path, "4\n");
	TEST_ASSERT_EQUAL_STRING("4|", last(1));
	TEST_ASSERT_EQUAL_STRING("3|4|", last(2));
	TEST_ASSERT_EQUAL_STRING("1|2|3|4|", last(9));
}

TEST(test_more)
{
	struct tail t;

	add(path, "old\n");
	TEST_ASSERT_EQUAL_INT(0, tail_open(&t, path));
	tail_more(&t, keep, said);
	TEST_ASSERT_EQUAL_STRING("", said);
	add(path, "one\ntw");
	tail_more(&t, keep, said);
	TEST_ASSERT_EQUAL_STRING("one|", said); /* the other is not ended yet */
	add(path, "o\n");
	tail_more(&t, keep, said);
	TEST_ASSERT_EQUAL_STRING("one|two|", said);
	tail_close(&t);
}

TEST(test_more_after_it_was_renamed)
{
	struct tail t;

	add(path, "old\n");
	TEST_ASSERT_EQUAL_INT(0, tail_open(&t, path));
	add(path, "last\n");
	TEST_ASSERT_EQUAL_INT(0, rename(path, before));
	tail_more(&t, keep, said); /* no new file yet */
	TEST_ASSERT_EQUAL_STRING("last|", said);
	add(before, "very last\n");
	add(path, "first\n");
	tail_more(&t, keep, said);
	TEST_ASSERT_EQUAL_STRING("last|very last|first|", said);
	add(path, "second\n");
	tail_more(&t, keep, said);
	TEST_ASSERT_EQUAL_STRING("last|very last|first|second|", said);
	tail_close(&t);
}

TEST(test_more_after_it_was_emptied)
{
	struct tail t;

	add(path, "some old text\n");
	TEST_ASSERT_EQUAL_INT(0, tail_open(&t, path));
	TEST_ASSERT_EQUAL_INT(0, truncate(path, 0));
	add(path, "new\n");
	tail_more(&t, keep, said);
	TEST_ASSERT_EQUAL_STRING("new|", said);
	tail_close(&t);
}

TEST(test_a_line_without_end_is_cut)
{
	struct tail t;

	add(path, "");
	TEST_ASSERT_EQUAL_INT(0, tail_open(&t, path));
	for (int i = 0; i < TAIL_LINE_MAX; i++)
		add(path, "xy");
	add(path, "\nnext\n");
	tail_more(&t, keep, said);
	TEST_ASSERT_EQUAL_size_t(TAIL_LINE_MAX - 1, strcspn(said, "|"));
	TEST_ASSERT_EQUAL_STRING("|next|", strchr(said, '|'));
	tail_close(&t);
}

TEST(test_missing)
{
	struct tail t;

	TEST_ASSERT_LESS_THAN_INT(0, tail_open(&t, path));
}

void setUp(void)
{
	launch_lib_folder(folder);
	snprintf(path, sizeof(path), "%s/log", folder);
	snprintf(before, sizeof(before), "%s.1", path);
	*said = 0;
}

void tearDown(void)
{
	launch_lib_remove(folder);
}
