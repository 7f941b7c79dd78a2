/* plan.c: several joints at the same time.  Checked: pure, covered. */
#include <math.h>

#include "channels/plan/plan.h"
#include "config/base/base.h"

#define SHARE 1e-6    /* by which a limit may be exceeded: rounding */
#define ROUNDING 1e-9 /* of a velocity that is 0 */
#define LEAST 1e-6    /* of limits of velocity and acceleration */
#define MOST 1e9      /* of limits, and of what is given */
#define TRIES 24      /* of durations, for quintics */
#define REFINED 8     /* halvings between the first that is possible and the one before it */
#define STRETCHED 200 /* halvings of the velocity of a trapezoid */

/* ---- limits ---- */

static bool is_limit(double value)
{
	return value >= LEAST && value <= MOST;
}

const char *plan_wrong(const struct motion_limits *l)
{
	if (!is_limit(l->velocity_rad_s))
		return "velocity";
	if (!is_limit(l->acceleration_rad_s2))
		return "acceleration";
	if (!is_limit(l->jerk_rad_s3) && l->jerk_rad_s3 != INFINITY)
		return "jerk";
	return l->min_rad <= l->max_rad ? NULL : "position";
}

const char *plan_exceeds(const struct motion_peaks *p, const struct motion_limits *l, double *value, double *limit)
{
	const struct {
		const char *name;
		double value, limit, sign;
	} rows[] = {
		{ "velocity", fmax(p->max_rad_s, -p->min_rad_s), l->velocity_rad_s, 1 },
		{ "acceleration", p->rad_s2, l->acceleration_rad_s2, 1 },
		{ "jerk", p->rad_s3, l->jerk_rad_s3, 1 },
		{ "position", p->max_rad, l->max_rad, 1 },
		{ "position", -p->min_rad, -l->min_rad, -1 },
	};

	for (size_t i = 0; i < sizeof(rows) / sizeof(*rows); i++) {
		if (rows[i].value <= rows[i].limit + SHARE * fabs(rows[i].limit))
			continue;
		*value = rows[i].sign * rows[i].value;
		*limit = rows[i].sign * rows[i].limit;
		return rows[i].name;
	}
	return NULL;
}

static bool is_given(const struct motion_state *s)
{
	return fabs(s->rad) <= PLAN_RAD_MAX && fabs(s->rad_s) <= MOST && fabs(s->rad_s2) <= MOST;
}

static int check(const struct plan_joint *j)
{
	if (plan_wrong(&j->limits) || !is_given(&j->from) || !(fabs(j->to_rad) <= PLAN_RAD_MAX))
		return -EDOM;
	return j->to_rad >= j->limits.min_rad && j->to_rad <= j->limits.max_rad ? 0 : -ERANGE;
}

/* ---- one joint ---- */

static bool is_at_rest(const struct motion_state *s)
{
	return s->rad_s == 0 && s->rad_s2 == 0;
}

static void fit_trapezoid(struct plan_joint *j, double velocity_rad_s)
{
	trapezoid_plan(&j->move.trapezoid, j->from.rad, j->from.rad_s, j->to_rad,
		       &(struct trapezoid_limits){ velocity_rad_s, j->limits.acceleration_rad_s2 });
}

/* From the end of the brake, which may have taken no time. */
static void fit_quintic(struct plan_joint *j, double total_s)
{
	const struct motion_state rest = { .rad = j->move.brake.end_rad }, to = { .rad = j->to_rad };

	quintic_fit(&j->move.quintic, &rest, &to, total_s);
}

/* How long it takes at least: a quintic from rest; others by a trapezoid, which is never slower. */
static double least_s(struct plan_joint *j)
{
	if (j->move.shape == PLAN_QUINTIC && is_at_rest(&j->from))
		return quintic_shortest_s(j->to_rad - j->from.rad, &j->limits);
	fit_trapezoid(j, j->limits.velocity_rad_s);
	return j->move.trapezoid.total_s;
}

/* How long it takes if it comes to rest first: it can always take longer. */
static double safe_s(const struct plan_joint *j)
{
	const struct brake *b = &j->move.brake;

	return b->total_s + quintic_shortest_s(j->to_rad - b->end_rad, &j->limits);
}

/* One quintic without a stop.  That it turns nowhere keeps it in the range of positions, and a brake as well. */
static bool fit_direct(struct plan_joint *j, double total_s)
{
	const struct motion_state to = { .rad = j->to_rad };
	struct motion_limits l = j->limits;
	struct motion_peaks peaks;
	double value, limit, still;

	l.min_rad = -INFINITY;
	l.max_rad = INFINITY;
	quintic_fit(&j->move.quintic, &j->from, &to, total_s);
	quintic_peaks(&j->move.quintic, &peaks);
	still = ROUNDING * fmax(-peaks.min_rad_s, peaks.max_rad_s);
	return !plan_exceeds(&peaks, &l, &value, &limit) && !(peaks.min_rad_s < -still && peaks.max_rad_s > still);
}

static bool fit(struct plan_joint *j, double total_s)
{
	const bool rests = is_at_rest(&j->from);
	const double safe = safe_s(j);

	if (!rests && fit_direct(j, total_s)) {
		j->move.brake = (struct brake){ .end_rad = j->from.rad };
		return true;
	}
	if (total_s < safe)
		return false;
	fit_quintic(j, total_s - j->move.brake.total_s);
	return true;
}

/* ---- all of them ---- */

static bool fit_all(struct plan_joint joints[], size_t n, double total_s, size_t *wrong)
{
	for (*wrong = 0; *wrong < n; ++*wrong) {
		struct plan_joint *j = &joints[*wrong];

		brake_plan(&j->move.brake, &j->from, &j->limits);
		if (!fit(j, total_s))
			return false;
	}
	return true;
}

/* The shortest that is found from least to safe, where it is always possible. */
static double find_s(struct plan_joint joints[], size_t n, double least, double safe, size_t *wrong)
{
	double no_s = least, yes_s = least;

	for (int i = 0; i <= TRIES; i++) {
		yes_s = i < TRIES ? least + (safe - least) * i / TRIES : safe;
		if (fit_all(joints, n, yes_s, wrong))
			break;
		no_s = yes_s;
	}
	for (int i = 0; i < REFINED && yes_s > no_s; i++) {
		const double middle_s = (no_s + yes_s) / 2;

		if (fit_all(joints, n, middle_s, wrong))
			yes_s = middle_s;
		else
			no_s = middle_s;
	}
	return yes_s;
}

/* Slower, so that it takes total_s. */
static void stretch(struct plan_joint *j, double total_s)
{
	double slow = 0, fast = j->limits.velocity_rad_s;

	for (int i = 0; i < STRETCHED && j->move.trapezoid.total_s > 0; i++) {
		const double middle = (slow + fast) / 2;

		fit_trapezoid(j, middle);
		if (j->move.trapezoid.total_s > total_s)
			slow = middle;
		else
			fast = middle;
	}
	fit_trapezoid(j, fast);
}

int plan_together(struct plan_joint joints[], size_t n, enum plan_shape shape, double *total_s, size_t *wrong)
{
	double least = 0, safe = 0;
	int status;

	if (!(*total_s >= 0 && *total_s <= MOST))
		return -EDOM;
	for (*wrong = 0; *wrong < n; ++*wrong) {
		struct plan_joint *j = &joints[*wrong];
		double s;

		status = check(j);
		if (status)
			return status;
		j->move = (struct plan_move){ .shape = shape };
		brake_plan(&j->move.brake, &j->from, &j->limits);
		s = least_s(j);
		if (*total_s && s > *total_s * (1 + SHARE))
			return -ERANGE;
		least = fmax(least, s);
		safe = fmax(safe, safe_s(j));
	}
	if (shape == PLAN_TRAPEZOID) {
		*total_s = *total_s ? *total_s : least;
		for (size_t i = 0; i < n; i++)
			stretch(&joints[i], *total_s);
		return 0;
	}
	if (!*total_s)
		*total_s = find_s(joints, n, least, safe, wrong);
	return fit_all(joints, n, *total_s, wrong) ? 0 : -ERANGE;
}

/* ---- one move ---- */

void plan_stop(struct plan_move *move, const struct motion_state *from, const struct motion_limits *limits)
{
	struct motion_limits l = *limits;

	*move = (struct plan_move){ .shape = PLAN_QUINTIC };
	brake_plan(&move->brake, from, &l);
	if (move->brake.end_rad < l.min_rad || move->brake.end_rad > l.max_rad) {
		l.jerk_rad_s3 = INFINITY;
		brake_plan(&move->brake, from, &l);
	}
	move->quintic.to.rad = move->brake.end_rad;
}

void plan_at(const struct plan_move *move, double after_s, struct motion_state *at)
{
	if (move->shape == PLAN_TRAPEZOID)
		trapezoid_at(&move->trapezoid, after_s, at);
	else if (after_s < move->brake.total_s)
		brake_at(&move->brake, after_s, at);
	else
		quintic_at(&move->quintic, after_s - move->brake.total_s, at);
}

void plan_pass(struct motion_state *at, double before_rad, double before_s, double after_rad, double after_s)
{
	const double before = (at->rad - before_rad) / before_s, after = (after_rad - at->rad) / after_s;

	at->rad_s = (before * after_s + after * before_s) / (before_s + after_s);
	at->rad_s2 = 2 * (after - before) / (before_s + after_s);
}
