/* test_cia402.c: the state machine of a drive, as tables; statuswords as a real base sends them. */
#include "can/canopen/cia402.h"
#include "test/lib/testcase.h"

TEST(a_statusword_is_a_state)
{
	static const struct {
		uint16_t word;
		enum cia402_state state;
	} rows[] = {
		{ 0x0000, CIA402_NOT_READY },	   { 0x0020, CIA402_NOT_READY },   { 0x0040, CIA402_DISABLED },
		{ 0x0260, CIA402_DISABLED },	   { 0x0660, CIA402_DISABLED },	   { 0x0221, CIA402_READY },
		{ 0x0621, CIA402_READY },	   { 0x0223, CIA402_SWITCHED_ON }, { 0x0623, CIA402_SWITCHED_ON },
		{ 0x0237, CIA402_ENABLED },	   { 0x0637, CIA402_ENABLED },	   { 0x1637, CIA402_ENABLED },
		{ 0x0217, CIA402_QUICK_STOP },	   { 0x0007, CIA402_QUICK_STOP },  { 0x0228, CIA402_FAULT },
		{ 0x0628, CIA402_FAULT },	   { 0x0008, CIA402_FAULT },	   { 0x002F, CIA402_FAULT_REACTION },
		{ 0x000F, CIA402_FAULT_REACTION }, { 0x0001, CIA402_NOT_READY },   { 0x006F, CIA402_NOT_READY },
		{ 0x0061, CIA402_NOT_READY },	   { 0x0063, CIA402_NOT_READY },   { 0x0067, CIA402_NOT_READY },
		{ 0x0047, CIA402_NOT_READY },	   { 0x004F, CIA402_NOT_READY },   { 0x0048, CIA402_NOT_READY },
		{ 0x0003, CIA402_NOT_READY },
	};

	for (size_t i = 0; i < sizeof(rows) / sizeof(*rows); i++)
		TEST_ASSERT_EQUAL_HEX16_MESSAGE(rows[i].state, cia402_state(rows[i].word), cia402_words(rows[i].state));
}

/* Per state: to off, ready, enabled, reset. */
TEST(a_goal_is_reached_one_transition_at_a_time)
{
	static const uint16_t words[CIA402_STATES][4] = {
		[CIA402_NOT_READY] = { 0, 0, 0, 0 },	    [CIA402_DISABLED] = { 0, 0x06, 0x06, 0x06 },
		[CIA402_READY] = { 0, 0x06, 0x07, 0x06 },   [CIA402_SWITCHED_ON] = { 0, 0x06, 0x0F, 0x06 },
		[CIA402_ENABLED] = { 0, 0x06, 0x0F, 0x06 }, [CIA402_QUICK_STOP] = { 0, 0, 0, 0 },
		[CIA402_FAULT_REACTION] = { 0, 0, 0, 0 },   [CIA402_FAULT] = { 0, 0, 0, 0x80 },
	};

	for (enum cia402_state state = 0; state < CIA402_STATES; state++)
		for (enum cia402_goal goal = 0; goal < 4; goal++)
			TEST_ASSERT_EQUAL_HEX16_MESSAGE(words[state][goal], cia402_controlword(state, goal, 0),
							cia402_words(state));
}

TEST(a_fault_is_reset_by_a_rising_edge)
{
	TEST_ASSERT_EQUAL_HEX16(0x80, cia402_controlword(CIA402_FAULT, CIA402_TO_RESET, 0x0F));
	TEST_ASSERT_EQUAL_HEX16(0x00, cia402_controlword(CIA402_FAULT, CIA402_TO_RESET, 0x80));
	TEST_ASSERT_EQUAL_HEX16(0x00, cia402_controlword(CIA402_FAULT, CIA402_TO_RESET, 0x8F)); /* no edge */
	TEST_ASSERT_EQUAL_HEX16(0x06, cia402_controlword(CIA402_DISABLED, CIA402_TO_RESET, 0x80));
}

TEST(every_state_has_words)
{
	for (enum cia402_state state = 0; state < CIA402_STATES; state++)
		TEST_ASSERT_NOT_NULL(cia402_words(state));
	TEST_ASSERT_EQUAL_STRING("operation enabled", cia402_words(CIA402_ENABLED));
}
