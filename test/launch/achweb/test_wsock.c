/* test_wsock.c: frames of a WebSocket, in pieces of every size, and bad ones. */
#include "test/lib/testcase.h"

#include <sys/mman.h>
#include <unistd.h>

#include "launch/achweb/wsock.h"

static uint8_t sent[70000];
static size_t sent_len;
static struct wsock in;

/* A masked frame behind the others. */
static void frame(unsigned int first, const void *payload, size_t len)
{
	static const uint8_t mask[4] = { 0x37, 0xFA, 0x21, 0x3D };
	uint8_t *to = sent + sent_len;
	size_t head = 2;

	to[0] = (uint8_t)first;
	to[1] = (uint8_t)(0x80 | (len < 126 ? len : len < 65536 ? 126 : 127));
	for (int i = len < 126 ? 0 : len < 65536 ? 2 : 8; i > 0; i--)
		to[head++] = (uint8_t)((uint64_t)len >> 8 * (i - 1));
	memcpy(to + head, mask, 4);
	for (size_t i = 0; i < len; i++)
		to[head + 4 + i] = ((const uint8_t *)payload)[i] ^ mask[i % 4];
	sent_len += head + 4 + len;
}

static void begin(void)
{
	sent_len = 0;
	memset(&in, 0, sizeof(in));
}

/* The next thing, given at most piece bytes at a time. */
static enum wsock_got next(size_t *at, size_t piece)
{
	while (*at < sent_len) {
		const size_t n = sent_len - *at < piece ? sent_len - *at : piece;
		size_t taken;
		const enum wsock_got got = wsock_read(&in, sent + *at, n, &taken);

		*at += taken;
		TEST_ASSERT_TRUE(got != WSOCK_MORE || taken == n);
		if (got != WSOCK_MORE)
			return got;
	}
	return WSOCK_MORE;
}

TEST(messages_arrive_in_pieces_of_any_size)
{
	for (size_t piece = 1; piece < 40; piece++) {
		size_t at = 0;

		begin();
		frame(0x81, "hello", 5);
		frame(0x82, "", 0);
		frame(0x01, "a", 1);
		frame(0x89, "ping", 4);
		frame(0x00, "b", 1);
		frame(0x8A, "", 0);
		frame(0x80, "c", 1);
		frame(0x88, "\x03\xE8", 2);
		TEST_ASSERT_EQUAL_INT(WSOCK_TEXT, next(&at, piece));
		TEST_ASSERT_EQUAL_STRING("hello", in.text);
		TEST_ASSERT_EQUAL_UINT(5, in.len);
		TEST_ASSERT_EQUAL_INT(WSOCK_BINARY, next(&at, piece));
		TEST_ASSERT_EQUAL_UINT(0, in.len);
		TEST_ASSERT_EQUAL_INT(WSOCK_PING, next(&at, piece));
		TEST_ASSERT_EQUAL_UINT(4, in.control_len);
		TEST_ASSERT_EQUAL_MEMORY("ping", in.control, 4);
		TEST_ASSERT_EQUAL_INT(WSOCK_PONG, next(&at, piece));
		TEST_ASSERT_EQUAL_UINT(0, in.control_len);
		TEST_ASSERT_EQUAL_INT(WSOCK_TEXT, next(&at, piece));
		TEST_ASSERT_EQUAL_STRING("abc", in.text);
		TEST_ASSERT_EQUAL_INT(WSOCK_CLOSE, next(&at, piece));
		TEST_ASSERT_EQUAL_INT(WSOCK_MORE, next(&at, piece));
	}
}

TEST(messages_of_every_length_up_to_the_longest)
{
	static const size_t lengths[] = { 1, 125, 126, 127, 4096, WSOCK_TEXT_MAX };
	static char text[WSOCK_TEXT_MAX];

	memset(text, 'x', sizeof(text));
	for (size_t i = 0; i < sizeof(lengths) / sizeof(*lengths); i++) {
		size_t at = 0;

		begin();
		frame(0x81, text, lengths[i]);
		TEST_ASSERT_EQUAL_INT(WSOCK_TEXT, next(&at, 1000));
		TEST_ASSERT_EQUAL_UINT(lengths[i], in.len);
		TEST_ASSERT_EQUAL_MEMORY(text, in.text, lengths[i]);
	}
}

static void expect_bad(uint16_t code, const char *what)
{
	size_t at = 0, taken;
	enum wsock_got got;

	while ((got = next(&at, 7)) != WSOCK_BAD && got != WSOCK_MORE)
		;
	TEST_ASSERT_EQUAL_INT_MESSAGE(WSOCK_BAD, got, what);
	TEST_ASSERT_EQUAL_UINT_MESSAGE(code, in.close, what);
	TEST_ASSERT_EQUAL_INT(WSOCK_BAD, wsock_read(&in, "x", 1, &taken));
	TEST_ASSERT_EQUAL_UINT(0, taken);
}

TEST(frames_against_the_protocol_end_the_connection)
{
	static const struct {
		unsigned int first;
		size_t len;
		uint16_t code;
		const char *what;
	} cases[] = {
		{ 0xC1, 1, 1002, "an extension" },
		{ 0xA1, 1, 1002, "the second reserved bit" },
		{ 0x91, 1, 1002, "the third reserved bit" },
		{ 0x83, 1, 1002, "an unknown opcode" },
		{ 0x87, 1, 1002, "an unknown opcode" },
		{ 0x8B, 1, 1002, "an unknown control opcode" },
		{ 0x09, 1, 1002, "a ping in pieces" },
		{ 0x89, 126, 1002, "a long ping" },
		{ 0x80, 1, 1002, "the rest of no message" },
		{ 0x81, WSOCK_TEXT_MAX + 1, 1009, "a message that is too long" },
		{ 0x82, 66000, 1009, "a message that is far too long" },
	};
	static char payload[66000];

	memset(payload, 'x', sizeof(payload));
	for (size_t i = 0; i < sizeof(cases) / sizeof(*cases); i++) {
		begin();
		frame(cases[i].first, payload, cases[i].len);
		expect_bad(cases[i].code, cases[i].what);
	}
	begin();
	frame(0x81, "x", 1);
	sent[1] &= 0x7F;
	expect_bad(1002, "a frame without a mask");
	begin();
	frame(0x01, "x", 1);
	frame(0x81, "x", 1);
	expect_bad(1002, "a message inside of another");
	begin();
	frame(0x01, payload, WSOCK_TEXT_MAX);
	frame(0x80, "x", 1);
	expect_bad(1009, "pieces that are too long together");
	begin();
	frame(0x81, "\xC3", 1);
	expect_bad(1007, "not UTF-8");
	begin();
	frame(0x82, "x", 1);
	memcpy(sent + 1, "\xFF\xFF\xFF\xFF\xFF\xFF\xFF\xFF\xFF\x01\x02\x03\x04", 13);
	sent_len = 14;
	expect_bad(1009, "a length of 64 bits");
}

TEST(a_ping_of_the_greatest_length_is_read)
{
	static char payload[WSOCK_CONTROL_MAX];
	size_t at = 0;

	begin();
	frame(0x89, payload, sizeof(payload));
	TEST_ASSERT_EQUAL_INT(WSOCK_PING, next(&at, 1000));
	TEST_ASSERT_EQUAL_UINT(WSOCK_CONTROL_MAX, in.control_len);
}

TEST(a_short_message_may_have_a_length_of_64_bits)
{
	size_t at = 0;

	begin();
	memcpy(sent, "\x82\xFF\0\0\0\0\0\0\0\x03\0\0\0\0abc", 17);
	sent_len = 17;
	TEST_ASSERT_EQUAL_INT(WSOCK_BINARY, next(&at, 1));
	TEST_ASSERT_EQUAL_STRING("abc", in.text);
	TEST_ASSERT_EQUAL_UINT(17, at);
}

TEST(text_of_several_bytes_a_character_is_read)
{
	size_t at = 0;

	begin();
	frame(0x81, "\xC3\xA9\xE2\x82\xAC", 5);
	TEST_ASSERT_EQUAL_INT(WSOCK_TEXT, next(&at, 1));
	TEST_ASSERT_EQUAL_STRING("\xC3\xA9\xE2\x82\xAC", in.text);
}

TEST(headers_of_every_length)
{
	static const struct {
		size_t len, head;
		const char *bytes;
	} cases[] = {
		{ 0, 2, "\x81\x00" },
		{ 125, 2, "\x81\x7D" },
		{ 126, 4, "\x81\x7E\x00\x7E" },
		{ 65535, 4, "\x81\x7E\xFF\xFF" },
		{ 65536, 10, "\x81\x7F\x00\x00\x00\x00\x00\x01\x00\x00" },
	};
	uint8_t header[WSOCK_HEADER_MAX];

	for (size_t i = 0; i < sizeof(cases) / sizeof(*cases); i++) {
		TEST_ASSERT_EQUAL_UINT(cases[i].head, wsock_header(header, WSOCK_OP_TEXT, cases[i].len));
		TEST_ASSERT_EQUAL_MEMORY(cases[i].bytes, header, cases[i].head);
	}
	wsock_header(header, WSOCK_OP_CLOSE, 2);
	TEST_ASSERT_EQUAL_HEX8(0x88, header[0]);
}

/* Behind the bytes of every call begins a page without access. */
TEST(no_byte_behind_the_input_is_read)
{
	const size_t page = (size_t)sysconf(_SC_PAGESIZE);
	uint8_t *two = mmap(NULL, 2 * page, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

	TEST_ASSERT_TRUE(two != MAP_FAILED);
	TEST_ASSERT_EQUAL_INT(0, mprotect(two + page, page, PROT_NONE));
	for (size_t piece = 1; piece < 30; piece++) {
		unsigned int got = 0;

		begin();
		frame(0x81, "hello", 5);
		frame(0x89, "", 0);
		frame(0x01, "abc", 3);
		frame(0x8A, "0123456789", 10);
		frame(0x80, "d", 1);
		for (size_t at = 0, taken; at < sent_len; at += taken) {
			const size_t n = sent_len - at < piece ? sent_len - at : piece;
			uint8_t *bytes = two + page - n;

			memcpy(bytes, sent + at, n);
			got += wsock_read(&in, bytes, n, &taken) != WSOCK_MORE;
		}
		TEST_ASSERT_EQUAL_UINT(4, got);
	}
	munmap(two, 2 * page);
}

/* The longest message and the longest ping fill their places, and change nothing behind them. */
TEST(the_longest_fit_exactly)
{
	static char text[WSOCK_TEXT_MAX];
	size_t at = 0;

	memset(text, 'x', sizeof(text));
	begin();
	frame(0x81, text, sizeof(text));
	frame(0x89, text, WSOCK_CONTROL_MAX);
	in.control[0] = 0x5A;
	TEST_ASSERT_EQUAL_INT(WSOCK_TEXT, next(&at, sent_len));
	TEST_ASSERT_EQUAL_UINT(sizeof(text), in.len);
	TEST_ASSERT_EQUAL_UINT8(0, in.text[WSOCK_TEXT_MAX]);
	TEST_ASSERT_EQUAL_UINT8(0x5A, in.control[0]);
	TEST_ASSERT_EQUAL_INT(WSOCK_PING, next(&at, sent_len));
	TEST_ASSERT_EQUAL_UINT(WSOCK_CONTROL_MAX, in.control_len);
}
