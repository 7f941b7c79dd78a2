/* joint.h: one simulated joint: motor, inertia, friction, brake, ends, encoder.
 *
 *	struct joint joint = { .inertia = 12, .torque_per_a = 37, .friction_nm = 6, .ends = { -1, 1 }, ... };
 *	struct joint_drive drive = { .how = JOINT_CURRENT, .value = 2, .current_max = 5 };
 *
 *	joint_step(&joint, &drive, dt_s);		moves it; position, velocity and current follow
 *	joint_counts(&encoder, joint.position, t_ns);	what its encoder reads then
 *
 * While the drive stays the same a step is the exact solution, whatever its length: friction stops the joint at the
 * instant at which it does, and at rest it holds it.  What depends on velocity or position (the current that the
 * supply allows, gravity) is evaluated at least every JOINT_STEP_MAX_S.
 *
 * A joint that is part of a body has no inertia of its own.  Then the body is integrated elsewhere:
 *
 *	joint_carry(&joint, position, velocity);	from the body
 *	motor_nm = joint_motor_nm(&joint, &drive);	and its current
 *
 * Pure: nothing here allocates, blocks or reads a clock.
 */
#pragma once

#include "config/base/base.h"

#define JOINT_STEP_MAX_S 1e-3

struct joint {
	/* what it is */
	double inertia;			     /* kg m^2, of motor, gear and load, at the joint */
	double torque_per_a;		     /* N m/A at the joint */
	double velocity_full, velocity_none; /* rad/s: full current up to the first, none from the second on */
	double acceleration;		     /* rad/s^2, of JOINT_VELOCITY */
	double viscous;			     /* N m s/rad */
	double friction_nm;		     /* dry, while it moves */
	double stiction_nm;		     /* at rest; at least friction_nm */
	double brake_nm;		     /* more of both while the brake is closed */
	double gravity_nm;		     /* of a load 90 degrees from where it hangs, 0 rad */
	double ends[2];			     /* rad; -INFINITY and INFINITY: none */
	/* as it is */
	double position, velocity; /* rad, rad/s */
	double current;		   /* A */
	bool limited;		   /* more current was asked for than there is */
	int end;		   /* -1, 1: it lies at that end; 0: at none */
};

enum joint_how { JOINT_FREE, JOINT_TORQUE, JOINT_CURRENT, JOINT_VELOCITY };

/* What acts on it during a step. */
struct joint_drive {
	enum joint_how how;
	double value;	    /* N m; A; rad/s, which it meets with its acceleration whatever the load */
	double current_max; /* A, of JOINT_CURRENT */
	double load_nm;	    /* from outside: pushes, other joints */
	bool brake;
	bool jammed; /* it does not move, whatever acts on it */
};

void joint_step(struct joint *joint, const struct joint_drive *drive, double dt_s);

/* The motor's torque at the joint, at its present velocity; sets current and limited. */
double joint_motor_nm(struct joint *joint, const struct joint_drive *drive);
void joint_carry(struct joint *joint, double position, double velocity);

/* ---- its encoder ---- */

struct joint_encoder {
	double counts_per_rad;
	double offset;	/* rad, added to the position */
	bool backwards; /* counts down where the position goes up */
	double noise;	/* rad, at most, either way; the same at the same time with the same seed */
	int64_t seed;
};

/* Whole counts, rounded down. */
double joint_counts(const struct joint_encoder *encoder, double position, int64_t t_ns);
/* The same in rad. */
double joint_reading(const struct joint_encoder *encoder, double position, int64_t t_ns);
