/* test_log_lines.c: lines of logs: how they end, what is too long, what is counted; and those that are written. */
#include "test/lib/testcase.h"

#include "test/can/log/test_log_lib.h"

void setUp(void)
{
	log_lib_start();
}

void tearDown(void)
{
	log_lib_end();
}

/* ---- lines ---- */

TEST(ends_of_lines)
{
	log_open_text(TIME "vcan0 044#2A\r\n\r\n" TIME "vcan0 044#2B R  \r\n \t\n" TIME "vcan0 044#2C", LOG_STRICT);
	TEST_ASSERT_EQUAL_STRING(TIME "vcan0 044#2A\n" TIME "vcan0 044#2B R\n" TIME "vcan0 044#2C\n", log_rest());
	TEST_ASSERT_EQUAL_UINT64(5, log_got.line);
	TEST_ASSERT_EQUAL_UINT64(5, log_in.line);
	log_close(&log_in);
}

TEST(zero_bytes)
{
	static const char text[] =
		FIRST TIME "vcan0 044#2A\0\n" TIME "vc\0n0 044#2A\n\0\0\0\0\n" TIME "vcan0\0044#2A\n" SECOND;

	TEST_ASSERT_EQUAL_INT(0, log_open(&log_in, log_make_file(text, sizeof(text) - 1), log_formats_all, 0,
					  &log_errors));
	TEST_ASSERT_EQUAL_STRING(FIRST SECOND, log_rest());
	TEST_ASSERT_EQUAL_UINT64(4, log_in.damaged);
	TEST_ASSERT_EQUAL_STRING(FILE_PATH
				 ":2: each byte of data has two digits\n" FILE_PATH
				 ":3: a control character in the interface's name\n" FILE_PATH
				 ":4: not a line of candump -L: it begins with the time in brackets\n" FILE_PATH
				 ":5: a control character in the interface's name\n",
				 log_said);
	log_close(&log_in);
}

/* Longer than a line may be, than the buffer, than two of them; in the middle and at the end. */
TEST(long_lines)
{
	static const size_t lengths[] = { LOG_LINE_MAX + 1, 65000, 65536, 65537, 131072, 200000 };
	static char text[300000];
	const size_t head = sizeof(FIRST) - 1;

	for (size_t i = 0; i < sizeof(lengths) / sizeof(*lengths); i++)
		for (int last = 0; last < 2; last++) {
			size_t len = head + lengths[i];

			log_said[0] = '\0';
			memset(text, '0', sizeof(text));
			memcpy(text, FIRST, head);
			memcpy(text + head, TIME "vcan0 044#", sizeof(TIME "vcan0 044#") - 1);
			if (!last) {
				memcpy(text + len, "\n" SECOND, sizeof(SECOND));
				len += sizeof(SECOND);
			}
			TEST_ASSERT_EQUAL_INT(0, log_open(&log_in, log_make_file(text, len), log_formats_all, 0,
							  &log_errors));
			TEST_ASSERT_EQUAL_STRING(last ? FIRST : FIRST SECOND, log_rest());
			TEST_ASSERT_EQUAL_UINT64(1, log_in.damaged);
			TEST_ASSERT_EQUAL_UINT64(last ? 2 : 3, log_in.line);
			TEST_ASSERT_EQUAL_STRING(FILE_PATH ":2: the line is longer than 512 bytes\n", log_said);
			log_close(&log_in);
		}
}

/* As long as one may be, and a comment of any length. */
TEST(long_enough)
{
	static char text[100000];
	const size_t head = sizeof(FIRST) - 2, tail = sizeof("\n# ") - 1;

	memset(text, ' ', sizeof(text));
	memcpy(text, FIRST, head);
	memcpy(text + LOG_LINE_MAX, "\n# ", tail);
	TEST_ASSERT_EQUAL_INT(0, log_open(&log_in, log_make_file(text, sizeof(text)), log_formats_all, LOG_STRICT,
					  &log_errors));
	TEST_ASSERT_EQUAL_STRING(FIRST, log_rest());
	log_close(&log_in);
	memset(text + LOG_LINE_MAX + tail, 'x', sizeof(text) - LOG_LINE_MAX - tail);
	TEST_ASSERT_EQUAL_INT(0, log_open(&log_in, log_make_file(text, sizeof(text)), log_formats_all, LOG_STRICT,
					  &log_errors));
	TEST_ASSERT_EQUAL_STRING(FIRST, log_rest());
	TEST_ASSERT_EQUAL_UINT64(2, log_in.line);
	log_close(&log_in);
}

/* ---- counts ---- */

TEST(strict)
{
	log_open_text(FIRST "(\n" SECOND, LOG_STRICT);
	TEST_ASSERT_EQUAL_INT(1, log_next(&log_in, &log_got));
	TEST_ASSERT_EQUAL_INT(-EBADMSG, log_next(&log_in, &log_got));
	TEST_ASSERT_EQUAL_INT(-EBADMSG, log_next(&log_in, &log_got));
	TEST_ASSERT_EQUAL_UINT64(2, log_in.line);
	TEST_ASSERT_EQUAL_UINT64(1, log_in.damaged);
	TEST_ASSERT_EQUAL_STRING(FILE_PATH ":2: no time: it is seconds in brackets, such as (1436509052.249713)\n",
				 log_said);
	TEST_ASSERT_EQUAL_INT(0, log_rewind(&log_in));
	TEST_ASSERT_EQUAL_INT(1, log_next(&log_in, &log_got));
	TEST_ASSERT_EQUAL_INT(-EBADMSG, log_next(&log_in, &log_got));
	log_close(&log_in);
	TEST_ASSERT_EQUAL_UINT(1, log_errors.count);
}

/* Told up to a number, counted all, and said once however often it is read. */
TEST(much_damage)
{
	static char text[1 << 16];
	size_t len = (size_t)sprintf(text, FIRST);

	for (int i = 0; i < 5000; i++)
		len += (size_t)sprintf(text + len, "(%d\n", i);
	len += (size_t)sprintf(text + len, SECOND);
	TEST_ASSERT_EQUAL_INT(0, log_open(&log_in, log_make_file(text, len), log_formats_all, 0, &log_errors));
	for (int round = 0; round < 3; round++) {
		TEST_ASSERT_EQUAL_STRING(FIRST SECOND, log_rest());
		TEST_ASSERT_EQUAL_UINT64(5000, log_in.damaged);
		TEST_ASSERT_EQUAL_UINT(21, log_count_lines(log_said));
		TEST_ASSERT_EQUAL_UINT(21, log_errors.count);
		TEST_ASSERT_EQUAL_INT(0, log_rewind(&log_in));
	}
	log_close(&log_in);
	TEST_ASSERT_EQUAL_UINT(21, log_errors.count);
	TEST_ASSERT_NOT_NULL(strstr(log_said, FILE_PATH ":21: no time"));
	TEST_ASSERT_NULL(strstr(log_said, FILE_PATH ":22:"));
	TEST_ASSERT_NOT_NULL(strstr(log_said, "\n" FILE_PATH ": only the first 20 of 5000 damaged lines are listed\n"));
}

/* The summary also comes if the reader stops in the middle. */
TEST(much_damage_and_no_end)
{
	char text[1024] = "";

	for (int i = 0; i < 30; i++)
		strcat(text, "(0\n");
	strcat(text, FIRST "(\n");
	log_open_text(text, 0);
	TEST_ASSERT_EQUAL_INT(1, log_next(&log_in, &log_got));
	TEST_ASSERT_EQUAL_UINT(20, log_errors.count);
	log_close(&log_in);
	TEST_ASSERT_EQUAL_UINT(21, log_errors.count);
	TEST_ASSERT_NOT_NULL(strstr(log_said, "only the first 20 of 30 damaged lines"));
}

TEST(backward)
{
	log_open_text("(5.0) a 001#\n(4.0) a 001#\n(4.0) a 001#\n(6.0) a 001#\n(5.999999) a 001#\n", LOG_STRICT);
	log_rest();
	TEST_ASSERT_EQUAL_UINT64(2, log_in.backward);
	TEST_ASSERT_EQUAL_INT(0, log_rewind(&log_in));
	TEST_ASSERT_EQUAL_UINT64(0, log_in.backward);
	log_rest();
	TEST_ASSERT_EQUAL_UINT64(2, log_in.backward);
	log_close(&log_in);
}

TEST(all_digits_of_time)
{
	log_open_text("(1436509052.123456789) a 001#\n(1.1) a 001#\n(9223372035.9999999999) a 001#\n(0) a 001#\n",
		      LOG_STRICT);
	TEST_ASSERT_EQUAL_INT(1, log_next(&log_in, &log_got));
	TEST_ASSERT_EQUAL_INT64(1436509052123456789, log_got.t_ns);
	TEST_ASSERT_EQUAL_INT(1, log_next(&log_in, &log_got));
	TEST_ASSERT_EQUAL_INT64(1100000000, log_got.t_ns);
	TEST_ASSERT_EQUAL_INT(-EBADMSG, log_next(&log_in, &log_got));
	log_close(&log_in);
	log_open_text(";$FILEVERSION=1.2\n1) 1059.900001 1 Rx 0001 0\n", 0);
	TEST_ASSERT_EQUAL_INT(1, log_next(&log_in, &log_got));
	TEST_ASSERT_EQUAL_INT64(1059900001, log_got.t_ns);
	log_close(&log_in);
}

/* The state of the format is reset as well. */
TEST(rewound)
{
	static const char *const texts[] = {
		"\xEF\xBB\xBF" FIRST SECOND,
		"\357\273\277base dec timestamps relative\n0.5 1 291 Rx d 0\n0.5 1 291 Rx d 0\n",
		";$FILEVERSION=2.0\n;$COLUMNS=N,O,T,I,d,l,D\n1 5 DT 0123 Rx 0\n;$FILEVERSION=1.1\n1) 5 Rx 0123 0\n",
	};

	for (size_t i = 0; i < sizeof(texts) / sizeof(*texts); i++) {
		char first[1024];

		log_open_text(texts[i], LOG_STRICT);
		snprintf(first, sizeof(first), "%s", log_rest());
		TEST_ASSERT_EQUAL_UINT(2, log_count_lines(first));
		TEST_ASSERT_EQUAL_INT(0, log_next(&log_in, &log_got));
		TEST_ASSERT_EQUAL_INT(0, log_rewind(&log_in));
		TEST_ASSERT_EQUAL_STRING(first, log_rest());
		log_close(&log_in);
	}
}

/* ---- written and read ---- */

static struct frame numbered_frame(unsigned int n)
{
	static const uint8_t lengths[] = { 0, 1, 8, 12, 16, 24, 32, 48, 64 };
	struct frame f = { .id = n & FRAME_STD_MASK };

	if (n % 3 == 0)
		f.id = (n * 7919 & FRAME_EXT_MASK) | FRAME_EXT;
	f.len = lengths[n % sizeof(lengths)];
	f.flags = f.len > 8 || n % 5 == 0 ? FRAME_FD : 0;
	for (unsigned int i = 0; i < f.len; i++)
		f.data[i] = (uint8_t)(n + i);
	return f;
}

#define MANY 50000

/* Much more than the buffer, so that lines lie across its end in every way. */
TEST(many_lines)
{
	static char text[MANY * 200];
	size_t len = 0;

	for (unsigned int n = 0; n < MANY; n++) {
		struct frame f = numbered_frame(n);

		len += log_write_line(text + len, (int64_t)n * 1001000, n % 2 ? "can0" : "vcan10", &f);
	}
	TEST_ASSERT_EQUAL_INT(0, log_open(&log_in, log_make_file(text, len), log_formats_all, LOG_STRICT, &log_errors));
	for (unsigned int n = 0; n < MANY; n++) {
		struct frame f = numbered_frame(n);

		TEST_ASSERT_EQUAL_INT(1, log_next(&log_in, &log_got));
		TEST_ASSERT_EQUAL_INT64((int64_t)n * 1001000, log_got.t_ns);
		TEST_ASSERT_EQUAL_STRING(n % 2 ? "can0" : "vcan10", log_got.bus);
		TEST_ASSERT_EQUAL_MEMORY(&f, &log_got.frame, sizeof(f));
		TEST_ASSERT_EQUAL_UINT64(n + 1, log_got.line);
	}
	TEST_ASSERT_EQUAL_INT(0, log_next(&log_in, &log_got));
	TEST_ASSERT_EQUAL_INT(0, log_next(&log_in, &log_got));
	TEST_ASSERT_EQUAL_UINT64(0, log_in.backward);
	log_close(&log_in);
}

TEST(written)
{
	struct frame f = { .id = 0x123, .len = 2, .data = { 0xAB, 0xCD } };
	char text[LOG_WRITE_MAX];
	const size_t len = log_write_line(text, 1436509052249713999, "can0", &f);

	TEST_ASSERT_EQUAL_STRING("(1436509052.249713) can0 123#ABCD\n", text);
	TEST_ASSERT_EQUAL_size_t(strlen(text), len);
	log_write_line(text, 1000, " can0", &f);
	TEST_ASSERT_EQUAL_STRING("(0000000000.000001)  can0 123#ABCD\n", text);
	log_write_line(text, -1, "can0", &f);
	TEST_ASSERT_EQUAL_STRING("(0000000000.000000) can0 123#ABCD\n", text);
	f.flags = FRAME_FD;
	f.id |= FRAME_EXT;
	f.len = 64;
	TEST_ASSERT_LESS_THAN_size_t(LOG_WRITE_MAX, log_write_line(text, INT64_MAX, "abcdefghijklmnopqrst", &f));
	TEST_ASSERT_EQUAL_STRING_LEN("(9223372036.854775) abcdefghijklmno 00000123##4ABCD00", text, 53);
}

TEST(losses)
{
	char text[4 * LOG_WRITE_MAX];
	size_t len = log_write_loss(text, "can0", 12);

	TEST_ASSERT_EQUAL_STRING("# can0: 12 frames lost\n", text);
	TEST_ASSERT_EQUAL_size_t(strlen(text), len);
	len += log_write_loss(text + len, "  can1", 1);
	len += log_write_loss(text + len, "abcdefghijklmnopqrst", UINT64_MAX - 20);
	log_open_text(text, LOG_STRICT);
	TEST_ASSERT_EQUAL_STRING("", log_rest());
	TEST_ASSERT_EQUAL_UINT64(UINT64_MAX - 20 + 13, log_in.lost);
	log_close(&log_in);
	log_write_loss(text + len, "can0", 100);
	log_open_text(text, LOG_STRICT);
	log_rest();
	TEST_ASSERT_EQUAL_UINT64(UINT64_MAX, log_in.lost); /* as many as there can be */
	log_close(&log_in);
	log_open_text("# can0: 1x frames lost\n# can0: 99999999999999999999 frames lost\n# 5 frames lost\n",
		      LOG_STRICT);
	log_rest();
	TEST_ASSERT_EQUAL_UINT64(0, log_in.lost);
	log_close(&log_in);
}
