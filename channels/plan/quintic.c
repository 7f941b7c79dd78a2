/* quintic.c: a polynomial of the fifth degree.  Checked: pure, covered. */
#include "channels/plan/quintic.h"

#include <math.h>
#include <stddef.h>

#define SHORTEST_S 1e-6 /* far below a tick; its third power is far from what a double cannot hold */
#define HALVINGS 27	/* at a peak the error of the value is the square of that of the time */

double quintic_shortest_s(double distance_rad, const struct motion_limits *limits)
{
	const double d = fabs(distance_rad);
	const double s =
		fmax(15 * d / (8 * limits->velocity_rad_s),
		     fmax(sqrt(10 / sqrt(3) * d / limits->acceleration_rad_s2), cbrt(60 * d / limits->jerk_rad_s3)));

	return d > 0 ? fmax(s, SHORTEST_S) : 0;
}

void quintic_fit(struct quintic *q, const struct motion_state *from, const struct motion_state *to, double total_s)
{
	const double s = total_s, d = to->rad - from->rad;
	const double v0 = from->rad_s * s, v1 = to->rad_s * s, a0 = from->rad_s2 * s * s, a1 = to->rad_s2 * s * s;

	*q = (struct quintic){ .total_s = s,
			       .to = *to,
			       .c = { from->rad, v0, a0 / 2, 10 * d - 6 * v0 - 4 * v1 - (3 * a0 - a1) / 2,
				      -15 * d + 8 * v0 + 7 * v1 + (3 * a0 - 2 * a1) / 2,
				      6 * d - 3 * (v0 + v1) - (a0 - a1) / 2 } };
}

/* The derivative of that order, by share of the time. */
static double derivative(const struct quintic *q, unsigned int order, double share)
{
	double sum = 0;

	for (unsigned int i = QUINTIC_COEFFICIENTS; i-- > order;) {
		double factor = 1;

		for (unsigned int k = 0; k < order; k++)
			factor *= i - k;
		sum = sum * share + factor * q->c[i];
	}
	return sum;
}

void quintic_at(const struct quintic *q, double after_s, struct motion_state *at)
{
	const double s = q->total_s, share = fmax(0, after_s) / s;

	if (!(share < 1)) { /* also without a time */
		*at = q->to;
		return;
	}
	at->rad = derivative(q, 0, share);
	at->rad_s = derivative(q, 1, share) / s;
	at->rad_s2 = derivative(q, 2, share) / (s * s);
}

/* Where that derivative, which is monotonous between a and b, is 0. */
static double halve(const struct quintic *q, unsigned int order, double a, double b)
{
	const int begins_above = derivative(q, order, a) > 0;

	for (int i = 0; i < HALVINGS; i++) {
		const double middle = (a + b) / 2;

		if ((derivative(q, order, middle) > 0) == begins_above)
			a = middle;
		else
			b = middle;
	}
	return a;
}

void quintic_peaks(const struct quintic *q, struct motion_peaks *peaks)
{
	/* The next derivative is 0 at all but the first and the last. */
	double at[QUINTIC_COEFFICIENTS + 1] = { 0, 1 }, low[QUINTIC_COEFFICIENTS], high[QUINTIC_COEFFICIENTS];
	const double s = q->total_s;
	size_t n = 2;

	for (unsigned int order = QUINTIC_COEFFICIENTS - 1; order-- > 0;) {
		double zeros[QUINTIC_COEFFICIENTS + 1] = { 0 };
		size_t zeros_n = 1;

		low[order] = high[order] = derivative(q, order, 0);
		for (size_t i = 1; i < n; i++) {
			const double before = derivative(q, order, at[i - 1]), value = derivative(q, order, at[i]);

			low[order] = fmin(low[order], value);
			high[order] = fmax(high[order], value);
			if ((before > 0) != (value > 0))
				zeros[zeros_n++] = halve(q, order, at[i - 1], at[i]);
		}
		zeros[zeros_n++] = 1;
		for (n = 0; n < zeros_n; n++)
			at[n] = zeros[n];
	}
	*peaks = (struct motion_peaks){ .min_rad = low[0],
					.max_rad = high[0],
					.min_rad_s = low[1] / s,
					.max_rad_s = high[1] / s,
					.rad_s2 = fmax(-low[2], high[2]) / (s * s),
					.rad_s3 = fmax(-low[3], high[3]) / (s * s * s) };
}
