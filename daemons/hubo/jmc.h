/* jmc.h: frames of Hubo's joint boards (JMC, EJMC), sensor boards and power board; see hw-docs/devices/hubo.md.  Pure.
 *
 * Positions are encoder counts here: what a count is, the joint table says.  Little endian; references are
 * sign-magnitude, everything else is two's complement.
 */
#pragma once

#include "can/bus/frame.h"

#define JMC_MOTORS_MAX 5
#define JMC_VALUES_MAX 5 /* of a command */

/* Identifiers; where it says "+ board" those of a board add its number. */
#define JMC_COMMAND 0x001u   /* to any board: its number is byte 0 */
#define JMC_SENSOR 0x002u    /* request to a sensor board: its number, 1 to 7, is byte 0 */
#define JMC_REFERENCE 0x010u /* + board */
#define JMC_FORCE 0x040u     /* + number of the sensor */
#define JMC_INCLINE 0x050u   /* + number of the sensor: tilt of a foot, or the inertial sensor */
#define JMC_ENCODER 0x060u   /* + board */
#define JMC_POWER 0x06Eu
#define JMC_STATUS 0x150u /* + board */
#define JMC_VALUES 0x1C0u /* + board: currents, or a parameter; only the request says which */

#define JMC_POWER_BOARD 0x0Eu
#define JMC_SENSOR_BOARD 0x2Fu /* + number of the sensor: its number in commands */
#define JMC_ALL_MOTORS 0xFu    /* for the commands home and zero */

/* What a board's frames look like. */
enum jmc_kind {
	JMC_ONE,   /* one motor */
	JMC_TWO,   /* two */
	JMC_NECK,  /* three, with absolute encoders */
	JMC_WRIST, /* wrist roll and two fingers of DRC-Hubo */
	JMC_HAND,  /* five fingers of Hubo2+ */
};
/* The kind of a board with 1, 2, 3 or 5 motors, and back. */
enum jmc_kind jmc_kind(unsigned int board, unsigned int motors);
unsigned int jmc_motors(enum jmc_kind kind);

/* ---- references ---- */

#define JMC_COUNTS_MAX 0x7FFFFF	     /* of a reference */
#define JMC_NECK_MAX 4095	     /* of a motor of the neck: -pi to pi */
#define JMC_FINGER_CURRENT_MAX_CA 10 /* 0.01 A */
#define JMC_DUTY_MAX_PERCENT 100
#define JMC_DUTY_MAX_PERMILLE 1000

/* Counts for an angle; truncated toward zero, and held to +-limit. */
int32_t jmc_counts(double rad, double counts_per_rad, int32_t limit);
int32_t jmc_neck_counts(double rad); /* held to 0..JMC_NECK_MAX */
double jmc_neck_rad(int32_t counts);

/* One value for each motor: counts; of a wrist board the fingers' current in 0.01 A; of a hand the duty in percent.  A
 * second slot of a board with one motor repeats its value, or is 0.  0, or -ERANGE: a value that the frame cannot
 * hold. */
int jmc_encode_reference(struct frame *frame, enum jmc_kind kind, unsigned int board,
			 const int32_t value[JMC_MOTORS_MAX], bool repeat);

/* Open loop: percent of each motor; of boards with one or two motors permille if fine.  run false: all stop.  0 or
 * -ERANGE. */
int jmc_encode_duty(struct frame *frame, enum jmc_kind kind, unsigned int board, const int32_t duty[JMC_MOTORS_MAX],
		    bool fine, bool run);

/* ---- commands ---- */

enum jmc_command {
	JMC_GET_STATUS,
	JMC_GET_ENCODER, /* half: 0, or 1 for fingers 4 and 5 of a hand */
	JMC_GET_CURRENT,
	JMC_GET_PARAMETER, /* index: jmc_parameter_index */
	JMC_GET_POWER,
	JMC_ZERO,	    /* motor 0 to 4, or JMC_ALL_MOTORS: encoder to 0, faults cleared */
	JMC_POSITION_GAINS, /* Kp, Ki, Kd of motor 0 or 1 */
	JMC_CURRENT_GAINS,  /* the same */
	JMC_FET,	    /* 1 on, 0 off */
	JMC_CONTROL_ON,
	JMC_CONTROL_OFF,
	JMC_MODE, /* 0 position, 1 current, 2 hybrid */
	JMC_HOME, /* motor 1 to 5, counted from 1, or JMC_ALL_MOTORS */
	JMC_FREEWHEEL,
	JMC_DEAD_ZONE,
	JMC_HOME_SEARCH,	/* turns, direction, offset */
	JMC_ENCODER_RESOLUTION, /* bits 0-13 counts, 14 auto-scale, 15 direction */
	JMC_MOTION_LIMITS,	/* acceleration, velocity */
	JMC_LOWER_LIMIT,	/* 1 enable + 2 update, counts */
	JMC_UPPER_LIMIT,
	JMC_HOME_MOTION,   /* acceleration x 100, velocity to limit, to offset, mode, duty */
	JMC_GAIN_OVERRIDE, /* percent of motor 0, of motor 1, ms */
	JMC_NULL_FORCE,	   /* of a sensor board: here is zero */
	JMC_NULL_TILT,
	JMC_NULL_IMU,
	JMC_ALARM,	  /* 0 off, 1 to 4 */
	JMC_BEEP,	  /* tenths of a second */
	JMC_BOARD_NUMBER, /* number, rate in ms; never with several boards on the bus */
	JMC_JAM_LIMITS,	  /* ms, ms, percent, percent */
	JMC_ERROR_LIMITS, /* input difference, error, temperature */
	JMC_INITIALIZE,
	JMC_INITIALIZE_SENSOR,
	JMC_COMMANDS,
};

/* Its name, the number of its values, and whether it is for one motor. */
struct jmc_command_about {
	const char *name;
	unsigned int values;
	unsigned int motors; /* a motor below this is part of it; 0: it is for the board */
};
struct jmc_command_about jmc_command_about(enum jmc_command command);
/* By name; -1: there is none. */
int jmc_command_find(const char *name);

/* 0; -EINVAL: no such motor; -ERANGE: a value out of its limits. */
int jmc_encode(struct frame *frame, unsigned int board, enum jmc_command command, unsigned int motor,
	       const int32_t *values);

enum jmc_measured { JMC_IS_FORCE, JMC_IS_TILT, JMC_IS_IMU, JMC_IS_POWER };
void jmc_encode_sensor(struct frame *frame, unsigned int sensor, enum jmc_measured what);

/* ---- replies; 0, or -EMSGSIZE: not of this length ---- */

/* Counts of the motors first to first + n - 1. */
struct jmc_encoders {
	unsigned int first, n;
	int32_t counts[JMC_MOTORS_MAX];
};
int jmc_decode_encoders(struct jmc_encoders *encoders, enum jmc_kind kind, const struct frame *frame);

enum jmc_flag {
	JMC_DRIVER_ON = 1 << 0,
	JMC_CONTROL_IS_ON = 1 << 1,
	JMC_CURRENT_MODE = 1 << 2,
	JMC_LIMIT_SWITCH = 1 << 3,
	JMC_JAM = 1 << 4,
	JMC_PWM_SATURATED = 1 << 5,
	JMC_BIG_ERROR = 1 << 6,
	JMC_ENCODER_ERROR = 1 << 7,
	JMC_DRIVER_FAULT = 1 << 8,
	JMC_MOTOR_FAIL_0 = 1 << 9,
	JMC_MOTOR_FAIL_1 = 1 << 10,
	JMC_BELOW_LOWER = 1 << 11,
	JMC_ABOVE_UPPER = 1 << 12,
	JMC_VELOCITY = 1 << 13,
	JMC_ACCELERATION = 1 << 14,
	JMC_TEMPERATURE = 1 << 15,
};
/* Faults after which a motor does not follow its references. */
#define JMC_FAULTS                                                                                               \
	(JMC_JAM | JMC_PWM_SATURATED | JMC_BIG_ERROR | JMC_ENCODER_ERROR | JMC_DRIVER_FAULT | JMC_MOTOR_FAIL_0 | \
	 JMC_MOTOR_FAIL_1 | JMC_TEMPERATURE)
#define JMC_HOME_UNKNOWN 0xFFu /* boards with 3 and 5 motors do not report it */

struct jmc_status {
	uint32_t flags[JMC_MOTORS_MAX]; /* set of enum jmc_flag */
	uint8_t home[JMC_MOTORS_MAX];	/* 6: homed */
};
int jmc_decode_status(struct jmc_status *status, enum jmc_kind kind, const struct frame *frame);

struct jmc_currents {
	double current_a[JMC_MOTORS_MAX]; /* without sign */
	double temperature_c;		  /* NaN: it has none */
};
int jmc_decode_currents(struct jmc_currents *currents, enum jmc_kind kind, const struct frame *frame);

/* Force: Mx and My in N m, Fz in N.  Tilt: x and y in degrees, z in counts / 750.  IMU: roll and pitch in degrees, and
 * their rates in degrees/s.  Power: V, A, W. */
#define JMC_MEASURED_MAX 4
int jmc_decode_measured(double value[JMC_MEASURED_MAX], enum jmc_measured what, const struct frame *frame);

/* ---- parameters ---- */

/* Nine replies: A to F are of a motor, G to I of the board. */
#define JMC_PARAMETERS 9
/* Byte of the request for letter 0 (A) to 8 (I); the motor counts for A to F. */
uint8_t jmc_parameter_index(unsigned int letter, unsigned int motor);

/* The replies behind each other, as they came: two numbers begin in one and end in the next. */
struct jmc_parameters {
	uint8_t bytes[8 * JMC_PARAMETERS];
};
/* Adds the reply of this letter. */
int jmc_decode_parameter(struct jmc_parameters *parameters, unsigned int letter, const struct frame *frame);

#define JMC_NUMBERS 30 /* in all of them */
/* One number of them: its name, and the replies that it comes in, bit 0 for A.  name NULL: there is none of this
 * number. */
struct jmc_parameter_about {
	const char *name;
	uint16_t letters;
};
struct jmc_parameter_about jmc_parameter_about(unsigned int parameter);
int jmc_parameter_find(const char *name); /* -1: there is none */
int64_t jmc_parameter_value(const struct jmc_parameters *parameters, unsigned int parameter);
