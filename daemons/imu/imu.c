/* imu.c: how an inertial sensor is mounted. */
#include <math.h>
#include <string.h>

#include "daemons/imu/imu.h"

static void multiply(double to[4], const double a[4], const double b[4])
{
	const double q[] = { a[0] * b[0] - a[1] * b[1] - a[2] * b[2] - a[3] * b[3],
			     a[0] * b[1] + a[1] * b[0] + a[2] * b[3] - a[3] * b[2],
			     a[0] * b[2] - a[1] * b[3] + a[2] * b[0] + a[3] * b[1],
			     a[0] * b[3] + a[1] * b[2] - a[2] * b[1] + a[3] * b[0] };

	memcpy(to, q, sizeof(q));
}

static void cross(double to[3], const double a[3], const double b[3])
{
	for (unsigned int i = 0; i < 3; i++)
		to[i] = a[(i + 1) % 3] * b[(i + 2) % 3] - a[(i + 2) % 3] * b[(i + 1) % 3];
}

static void rotate(const double q[4], double v[3])
{
	double t[3], u[3];

	cross(t, q + 1, v);
	cross(u, q + 1, t);
	for (unsigned int i = 0; i < 3; i++)
		v[i] += 2 * (q[0] * t[i] + u[i]);
}

void imu_mounting(struct imu_mounting *mounting, const double degrees[3])
{
	double q[] = { 1, 0, 0, 0 };

	for (unsigned int axis = 0; axis < 3; axis++) {
		const double half_rad = degrees[axis] * M_PI / 360;
		double about[] = { cos(half_rad), 0, 0, 0 };

		about[1 + axis] = sin(half_rad);
		multiply(q, about, q);
	}
	memcpy(mounting->q, q, sizeof(q));
}

void imu_mount(const struct imu_mounting *mounting, struct imu_sample *sample)
{
	const double *q = mounting->q, back[] = { q[0], -q[1], -q[2], -q[3] };

	rotate(q, sample->acceleration_m_s2);
	rotate(q, sample->rate_rad_s);
	multiply(sample->orientation, sample->orientation, back);
}

bool imu_same(const struct imu_sample *a, const struct imu_sample *b)
{
	return !memcmp(a->acceleration_m_s2, b->acceleration_m_s2, sizeof(a->acceleration_m_s2)) &&
	       !memcmp(a->rate_rad_s, b->rate_rad_s, sizeof(a->rate_rad_s));
}
