/* mounting.c: how a sensor is mounted on the robot; see mounting.h.  Checked: pure, covered. */
#include "config/base/base.h"
#include "daemons/drv/mounting.h"

#include <math.h>

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

struct mounting mounting_of(const double degrees[3])
{
	struct mounting m = { .q = { 1, 0, 0, 0 } };

	for (unsigned int axis = 0; axis < 3; axis++) {
		const double half_rad = degrees[axis] * M_PI / 360;
		double about[] = { cos(half_rad), 0, 0, 0 };

		about[1 + axis] = sin(half_rad);
		multiply(m.q, about, m.q);
	}
	return m;
}

void mounting_turn(const struct mounting *m, double v[3])
{
	double t[3], u[3];

	cross(t, m->q + 1, v);
	cross(u, m->q + 1, t);
	for (unsigned int i = 0; i < 3; i++)
		v[i] += 2 * (m->q[0] * t[i] + u[i]);
}

void mounting_orient(const struct mounting *m, double q[4])
{
	const double back[] = { m->q[0], -m->q[1], -m->q[2], -m->q[3] };

	multiply(q, q, back);
}
