/* test_nmt.c: network management: frames, heartbeats, node guarding.  Also for emcy.c: emergency messages. */
#include "can/bus/frame_text.h"
#include "can/canopen/emcy.h"
#include "can/canopen/nmt.h"
#include "test/lib/testcase.h"

static void says(const char *text, const struct frame *frame)
{
	char said[FRAME_TEXT_MAX];

	TEST_ASSERT_TRUE(frame_valid(frame));
	frame_text_write(said, frame);
	TEST_ASSERT_EQUAL_STRING(text, said);
}

static struct frame frame_of(const char *text)
{
	struct frame frame;

	TEST_ASSERT_NULL_MESSAGE(frame_text_read(&frame, text, strlen(text)), text);
	return frame;
}

TEST(commands_and_heartbeats)
{
	struct frame frame;

	nmt_command(&frame, NMT_START, 0x20);
	says("000#0120", &frame);
	nmt_command(&frame, NMT_PREPARE, 0);
	says("000#8000", &frame);
	nmt_command(&frame, NMT_RESET_NODE, 0x7F);
	says("000#817F", &frame);
	nmt_heartbeat(&frame, 0x7F, NMT_OPERATIONAL);
	says("77F#05", &frame);
	nmt_guard(&frame, 0x20);
	says("720#R1", &frame);
}

TEST(what_a_node_says_of_its_state)
{
	static const struct {
		const char *frame;
		bool is;
		uint8_t word;
	} rows[] = {
		{ "720#7F", true, 0x7F }, { "77F#85", true, 0x85 },    { "720#00", true, 0 },
		{ "700#05", false, 0 },	  { "720#0505", false, 0 },    { "720#R1", false, 0 },
		{ "6FF#05", false, 0 },	  { "00000720#05", false, 0 }, { "780#05", false, 0 },
	};

	for (size_t i = 0; i < sizeof(rows) / sizeof(*rows); i++) {
		const struct frame frame = frame_of(rows[i].frame);
		uint8_t word = 0;

		TEST_ASSERT_EQUAL_MESSAGE(rows[i].is, nmt_decode(&frame, &word), rows[i].frame);
		TEST_ASSERT_EQUAL_HEX8_MESSAGE(rows[i].word, word, rows[i].frame);
	}
}

TEST(a_guarded_node_toggles)
{
	static const uint8_t words[] = { 0x00, 0x7F, 0xFF, 0x7F, 0x7F, 0x85, 0x05, 0x05 };
	struct nmt_node node = { 0 };

	for (size_t i = 0; i < sizeof(words); i++)
		nmt_heard(&node, words[i], true, (int64_t)i + 1);
	TEST_ASSERT_EQUAL(1, node.boots);
	TEST_ASSERT_EQUAL(2, node.toggles);
	TEST_ASSERT_EQUAL(NMT_OPERATIONAL, node.state);
	TEST_ASSERT_EQUAL_INT64(8, node.heard_ns);
}

TEST(heartbeats_do_not_toggle)
{
	struct nmt_node node = { 0 };

	for (unsigned int i = 0; i < 5; i++)
		nmt_heard(&node, NMT_OPERATIONAL, false, i + 1);
	TEST_ASSERT_EQUAL(0, node.toggles);
}

TEST(states_have_words)
{
	TEST_ASSERT_EQUAL_STRING("boot", nmt_words(NMT_BOOT));
	TEST_ASSERT_EQUAL_STRING("stopped", nmt_words(NMT_STOPPED));
	TEST_ASSERT_EQUAL_STRING("operational", nmt_words(NMT_OPERATIONAL));
	TEST_ASSERT_EQUAL_STRING("pre-operational", nmt_words(NMT_PRE_OPERATIONAL));
	TEST_ASSERT_EQUAL_STRING("unknown", nmt_words((enum nmt_state)0x33));
}

TEST(emergency_messages)
{
	static const struct {
		const char *frame, *words;
		uint16_t code;
	} rows[] = {
		{ "0A0#3081110102030405", "heartbeat or life guard lost", 0x8130 },
		{ "0A1#0000000000000000", "error reset or no error", 0 },
		{ "0A1#1323020000000000", "current on the device output side", 0x2313 },
		{ "0A1#0024000000000000", "current", 0x2400 },
		{ "0A1#5082000000000000", "RPDO time-out", 0x8250 },
		{ "0A1#6082000000000000", "protocol error", 0x8260 },
		{ "0A1#1032040000000000", "bus over-voltage", 0x3210 },
		{ "0A1#0190000000000000", "external error", 0x9001 },
		{ "0FF#01FF000000000000", "device specific", 0xFF01 },
		{ "0FF#0001000000000000", "unknown error", 0x0100 },
		{ "080#0001000000000000", NULL, 0 }, /* SYNC, or none */
		{ "080#", NULL, 0 },
		{ "0A0#30811101020304", NULL, 0 },
		{ "100#3081110102030405", NULL, 0 },
	};

	for (size_t i = 0; i < sizeof(rows) / sizeof(*rows); i++) {
		const struct frame frame = frame_of(rows[i].frame);
		struct emcy emcy = { 0 };

		TEST_ASSERT_EQUAL_MESSAGE(rows[i].words != NULL, emcy_decode(&emcy, &frame), rows[i].frame);
		if (!rows[i].words)
			continue;
		TEST_ASSERT_EQUAL_HEX16(rows[i].code, emcy.code);
		TEST_ASSERT_EQUAL_STRING(rows[i].words, emcy_words(emcy.code));
		TEST_ASSERT_EQUAL_HEX8(frame.data[2], emcy.error_register);
		TEST_ASSERT_EQUAL_HEX8_ARRAY(frame.data + 3, emcy.specific, 5);
	}
}

/* Codes of a class without words of their own have those of the class. */
TEST(emergency_codes_have_words)
{
	static const struct {
		uint16_t code;
		const char *words;
	} rows[] = {
		{ 0x0000, "error reset or no error" },
		{ 0x2310, "continuous over-current" },
		{ 0x2320, "short circuit or earth leakage at the output" },
		{ 0x2340, "short circuit at the motor" },
		{ 0x3110, "mains over-voltage" },
		{ 0x3120, "mains under-voltage" },
		{ 0x3210, "bus over-voltage" },
		{ 0x3220, "bus under-voltage" },
		{ 0x4210, "device too hot" },
		{ 0x4310, "drive too hot" },
		{ 0x5113, "internal 5 V supply too low" },
		{ 0x6010, "software watchdog" },
		{ 0x6320, "parameter error" },
		{ 0x7121, "motor blocked" },
		{ 0x7122, "motor error or commutation" },
		{ 0x7305, "incremental sensor 1 fault" },
		{ 0x7380, "position sensor fault" },
		{ 0x8110, "CAN overrun: messages lost" },
		{ 0x8120, "CAN in error passive mode" },
		{ 0x8130, "heartbeat or life guard lost" },
		{ 0x8140, "recovered from bus off" },
		{ 0x8150, "CAN identifier collision" },
		{ 0x8210, "PDO too short, not processed" },
		{ 0x8220, "PDO too long" },
		{ 0x8240, "SYNC of unexpected length" },
		{ 0x8250, "RPDO time-out" },
		{ 0x8611, "following error" },
		{ 0x1DEE, "generic error" },
		{ 0x21EE, "current on the device input side" },
		{ 0x22EE, "current inside the device" },
		{ 0x23EE, "current on the device output side" },
		{ 0x2DEE, "current" },
		{ 0x31EE, "mains voltage" },
		{ 0x32EE, "voltage inside the device" },
		{ 0x33EE, "output voltage" },
		{ 0x3DEE, "voltage" },
		{ 0x41EE, "ambient temperature" },
		{ 0x42EE, "device temperature" },
		{ 0x4DEE, "temperature" },
		{ 0x5DEE, "device hardware" },
		{ 0x6DEE, "device software" },
		{ 0x7DEE, "additional module" },
		{ 0x81EE, "communication" },
		{ 0x82EE, "protocol error" },
		{ 0x8DEE, "monitoring" },
		{ 0x90EE, "external error" },
		{ 0xF0EE, "additional function" },
		{ 0xFFEE, "device specific" },
	};

	for (size_t i = 0; i < sizeof(rows) / sizeof(*rows); i++)
		TEST_ASSERT_EQUAL_STRING(rows[i].words, emcy_words(rows[i].code));
}
