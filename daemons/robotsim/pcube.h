/* pcube.h: a PowerCube module of Schunk: what it answers, what it does by itself, how its joint moves.
 *
 * Written from hw-docs/devices/powercube.md alone.  Frames and times are arguments, so that tests drive it without a
 * bus and without a clock:
 *
 *	struct pcube m;
 *	struct frame reply;
 *
 *	pcube_start(&m, 15, &settings, t_ns);
 *	pcube_frame(&m, &frame, t_ns);			what it does with a frame that ended at t_ns
 *	while (pcube_next_ns(&m) <= now_ns)
 *		if (pcube_reply(&m, now_ns, &reply))	its answers, each at its time
 *			...
 *
 * Its inner time goes in steps of PCUBE_STEP_NS, up to the time of whatever it is asked about: how often it is asked
 * makes no difference.
 *
 *	pcube.c			commands and answers
 *	pcube_values.c		parameters
 *	pcube_life.c		power, faults, the state word
 *	pcube_time.c		a step of everything; watchdog, limits, following error
 *	pcube_motion.c		from a move to a reference for each step; homing
 *	pcube_servo.c		from a reference to a current
 *	joint.c			from a current to motion
 *	pcube_settings.c	what the robot file may say about it
 *	pcube_load.c		which of them a device is made of
 *	pcube_kind.c		its place among the simulated devices: faults on command, report
 */
#pragma once

#include "config/settings/settings.h"
#include "daemons/robotsim/body.h"
#include "daemons/robotsim/joint.h"
#include "daemons/robotsim/sim_queue.h"

#define PCUBE_STEP_NS 250000
#define PCUBE_REPLIES_MAX 32
#define PCUBE_ADDRESS_MAX 31

/* ---- words of the page ---- */

/* S(NAME, "name"): the state word, from bit 0 on */
/* clang-format off */
#define PCUBE_STATES(S) \
	S(ERROR, "error") S(HOMED, "homed") S(HALTED, "halted") S(POWER_FAULT, "power-fault") \
	S(TOW_ERROR, "tow-error") S(COMM_ERROR, "comm-error") S(HOME_SWITCH, "home-switch") \
	S(LIMIT_SWITCH_1, "limit-switch-1") S(LIMIT_SWITCH_2, "limit-switch-2") S(BRAKE, "brake") \
	S(CURRENT_LIMIT, "current-limit") S(MOVING, "moving") S(RAMP_UP, "ramp-up") S(RAMP_STEADY, "ramp-steady") \
	S(RAMP_DOWN, "ramp-down") S(RAMP_END, "ramp-end") S(STEPPING, "stepping") S(STEPS_FULL, "steps-full") \
	S(VOLTAGE, "voltage") S(FET_TEMPERATURE, "fet-temperature") S(MOTOR_TEMPERATURE, "motor-temperature") \
	S(SHORT_CIRCUIT, "short-circuit") S(HALL_SENSOR, "hall-sensor") S(OVERLOAD, "overload") \
	S(CPU_OVERLOAD, "cpu-overload") S(HARD_LIMIT, "hard-limit") S(SOFT_LIMIT, "soft-limit") \
	S(LOGIC_VOLTAGE, "logic-voltage")
/* clang-format on */
#define PCUBE_STATE_INDEX(NAME, name) PCUBE_BIT_##NAME,
enum { PCUBE_STATES(PCUBE_STATE_INDEX) PCUBE_BITS };
#define PCUBE_STATE_BIT(NAME, name) PCUBE_##NAME = 1u << PCUBE_BIT_##NAME,
enum { PCUBE_STATES(PCUBE_STATE_BIT) };
extern const char *const pcube_state_names[PCUBE_BITS];

/* By what ends them. */
#define PCUBE_ENDS_BY_RESET (PCUBE_TOW_ERROR | PCUBE_COMM_ERROR | PCUBE_VOLTAGE | PCUBE_SOFT_LIMIT)
#define PCUBE_ENDS_BY_POWER                                                                          \
	(PCUBE_POWER_FAULT | PCUBE_FET_TEMPERATURE | PCUBE_MOTOR_TEMPERATURE | PCUBE_SHORT_CIRCUIT | \
	 PCUBE_HALL_SENSOR | PCUBE_OVERLOAD | PCUBE_CPU_OVERLOAD | PCUBE_LOGIC_VOLTAGE)
#define PCUBE_FAULTS (PCUBE_ENDS_BY_RESET | PCUBE_ENDS_BY_POWER | PCUBE_HARD_LIMIT)
/* With one of these the amplifier gives no current. */
#define PCUBE_LIMP (PCUBE_ENDS_BY_POWER | PCUBE_VOLTAGE)

#define PCUBE_CONFIG_BRAKE 0x8u
#define PCUBE_CONFIG_BRAKE_AT_POWER_ON 0x10u
#define PCUBE_CONFIG_HOME_SWITCH 0x100u
#define PCUBE_CONFIG_SWITCH_1 0x800u
#define PCUBE_CONFIG_SWITCH_2 0x4000u
#define PCUBE_CONFIG_FULL_CURRENT 0x80000u
#define PCUBE_CONFIG_M3 0x100000u
#define PCUBE_CONFIG_DISABLE_ON_HALT 0x800000u
#define PCUBE_CONFIG_WATCHDOG 0x1000000u
#define PCUBE_CONFIG_ZERO_AFTER_HOME 0x2000000u
#define PCUBE_CONFIG_NO_ACKNOWLEDGE 0x4000000u
#define PCUBE_CONFIG_SYNC_MOTION 0x8000000u
#define PCUBE_CONFIG_OTHER_BUS 0xF0000000u /* another interface than CAN */

/* ---- what kind of module, and how it behaves ---- */

struct pcube_type {
	const char *name;
	double ratio;
	double torque_nm, torque_peak_nm; /* at current and current_peak */
	double velocity;		  /* rad/s */
	double acceleration;		  /* rad/s^2 */
	double current_a, current_peak_a;
	double inertia; /* kg m^2 at the joint, with a load that the type is made for */
};
extern const struct pcube_type pcube_types[];

struct pciod_settings; /* daemons/pcio/pciod_settings.h */
struct robot_device;
struct sim;

struct pcube_settings {
	int type; /* index into pcube_types */
	double position, moving;
	bool homed, power;
	int64_t config, serial, version;
	double limits[2], ends[2];
	size_t limits_n, ends_n;
	double home, home_offset, home_velocity;
	double following_error;
	double inertia, gravity, friction, noise;
	double voltage;
	int64_t watchdog_ns, boot_ns;
	int64_t reply_delay_ns, reply_jitter_ns;
	double reorder, lose;
	int64_t seed;
	int64_t done, refused; /* status of a set or move */
	bool wrong_after_reset, absolute;
};

extern const struct settings_row pcube_rows[];
/* What is not given follows from the rest, from the driver's settings, and from the joint's limits in the robot file.
 * 0, or -EINVAL with a line in errors, which begins with where. */
struct pcube_given {
	const struct pciod_settings *driver;
	const double *limits; /* of position, two */
	unsigned int address;
	const char *where;
};
int pcube_settings_complete(struct settings *settings, const struct pcube_given *given, struct error_sink *errors);

/* ---- the servo loop ---- */

struct pcube_servo {
	double integral; /* N m */
	bool on;	 /* it gave the current of this step */
};

/* ---- motions ---- */

enum pcube_mode { PCUBE_HOLD, PCUBE_RAMP, PCUBE_STEP, PCUBE_VELOCITY, PCUBE_CURRENT };

struct pcube_move {
	enum pcube_mode mode;
	double value;  /* rad, rad/s, A, of the joint's own zero */
	double time_s; /* of a step */
};

enum pcube_homing { PCUBE_HOME_NOT, PCUBE_HOME_LEAVE, PCUBE_HOME_SEEK, PCUBE_HOME_STOP, PCUBE_HOME_RETURN };

struct pcube_motion {
	struct pcube_move now;
	struct pcube_move next;	   /* of steps */
	struct pcube_move waiting; /* for 100#0F */
	bool has_next, has_waiting;
	double position, velocity, acceleration; /* the reference */
	double ramp_velocity, ramp_acceleration; /* of the ramp that runs */
	bool ramp_end;
	enum pcube_homing homing;
	double home_direction;
	int home_turns;
};

/* ---- all of it ---- */

/* P(id, type, rule of a set, member, id of the largest value that is taken; 0: none) */
/* clang-format off */
#define PCUBE_PARAMETERS(P) \
	P(0x00, float, READ, default_home_offset, 0) \
	P(0x01, float, READ, default_gear_ratio, 0) \
	P(0x03, float, READ, default_min_position, 0) \
	P(0x04, float, READ, default_max_position, 0) \
	P(0x0A, float, READ, default_max_velocity, 0) \
	P(0x0C, float, READ, default_max_acceleration, 0) \
	P(0x0E, float, READ, default_max_current, 0) \
	P(0x0F, float, READ, default_home_velocity, 0) \
	P(0x1A, uint32_t, READ, serial, 0) \
	P(0x1B, uint32_t, READ, default_config, 0) \
	P(0x1C, uint32_t, READ, pulses_per_turn, 0) \
	P(0x1D, uint16_t, READ, version, 0) \
	P(0x20, uint8_t, READ, address, 0) \
	P(0x22, uint8_t, READ, primary_baud, 0) \
	P(0x23, uint8_t, READ, secondary_baud, 0) \
	P(0x24, int32_t, READ, position_count, 0) \
	P(0x25, int32_t, READ, reference_count, 0) \
	P(0x26, uint32_t, ANY, digital_io, 0) \
	P(0x27, uint32_t, READ, state, 0) \
	P(0x28, int32_t, READ, target_count, 0) \
	P(0x29, int32_t, READ, target_velocity_count, 0) \
	P(0x2A, int32_t, READ, target_acceleration_count, 0) \
	P(0x35, int16_t, READ, raw_current, 0) \
	P(0x39, uint32_t, ANY, config, 0) \
	P(0x3A, uint8_t, READ, move_mode, 0) \
	P(0x3B, float, READ, ticks_per_unit, 0) \
	P(0x3C, float, READ, actual_position, 0) \
	P(0x3D, float, READ, previous_position, 0) \
	P(0x3E, float, READ, interpolated_position, 0) \
	P(0x3F, float, READ, following_error, 0) \
	P(0x40, float, NOT_NEGATIVE, max_following_error, 0) \
	P(0x41, float, READ, actual_velocity, 0) \
	P(0x42, float, READ, interpolated_velocity, 0) \
	P(0x45, float, FINITE, min_position, 0) \
	P(0x46, float, FINITE, max_position, 0) \
	P(0x48, float, NOT_NEGATIVE, max_velocity, 0x0A) \
	P(0x4A, float, NOT_NEGATIVE, max_acceleration, 0x0C) \
	P(0x4C, float, NOT_NEGATIVE, max_current, 0x0E) \
	P(0x4D, float, READ, actual_current, 0) \
	P(0x4E, float, READ, target_position, 0) \
	P(0x4F, float, NOT_NEGATIVE, target_velocity, 0) \
	P(0x50, float, NOT_NEGATIVE, target_acceleration, 0) \
	P(0x54, int16_t, ANY, servo_c0, 0) \
	P(0x55, int16_t, ANY, servo_damping, 0) \
	P(0x56, int16_t, ANY, servo_a0, 0) \
	P(0x57, uint8_t, READ, burn_count, 0) \
	P(0x58, uint32_t, READ, setup, 0) \
	P(0x59, float, FINITE, home_offset, 0) \
	P(0x70, float, READ, bus_current, 0) \
	P(0x71, float, READ, bus_voltage, 0) \
	P(0x78, float, READ, nominal_current, 0) \
	P(0x79, float, READ, peak_current, 0) \
	P(0x7E, uint32_t, READ, nominal_overshoot, 0) \
	P(0x7F, uint32_t, READ, peak_overshoot, 0)
/* clang-format on */
#define PCUBE_HOME_OFFSET 0x59
#define PCUBE_HOME_OFFSET_89 0x89 /* the same parameter */

/* Parameters as they are read and set; what is measured is refreshed before it is read. */
#define PCUBE_MEMBER(id, type, rule, member, most) type member;
struct pcube_values {
	PCUBE_PARAMETERS(PCUBE_MEMBER)
};

struct pcube_counts {
	uint64_t in, out, ignored, lost; /* frames; lost: answers that the settings or a full queue swallowed */
	uint64_t gets, sets, moves, resets, homings, halts, watchdogs, starts;
	uint64_t refused; /* sets and moves */
	uint64_t trips;	  /* of the watchdog */
};

struct pcube {
	struct pcube_settings settings; /* first, as struct sim_kind wants it */
	const struct pcube_type *type;
	struct pcube_values values;
	struct joint joint; /* its position counts from its own zero, whatever the module believes */
	struct sim_shaft shaft;
	struct pcube_servo servo;
	struct pcube_motion motion;
	struct pcube_counts counts;

	int64_t t_ns;	  /* everything up to here has happened */
	int64_t heard_ns; /* when the frame at hand was on the bus */
	bool power;
	bool booting; /* until then */
	int64_t booted_ns;
	bool other_bus;	    /* the config word took it off CAN */
	uint32_t faults;    /* of the state word, until they are cleared */
	uint32_t causes;    /* faults that come back at once */
	uint32_t forced;    /* bits, such as those of switches, set by command */
	bool supply_failed; /* power-fault is there because voltage is */
	bool error, homed, halted, brake;
	bool silent, jammed;
	bool armed;
	int64_t watchdog_ns; /* trips then, if armed */
	double heat;	     /* of the motor: seconds at twice the nominal power */
	double zero;	     /* reading = joint's position + zero */
	bool wrong_position; /* the next one it sends */
	double push_nm;
	int64_t push_until_ns;
	uint64_t random;

	struct sim_queue replies;
	int64_t reply_last_ns; /* due time of the newest that was not held back */
};

void pcube_start(struct pcube *m, unsigned int address, const struct pcube_settings *settings, int64_t t_ns);

/* As struct sim_kind has them; state is a struct pcube. */
void pcube_frame(void *state, const struct frame *frame, int64_t t_ns);
int64_t pcube_next_ns(const void *state); /* when the next answer is due; CLOCK_NEVER */
bool pcube_reply(void *state, int64_t now_ns, struct frame *reply);
void pcube_advance(void *state, int64_t t_ns);
/* Each module of the device becomes a unit, with its settings and address in its state. */
int pcube_load(struct sim *sim, const struct robot_device *device, const void *of_driver, struct error_sink *errors);

/* From outside. */
void pcube_power(void *state, bool on, int64_t t_ns);
void pcube_fault(struct pcube *m, uint32_t bit, bool on, int64_t t_ns); /* a bit of the state word */
void pcube_supply(struct pcube *m, bool low, int64_t t_ns);
void pcube_push(void *state, double torque_nm, int64_t duration_ns, int64_t t_ns);
bool pcube_hears(const struct pcube *m); /* is it on, booted, and on this bus? */

uint32_t pcube_state(const struct pcube *m);
double pcube_position(const struct pcube *m); /* what it believes, rad */
struct joint_encoder pcube_encoder(const struct pcube *m);

/* ---- between its files ---- */

/* Parameter id as bytes behind command and id: their number, or 0: no such. */
unsigned int pcube_value_get(struct pcube *m, uint8_t id, uint8_t bytes[4]);
/* -1: no such parameter or length; else the answer's status. */
int pcube_value_set(struct pcube *m, uint8_t id, const uint8_t *bytes, unsigned int n);
float pcube_value_position(struct pcube *m); /* that it sends now */
void pcube_values_reset(struct pcube *m);    /* what can be set, as it is in flash */
float pcube_value_f32(const uint8_t bytes[4]);

double pcube_current_max(const struct pcube *m);
bool pcube_has_brake(const struct pcube *m);
bool pcube_is_limp(const struct pcube *m); /* no current, at once */
void pcube_boot(struct pcube *m);
void pcube_trip(struct pcube *m, uint32_t faults); /* faults have come */
void pcube_halt(struct pcube *m);
void pcube_reset(struct pcube *m);

void pcube_servo_init(struct pcube *m);
double pcube_servo_current(struct pcube *m, double max_a, double dt_s); /* that it asks for */

void pcube_motion_begin(struct pcube *m, const struct pcube_move *move);
void pcube_motion_stop(struct pcube *m); /* velocity 0, and nothing waits */
void pcube_motion_home(struct pcube *m);
void pcube_motion_here(struct pcube *m); /* the reference is where the joint is: the servo loop is open */
void pcube_motion_step(struct pcube *m, double dt_s);
uint32_t pcube_motion_bits(const struct pcube *m);
bool pcube_at_home_switch(const struct pcube *m);
