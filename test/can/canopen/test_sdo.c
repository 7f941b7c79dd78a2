/* test_sdo.c: the SDO client: dialogues as on the wire, in the shapes that real nodes use. */
#include "can/bus/frame_text.h"
#include "can/canopen/sdo.h"
#include "test/lib/testcase.h"

#define LATE_NS 20000000
#define LINES_MAX 24

static struct frame frame_of(const char *text)
{
	struct frame frame;

	TEST_ASSERT_NULL_MESSAGE(frame_text_read(&frame, text, strlen(text)), text);
	return frame;
}

static void expect_put(struct sdo *sdo, const char *text, int64_t now_ns)
{
	struct frame frame;
	char said[FRAME_TEXT_MAX];

	TEST_ASSERT_TRUE_MESSAGE(sdo_put(sdo, now_ns, &frame), text);
	frame_text_write(said, &frame);
	TEST_ASSERT_EQUAL_STRING(text, said);
	TEST_ASSERT_FALSE(sdo_put(sdo, now_ns, &frame));
}

static enum sdo_result rx(struct sdo *sdo, const char *text)
{
	const struct frame frame = frame_of(text);

	return sdo_rx(sdo, &frame);
}

/* Requests and replies in turn. */
static const struct {
	const char *name;
	bool writes;
	uint16_t index;
	uint8_t sub;
	const char *data; /* hexadecimal: what is written, or was read */
	enum sdo_result result;
	uint32_t code;
	const char *lines[LINES_MAX];
} dialogues[] = {
	{ "four bytes", false, 0x1000, 0, "920102F0", SDO_DONE, 0, { "620#4000100000000000", "5A0#43001000920102F0" } },
	{ "three bytes", false, 0x2000, 1, "112233", SDO_DONE, 0, { "620#4000200100000000", "5A0#4700200111223300" } },
	{ "two bytes", false, 0x6041, 0, "3702", SDO_DONE, 0, { "620#4041600000000000", "5A0#4B41600037020000" } },
	{ "one byte", false, 0x6061, 0, "FC", SDO_DONE, 0, { "620#4061600000000000", "5A0#4F616000FC000000" } },
	{ "size not indicated: all four bytes",
	  false,
	  0x20D8,
	  0x0C,
	  "C8000000",
	  SDO_DONE,
	  0,
	  { "620#40D8200C00000000", "5A0#42D8200CC8000000" } },
	{ "absent object",
	  false,
	  0x6083,
	  0,
	  "",
	  SDO_ABORTED,
	  SDO_ABSENT,
	  { "620#4083600000000000", "5A0#8083600000000206" } },
	{ "a text in segments, the last one not full",
	  false,
	  0x1008,
	  0,
	  "64726976652D30312D61",
	  SDO_DONE,
	  0,
	  { "620#4008100000000000", "5A0#410810000A000000", "620#6000000000000000", "5A0#0064726976652D30",
	    "620#7000000000000000", "5A0#19312D6100000000" } },
	{ "segments without a size",
	  false,
	  0x203C,
	  2,
	  "0102030405060708090A0B0C0D0E",
	  SDO_DONE,
	  0,
	  { "620#403C200200000000", "5A0#403C200200000000", "620#6000000000000000", "5A0#0001020304050607",
	    "620#7000000000000000", "5A0#1108090A0B0C0D0E" } },
	{ "an empty last segment",
	  false,
	  0x1009,
	  0,
	  "01020304050607",
	  SDO_DONE,
	  0,
	  { "620#4009100000000000", "5A0#4109100007000000", "620#6000000000000000", "5A0#0001020304050607",
	    "620#7000000000000000", "5A0#1F00000000000000" } },
	{ "fewer bytes than the server has said",
	  false,
	  0x1009,
	  0,
	  "",
	  SDO_ABORTED,
	  SDO_LENGTH,
	  { "620#4009100000000000", "5A0#4109100008000000", "620#6000000000000000", "5A0#0101020304050607",
	    "620#8009100010000706" } },
	{ "the toggle bit stays",
	  false,
	  0x1009,
	  0,
	  "",
	  SDO_ABORTED,
	  SDO_TOGGLE,
	  { "620#4009100000000000", "5A0#4109100010000000", "620#6000000000000000", "5A0#0001020304050607",
	    "620#7000000000000000", "5A0#0001020304050607", "620#8009100000000305" } },
	{ "longer than there is room",
	  false,
	  0x1009,
	  0,
	  "",
	  SDO_ABORTED,
	  SDO_MEMORY,
	  { "620#4009100000000000", "5A0#4109100041000000", "620#8009100005000405" } },
	{ "longer than there is room, and the size not indicated",
	  false,
	  0x1009,
	  0,
	  "",
	  SDO_ABORTED,
	  SDO_MEMORY,
	  { "620#4009100000000000", "5A0#4009100000000000", "620#6000000000000000", "5A0#0000000000000000",
	    "620#7000000000000000", "5A0#1000000000000000", "620#6000000000000000", "5A0#0000000000000000",
	    "620#7000000000000000", "5A0#1000000000000000", "620#6000000000000000", "5A0#0000000000000000",
	    "620#7000000000000000", "5A0#1000000000000000", "620#6000000000000000", "5A0#0000000000000000",
	    "620#7000000000000000", "5A0#1000000000000000", "620#6000000000000000", "5A0#0000000000000000",
	    "620#7000000000000000", "5A0#1000000000000000", "620#8009100005000405" } },
	{ "the answer of a write to a read",
	  false,
	  0x6041,
	  0,
	  "",
	  SDO_ABORTED,
	  SDO_COMMAND,
	  { "620#4041600000000000", "5A0#6041600000000000", "620#8041600001000405" } },
	{ "write one byte", true, 0x6060, 0, "04", SDO_DONE, 0, { "620#2F60600004000000", "5A0#6060600000000000" } },
	{ "write two", true, 0x1017, 0, "7805", SDO_DONE, 0, { "620#2B17100078050000", "5A0#6017100000000000" } },
	{ "write three", true, 0x2000, 0, "010203", SDO_DONE, 0, { "620#2700200001020300", "5A0#6000200000000000" } },
	{ "write four", true, 0x1016, 1, "C8007F00", SDO_DONE, 0, { "620#23161001C8007F00", "5A0#6016100100000000" } },
	{ "write to what can only be read",
	  true,
	  0x6041,
	  0,
	  "0000",
	  SDO_ABORTED,
	  0x06010002,
	  { "620#2B41600000000000", "5A0#8041600002000106" } },
	{ "write nine bytes in segments",
	  true,
	  0x203C,
	  0,
	  "010203040506070809",
	  SDO_DONE,
	  0,
	  { "620#213C200009000000", "5A0#603C200000000000", "620#0001020304050607", "5A0#2000000000000000",
	    "620#1B08090000000000", "5A0#3000000000000000" } },
	{ "write five bytes in one segment",
	  true,
	  0x203C,
	  0,
	  "0102030405",
	  SDO_DONE,
	  0,
	  { "620#213C200005000000", "5A0#603C200000000000", "620#0501020304050000", "5A0#2000000000000000" } },
	{ "the server ends it between two segments",
	  true,
	  0x203C,
	  0,
	  "0102030405060708",
	  SDO_ABORTED,
	  0x06070012,
	  { "620#213C200008000000", "5A0#603C200000000000", "620#0001020304050607", "5A0#803C200012000706" } },
	{ "another reply to a segment",
	  true,
	  0x203C,
	  0,
	  "0102030405060708",
	  SDO_ABORTED,
	  SDO_COMMAND,
	  { "620#213C200008000000", "5A0#603C200000000000", "620#0001020304050607", "5A0#4000000000000000",
	    "620#803C200001000405" } },
};

static unsigned int bytes_of(uint8_t *data, const char *text)
{
	unsigned int n = 0, byte;

	for (; sscanf(text + 2 * n, "%2x", &byte) == 1; n++)
		data[n] = (uint8_t)byte;
	return n;
}

TEST(dialogues_are_as_on_the_wire)
{
	for (size_t i = 0; i < sizeof(dialogues) / sizeof(*dialogues); i++) {
		struct sdo sdo = { .node = 0x20, .late_ns = LATE_NS };
		const char *const *line = dialogues[i].lines;
		enum sdo_result result = SDO_BUSY;
		uint8_t data[SDO_DATA_MAX + 1];
		const unsigned int n = bytes_of(data, dialogues[i].data);

		if (dialogues[i].writes)
			TEST_ASSERT_EQUAL(0, sdo_write(&sdo, dialogues[i].index, dialogues[i].sub, data, n));
		else
			TEST_ASSERT_EQUAL(0, sdo_read(&sdo, dialogues[i].index, dialogues[i].sub));
		for (; line[0] && line[1]; line += 2) {
			TEST_ASSERT_EQUAL_MESSAGE(SDO_BUSY, result, dialogues[i].name);
			expect_put(&sdo, line[0], 1);
			result = rx(&sdo, line[1]);
		}
		if (line[0])
			expect_put(&sdo, line[0], 1); /* our abort */
		TEST_ASSERT_EQUAL_MESSAGE(dialogues[i].result, result, dialogues[i].name);
		TEST_ASSERT_EQUAL_HEX32_MESSAGE(dialogues[i].code, sdo.code, dialogues[i].name);
		TEST_ASSERT_EQUAL(SDO_IDLE, sdo_poll(&sdo, INT64_MAX));
		if (result != SDO_DONE)
			continue;
		TEST_ASSERT_EQUAL_MESSAGE(n, sdo.len, dialogues[i].name);
		TEST_ASSERT_EQUAL_HEX8_ARRAY_MESSAGE(data, sdo.data, n, dialogues[i].name);
	}
}

TEST(other_frames_are_ignored)
{
	static const char *const strays[] = {
		"5A1#4B41600037020000",				/* another node */
		"5A0#4B42600037020000",				/* another index */
		"5A0#4B41610037020000", "5A0#4B41600137020000", /* another sub-index */
		"5A0#4B416000370200",				/* short */
		"5A0#8041600100000206",				/* another object's abort */
	};
	struct sdo sdo = { .node = 0x20, .late_ns = LATE_NS };

	TEST_ASSERT_EQUAL(SDO_IDLE, rx(&sdo, "5A0#4B41600037020000"));
	TEST_ASSERT_EQUAL(0, sdo_read(&sdo, 0x6041, 0));
	TEST_ASSERT_EQUAL(SDO_BUSY, rx(&sdo, "5A0#4B41600011110000")); /* of before the request was put */
	expect_put(&sdo, "620#4041600000000000", 5);
	for (size_t i = 0; i < sizeof(strays) / sizeof(*strays); i++)
		TEST_ASSERT_EQUAL_MESSAGE(SDO_BUSY, rx(&sdo, strays[i]), strays[i]);
	TEST_ASSERT_EQUAL(-EBUSY, sdo_read(&sdo, 0x6041, 0));
	TEST_ASSERT_EQUAL(-EBUSY, sdo_write(&sdo, 0x6041, 0, "", 1));
	TEST_ASSERT_EQUAL(SDO_DONE, rx(&sdo, "5A0#4B41600037020000"));
	TEST_ASSERT_EQUAL_HEX32(0x0237, sdo_value(&sdo, 2));
	TEST_ASSERT_EQUAL_HEX32(0x37, sdo_value(&sdo, 1));
	TEST_ASSERT_EQUAL_HEX32(0x0237, sdo_value(&sdo, 9));
}

TEST(a_reply_that_does_not_come_is_given_up)
{
	struct sdo sdo = { .node = 0x20, .late_ns = LATE_NS };

	TEST_ASSERT_EQUAL(0, sdo_read(&sdo, 0x6041, 0));
	TEST_ASSERT_EQUAL(SDO_BUSY, sdo_poll(&sdo, INT64_MAX)); /* it waits for the bus */
	expect_put(&sdo, "620#4041600000000000", 1000);
	TEST_ASSERT_EQUAL(SDO_BUSY, sdo_poll(&sdo, 1000 + LATE_NS - 1));
	TEST_ASSERT_EQUAL(SDO_LATE, sdo_poll(&sdo, 1000 + LATE_NS));
	TEST_ASSERT_EQUAL_HEX32(SDO_TIMEOUT, sdo.code);
	TEST_ASSERT_EQUAL(SDO_IDLE, sdo_poll(&sdo, 1000 + LATE_NS));
	expect_put(&sdo, "620#8041600000000405", 1000 + LATE_NS);
	TEST_ASSERT_EQUAL(SDO_IDLE, rx(&sdo, "5A0#4B41600037020000")); /* late */
	TEST_ASSERT_EQUAL(0, sdo_read(&sdo, 0x1001, 0));
	expect_put(&sdo, "620#4001100000000000", 2 * LATE_NS);
	TEST_ASSERT_EQUAL(SDO_BUSY, rx(&sdo, "5A0#4B41600037020000"));
	TEST_ASSERT_EQUAL(SDO_DONE, rx(&sdo, "5A0#4F01100000000000"));
}

TEST(servers_are_asked_at_the_same_time)
{
	struct sdo left = { .node = 0x20, .late_ns = LATE_NS }, right = { .node = 0x21, .late_ns = LATE_NS };

	TEST_ASSERT_EQUAL(0, sdo_read(&left, 0x6041, 0));
	TEST_ASSERT_EQUAL(0, sdo_read(&right, 0x6041, 0));
	expect_put(&left, "620#4041600000000000", 1);
	expect_put(&right, "621#4041600000000000", 1);
	TEST_ASSERT_EQUAL(SDO_BUSY, rx(&left, "5A1#4B41600037020000"));
	TEST_ASSERT_EQUAL(SDO_DONE, rx(&right, "5A1#4B41600037020000"));
	TEST_ASSERT_EQUAL(SDO_DONE, rx(&left, "5A0#4B41600021020000"));
	TEST_ASSERT_EQUAL_HEX32(0x0221, sdo_value(&left, 2));
}

/* Robotiq's server wants 0x4F. */
TEST(the_command_of_a_read_can_be_chosen)
{
	struct sdo sdo = { .node = 0x0B, .late_ns = LATE_NS, .upload = 0x4F };

	TEST_ASSERT_EQUAL(0, sdo_read(&sdo, 0x2000, 1));
	expect_put(&sdo, "60B#4F00200100000000", 1);
	TEST_ASSERT_EQUAL(SDO_DONE, rx(&sdo, "58B#4F0020013B000000"));
	TEST_ASSERT_EQUAL_HEX32(0x3B, sdo_value(&sdo, 1));
}

TEST(lengths_have_limits)
{
	struct sdo sdo = { .node = 1, .late_ns = LATE_NS };
	uint8_t data[SDO_DATA_MAX + 1] = { 0 };

	TEST_ASSERT_EQUAL(-EMSGSIZE, sdo_write(&sdo, 0x2000, 0, data, 0));
	TEST_ASSERT_EQUAL(-EMSGSIZE, sdo_write(&sdo, 0x2000, 0, data, SDO_DATA_MAX + 1));
	TEST_ASSERT_EQUAL(0, sdo_write(&sdo, 0x2000, 0, data, SDO_DATA_MAX));
}

TEST(an_object_may_fill_all_the_room)
{
	struct sdo sdo = { .node = 0x20, .late_ns = LATE_NS };
	struct frame reply = frame_of("5A0#4109100040000000"), request;
	unsigned int segments = 0;

	TEST_ASSERT_EQUAL(0, sdo_read(&sdo, 0x1009, 0));
	for (; sdo_put(&sdo, 1, &request) && sdo_rx(&sdo, &reply) == SDO_BUSY; segments++) {
		memset(reply.data, (int)segments, 8);
		reply.data[0] = (uint8_t)((segments % 2) << 4 | (segments == 9 ? 6 << 1 | 1 : 0));
	}
	TEST_ASSERT_EQUAL(10, segments);
	TEST_ASSERT_EQUAL(SDO_DATA_MAX, sdo.len);
	TEST_ASSERT_EQUAL(9, sdo.data[63]);
}

TEST(abort_codes_have_words)
{
	static const struct {
		uint32_t code;
		const char *words;
	} rows[] = {
		{ 0x05030000, "toggle bit not alternated" },
		{ 0x05040000, "SDO protocol timed out" },
		{ 0x05040001, "unknown command specifier" },
		{ 0x05040002, "invalid block size" },
		{ 0x05040003, "invalid sequence number" },
		{ 0x05040004, "CRC error" },
		{ 0x05040005, "out of memory" },
		{ 0x06010000, "unsupported access to an object" },
		{ 0x06010001, "attempt to read a write-only object" },
		{ 0x06010002, "attempt to write a read-only object" },
		{ 0x06020000, "object does not exist" },
		{ 0x06040041, "object cannot be mapped to a PDO" },
		{ 0x06040042, "mapped objects exceed the length of the PDO" },
		{ 0x06040043, "incompatible parameters" },
		{ 0x06040047, "incompatibility inside the device" },
		{ 0x06060000, "hardware error" },
		{ 0x06070010, "length of the parameter does not match" },
		{ 0x06070012, "parameter too long" },
		{ 0x06070013, "parameter too short" },
		{ 0x06090011, "sub-index does not exist" },
		{ 0x06090030, "value out of range" },
		{ 0x06090031, "value too high" },
		{ 0x06090032, "value too low" },
		{ 0x06090036, "maximum less than minimum" },
		{ 0x060A0023, "resource not available" },
		{ 0x08000000, "general error" },
		{ 0x08000020, "data cannot be transferred" },
		{ 0x08000021, "data cannot be transferred because of local control" },
		{ 0x08000022, "data cannot be transferred in the present device state" },
		{ 0x08000023, "no object dictionary present" },
		{ 0x08000024, "no data available" },
		{ 0x12345678, "unknown abort code" },
	};

	for (size_t i = 0; i < sizeof(rows) / sizeof(*rows); i++)
		TEST_ASSERT_EQUAL_STRING(rows[i].words, sdo_words(rows[i].code));
}
