/* pylon.h: the telegram of a Pylontech low-voltage pack; see hw-docs/devices/bms.md.  Pure. */
#pragma once

#include "can/bus/frame.h"
#include "channels/msg/types.h"

#define PYLON_ID_KEEP_ALIVE 0x305u
#define PYLON_ID_LIMITS 0x351u
#define PYLON_ID_CHARGE 0x355u
#define PYLON_ID_MEASURED 0x356u
#define PYLON_ID_ALARMS 0x359u
#define PYLON_ID_PERMITS 0x35Cu /* not every pack sends it */
#define PYLON_KEEP_ALIVE_LEN 8

/* The parts of a telegram. */
enum {
	PYLON_LIMITS = 1,
	PYLON_CHARGE = 2,
	PYLON_MEASURED = 4,
	PYLON_ALARMS = 8,
	PYLON_PERMITS = 16,
	PYLON_NEEDED = PYLON_LIMITS | PYLON_CHARGE | PYLON_MEASURED | PYLON_ALARMS
};

struct pylon_pack {
	int64_t t_ns;				    /* its first frame was on the wire */
	double charge_limit_a, discharge_limit_a;   /* positive */
	double charge, health;			    /* 0 to 1; health NaN: more than 100 % */
	double voltage_v, current_a, temperature_k; /* positive charges */
	uint32_t protections, warnings;		    /* set of enum msg_alarm */
	uint32_t refused;			    /* of enum msg_alarm: charge, discharge */
	bool wants_charge;
};

/* Frames come in any order.  A telegram ends when each part has come once, when a part comes again, or with a pause.
 * Without the part PERMITS it is complete at its end; while the pack does not send PERMITS, with its last frame. */
struct pylon {
	int64_t pause_ns; /* by the caller: frames that are further apart belong to two telegrams */

	struct pylon_pack next; /* the telegram that is being received */
	unsigned int has;	/* parts of it */
	unsigned int lacked;	/* parts that the last incomplete telegram lacked; 0: there was none */
	int64_t last_ns;	/* of its last frame */
	bool no_permits;	/* the last telegram had none */
	uint32_t incomplete;	/* telegrams that lacked a part */
	uint32_t odd;		/* frames of another length, or with values that cannot be */
};

/* A frame of one of the identifiers.  true: a telegram is complete. */
bool pylon_take(struct pylon *pylon, const struct frame *frame, int64_t t_ns, struct pylon_pack *pack);
/* Without a frame.  true: the pause has completed a telegram. */
bool pylon_pause(struct pylon *pylon, int64_t now_ns, struct pylon_pack *pack);
/* The pack was away: discards everything received so far. */
void pylon_forget(struct pylon *pylon);

void pylon_encode_keep_alive(struct frame *frame);
