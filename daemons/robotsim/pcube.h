/* pcube.h: a PowerCube module of Schunk: what it answers, what it does by itself, how its joint moves.
 *
 * Written from hw-docs/powercube.md alone.  Frames and times are arguments, so that tests drive it without a bus and
 * without a clock:
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
#ifndef DAEMONS_ROBOTSIM_PCUBE_H
#define DAEMONS_ROBOTSIM_PCUBE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "can/frame.h"
#include "config/settings.h"
#include "daemons/robotsim/joint.h"

#define PCUBE_STEP_NS 250000
#define PCUBE_REPLIES_MAX 32
#define PCUBE_ADDRESS_MAX 31

/* ---- words of the page ---- */

#define PCUBE_ERROR 0x1u
#define PCUBE_HOMED 0x2u
#define PCUBE_HALTED 0x4u
#define PCUBE_POWER_FAULT 0x8u
#define PCUBE_TOW_ERROR 0x10u
#define PCUBE_COMM_ERROR 0x20u
#define PCUBE_HOME_SWITCH 0x40u
#define PCUBE_LIMIT_SWITCH_1 0x80u
#define PCUBE_LIMIT_SWITCH_2 0x100u
#define PCUBE_BRAKE 0x200u
#define PCUBE_CURRENT_LIMIT 0x400u
#define PCUBE_MOVING 0x800u
#define PCUBE_RAMP_UP 0x1000u
#define PCUBE_RAMP_STEADY 0x2000u
#define PCUBE_RAMP_DOWN 0x4000u
#define PCUBE_RAMP_END 0x8000u
#define PCUBE_STEPPING 0x10000u
#define PCUBE_STEPS_FULL 0x20000u
#define PCUBE_VOLTAGE 0x40000u
#define PCUBE_FET_TEMPERATURE 0x80000u
#define PCUBE_MOTOR_TEMPERATURE 0x100000u
#define PCUBE_SHORT_CIRCUIT 0x200000u
#define PCUBE_HALL_SENSOR 0x400000u
#define PCUBE_OVERLOAD 0x800000u
#define PCUBE_CPU_OVERLOAD 0x1000000u
#define PCUBE_HARD_LIMIT 0x2000000u
#define PCUBE_SOFT_LIMIT 0x4000000u
#define PCUBE_LOGIC_VOLTAGE 0x8000000u

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

/* "homed" ... of a bit of the state word; NULL: there is none. */
const char *pcube_state_name(unsigned int bit);

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
	int64_t reply_delay_ns, reply_jitter_ns, reorder_by_ns;
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
/* May the setting be changed while it runs? */
bool pcube_settings_live(const char *key);

/* ---- the servo loop ---- */

struct pcube_servo {
	double gain, damping, integral_gain; /* N m/rad, N m s/rad, N m/rad/s */
	double integral;		     /* N m */
	bool on;			     /* it gave the current of this step */
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

/* Parameters as they are read and set; what is measured is refreshed before it is read. */
struct pcube_values {
	float default_home_offset, default_gear_ratio, default_min_position, default_max_position;
	float default_max_velocity, default_max_acceleration, default_max_current, default_home_velocity;
	uint32_t serial, default_config, pulses_per_turn;
	uint16_t version;
	uint8_t address, primary_baud, secondary_baud;
	int32_t position_count, reference_count, target_count, target_velocity_count, target_acceleration_count;
	uint32_t digital_io, state;
	int16_t raw_current;
	uint32_t config;
	uint8_t move_mode;
	float ticks_per_unit, actual_position, previous_position, interpolated_position, following_error;
	float max_following_error, actual_velocity, interpolated_velocity;
	float min_position, max_position, max_velocity, max_acceleration, max_current, actual_current;
	float target_position, target_velocity, target_acceleration;
	int16_t servo_c0, servo_damping, servo_a0;
	uint8_t burn_count;
	uint32_t setup;
	float home_offset;
	float bus_current, bus_voltage, nominal_current, peak_current;
	uint32_t nominal_overshoot, peak_overshoot;
};

struct pcube_counts {
	uint64_t in, out, ignored, lost; /* frames; lost: answers that the settings or a full queue swallowed */
	uint64_t gets, sets, moves, resets, homings, halts, watchdogs, starts;
	uint64_t refused; /* sets and moves */
	uint64_t trips;	  /* of the watchdog */
};

struct pcube {
	struct pcube_settings settings;
	const struct pcube_type *type;
	struct pcube_values values;
	struct joint joint; /* its position counts from its own zero, whatever the module believes */
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
	bool wrong_position; /* the next one it tells */
	double push_nm;
	int64_t push_until_ns;
	uint64_t random;

	struct {
		int64_t due_ns;
		struct frame frame;
	} replies[PCUBE_REPLIES_MAX];
	unsigned int replies_n;
	int64_t reply_last_ns; /* due time of the newest that was not held back */
};

void pcube_start(struct pcube *m, unsigned int address, const struct pcube_settings *settings, int64_t t_ns);

void pcube_frame(struct pcube *m, const struct frame *frame, int64_t t_ns);
int64_t pcube_next_ns(const struct pcube *m); /* when the next answer is due; CLOCK_NEVER */
bool pcube_reply(struct pcube *m, int64_t now_ns, struct frame *reply);
void pcube_advance(struct pcube *m, int64_t t_ns);

/* From outside. */
void pcube_power(struct pcube *m, bool on, int64_t t_ns);
void pcube_fault(struct pcube *m, uint32_t bit, bool on, int64_t t_ns); /* a bit of the state word */
void pcube_supply(struct pcube *m, bool low, int64_t t_ns);
void pcube_push(struct pcube *m, double torque_nm, int64_t duration_ns, int64_t t_ns);
bool pcube_hears(const struct pcube *m); /* is it on, booted, and on this bus? */

uint32_t pcube_state(const struct pcube *m);
double pcube_position(const struct pcube *m); /* what it believes, rad */
struct joint_encoder pcube_encoder(const struct pcube *m);

/* ---- between its files ---- */

static inline double pcube_seconds(int64_t ns)
{
	return (double)ns * 1e-9;
}

/* 0 to below 1. */
double pcube_random(struct pcube *m);

/* Parameter id as bytes behind command and id: their number, or 0: no such. */
unsigned int pcube_value_get(struct pcube *m, uint8_t id, uint8_t bytes[4]);
/* -1: no such parameter or length; else the answer's status. */
int pcube_value_set(struct pcube *m, uint8_t id, const uint8_t *bytes, unsigned int n);
float pcube_value_position(struct pcube *m); /* that it tells now */
void pcube_values_reset(struct pcube *m);    /* what can be set, as it is in flash */
float pcube_value_f32(const uint8_t bytes[4]);
uint32_t pcube_value_u32(const uint8_t bytes[4]);

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

#endif
