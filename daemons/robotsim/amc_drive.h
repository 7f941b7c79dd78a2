/* amc_drive.h: a servo drive of AMC with its motor: what it answers, what it does by itself, how its shaft turns.
 *
 * Written from hw-docs/devices/amc.md alone.  Its inner time goes in steps of AMC_STEP_NS on a fixed grid: how often it
 * is asked makes no difference.
 *
 *	amc_drive.c	state machine, faults, control loops, motor
 *	amc_objects.c	its object dictionary and PDOs (od.h)
 *	amc_kind.c	its place among the simulated devices: robot file, faults on command, report
 */
#pragma once

#include "daemons/robotsim/body.h"
#include "daemons/robotsim/joint.h"
#include "daemons/robotsim/od.h"

#define AMC_STEP_NS 250000
#define AMC_KEY(index, sub) ((uint32_t)(index) << 8 | (sub))
#define AMC_TIMERS 2

enum amc_state { AMC_DISABLED, AMC_READY, AMC_ON, AMC_ENABLED, AMC_QUICK_STOP, AMC_FAULT, AMC_STATES };
enum amc_mode { AMC_POSITION = 1, AMC_VELOCITY = 3, AMC_CURRENT = 4 };
/* What keeps it in fault. */
enum { AMC_HOT = 1, AMC_LOW_VOLTAGE = 2, AMC_STUCK = 4 };

struct amc_settings {
	double peak_a, continuous_a; /* peak_a is Kp */
	int64_t i2t_ns;		     /* at the peak */
	double ks_hz;
	int64_t ki;
	double voltage_v;
	int64_t current_lag_ns, velocity_filter_ns;
	double torque_per_a, inertia, friction_nm, viscous, no_load, position; /* of the joint */
	double noise, velocity_gain;
	int64_t boot_ns, reply_ns, pdo_ns, seed;
	bool power;
};

struct amc_drive {
	struct od od;		      /* first */
	struct amc_settings settings; /* of the robot file */
	unsigned int node;
	double gear, counts;
	bool backwards;

	enum amc_state state;
	uint16_t control; /* word, as written last */
	uint16_t error;	  /* EMCY code of the fault */
	uint16_t causes;
	bool silent, encoder_stuck, limited;
	int64_t t_ns; /* of the step that was done last */
	int64_t timer_ns[AMC_TIMERS];

	struct joint joint; /* at the joint, forward positive */
	struct joint_encoder encoder;
	struct sim_shaft shaft;
	double push_nm;
	int64_t push_until_ns;
	double current_a, integral_a, heat; /* of the drive's own sign; A^2 s above continuous */
	double position, velocity, offset;  /* counts, counts/s, as measured */

	uint64_t in, out, enables, losses, fault_resets;
};

extern const struct od_device amc_device;
extern const char *const amc_state_names[AMC_STATES];

/* Called by robotsim, with a struct amc_drive. */
void amc_start(void *state, int64_t t_ns);
void amc_power(void *state, bool on, int64_t t_ns);
void amc_faulted(void *state, int64_t t_ns); /* its causes have changed */
void amc_advance(void *state, int64_t t_ns);

/* Called by the dictionary. */
void amc_reset(void *state);
void amc_control(struct amc_drive *d, uint16_t word);
void amc_lost(void *state, uint16_t code, int64_t t_ns);
uint16_t amc_status(const struct amc_drive *d);
double amc_velocity_unit(const struct amc_drive *d); /* counts/s for each unit on the wire */
