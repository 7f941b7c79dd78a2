/* drv_ref.h: how a joint is driven to its references.
 *
 * Pure: times and measurements are arguments.
 *
 * Which references are taken is in channels/msg/ref.h.  Limits and ramps, per joint, once a tick: drv_ref_joint.  It
 * remembers what it commanded last (struct drv_ref_joint), so that
 *	position	goes there as fast as velocity and acceleration limits allow and stops there: never a step,
 *			whatever the distance.  The target itself is first held to the position limits, and to
 *			limits.step from the last target.  As it could stop at every target, it is v^2 / 2a behind one
 *			that moves
 *	velocity	changes by at most acceleration x time, and is braked so that the joint stops at its position
 *			limit
 *	current		changes by at most the slew limit, is held to +-current; none that pushes further where the
 *			joint is as fast as it may be, or could not stop before a position limit any more (positive
 *			current pushes towards greater positions)
 *	compliant	as position: it is the place around which the joint gives way that goes there
 *	none, or NULL	the safe action: hold (mode position: velocity to 0 within the acceleration limit, then the
 *			position it came to), zero-velocity (at once), zero-current (at once)
 * A ramp begins at the measured state (drv_ref_begin): at the start, after a change of mode, after every tick in which
 * nothing was commanded; the command says so (begins).  A measured velocity above the limit counts as the limit.
 *
 * Limits of velocity and acceleration are kept in every tick, whatever the ticks' lengths.  No command exceeds the
 * velocity limit: one narrowed below the present velocity holds at once.  A joint that is too near to a position limit
 * to brake for it (begun there, or the limit was narrowed) brakes harder, too; one outside the position limits goes
 * inwards or stands.
 *
 * Last, for devices that take velocities, the tracking: drv_ref_track.
 */
#pragma once

#include "channels/msg/ref.h"

/* ---- limits ---- */

struct drv_ref_limits { /* infinite where there is none */
	double position_min_rad, position_max_rad;
	double velocity_rad_s;
	double acceleration_rad_s2;
	double current_a;
	double current_slew_a_s; /* infinite: at once */
	double step_rad;	 /* of a position target from the last one */
};
extern const struct drv_ref_limits drv_ref_no_limits;

/* Narrows limits by others; never widens.  NaN in others: that one is left. */
void drv_ref_tighten(struct drv_ref_limits *limits, const struct drv_ref_limits *others);

/* Both ends of the position range moved inwards by that share (0.02; 0 to 0.5) of the range.  A range open at one
 * end, or empty, is left. */
void drv_ref_margin(struct drv_ref_limits *limits, double share);

/* The greatest velocity for the next dt_s from which it can still stop within room. */
double drv_ref_stoppable(double room_rad, double acceleration_rad_s2, double dt_s);

/* ---- ramps ---- */

enum drv_ref_safe { DRV_REF_HOLD, DRV_REF_ZERO_VELOCITY, DRV_REF_ZERO_CURRENT };
extern const char *const drv_ref_safe_words[]; /* "hold", "zero-velocity", "zero-current", NULL */

/* Ticks longer than this are ramped as if they were that long (no reference is valid for longer), so that a driver
 * that was stopped for a while does not come back with a step. */
#define DRV_REF_TICK_MAX_S 0.2

struct drv_ref_want { /* one joint of a reference */
	enum msg_mode mode;
	double position_rad, velocity_rad_s, current_a;
};

struct drv_ref_command {
	enum msg_mode mode;    /* position, compliant: position_rad, velocity_rad_s; velocity, current: the one value */
	double position_rad;   /* the ramp's */
	double velocity_rad_s; /* position: the ramp's, to be fed forward */
	double current_a;
	/* position and velocity, for a device that takes velocities: the ramp's and a bounded correction */
	double track_rad_s;
	bool begins; /* the ramp begins in this tick at the measured state; the ramp before it is void */
	bool stops;  /* no reference is followed: it brakes, or holds */
};

struct drv_ref_joint {
	bool no_position; /* the device measures none: position limits and position references do not apply */
	bool begun;
	struct drv_ref_command last;
	double target_rad; /* of the last position reference */
};

/* Starts the ramp at the measured state; declared for tests. */
void drv_ref_begin(struct drv_ref_joint *joint, double position_rad, double velocity_rad_s, double current_a);
/* Nothing is commanded in this tick: the next ramp begins at the measured state. */
void drv_ref_forget(struct drv_ref_joint *joint);

/* Rest at once: velocity 0, or no current if that is the safe action.  The next ramp begins at the measured state. */
struct drv_ref_command drv_ref_rest(struct drv_ref_joint *joint, enum drv_ref_safe safe);

/* Would the next ramp begin at the measured state? */
bool drv_ref_begins(const struct drv_ref_joint *joint, const struct drv_ref_want *want, enum drv_ref_safe safe);

/* What to command for the next dt_s.  want NULL or of mode none: the safe action.  A joint that has not begun, and
 * one whose mode changes, begins at what is measured now.
 *
 * Always finite.  The safe action is taken, too, when something measured is NaN, infinite or beyond 1e9 (a module
 * that never answered; what a device does not measure is given as 0), when want is, and when limits cannot be kept:
 * NaN, an empty range of positions, an acceleration or a slew of 0; then hold stops at once.  Hold where neither a
 * command nor a measurement says where brings the velocity to 0, until it can begin; and a joint
 * that is to hold is never commanded faster than before.  dt_s of 0, negative or NaN: no time has passed.
 *
 * With joint->no_position, measured_rad is not looked at and position limits are not kept; a position reference is not
 * followed; hold brings the velocity to 0, or in mode current the current, at once.  A velocity of NaN is not
 * measured either: then the velocity limit is not kept in mode current. */
struct drv_ref_command drv_ref_joint(struct drv_ref_joint *joint, const struct drv_ref_limits *limits,
				     const struct drv_ref_want *want, enum drv_ref_safe safe, double measured_rad,
				     double measured_rad_s, double measured_a, double dt_s);

/* ---- tracking: the command of a device that takes velocities ---- */

struct drv_ref_track {
	bool on;	       /* it was commanded in the last tick; else it begins at the measured state */
	double velocity_rad_s; /* the last command */
	/* A ramp that is to stop while the joint is still behind it is elsewhere than the joint, by so much.  It is
	 * not made up for while holding, and slowly when a reference is followed. */
	double bias_rad;
	bool followed; /* a reference, in the last tick */
};

struct drv_ref_at { /* how the joint is */
	double position_rad, velocity_rad_s;
	bool fresh;	 /* measured just now: else how far it is behind is unknown, and it goes as fast as its ramp */
	double gain_1_s; /* velocity for each rad that it is behind its ramp */
	double dt_s;	 /* since the last tick */
	double ahead_s;	 /* until the next one */
};

/* command, of drv_ref_joint in this tick, as a velocity.  A position: that of the ramp and gain times how far the joint
 * is behind it; within the velocity and acceleration limits, never so that the joint could not stop before a position
 * limit, nor, while a reference is followed, so that it could not stop at its target.  Always finite. */
double drv_ref_track(struct drv_ref_track *track, const struct drv_ref_joint *joint,
		     const struct drv_ref_command *command, const struct drv_ref_limits *limits,
		     const struct drv_ref_at *at);
/* Velocity to 0 within the acceleration limit, wherever the joint is. */
double drv_ref_track_stand(struct drv_ref_track *track, const struct drv_ref_limits *limits,
			   const struct drv_ref_at *at);
