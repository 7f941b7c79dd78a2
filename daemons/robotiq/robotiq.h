/* robotiq.h: registers of the Robotiq 3-finger gripper and the frames that carry them.  Pure.
 *
 * hw-docs/devices/robotiq.md is the page.
 *
 *	robotiq_read(&frame, 11, ROBOTIQ_UPLOAD, 5);		asks for input register 5: object 0x2000, sub-index 5
 *	code = sdo_reply(&frame, &reply, &value);
 *	robotiq_decode(&state, registers);			once all of 1 to 15 are there
 *
 *	robotiq_encode(&command, registers);
 *	robotiq_write(&frame, 11, 4, registers[4]);		output register 4: object 0x2200, sub-index 4
 */
#pragma once

#include "can/bus/frame.h"

#define ROBOTIQ_REGISTERS 16 /* 1 to 15; 0 is not one */
#define ROBOTIQ_FINGERS 4    /* A, B, C, and the scissor axis */
#define ROBOTIQ_SCISSOR 3
#define ROBOTIQ_FIRST 4 /* registers of finger A; 3 for each finger */

#define ROBOTIQ_UPLOAD 0x40	   /* command of a read by CiA 301 */
#define ROBOTIQ_UPLOAD_OTHER 0x4Fu /* as the client of the maker's partners sends it */

/* PDOs, if they are used; each + node, 8 bytes. */
#define ROBOTIQ_ID_TPDO1 0x180u /* input registers 1 to 8 */
#define ROBOTIQ_ID_TPDO2 0x280u /* 9 to 15, and a byte of 0 */
#define ROBOTIQ_ID_RPDO1 0x200u /* output registers 1 to 8 */
#define ROBOTIQ_PDO_LEN 8

enum robotiq_mode { ROBOTIQ_BASIC, ROBOTIQ_PINCH, ROBOTIQ_WIDE, ROBOTIQ_SCISSORS };
enum robotiq_phase { ROBOTIQ_RESET, ROBOTIQ_ACTIVATING, ROBOTIQ_CHANGING, ROBOTIQ_DONE };
enum robotiq_motion { ROBOTIQ_MOVING, ROBOTIQ_SOME_EARLY, ROBOTIQ_ALL_EARLY, ROBOTIQ_AT_TARGET };
enum robotiq_stop { ROBOTIQ_NOT_STOPPED, ROBOTIQ_OPENING, ROBOTIQ_CLOSING, ROBOTIQ_ARRIVED };

struct robotiq_state {
	bool active, go;	    /* gACT, gGTO */
	enum robotiq_mode mode;	    /* gMOD */
	enum robotiq_phase phase;   /* gIMC */
	enum robotiq_motion motion; /* gSTA; says something while go is set */
	uint8_t fault;		    /* gFLT */
	struct {
		enum robotiq_stop stop;		      /* gDT */
		uint8_t requested, position, current; /* gPR, gPO: 0 open to 255 closed; gCU: 0.1 A */
	} finger[ROBOTIQ_FINGERS];
};

struct robotiq_command {
	bool active, go, release; /* rACT, rGTO, rATR */
	enum robotiq_mode mode;	  /* rMOD */
	bool fingers, scissor;	  /* rICF, rICS: each finger, and the scissor axis, has values of its own */
	struct {
		uint8_t position, speed, force;
	} finger[ROBOTIQ_FINGERS]; /* without rICF those of A count for all */
};

void robotiq_decode(struct robotiq_state *state, const uint8_t registers[ROBOTIQ_REGISTERS]);
/* Registers 1 to 15. */
void robotiq_encode(const struct robotiq_command *command, uint8_t registers[ROBOTIQ_REGISTERS]);
/* Register 1 as it was requested, by what the gripper reports. */
uint8_t robotiq_echo(const struct robotiq_state *state);

/* 0 to 1 as 0 to 255.  0, or -EDOM: NaN; -ERANGE. */
int robotiq_share(double share, uint8_t *ticks);

/* ---- frames ---- */

void robotiq_read(struct frame *frame, unsigned int node, uint8_t upload, uint8_t sub);
void robotiq_write(struct frame *frame, unsigned int node, uint8_t sub, uint8_t value);

/* Registers 1 to 8 (first), or 9 to 15. */
int robotiq_decode_pdo(uint8_t registers[ROBOTIQ_REGISTERS], const struct frame *frame, bool first); /* or -EMSGSIZE */
void robotiq_encode_pdo(struct frame *frame, unsigned int node, const uint8_t registers[ROBOTIQ_REGISTERS]);

/* ---- faults ---- */

enum robotiq_clears {
	ROBOTIQ_NO_FAULT,      /* none, or a step of activation or of a change of mode that is waited for */
	ROBOTIQ_CLEARS_ITSELF, /* when its cause is gone */
	ROBOTIQ_CLEARS_RESET,  /* by rACT 0, then 1 */
};

struct robotiq_fault {
	uint8_t number;
	enum robotiq_clears clears;
	const char *code, *words;
};

const struct robotiq_fault *robotiq_fault(uint8_t fault); /* never NULL */
