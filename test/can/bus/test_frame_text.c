/* test_frame_text.c: frames as text, and back. */
#include "test/lib/testcase.h"

#include "can/bus/frame_text.h"

#define FD FRAME_FD
#define BYTES_8 0x11, 0x22, 0x33, 0x44, 0x55, 0x66, 0x77, 0x88

/* ---- what candump writes: the same text and the same frame, both ways ---- */

static const struct {
	const char *text;
	struct frame frame;
} exact[] = {
	{ "123#", { .id = 0x123 } },
	{ "000#00", { .id = 0, .len = 1 } },
	{ "7FF#DEADBEEF", { .id = 0x7FF, .len = 4, .data = { 0xDE, 0xAD, 0xBE, 0xEF } } },
	{ "123#1122334455667788", { .id = 0x123, .len = 8, .data = { BYTES_8 } } },
	{ "00000123#11", { .id = 0x123 | FRAME_EXT, .len = 1, .data = { 0x11 } } },
	{ "1FFFFFFF#", { .id = 0x1FFFFFFF | FRAME_EXT } },
	{ "123#R", { .id = 0x123 | FRAME_RTR } },
	{ "123#R1", { .id = 0x123 | FRAME_RTR, .len = 1 } },
	{ "00000000#R8", { .id = FRAME_EXT | FRAME_RTR, .len = 8 } },
	{ "123#1122334455667788_9", { .id = 0x123, .len = 8, .dlc = 9, .data = { BYTES_8 } } },
	{ "123#1122334455667788_F", { .id = 0x123, .len = 8, .dlc = 15, .data = { BYTES_8 } } },
	{ "123#R8_E", { .id = 0x123 | FRAME_RTR, .len = 8, .dlc = 14 } },
	{ "20000040#0000000000000000", { .id = 0x40 | FRAME_ERR, .len = 8 } },
	{ "3FFFFFFF#1122334455667788", { .id = 0x1FFFFFFF | FRAME_ERR, .len = 8, .data = { BYTES_8 } } },
	{ "123##4", { .id = 0x123, .flags = FD } },
	{ "123##51122", { .id = 0x123, .flags = FD | FRAME_BRS, .len = 2, .data = { 0x11, 0x22 } } },
	{ "12345678##6", { .id = 0x12345678 | FRAME_EXT, .flags = FD | FRAME_ESI } },
	{ "123##7112233445566778899AABBCC",
	  { .id = 0x123,
	    .flags = FD | FRAME_BRS | FRAME_ESI,
	    .len = 12,
	    .data = { BYTES_8, 0x99, 0xAA, 0xBB, 0xCC } } },
};

TEST(exact_texts)
{
	for (size_t i = 0; i < sizeof(exact) / sizeof(*exact); i++) {
		char text[FRAME_TEXT_MAX];
		struct frame f;
		const char *wrong = frame_text_read(&f, exact[i].text, strlen(exact[i].text));

		TEST_ASSERT_NULL_MESSAGE(wrong, exact[i].text);
		TEST_ASSERT_EQUAL_MEMORY_MESSAGE(&exact[i].frame, &f, sizeof(f), exact[i].text);
		TEST_ASSERT_EQUAL_size_t(strlen(exact[i].text), frame_text_write(text, &f));
		TEST_ASSERT_EQUAL_STRING(exact[i].text, text);
	}
}

/* ---- what people write, and how candump writes the same ---- */

static const char *const loose[][2] = {
	{ "7ff#deadBEEF", "7FF#DEADBEEF" },
	{ "1abcdef0#", "1ABCDEF0#" },
	{ "123#r", "123#R" },
	{ "123#R0", "123#R" },
	{ "123#r4", "123#R4" },
	{ "123#1122334455667788_e", "123#1122334455667788_E" },
	{ "123#11.22.33", "123#112233" },
	{ "123#11.2233.44556677.88", "123#1122334455667788" },
	{ "123#.11", "123#11" },
	{ "123#11.", "123#11" },
	{ "123#11.22.33.44.55.66.77.88._A", "123#1122334455667788_A" },
	{ "123##0", "123##4" },
	{ "123##311.22", "123##71122" },
	{ "123##1", "123##5" },
};

TEST(loose_texts)
{
	for (size_t i = 0; i < sizeof(loose) / sizeof(*loose); i++) {
		char text[FRAME_TEXT_MAX];
		struct frame f;

		TEST_ASSERT_NULL_MESSAGE(frame_text_read(&f, loose[i][0], strlen(loose[i][0])), loose[i][0]);
		TEST_ASSERT_TRUE(frame_valid(&f));
		frame_text_write(text, &f);
		TEST_ASSERT_EQUAL_STRING(loose[i][1], text);
	}
}

/* ---- what is wrong, and what is said of it ---- */

#define NO_HASH "there is no # after the identifier"
#define NO_ID "an identifier is hexadecimal digits, then #"
#define DIGITS "an identifier has 3 or 8 digits"
#define ID_11 "an 11-bit identifier is at most 7FF, one of 29 bits has 8 digits"
#define ID_29 "a 29-bit identifier is at most 1FFFFFFF"
#define ODD "each byte of data has two digits"
#define NO_HEX "data is hexadecimal, two digits for each byte"
#define LONG "a classic frame has at most 8 bytes, ## begins one of CAN FD"
#define FLAGS "a digit of flags, 0 to 7, must follow ##"
#define NO_LEN "CAN FD has no such length: 0 to 8, 12, 16, 20, 24, 32, 48 or 64 bytes"
#define REMOTE "the number of bytes asked for, 0 to 8, must follow R"
#define CODE "a length code, 9 to F, must follow _"
#define CODE_LEN "only a frame of 8 bytes has a length code after _"

#define HEX_16 "00112233445566778899AABBCCDDEEFF"

static const char *const bad[][2] = {
	{ "", NO_HASH },
	{ "123", NO_HASH },
	{ "#11", DIGITS },
	{ "12#11", DIGITS },
	{ "1234#11", DIGITS },
	{ "1234567#11", DIGITS },
	{ "123456789#11", DIGITS },
	{ "G12#11", NO_ID },
	{ " 123#11", NO_ID },
	{ "0x123#11", NO_ID },
	{ "800#11", ID_11 },
	{ "FFF#11", ID_11 },
	{ "40000000#11", ID_29 },
	{ "80000123#11", ID_29 },
	{ "FFFFFFFF#11", ID_29 },
	{ "123#1", ODD },
	{ "123#112", ODD },
	{ "123#1.2", NO_HEX },
	{ "123#11..22", NO_HEX },
	{ "123# 11", NO_HEX },
	{ "123#11 ", ODD },
	{ "123#11 22", NO_HEX },
	{ "123#GG", NO_HEX },
	{ "123#1G", NO_HEX },
	{ "123#G1", NO_HEX },
	{ "123#112233445566778899", LONG },
	{ "123#1122334455667788.99", LONG },
	{ "123#R9", REMOTE },
	{ "123#RA", REMOTE },
	{ "123#R.", REMOTE },
	{ "123#R11", "there is something after the frame" },
	{ "123#R4foo", "there is something after the frame" },
	{ "123#1122334455667788_", CODE },
	{ "123#1122334455667788_8", CODE },
	{ "123#1122334455667788_0", CODE },
	{ "123#1122334455667788_G", CODE },
	{ "123#1122334455667788_EE", CODE },
	{ "123#11223344556677_E", CODE_LEN },
	{ "123#R_E", CODE_LEN },
	{ "123#R7_E", CODE_LEN },
	{ "20000040#00", "an error frame has 8 bytes, or none" },
	{ "20000040#00000000000000", "an error frame has 8 bytes, or none" },
	{ "20000040#R", "an error frame is never remote" },
	{ "20000040##0", "an error frame has one #" },
	{ "123##", FLAGS },
	{ "123##8", FLAGS },
	{ "123##F11", FLAGS },
	{ "123##G11", FLAGS },
	{ "123##.11", FLAGS },
	{ "123##01", ODD },
	{ "123##0112233445566778899", NO_LEN },
	{ "123##0" HEX_16 "00", NO_LEN },
	{ "123##0" HEX_16 HEX_16 HEX_16 HEX_16 "00", "a frame of CAN FD has at most 64 bytes" },
	{ "123##01122334455667788_E", "only a classic frame has a length code after _" },
};

TEST(bad_texts)
{
	for (size_t i = 0; i < sizeof(bad) / sizeof(*bad); i++) {
		struct frame f;
		const char *wrong = frame_text_read(&f, bad[i][0], strlen(bad[i][0]));

		TEST_ASSERT_NOT_NULL_MESSAGE(wrong, bad[i][0]);
		TEST_ASSERT_EQUAL_STRING_MESSAGE(bad[i][1], wrong, bad[i][0]);
	}
}

/* The text ends where its length says, whatever follows. */
TEST(only_what_is_given)
{
	struct frame f;

	TEST_ASSERT_NULL(frame_text_read(&f, "123#1122", 4));
	TEST_ASSERT_EQUAL_UINT8(0, f.len);
	TEST_ASSERT_NULL(frame_text_read(&f, "123#1122", 6));
	TEST_ASSERT_EQUAL_UINT8(1, f.len);
	TEST_ASSERT_EQUAL_STRING(ODD, frame_text_read(&f, "123#1122", 5));
	TEST_ASSERT_EQUAL_STRING(NO_HASH, frame_text_read(&f, "123#1122", 3));
	TEST_ASSERT_EQUAL_STRING(NO_HASH, frame_text_read(&f, "1234#", 3));
	TEST_ASSERT_EQUAL_STRING(FLAGS, frame_text_read(&f, "123##411", 5));
	TEST_ASSERT_EQUAL_STRING(CODE, frame_text_read(&f, "123#R8_E", 7));
	TEST_ASSERT_EQUAL_STRING(NO_HEX, frame_text_read(&f, "123#\0\0", 6));
}

/* ---- all frames ---- */

static struct frame random_frame(void)
{
	static const uint8_t lengths[] = { 0, 1, 2, 3, 4, 5, 6, 7, 8, 12, 16, 20, 24, 32, 48, 64 };
	struct frame f = { 0 };

	f.id = (uint32_t)rand() & FRAME_STD_MASK;
	if (rand() % 2)
		f.id = ((uint32_t)rand() & FRAME_EXT_MASK) | FRAME_EXT;
	switch (rand() % 4) {
	case 0:
		f.flags = (uint8_t)(FD | rand() % 4);
		f.len = lengths[rand() % 16];
		break;
	case 1:
		f.id = ((uint32_t)rand() & FRAME_EXT_MASK) | FRAME_ERR;
		f.len = 8;
		break;
	case 2:
		f.id |= FRAME_RTR;
		f.len = (uint8_t)(rand() % 9);
		break;
	default:
		f.len = (uint8_t)(rand() % 9);
	}
	if (f.len == 8 && !f.flags && rand() % 2)
		f.dlc = (uint8_t)(9 + rand() % 7);
	for (unsigned int i = 0; i < frame_data_len(&f); i++)
		f.data[i] = (uint8_t)rand();
	return f;
}

TEST(there_and_back)
{
	for (int i = 0; i < 100000; i++) {
		struct frame f = random_frame(), back;
		char text[FRAME_TEXT_MAX];
		size_t len = frame_text_write(text, &f);

		TEST_ASSERT_TRUE(frame_valid(&f));
		TEST_ASSERT_EQUAL_size_t(strlen(text), len);
		TEST_ASSERT_NULL_MESSAGE(frame_text_read(&back, text, len), text);
		TEST_ASSERT_EQUAL_MEMORY_MESSAGE(&f, &back, sizeof(f), text);
	}
}

/* One that cannot be is written as far as it goes, and within its room. */
TEST(frames_that_cannot_be)
{
	struct frame f = { .id = 0xFFFFFFFF, .len = 255, .flags = 0xFF, .dlc = 255, .data = { 0x11 } };
	char text[FRAME_TEXT_MAX];

	TEST_ASSERT_EQUAL_size_t(8 + 3 + 128, frame_text_write(text, &f));
	TEST_ASSERT_EQUAL_STRING_LEN("3FFFFFFF##F1100", text, 15);
	f.flags = 0;
	frame_text_write(text, &f);
	TEST_ASSERT_EQUAL_STRING("3FFFFFFF#R8", text);
	f.id = 0x1234;
	frame_text_write(text, &f);
	TEST_ASSERT_EQUAL_STRING("234#1100000000000000", text);
	f.id = 0x123;
	f.len = 1;
	f.dlc = 9;
	frame_text_write(text, &f);
	TEST_ASSERT_EQUAL_STRING("123#11", text);
	f.len = f.dlc = 8;
	frame_text_write(text, &f);
	TEST_ASSERT_EQUAL_STRING("123#1100000000000000", text);
}

TEST(digits)
{
	for (int c = 0; c < 256; c++) {
		const char *all = "0123456789ABCDEFabcdef", *at = c ? strchr(all, c) : NULL;
		int value = at ? (int)(at - all) : FRAME_TEXT_NO_DIGIT;

		TEST_ASSERT_EQUAL_INT(at && value > 15 ? value - 6 : value, frame_text_digits[c]);
	}
}

TEST(identifiers_alone)
{
	static const struct {
		const char *text;
		bool valid;
		uint32_t id;
	} rows[] = {
		{ "123", true, 0x123 },
		{ "0ef", true, 0x0ef },
		{ "7FF", true, 0x7ff },
		{ "800", false, 0 },
		{ "00012345", true, 0x12345 | FRAME_EXT },
		{ "1FFFFFFF", true, 0x1fffffff | FRAME_EXT },
		{ "20000040", false, 0 },
		{ "", false, 0 },
		{ "12", false, 0 },
		{ "123#", false, 0 },
		{ "123#11", false, 0 },
		{ "123##4", false, 0 },
		{ "0123456789ABCDEF0123", false, 0 },
	};

	for (size_t i = 0; i < sizeof(rows) / sizeof(*rows); i++) {
		uint32_t id = 0;

		TEST_ASSERT_EQUAL_MESSAGE(rows[i].valid, frame_text_read_id(rows[i].text, &id), rows[i].text);
		TEST_ASSERT_EQUAL_HEX32_MESSAGE(rows[i].id, id, rows[i].text);
	}
}
