/* emcy.h: emergency messages of CANopen nodes (CiA 301, CiA 402), in words. */
#pragma once

#include "can/bus/frame.h"

#define EMCY_ID 0x080u /* + node */
#define EMCY_RESET 0x0000
#define EMCY_HEARTBEAT 0x8130 /* heartbeat or life guarding ran out */
#define EMCY_RPDO_LATE 0x8250

struct emcy {
	uint16_t code;
	uint8_t error_register; /* object 0x1001 */
	uint8_t specific[5];	/* of the manufacturer */
};

/* false: not an emergency message: 8 bytes, and not SYNC. */
bool emcy_decode(struct emcy *emcy, const struct frame *frame);
/* The code's own words, or those of its class; never NULL. */
const char *emcy_words(uint16_t code);
