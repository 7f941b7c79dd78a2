/* comply.h: the law by which the computer drives a compliant joint of Hubo with open-loop duty.  Pure.
 *
 *	duty = kp * (rest - position) - kd * velocity + grav, at most pwm, in percent
 *
 * Positive pushes towards greater positions.  Gains are numbers in hubo-ach's units: kp %/rad, kd % s/rad, pwm %,
 * grav %: what carries the weight of the limb.
 */
#pragma once

#include "config/base/base.h"

enum comply_gain { COMPLY_KP, COMPLY_KD, COMPLY_PWM, COMPLY_GRAV, COMPLY_GAINS };
extern const char *const comply_names[COMPLY_GAINS]; /* comply-kp ... */
extern const char *const comply_units[COMPLY_GAINS];

/* The gain of that name; -1: there is none. */
int comply_find(const char *name);

/* Sets one of them.  0, or -ERANGE: not finite, negative (grav may be), or above most; the most of grav is that of
 * pwm. */
int comply_set(double gains[COMPLY_GAINS], const double most[COMPLY_GAINS], enum comply_gain gain, double value);

struct comply_at {
	double rest_rad, position_rad, velocity_rad_s;
	double min_rad, max_rad; /* beyond them nothing pushes further out */
};
/* In permille.  0, or -EINVAL: something is not finite; then *permille is 0. */
int comply_duty(int32_t *permille, const double gains[COMPLY_GAINS], const struct comply_at *at);
