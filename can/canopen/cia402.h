/* cia402.h: the state machine of a drive (CiA 402) as pure functions.
 *
 *	state = cia402_state(statusword);
 *	controlword = cia402_controlword(state, CIA402_TO_ENABLED, controlword);
 *
 * Sent once a tick, the controlword takes the drive one transition nearer to the goal.  A fault is reset by a rising
 * edge of bit 7: the previous controlword says whether the bit has to fall first.
 */
#pragma once

#include "config/base/base.h"

enum cia402_state {
	CIA402_NOT_READY,
	CIA402_DISABLED, /* switch-on disabled */
	CIA402_READY,	 /* to switch on */
	CIA402_SWITCHED_ON,
	CIA402_ENABLED, /* operation enabled: the only state in which it moves */
	CIA402_QUICK_STOP,
	CIA402_FAULT_REACTION,
	CIA402_FAULT,
};
#define CIA402_STATES 8

enum cia402_goal {
	CIA402_TO_OFF,	   /* no voltage at the motor; a fault stays */
	CIA402_TO_READY,   /* no voltage at the motor, ready to switch on */
	CIA402_TO_ENABLED, /* a fault stays */
	CIA402_TO_RESET,   /* of a fault; else as CIA402_TO_READY */
};

#define CIA402_SHUTDOWN 0x06
#define CIA402_SWITCH_ON 0x07
#define CIA402_ENABLE 0x0F
#define CIA402_FAULT_RESET 0x80

enum cia402_state cia402_state(uint16_t statusword);
uint16_t cia402_controlword(enum cia402_state state, enum cia402_goal goal, uint16_t last);
const char *cia402_words(enum cia402_state state);
