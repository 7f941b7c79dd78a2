/* odrive.h: frames of an ODrive, CANSimple of firmware 0.6; see odrive.md.  Pure. */
#pragma once

#include "can/bus/frame.h"

/* The identifier is node << 5 with one of these.  Units are turns, turns/s, N m; numbers little endian. */
enum odrive_command {
	ODRIVE_VERSION = 0x00,	 /* asked by a remote frame: u8 protocol, 3 of the hardware, 3 of the firmware, u8 */
	ODRIVE_HEARTBEAT = 0x01, /* every 100 ms: u32 errors, u8 state, u8 result, bit 48 trajectory done */
	ODRIVE_ERROR = 0x03,	 /* asked by a remote frame: u32 errors, u32 disarm reason */
	ODRIVE_READ = 0x04,	 /* u8 0, u16 endpoint, u8 0 */
	ODRIVE_VALUE = 0x05,	 /* u8 0, u16 endpoint, u8 0, value */
	ODRIVE_STATE = 0x07,	 /* u32 */
	ODRIVE_ESTIMATES = 0x09, /* every 10 ms: f32 position, f32 velocity */
	ODRIVE_MODE = 0x0B,	 /* u32 control mode, u32 input mode */
	ODRIVE_POSITION = 0x0C,	 /* f32, i16 velocity x 0.001, i16 torque x 0.001 */
	ODRIVE_VELOCITY = 0x0D,	 /* f32, f32 torque */
	ODRIVE_CLEAR = 0x18,	 /* u8 identify */
};
#define ODRIVE_ID(node, command) ((uint32_t)(node) << 5 | (command))
#define ODRIVE_ID_NODE 0x7E0u /* mask */
#define ODRIVE_HEARTBEAT_NS 100000000
#define ODRIVE_ESTIMATES_NS 10000000

enum odrive_state { ODRIVE_IDLE = 1, ODRIVE_CLOSED_LOOP = 8 };
enum odrive_control { ODRIVE_BY_VELOCITY = 2, ODRIVE_BY_POSITION = 3 };
#define ODRIVE_INITIALIZING 0x1u /* among the errors */
#define ODRIVE_WATCHDOG 0x1000000u
#define ODRIVE_PROTOCOL 2

struct odrive_heartbeat {
	int64_t t_ns;
	uint32_t errors;
	uint8_t state, result;
};

struct odrive_estimates {
	int64_t t_ns;
	double position_rad, velocity_rad_s;
};

/* 0; -EMSGSIZE: not of this length; -EDOM: not finite. */
int odrive_decode_heartbeat(struct odrive_heartbeat *got, const struct frame *frame, int64_t t_ns);
int odrive_decode_estimates(struct odrive_estimates *got, const struct frame *frame, int64_t t_ns);
int odrive_decode_u32(uint32_t *value, const struct frame *frame, unsigned int at);

/* A remote frame that asks for all eight bytes; that endpoint's value. */
void odrive_encode_ask(unsigned int node, enum odrive_command command, struct frame *frame);
void odrive_encode_read(unsigned int node, uint16_t endpoint, struct frame *frame);
void odrive_encode_clear(unsigned int node, struct frame *frame);
void odrive_encode_state(unsigned int node, enum odrive_state state, struct frame *frame);
void odrive_encode_mode(unsigned int node, enum odrive_control control, struct frame *frame);
/* 0; -EDOM: not finite; -ERANGE: more than the frame can say. */
int odrive_encode_position(unsigned int node, double position_rad, double velocity_rad_s, struct frame *frame);
int odrive_encode_velocity(unsigned int node, double velocity_rad_s, struct frame *frame);

/* Does it change how the drive moves? */
bool odrive_is_order(const struct frame *frame);

/* "watchdog, over-current"; "none". */
#define ODRIVE_WORDS_MAX 200
const char *odrive_error_words(char words[ODRIVE_WORDS_MAX], uint32_t errors);
