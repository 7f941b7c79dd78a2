/* trapezoid.c: a motion with a trapezoid of velocity.  Checked: pure, covered. */
#include "channels/plan/trapezoid.h"

#include <math.h>

/* One phase: the velocity changes to to_rad_s at this acceleration, or stays for for_s. */
static void add(struct trapezoid *t, unsigned int n, double for_s, double acceleration_rad_s2)
{
	struct trapezoid_phase *p = &t->phases[n];
	const struct trapezoid_phase *before = p - 1;

	if (n) {
		const double s = before->for_s;

		p->from_rad = before->from_rad + s * (before->from_rad_s + s * before->acceleration_rad_s2 / 2);
		p->from_rad_s = before->from_rad_s + s * before->acceleration_rad_s2;
	}
	p->for_s = for_s > 0 ? for_s : 0;
	p->acceleration_rad_s2 = acceleration_rad_s2;
	t->total_s += p->for_s;
}

void trapezoid_plan(struct trapezoid *t, double from_rad, double from_rad_s, double to_rad,
		    const struct trapezoid_limits *limits)
{
	const double a = limits->acceleration_rad_s2;
	/* If it brakes at once it ends here, and it has to go on, or back, from there. */
	const double rest_rad = from_rad + from_rad_s * fabs(from_rad_s) / (2 * a);
	const double way = to_rad < rest_rad ? -1 : 1;
	const double begin = way * from_rad_s, distance = way * (to_rad - from_rad);
	const double peak = sqrt(fmax(0, a * distance + begin * begin / 2));
	const double top = fmin(limits->velocity_rad_s, peak);
	const double change_s = fabs(top - begin) / a; /* from a velocity above the limit it brakes */
	const double rest = distance - (begin + top) / 2 * change_s - top * top / (2 * a);

	*t = (struct trapezoid){ .to_rad = to_rad };
	t->phases[0].from_rad = from_rad;
	t->phases[0].from_rad_s = from_rad_s;
	add(t, 0, change_s, way * (top > begin ? a : -a));
	add(t, 1, top > 0 ? rest / top : 0, 0);
	add(t, 2, top / a, -way * a);
}

void trapezoid_at(const struct trapezoid *t, double after_s, struct motion_state *at)
{
	const struct trapezoid_phase *p = t->phases;
	double s = fmax(0, after_s);

	if (s >= t->total_s) {
		*at = (struct motion_state){ .rad = t->to_rad };
		return;
	}
	for (; p < t->phases + TRAPEZOID_PHASES - 1 && s >= p->for_s; p++)
		s -= p->for_s;
	at->rad = p->from_rad + s * (p->from_rad_s + s * p->acceleration_rad_s2 / 2);
	at->rad_s = p->from_rad_s + s * p->acceleration_rad_s2;
	at->rad_s2 = p->acceleration_rad_s2;
}
