/* pcio.h: frames of Schunk PowerCube, PRL and LWA3 modules, and what they mean.
 *
 *	pcio_encode_move(4, PCIO_VELOCITY_STATE, 0.25, &request);	0E4#0B110000803E
 *	...
 *	if (!pcio_decode(&reply, &got, t_ns))
 *		position = reply.value;					0A4#0B110000803F1000
 *
 * Pure.  Values are rad, rad/s, rad/s^2, A (of a linear module m, m/s, m/s^2).  hw-docs/devices/powercube.md is the
 * page: what is sent when, what is not known, and the vectors this file is tested with.
 *
 * Functions answer 0 or
 *	-EINVAL	no such module, parameter, motion or broadcast
 *	-EPERM	a parameter that must not be written: it is the module's own, or in its flash
 *	-EDOM	NaN or infinite
 *	-ERANGE	more than the frame can say, or a negative magnitude
 *	-ENOMSG	not from a module
 *	-EBADMSG	from a module, but nothing known
 *	-EMSGSIZE	known, but not of this length
 * and leave what they would have written as it was.
 */
#pragma once

#include "can/slots/slots.h"

/* ---- identifiers and commands ---- */

#define PCIO_MODULE_MAX 31 /* they count from 1 */

#define PCIO_ID_ACK 0x0A0u /* + module: what it answers */
#define PCIO_ID_GET 0x0C0u /* + module: asks for a parameter */
#define PCIO_ID_PUT 0x0E0u /* + module: everything else */
#define PCIO_ID_ALL 0x100u /* to all modules of the bus; none answers */

enum pcio_command { /* the first byte */
		    PCIO_RESET = 0x00,
		    PCIO_HOME = 0x01,
		    PCIO_HALT = 0x02,
		    PCIO_WATCHDOG = 0x07, /* to all only: the host lives */
		    PCIO_SET = 0x08,
		    PCIO_GET = 0x0A,
		    PCIO_MOVE = 0x0B,
		    PCIO_START = 0x0F, /* to all only: modules with PCIO_CONFIG_SYNC_MOTION begin their moves */
};

/* The second byte of a move.  With _STATE the answer carries position and short state, without it a status only. */
enum pcio_motion {
	PCIO_RAMP = 4, /* to a position, within target-velocity and target-acceleration */
	PCIO_STEP = 6, /* to a position, in a time */
	PCIO_VELOCITY = 7,
	PCIO_CURRENT = 8,
	PCIO_RAMP_STATE = 14,
	PCIO_STEP_STATE = 16,
	PCIO_VELOCITY_STATE = 17,
	PCIO_CURRENT_STATE = 18,
};

/* ---- parameters ---- */

/* clang-format off */

/* P(NAME, id, type, flags, word, unit) */
#define PCIO_PARAMETERS(P) \
	P(DEFAULT_HOME_OFFSET, 0x00, F32, 0, "default-home-offset", "rad") \
	P(DEFAULT_GEAR_RATIO, 0x01, F32, 0, "default-gear-ratio", "") \
	P(DEFAULT_MIN_POSITION, 0x03, F32, 0, "default-min-position", "rad") \
	P(DEFAULT_MAX_POSITION, 0x04, F32, 0, "default-max-position", "rad") \
	P(DEFAULT_MAX_VELOCITY, 0x0A, F32, 0, "default-max-velocity", "rad/s") \
	P(DEFAULT_MAX_ACCELERATION, 0x0C, F32, 0, "default-max-acceleration", "rad/s^2") \
	P(DEFAULT_MAX_CURRENT, 0x0E, F32, 0, "default-max-current", "A") \
	P(DEFAULT_HOME_VELOCITY, 0x0F, F32, 0, "default-home-velocity", "rad/s") \
	P(SERIAL, 0x1A, U32, 0, "serial", "") \
	P(DEFAULT_CONFIG, 0x1B, U32, 0, "default-config", "") \
	P(PULSES_PER_TURN, 0x1C, U32, 0, "pulses-per-turn", "") \
	P(VERSION, 0x1D, U16, 0, "version", "") \
	P(ADDRESS, 0x20, U8, 0, "address", "") \
	P(PRIMARY_BAUD, 0x22, U8, 0, "primary-baud", "") \
	P(SECONDARY_BAUD, 0x23, U8, 0, "secondary-baud", "") \
	P(POSITION_COUNT, 0x24, I32, 0, "position-count", "") \
	P(REFERENCE_COUNT, 0x25, I32, 0, "reference-count", "") \
	P(DIGITAL_IO, 0x26, U32, PCIO_SETTABLE, "digital-io", "") \
	P(STATE, 0x27, U32, 0, "state", "") \
	P(RAW_CURRENT, 0x35, I16, 0, "raw-current", "") \
	P(CONFIG, 0x39, U32, PCIO_SETTABLE, "config", "") \
	P(MOVE_MODE, 0x3A, U8, 0, "move-mode", "") \
	P(TICKS_PER_UNIT, 0x3B, F32, 0, "ticks-per-unit", "1/rad") \
	P(ACTUAL_POSITION, 0x3C, F32, 0, "actual-position", "rad") \
	P(PREVIOUS_POSITION, 0x3D, F32, 0, "previous-position", "rad") \
	P(INTERPOLATED_POSITION, 0x3E, F32, 0, "interpolated-position", "rad") \
	P(FOLLOWING_ERROR, 0x3F, F32, 0, "following-error", "rad") \
	P(MAX_FOLLOWING_ERROR, 0x40, F32, PCIO_SETTABLE | PCIO_MAGNITUDE, "max-following-error", "rad") \
	P(ACTUAL_VELOCITY, 0x41, F32, 0, "actual-velocity", "rad/s") \
	P(INTERPOLATED_VELOCITY, 0x42, F32, 0, "interpolated-velocity", "rad/s") \
	P(MIN_POSITION, 0x45, F32, PCIO_SETTABLE, "min-position", "rad") \
	P(MAX_POSITION, 0x46, F32, PCIO_SETTABLE, "max-position", "rad") \
	P(MAX_VELOCITY, 0x48, F32, PCIO_SETTABLE | PCIO_MAGNITUDE, "max-velocity", "rad/s") \
	P(MAX_ACCELERATION, 0x4A, F32, PCIO_SETTABLE | PCIO_MAGNITUDE, "max-acceleration", "rad/s^2") \
	P(MAX_CURRENT, 0x4C, F32, PCIO_SETTABLE | PCIO_MAGNITUDE, "max-current", "A") \
	P(ACTUAL_CURRENT, 0x4D, F32, 0, "actual-current", "A") \
	P(TARGET_POSITION, 0x4E, F32, 0, "target-position", "rad") \
	P(TARGET_VELOCITY, 0x4F, F32, PCIO_SETTABLE | PCIO_MAGNITUDE, "target-velocity", "rad/s") \
	P(TARGET_ACCELERATION, 0x50, F32, PCIO_SETTABLE | PCIO_MAGNITUDE, "target-acceleration", "rad/s^2") \
	P(SERVO_C0, 0x54, I16, 0, "servo-c0", "") \
	P(SERVO_DAMPING, 0x55, I16, 0, "servo-damping", "") \
	P(SERVO_A0, 0x56, I16, 0, "servo-a0", "") \
	P(BURN_COUNT, 0x57, U8, 0, "burn-count", "") \
	P(SETUP, 0x58, U32, 0, "setup", "") \
	P(HOME_OFFSET, 0x59, F32, PCIO_SETTABLE, "home-offset", "rad") \
	P(BUS_CURRENT, 0x70, F32, 0, "bus-current", "A") \
	P(BUS_VOLTAGE, 0x71, F32, 0, "bus-voltage", "V") \
	P(NOMINAL_CURRENT, 0x78, F32, 0, "nominal-current", "A") \
	P(PEAK_CURRENT, 0x79, F32, 0, "peak-current", "A") \
	P(NOMINAL_OVERSHOOT, 0x7E, U32, 0, "nominal-overshoot", "") \
	P(PEAK_OVERSHOOT, 0x7F, U32, 0, "peak-overshoot", "") \
	P(HOME_OFFSET_89, 0x89, F32, PCIO_SETTABLE, "home-offset-89", "rad") /* the same, as some sources have it */

/* S(NAME, bit, kind, word): the state word */
#define PCIO_STATES(S) \
	S(ERROR, 0, FAULT, "error") /* some fault; others say which */ \
	S(HOMED, 1, INFO, "homed") \
	S(HALTED, 2, INFO, "halted") /* takes no motion until it is reset */ \
	S(POWER_FAULT, 3, POWER_OFF, "power-fault") /* unless voltage is the cause */ \
	S(TOW_ERROR, 4, FAULT, "tow-error") \
	S(COMM_ERROR, 5, FAULT, "comm-error") /* the watchdog ran out */ \
	S(HOME_SWITCH, 6, INFO, "home-switch") \
	S(LIMIT_SWITCH_1, 7, INFO, "limit-switch-1") \
	S(LIMIT_SWITCH_2, 8, INFO, "limit-switch-2") \
	S(BRAKE, 9, INFO, "brake") \
	S(CURRENT_LIMIT, 10, WARNING, "current-limit") \
	S(MOVING, 11, INFO, "moving") \
	S(RAMP_UP, 12, INFO, "ramp-up") \
	S(RAMP_STEADY, 13, INFO, "ramp-steady") \
	S(RAMP_DOWN, 14, INFO, "ramp-down") \
	S(RAMP_END, 15, INFO, "ramp-end") \
	S(STEPPING, 16, INFO, "stepping") \
	S(STEPS_FULL, 17, INFO, "steps-full") \
	S(VOLTAGE, 18, FAULT, "voltage") /* clears once the supply is back */ \
	S(FET_TEMPERATURE, 19, POWER_OFF, "fet-temperature") \
	S(MOTOR_TEMPERATURE, 20, POWER_OFF, "motor-temperature") \
	S(SHORT_CIRCUIT, 21, POWER_OFF, "short-circuit") \
	S(HALL_SENSOR, 22, POWER_OFF, "hall-sensor") \
	S(OVERLOAD, 23, POWER_OFF, "overload") \
	S(CPU_OVERLOAD, 24, POWER_OFF, "cpu-overload") \
	S(HARD_LIMIT, 25, BY_HAND, "hard-limit") \
	S(SOFT_LIMIT, 26, FAULT, "soft-limit") \
	S(LOGIC_VOLTAGE, 27, POWER_OFF, "logic-voltage") /* or a wrong set-up: sources differ */

/* clang-format on */

enum pcio_type { PCIO_F32, PCIO_U8, PCIO_U16, PCIO_I16, PCIO_U32, PCIO_I32 };

#define PCIO_SETTABLE 1	 /* by pcio_encode_set */
#define PCIO_MAGNITUDE 2 /* and never below 0 */

struct pcio_parameter {
	const char *name; /* NULL: there is none of this id */
	const char *unit;
	enum pcio_type type;
	unsigned int flags;
};

#define PCIO_PARAMETER_ID(NAME, id, type, flags, word, unit) PCIO_##NAME = (id),
enum pcio_parameter_id { PCIO_PARAMETERS(PCIO_PARAMETER_ID) };
#define PCIO_PARAMETER_MAX PCIO_HOME_OFFSET_89

const struct pcio_parameter *pcio_parameter(unsigned int id); /* NULL: not known */

/* ---- state and config ---- */

enum pcio_kind {
	PCIO_KIND_INFO,
	PCIO_KIND_WARNING,
	PCIO_KIND_FAULT,     /* PCIO_RESET clears it, once the cause is gone */
	PCIO_KIND_BY_HAND,   /* a fault: the joint must be moved off its hard limit as the manual says */
	PCIO_KIND_POWER_OFF, /* a fault: only switching the module off and on clears it */
};

#define PCIO_STATE_BIT(NAME, bit, kind, word) PCIO_STATE_##NAME = 1u << (bit),
enum pcio_state { PCIO_STATES(PCIO_STATE_BIT) };
/* The bits of the config word that the driver reads or sets. */
enum pcio_config {
	PCIO_CONFIG_LINEAR = 1u << 17,	     /* units are m, not rad */
	PCIO_CONFIG_FULL_CURRENT = 1u << 19, /* else a current is held to the nominal one */
	PCIO_CONFIG_LINEAR_SCREW = 1u << 21,
	PCIO_CONFIG_WATCHDOG = 1u << 24, /* armed by the first PCIO_WATCHDOG */
	PCIO_CONFIG_NO_ACKNOWLEDGE = 1u << 26,
	PCIO_CONFIG_SYNC_MOTION = 1u << 27,
};

struct pcio_bit {
	uint32_t bit; /* 0: the end of the table */
	enum pcio_kind kind;
	const char *name;
};
extern const struct pcio_bit pcio_state_bits[];

/* The bits of all faults in a state word; 0: none. */
uint32_t pcio_faults(uint32_t state);
/* The worst kind of any bit in it.  PCIO_KIND_FAULT: a reset may help; above that it cannot. */
enum pcio_kind pcio_worst(uint32_t state);
/* Nothing is wrong but that the module's watchdog ran out: what the absence of its host explains. */
bool pcio_only_comm_error(uint32_t state);

/* The words of the bits in state, "error, tow-error"; "" if there are none.  The list ends before the first word
 * without room; with PCIO_TEXT_MAX bytes all have room. */
#define PCIO_TEXT_MAX 512
void pcio_text(char *text, size_t size, uint32_t state);

/* ---- frames ---- */

struct pcio_reply {
	int64_t t_ns;	   /* of the frame */
	uint8_t module;	   /* 1 to PCIO_MODULE_MAX */
	uint8_t command;   /* enum pcio_command: PCIO_RESET, _HOME, _HALT, _SET, _GET, _MOVE */
	uint8_t parameter; /* of a set or get; of a move enum pcio_motion; else 0 */
	bool with_state;   /* a move: value came, status did not */
	uint8_t status;	   /* of a set or a move without state: 0x64 if it was done; others are not documented */
	double value;	   /* of a get; of a move with state the actual position.  Finite */
};

int pcio_decode(struct pcio_reply *reply, const struct frame *frame, int64_t t_ns);

/* PCIO_RESET, PCIO_HOME or PCIO_HALT. */
int pcio_encode_command(unsigned int module, enum pcio_command command, struct frame *frame);
int pcio_encode_get(unsigned int module, unsigned int parameter, struct frame *frame);
int pcio_encode_set(unsigned int module, unsigned int parameter, double value, struct frame *frame);
/* value: rad, rad/s or A, as the motion has it; the driver sends no steps. */
int pcio_encode_move(unsigned int module, enum pcio_motion motion, double value, struct frame *frame);
/* PCIO_HALT, PCIO_WATCHDOG or PCIO_START.  A bus may be shared, so there is no reset, homing or bit rate for all. */
int pcio_encode_all(enum pcio_command command, struct frame *frame);

/* ---- what a driver sends: rows for slots, four for each module and one for each bus ---- */

enum pcio_send {
	PCIO_SEND_HALT,
	PCIO_SEND_MOVE, /* a newer one replaces an older one, whatever its motion */
	PCIO_SEND_WATCHDOG,
	PCIO_SEND_COMMAND, /* reset, set: in the order they were asked for */
	PCIO_SEND_HOME,
	PCIO_SEND_GET,
	PCIO_SENDS,
};

struct pcio_send_row {
	uint32_t id; /* + module, unless it is shared */
	enum slots_class class;
	uint8_t key[FRAME_DATA_MAX]; /* as in struct slots_row */
	uint8_t len;		     /* the longest */
	uint8_t reply_bytes;	     /* of the request that come back, at most, on PCIO_ID_ACK + module; 0: no reply */
	bool moves;
	bool harmless; /* however late it is sent */
	bool shared;   /* by all drivers on the bus: one row, not one for each module */
};
extern const struct pcio_send_row pcio_send_rows[PCIO_SENDS];
