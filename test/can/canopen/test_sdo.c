/* test_sdo.c: requests to an SDO server and its replies: as on the wire, in the shapes that real nodes use. */
#include "can/bus/frame_text.h"
#include "can/canopen/sdo.h"
#include "test/lib/testcase.h"

static struct frame frame_of(const char *text)
{
	struct frame frame;

	TEST_ASSERT_NULL_MESSAGE(frame_text_read(&frame, text, strlen(text)), text);
	return frame;
}

static void expect(const char *text, const struct frame *frame)
{
	char said[FRAME_TEXT_MAX];

	frame_text_write(said, frame);
	TEST_ASSERT_EQUAL_STRING(text, said);
}

/* A request, the reply of the node, and what comes of it. */
static const struct {
	const char *name;
	uint16_t index;
	uint8_t sub;
	unsigned int bytes; /* to be written; 0: it is read */
	uint32_t written;
	const char *request, *reply;
	uint32_t code, value;
} rows[] = {
	{ "four bytes", 0x1000, 0, 0, 0, "620#4000100000000000", "5A0#43001000920102F0", 0, 0xF0020192 },
	{ "three bytes", 0x2000, 1, 0, 0, "620#4000200100000000", "5A0#4700200111223399", 0, 0x332211 },
	{ "two bytes", 0x6041, 0, 0, 0, "620#4041600000000000", "5A0#4B41600037029999", 0, 0x0237 },
	{ "one byte", 0x6061, 0, 0, 0, "620#4061600000000000", "5A0#4F616000FC999999", 0, 0xFC },
	{ "size not indicated: all four bytes", 0x20D8, 0x0C, 0, 0, "620#40D8200C00000000", "5A0#42D8200CC8000000", 0,
	  0xC8 },
	{ "absent object", 0x6083, 0, 0, 0, "620#4083600000000000", "5A0#8083600000000206", SDO_ABSENT, 0 },
	{ "an abort without a code", 0x6083, 0, 0, 0, "620#4083600000000000", "5A0#8083600000000000", 0x08000000, 0 },
	{ "segments would follow", 0x1008, 0, 0, 0, "620#4008100000000000", "5A0#410810000A000000", SDO_NOT_A_REPLY,
	  0 },
	{ "the answer of a write to a read", 0x6041, 0, 0, 0, "620#4041600000000000", "5A0#6041600000000000",
	  SDO_NOT_A_REPLY, 0 },
	{ "no reply", 0x6041, 0, 0, 0, "620#4041600000000000", NULL, SDO_NO_REPLY, 0 },
	{ "another index", 0x6041, 0, 0, 0, "620#4041600000000000", "5A0#4B42600037020000", SDO_NOT_A_REPLY, 0 },
	{ "another high byte", 0x6041, 0, 0, 0, "620#4041600000000000", "5A0#4B41610037020000", SDO_NOT_A_REPLY, 0 },
	{ "another sub-index", 0x6041, 0, 0, 0, "620#4041600000000000", "5A0#4B41600137020000", SDO_NOT_A_REPLY, 0 },
	{ "another object's abort", 0x6041, 0, 0, 0, "620#4041600000000000", "5A0#8041600100000206", SDO_NOT_A_REPLY,
	  0 },
	{ "short", 0x6041, 0, 0, 0, "620#4041600000000000", "5A0#4B416000370200", SDO_NOT_A_REPLY, 0 },
	{ "write one byte", 0x6060, 0, 1, 0x04, "620#2F60600004000000", "5A0#6060600000000000", 0, 0 },
	{ "write two", 0x1017, 0, 2, 0x0578, "620#2B17100078050000", "5A0#6017100000000000", 0, 0 },
	{ "write three", 0x2000, 0, 3, 0x030201, "620#2700200001020300", "5A0#6000200000000000", 0, 0 },
	{ "write four", 0x1016, 1, 4, 0x007F00C8, "620#23161001C8007F00", "5A0#6016100100000000", 0, 0 },
	{ "write to what can only be read", 0x6041, 0, 2, 0, "620#2B41600000000000", "5A0#8041600002000106", 0x06010002,
	  0 },
	{ "the answer of a read to a write", 0x6060, 0, 1, 4, "620#2F60600004000000", "5A0#4F60600004000000",
	  SDO_NOT_A_REPLY, 0 },
};

TEST(requests_and_replies_are_as_on_the_wire)
{
	for (size_t i = 0; i < sizeof(rows) / sizeof(*rows); i++) {
		struct frame request, reply = { 0 };
		uint32_t value = 77;

		memset(&request, 0x5A, sizeof(request));
		if (rows[i].reply)
			reply = frame_of(rows[i].reply);
		if (rows[i].bytes)
			sdo_write(&request, 0x20, rows[i].index, rows[i].sub, rows[i].written, rows[i].bytes);
		else
			sdo_read(&request, 0x20, rows[i].index, rows[i].sub);
		expect(rows[i].request, &request);
		TEST_ASSERT_EQUAL_HEX32_MESSAGE(
			rows[i].code, sdo_reply(&request, rows[i].reply ? &reply : NULL, &value), rows[i].name);
		TEST_ASSERT_EQUAL_HEX32_MESSAGE(rows[i].value, value, rows[i].name);
	}
}

/* Robotiq's server wants 0x4F. */
TEST(the_command_of_a_read_can_be_another)
{
	const struct frame request = frame_of("60B#4F00200100000000"), reply = frame_of("58B#4F0020013B000000");
	uint32_t value;

	TEST_ASSERT_EQUAL(0, sdo_reply(&request, &reply, &value));
	TEST_ASSERT_EQUAL_HEX32(0x3B, value);
}

TEST(an_abort_is_of_the_object_of_the_request)
{
	const struct frame request = frame_of("620#2F60600104000000");
	struct frame frame;

	sdo_abort(&frame, &request, SDO_NO_REPLY);
	expect("620#8060600100000405", &frame);
	sdo_abort(&frame, &request, SDO_NOT_A_REPLY);
	expect("620#8060600101000405", &frame);
}

TEST(abort_codes_have_words)
{
	static const struct {
		uint32_t code;
		const char *words;
	} codes[] = {
		{ SDO_NO_REPLY, "no reply" },
		{ SDO_NOT_A_REPLY, "not a reply" },
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

	for (size_t i = 0; i < sizeof(codes) / sizeof(*codes); i++)
		TEST_ASSERT_EQUAL_STRING(codes[i].words, sdo_words(codes[i].code));
}
