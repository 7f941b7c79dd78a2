/* brake.c: to rest in the shortest time.  Checked: pure, covered. */
#include "channels/plan/brake.h"

#include <math.h>

static void go_on(const struct brake_phase *p, double s, struct motion_state *at)
{
	const struct motion_state *f = &p->from;

	at->rad = f->rad + s * (f->rad_s + s * (f->rad_s2 / 2 + s * p->jerk_rad_s3 / 6));
	at->rad_s = f->rad_s + s * (f->rad_s2 + s * p->jerk_rad_s3 / 2);
	at->rad_s2 = f->rad_s2 + s * p->jerk_rad_s3;
}

/* Phase n begins with that acceleration where the one before it ends, and goes to to_rad_s2 or stays. */
static void add(struct brake *b, unsigned int n, double for_s, double from_rad_s2, double to_rad_s2)
{
	struct brake_phase *p = &b->phases[n];

	if (n)
		go_on(p - 1, p[-1].for_s, &p->from);
	p->from.rad_s2 = from_rad_s2;
	p->for_s = for_s;
	p->jerk_rad_s3 = for_s > 0 ? (to_rad_s2 - from_rad_s2) / for_s : 0;
	b->total_s += for_s;
}

void brake_plan(struct brake *b, const struct motion_state *from, const struct motion_limits *limits)
{
	const double most = limits->acceleration_rad_s2, jerk = limits->jerk_rad_s3;
	/* The velocity that is left once the present acceleration has gone to 0 is to be braked, by peak. */
	const double left = from->rad_s + from->rad_s2 * fabs(from->rad_s2) / (2 * jerk), way = left < 0 ? -1 : 1;
	const double v = way * from->rad_s, a = way * from->rad_s2;
	/* Without a plateau v + (a^2 - peak^2) / 2j = peak^2 / 2j. */
	const double peak = isinf(jerk) ? most : fmin(most, sqrt(fmax(0, jerk * v + a * a / 2)));
	double go_s, stay_s, back_s;
	struct motion_state end;

	*b = (struct brake){ .phases[0].from = *from };
	go_s = fabs(a + peak) / jerk;
	back_s = peak / jerk;
	stay_s = peak > 0 ? fmax(0, (v + (a - peak) / 2 * go_s - peak / 2 * back_s) / peak) : 0;
	add(b, 0, go_s, from->rad_s2, -way * peak);
	add(b, 1, stay_s, -way * peak, -way * peak);
	add(b, 2, back_s, -way * peak, 0);
	go_on(&b->phases[2], back_s, &end);
	b->end_rad = end.rad;
}

void brake_at(const struct brake *b, double after_s, struct motion_state *at)
{
	const struct brake_phase *p = b->phases;
	double s = fmax(0, after_s);

	if (s >= b->total_s) {
		*at = (struct motion_state){ .rad = b->end_rad };
		return;
	}
	for (; p < b->phases + BRAKE_PHASES - 1 && s >= p->for_s; p++)
		s -= p->for_s;
	go_on(p, s, at);
}
