/* test_robotiq.c: the codec of the Robotiq gripper says the vectors of its page. */
#include <math.h>

#include "can/bus/frame_text.h"
#include "can/canopen/sdo.h"
#include "daemons/robotiq/robotiq.h"
#include "test/daemons/drv/page_lib.h"
#include "test/lib/testcase.h"

#define PAGE "hw-docs/devices/robotiq.md"

static void say_frame(char *said, const struct frame *frame)
{
	TEST_ASSERT_TRUE(frame_valid(frame));
	frame_text_write(said, frame);
}

/* Numbers of a line, of this base. */
static unsigned int numbers(const char *words, unsigned int *to, unsigned int max, int base)
{
	unsigned int n = 0;
	char *end;

	for (; n < max; words = end, n++) {
		to[n] = (unsigned int)strtoul(words, &end, base);
		if (end == words)
			break;
	}
	return n;
}

static void say_read(char said[PAGE_LIB_TEXT], char *words)
{
	unsigned int node, upload, reg;
	struct frame frame;

	memset(&frame, 0x5A, sizeof(frame));
	TEST_ASSERT_EQUAL(3, sscanf(words, "%u %x %u", &node, &upload, &reg));
	robotiq_read(&frame, node, (uint8_t)upload, (uint8_t)reg);
	say_frame(said, &frame);
}

static void say_write(char said[PAGE_LIB_TEXT], char *words)
{
	unsigned int node, reg, value;
	struct frame frame;

	memset(&frame, 0x5A, sizeof(frame));
	TEST_ASSERT_EQUAL(3, sscanf(words, "%u %u %u", &node, &reg, &value));
	robotiq_write(&frame, node, (uint8_t)reg, (uint8_t)value);
	say_frame(said, &frame);
}

static void say_reply(char said[PAGE_LIB_TEXT], char *words)
{
	char asked[64], got[64];
	struct frame request, reply;
	uint32_t code, value;

	TEST_ASSERT_EQUAL(2, sscanf(words, "%63s %63s", asked, got));
	request = page_lib_read(asked);
	reply = page_lib_read(got);
	code = sdo_reply(&request, &reply, &value);
	if (code == SDO_NOT_A_REPLY)
		strcpy(said, "EBADMSG");
	else if (code)
		sprintf(said, "EREMOTEIO %08X", code);
	else if (request.data[0] == 0x2F)
		strcpy(said, "written");
	else
		sprintf(said, "%u", (uint8_t)value);
}

static void say_state(char said[PAGE_LIB_TEXT], char *words)
{
	unsigned int in[15], n;
	uint8_t r[ROBOTIQ_REGISTERS] = { 0xFF };
	struct {
		struct robotiq_state s;
		uint8_t behind[sizeof(struct robotiq_state)];
	} to;
	struct robotiq_state s;

	memset(&to, 0x5A, sizeof(to));
	TEST_ASSERT_EQUAL(15, numbers(words, in, 15, 16));
	for (unsigned int i = 0; i < 15; i++)
		r[i + 1] = (uint8_t)in[i];
	robotiq_decode(&to.s, r);
	TEST_ASSERT_EACH_EQUAL_HEX8(0x5A, to.behind, sizeof(to.behind));
	s = to.s;
	n = (unsigned int)sprintf(said, "%d %d %d %d %d %d", s.active, s.go, s.mode, s.phase, s.motion, s.fault);
	for (unsigned int i = 0; i < ROBOTIQ_FINGERS; i++)
		n += (unsigned int)sprintf(said + n, " %d %d %d %d", s.finger[i].stop, s.finger[i].requested,
					   s.finger[i].position, s.finger[i].current);
	TEST_ASSERT_EQUAL_HEX8(r[1] & 0x0F, robotiq_echo(&s));
}

static void say_command(char said[PAGE_LIB_TEXT], char *words)
{
	unsigned int in[18];
	uint8_t r[ROBOTIQ_REGISTERS + 3];
	struct robotiq_command c;

	memset(r, 0x5A, sizeof(r));
	TEST_ASSERT_EQUAL(18, numbers(words, in, 18, 10));
	c = (struct robotiq_command){ .active = in[0],
				      .go = in[1],
				      .release = in[2],
				      .mode = (enum robotiq_mode)in[3],
				      .fingers = in[4],
				      .scissor = in[5] };
	for (unsigned int i = 0; i < ROBOTIQ_FINGERS; i++) {
		c.finger[i].position = (uint8_t)in[6 + 3 * i];
		c.finger[i].speed = (uint8_t)in[7 + 3 * i];
		c.finger[i].force = (uint8_t)in[8 + 3 * i];
	}
	robotiq_encode(&c, r);
	for (unsigned int i = 1; i < ROBOTIQ_REGISTERS; i++)
		sprintf(said + 3 * (i - 1), "%02X%s", r[i], i < 15 ? " " : "");
	TEST_ASSERT_EQUAL_HEX8(0x5A, r[0]);
	TEST_ASSERT_EACH_EQUAL_HEX8(0x5A, r + ROBOTIQ_REGISTERS, 3);
}

static void say_pdo(char said[PAGE_LIB_TEXT], char *words)
{
	unsigned int in[15], node;
	uint8_t r[ROBOTIQ_REGISTERS] = { 0x5A };
	struct frame frame;
	int n;

	memset(&frame, 0x5A, sizeof(frame));
	TEST_ASSERT_EQUAL(1, sscanf(words, "%u%n", &node, &n));
	TEST_ASSERT_EQUAL(15, numbers(words + n, in, 15, 16));
	for (unsigned int i = 0; i < 15; i++)
		r[i + 1] = (uint8_t)in[i];
	robotiq_encode_pdo(&frame, node, r);
	say_frame(said, &frame);
}

TEST(the_pages_vectors)
{
	static const struct {
		const char *word;
		void (*say)(char said[PAGE_LIB_TEXT], char *words);
	} kinds[] = { { "read", say_read },   { "write", say_write },	  { "reply", say_reply },
		      { "state", say_state }, { "command", say_command }, { "pdo", say_pdo } };
	unsigned int vectors = 0;

	for (unsigned int i = 0; i < sizeof(kinds) / sizeof(*kinds); i++)
		vectors += page_lib_each(PAGE, kinds[i].word, kinds[i].say);
	TEST_ASSERT_EQUAL(34, vectors);
}

TEST(shares_are_ticks)
{
	static const struct {
		double share;
		int status;
		uint8_t ticks;
	} rows[] = { { 0, 0, 0 },
		     { 1, 0, 255 },
		     { 0.5, 0, 128 },
		     { 0.001, 0, 0 },
		     { 1.5 / 255, 0, 2 },
		     { 254.4 / 255, 0, 254 },
		     { NAN, -EDOM, 77 },
		     { -1e-9, -ERANGE, 77 },
		     { 1.0000001, -ERANGE, 77 },
		     { INFINITY, -ERANGE, 77 },
		     { -INFINITY, -ERANGE, 77 } };

	for (unsigned int i = 0; i < sizeof(rows) / sizeof(*rows); i++) {
		uint8_t ticks = 77;

		TEST_ASSERT_EQUAL(rows[i].status, robotiq_share(rows[i].share, &ticks));
		TEST_ASSERT_EQUAL(rows[i].ticks, ticks);
	}
}

TEST(tpdos_are_halves_of_an_image)
{
	struct frame frame = page_lib_read("18B#0102030405060708");
	uint8_t r[ROBOTIQ_REGISTERS + 1];

	memset(r, 0x5A, sizeof(r));
	TEST_ASSERT_EQUAL(0, robotiq_decode_pdo(r, &frame, true));
	TEST_ASSERT_EQUAL_HEX8(0x5A, r[0]);
	TEST_ASSERT_EQUAL_HEX8(0x5A, r[9]);
	frame = page_lib_read("28B#090A0B0C0D0E0F00");
	TEST_ASSERT_EQUAL(0, robotiq_decode_pdo(r, &frame, false));
	for (unsigned int i = 1; i < ROBOTIQ_REGISTERS; i++)
		TEST_ASSERT_EQUAL(i, r[i]);
	TEST_ASSERT_EQUAL_HEX8(0x5A, r[ROBOTIQ_REGISTERS]);
	frame = page_lib_read("28B#FFFFFFFFFFFFFF");
	TEST_ASSERT_EQUAL(-EMSGSIZE, robotiq_decode_pdo(r, &frame, false));
	TEST_ASSERT_EQUAL(-EMSGSIZE, robotiq_decode_pdo(r, &frame, true));
	TEST_ASSERT_EQUAL(9, r[9]);
	TEST_ASSERT_EQUAL(1, r[1]);
}

/* As in the table of the page. */
TEST(faults_and_what_clears_them)
{
	static const char clears[] = "-iiii---" /* 0 to 7 */
				     "iiiiirrr";
	static const enum robotiq_clears of[] = {
		['-'] = ROBOTIQ_NO_FAULT, ['i'] = ROBOTIQ_CLEARS_ITSELF, ['r'] = ROBOTIQ_CLEARS_RESET
	};

	static const char *const codes[16] = {
		[0x0] = "none",		 [0x5] = "activating",	      [0x6] = "changing-mode",
		[0x7] = "not-activated", [0x9] = "not-ready",	      [0xA] = "scissor-blocked",
		[0xB] = "releasing",	 [0xD] = "activation-failed", [0xE] = "scissor-stuck",
		[0xF] = "released"
	};

	for (uint8_t i = 0; i < 16; i++) {
		const struct robotiq_fault *fault = robotiq_fault(i);

		TEST_ASSERT_EQUAL(of[(unsigned char)clears[i]], fault->clears);
		TEST_ASSERT_TRUE(*fault->words);
		TEST_ASSERT_EQUAL(codes[i] ? i : 0xFF, fault->number);
		TEST_ASSERT_EQUAL_STRING(codes[i] ? codes[i] : "unknown-fault", fault->code);
	}
}
