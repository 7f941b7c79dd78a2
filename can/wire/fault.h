/* fault.h: a fault of the soft wire as people write it: `canwire fault BUS ...`, and in scripts.
 *
 *	drop N|P%|off [NODE]		the next N frames, or P percent, are acknowledged and lost: for NODE, or for all
 *	corrupt N|P%|off [at BIT] [NODE]	a bit is flipped on the wire, or as NODE alone hears it
 *	delay NODE TIME|off		frames of NODE come TIME later
 *	stuck [dominant|recessive] TIME	no node can send: held busy, shorted, open
 *	babble NODE FRAME [TIME]	NODE sends FRAME without end, for TIME; babble NODE off: no more
 *	power off|on NODE
 *	disconnect NODE, connect NODE	from the wire, to it
 *	clear				no more drop, corrupt, delay, stuck, babble
 */
#ifndef CAN_WIRE_FAULT_H
#define CAN_WIRE_FAULT_H

#include "can/wire/engine.h"

#define FAULT_WHY_MAX 256

/* Reads the words of text, blanks between them.  0, or -EINVAL with one line in why that says what is wrong and what to
 * write. */
int fault_read(struct engine_fault *fault, const char *text, char why[FAULT_WHY_MAX]);

/* The list above, for a help text. */
extern const char fault_help[];

#endif
