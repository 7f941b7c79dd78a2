/* cia402.c: the state machine of a drive.  Checked: covered. */
#include "can/canopen/cia402.h"

/* In this order: bits 5 and 6 matter in some of the states only. */
static const struct {
	uint16_t mask, value;
	enum cia402_state state;
} states[] = {
	{ 0x4F, 0x40, CIA402_DISABLED }, { 0x6F, 0x21, CIA402_READY },	    { 0x6F, 0x23, CIA402_SWITCHED_ON },
	{ 0x6F, 0x27, CIA402_ENABLED },	 { 0x6F, 0x07, CIA402_QUICK_STOP }, { 0x4F, 0x0F, CIA402_FAULT_REACTION },
	{ 0x4F, 0x08, CIA402_FAULT },
};

enum cia402_state cia402_state(uint16_t statusword)
{
	for (unsigned int i = 0; i < sizeof(states) / sizeof(*states); i++)
		if ((statusword & states[i].mask) == states[i].value)
			return states[i].state;
	return CIA402_NOT_READY;
}

uint16_t cia402_controlword(enum cia402_state state, enum cia402_goal goal, uint16_t last)
{
	/* To be enabled it goes up one transition at a time; a quick stop ends with the voltage off; in a fault, and
	 * while it is not ready, 0 changes nothing. */
	static const uint16_t up[CIA402_STATES] = {
		[CIA402_DISABLED] = CIA402_SHUTDOWN,
		[CIA402_READY] = CIA402_SWITCH_ON,
		[CIA402_SWITCHED_ON] = CIA402_ENABLE,
		[CIA402_ENABLED] = CIA402_ENABLE,
	};

	switch (goal) {
	case CIA402_TO_ENABLED:
		return up[state];
	case CIA402_TO_RESET:
		if (state == CIA402_FAULT)
			return last & CIA402_FAULT_RESET ? 0 : CIA402_FAULT_RESET;
		break;
	case CIA402_TO_READY:
		break;
	case CIA402_TO_OFF:
		return 0;
	}
	return up[state] ? CIA402_SHUTDOWN : 0;
}

const char *cia402_words(enum cia402_state state)
{
	static const char *const words[CIA402_STATES] = {
		[CIA402_NOT_READY] = "not ready to switch on", [CIA402_DISABLED] = "switch-on disabled",
		[CIA402_READY] = "ready to switch on",	       [CIA402_SWITCHED_ON] = "switched on",
		[CIA402_ENABLED] = "operation enabled",	       [CIA402_QUICK_STOP] = "quick stop",
		[CIA402_FAULT_REACTION] = "fault reaction",    [CIA402_FAULT] = "fault",
	};

	return words[state];
}
