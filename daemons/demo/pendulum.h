/* pendulum.h: a pendulum whose motor is too weak to lift it at once, and the law that swings it up and balances it.
 *
 * The angle is 0 where it hangs and pi where it stands; angle, rate and torque have the same sign.  pendulum_step is
 * the simulated world, pendulum_control the controller: neither uses anything else of the other.  The other functions
 * are their parts, declared for tests.
 *
 * Pure: times and states are arguments.  The same input gives the same bits.
 */
#pragma once

#include "config/base/base.h"

struct pendulum_body {
	double mass_kg;	      /* a point at the end of the rod */
	double length_m;      /* of the rod, which has no mass */
	double damping_nms;   /* torque of the bearing per rad/s */
	double torque_max_nm; /* of the motor, in both directions */
};
extern const struct pendulum_body pendulum_small; /* the torque is half of what lifts it: up in a second */

#define PENDULUM_NM_PER_A 0.125 /* of the motor; a power of two, so that a torque is the same when read back */

struct pendulum {
	double angle_rad, rate_rad_s;
};

/* Kinetic and potential energy; at rest it is pendulum_energy_up where it stands, and the negative of that where it
 * hangs. */
double pendulum_energy(const struct pendulum_body *body, const struct pendulum *p);
double pendulum_energy_up(const struct pendulum_body *body);

/* What the motor can do of it. */
double pendulum_limit(const struct pendulum_body *body, double torque_nm);

/* Moves it by one step of dt_s under a constant torque, which the motor limits (Runge and Kutta, fourth order). */
void pendulum_step(const struct pendulum_body *body, struct pendulum *p, double torque_nm, double dt_s);

/* From where it stands, -pi to pi. */
double pendulum_error(const struct pendulum *p);

/* Is it so near the top that the motor can hold it? */
bool pendulum_is_near_top(const struct pendulum_body *body, const struct pendulum *p);

/* Torques: one adds energy until there is enough of it to stand, the other balances near the top; the third is the one
 * of them that is right for this state, within the limit of the motor. */
double pendulum_swing(const struct pendulum_body *body, const struct pendulum *p);
double pendulum_balance(const struct pendulum_body *body, const struct pendulum *p);
double pendulum_control(const struct pendulum_body *body, const struct pendulum *p);
