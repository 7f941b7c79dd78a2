/* test_error.c: the one error sentence. */
#include <fcntl.h>

#include "test/lib/testcase.h"

#include "config/base/error.h"
#include "test/config/settings/lines.h"

TEST(sentence_has_its_parts)
{
	char buf[ERROR_LINE_MAX];

	errno = ENODEV;
	error_sentence(buf, sizeof(buf), "ftd", "left", ERROR_FATAL, "unable to open %s: %m", "can0");
	TEST_ASSERT_EQUAL_STRING("ftd[left]: fatal: unable to open can0: No such device", buf);
	error_sentence(buf, sizeof(buf), "ach", NULL, ERROR_WARNING, "old");
	TEST_ASSERT_EQUAL_STRING("ach: warning: old", buf);
	error_sentence(buf, sizeof(buf), "ach", NULL, ERROR_ERROR, "bad");
	TEST_ASSERT_EQUAL_STRING("ach: error: bad", buf);
	error_sentence(buf, sizeof(buf), "ach", NULL, ERROR_INFO, "well");
	TEST_ASSERT_EQUAL_STRING("ach: info: well", buf);
	error_sentence(buf, sizeof(buf), "pciod", NULL, ERROR_PLAIN, "--buss: unknown");
	TEST_ASSERT_EQUAL_STRING("pciod: --buss: unknown", buf);
}

TEST(sentence_is_one_line)
{
	char buf[ERROR_LINE_MAX];

	error_sentence(buf, sizeof(buf), "a", NULL, ERROR_INFO, "one\ntwo\r\033[31m\177 \xC3\xA4");
	TEST_ASSERT_EQUAL_STRING("a: info: one?two??[31m? \xC3\xA4", buf);
}

TEST(sentence_is_cut_between_characters)
{
	char buf[16];
	size_t len;

	len = error_sentence(buf, sizeof(buf), "abc", NULL, ERROR_PLAIN, "%s", "1234567\xC3\xA4\xC3\xA4\xC3\xA4");
	TEST_ASSERT_EQUAL_STRING("abc: 1234567...", buf);
	TEST_ASSERT_EQUAL_UINT(strlen(buf), len);
	error_sentence(buf, sizeof(buf), "abc", NULL, ERROR_PLAIN, "%s", "123456\xC3\xA4\xC3\xA4\xC3\xA4");
	TEST_ASSERT_EQUAL_STRING("abc: 123456...", buf);
	/* What just fits is not cut. */
	len = error_sentence(buf, sizeof(buf), "abc", NULL, ERROR_PLAIN, "%s", "1234567890");
	TEST_ASSERT_EQUAL_STRING("abc: 1234567890", buf);
	TEST_ASSERT_EQUAL_UINT(15, len);
	error_sentence(buf, sizeof(buf), "abc", NULL, ERROR_PLAIN, "%s", "12345678901");
	TEST_ASSERT_EQUAL_STRING("abc: 1234567...", buf);
	for (size_t size = 0; size < sizeof(buf); size++) {
		memset(buf, 'x', sizeof(buf));
		len = error_sentence(buf, size, "program", "instance", ERROR_FATAL, "text");
		TEST_ASSERT_TRUE(size == 0 ? len == 0 : len < size && buf[len] == '\0');
		TEST_ASSERT_EQUAL_CHAR('x', buf[size]);
	}
}

/* What a function writes to stderr, in pieces as they were written: a datagram each. */
static size_t overhear(void (*speak)(void), char *heard, size_t size)
{
	int ends[2], old = dup(STDERR_FILENO);
	ssize_t n;

	TEST_ASSERT_EQUAL_INT(0, pipe2(ends, O_DIRECT | O_NONBLOCK));
	dup2(ends[1], STDERR_FILENO);
	speak();
	dup2(old, STDERR_FILENO);
	close(ends[1]);
	n = read(ends[0], heard, size - 1); /* O_DIRECT: one write */
	TEST_ASSERT_TRUE(n > 0);
	heard[n] = '\0';
	TEST_ASSERT_EQUAL_INT(0, (int)read(ends[0], heard + n, 1));
	close(ends[0]);
	close(old);
	return (size_t)n;
}

static void say(void)
{
	errno = ENODEV;
	error_say("ftd", "left", ERROR_FATAL, "unable to open %s: %m", "can0");
	TEST_ASSERT_EQUAL_INT(ENODEV, errno);
}

static void say_long(void)
{
	char text[4 * ERROR_LINE_MAX];

	memset(text, 'y', sizeof(text) - 1);
	text[sizeof(text) - 1] = '\0';
	error_say("ftd", NULL, ERROR_FATAL, "%s", text);
}

static void say_sink(void)
{
	struct error_who me = { "pciod", "waist", ERROR_FATAL };
	struct error_sink errors = { error_to_stderr, &me, 0 };

	error_add(&errors, "robot.yaml:%d: wrong", 9);
}

static void say_plain_sink(void)
{
	struct error_sink errors = { error_to_stderr, NULL, 0 };

	error_add(&errors, "pciod: --buss: unknown option");
}

TEST(program_says_it_in_one_write)
{
	char heard[4 * ERROR_LINE_MAX];

	overhear(say, heard, sizeof(heard));
	TEST_ASSERT_EQUAL_STRING("ftd[left]: fatal: unable to open can0: No such device\n", heard);
	TEST_ASSERT_EQUAL_UINT(ERROR_LINE_MAX, overhear(say_long, heard, sizeof(heard)));
	TEST_ASSERT_EQUAL_STRING("yyy...\n", heard + ERROR_LINE_MAX - 7);
	overhear(say_sink, heard, sizeof(heard));
	TEST_ASSERT_EQUAL_STRING("pciod[waist]: fatal: robot.yaml:9: wrong\n", heard);
	overhear(say_plain_sink, heard, sizeof(heard));
	TEST_ASSERT_EQUAL_STRING("pciod: --buss: unknown option\n", heard);
}

TEST(a_line_without_room_is_lost_and_does_not_block)
{
	int ends[2], old = dup(STDERR_FILENO);
	char full[4096] = { 0 };

	TEST_ASSERT_EQUAL_INT(0, pipe2(ends, O_NONBLOCK));
	while (write(ends[1], full, sizeof(full)) > 0)
		;
	dup2(ends[1], STDERR_FILENO);
	errno = 0;
	error_say("a", NULL, ERROR_INFO, "lost");
	dup2(old, STDERR_FILENO);
	TEST_ASSERT_EQUAL_INT(0, errno);
	close(ends[0]);
	close(ends[1]);
	close(old);
}

TEST(sink_counts)
{
	struct error_sink only = { 0 };
	struct error_sink *kept = lines_start();

	error_add(&only, "one");
	error_add(&only, "two");
	TEST_ASSERT_EQUAL_UINT(2, only.count);
	error_add(kept, "%s:%d: a\tb", "f", 1);
	error_add(kept, "two");
	TEST_ASSERT_EQUAL_STRING("f:1: a?b\ntwo\n", lines);
	TEST_ASSERT_EQUAL_UINT(2, kept->count);
}
