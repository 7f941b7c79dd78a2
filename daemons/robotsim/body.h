/* body.h: how a simulated unit takes part in the body of the robot.
 *
 * A unit that turns a shaft, or measures how the robot moves, offers it in its struct sim_kind:
 *
 *	static struct sim_shaft *shaft(void *state, unsigned int n)
 *	{
 *		return n ? NULL : &((struct drive *)state)->shaft;
 *	}
 *
 * The body advances the units that it couples to each step of its own, takes what they wrote, moves, and writes what
 * they read (sim_body.c).  All of it is physical and exact: sign, gear, counts, mounting, noise, bias, quantisation and
 * delay are the unit's.  Without a body nothing here is written but what the unit writes itself: it then moves a shaft
 * that it turns alone, and a sensor is at rest, { 0, 0, 9.81 }.
 */
#pragma once

#include "config/base/base.h"

/* One shaft of a unit, behind the gear.
 *
 * driven: the body moves it, as a wheel.  The unit writes current_a, which flows in the motor and is positive forwards;
 * the body writes position and velocity of the wheel relative to the base, positive forwards.
 * Else the unit moves it, as a waist.  The unit writes position and velocity; the body writes load_nm, the torque on
 * the shaft without the part that its own acceleration causes, and inertia, the cause of that part:
 * inertia * acceleration = torque of motor and friction + load_nm. */
struct sim_shaft {
	bool coupled, driven; /* by the body, before the units start */
	double current_a;
	double position_rad, velocity_rad_s;
	double load_nm;
	double inertia; /* kg m^2 */
};

/* What a sensor in the base measures, in the robot's axes: x forward, y left, z up.  Written by the body. */
struct sim_motion {
	double force_m_s2[3]; /* specific force: { 0, 0, 9.81 } at rest upright */
	double rate_rad_s[3];
};
