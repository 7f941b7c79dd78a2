/* endplate_trajectory_plan.c: from waypoints to motions.
 *
 * A waypoint that is added is reached at rest, by plan_together.  One that is passed is reached by a quintic that takes
 * exactly its seconds, and so is the one behind it.
 */
#include <math.h>

#include "channels/client/endplate_trajectory.h"

#define STILL_RAD_S 0.01 /* measured: at rest */

static struct motion_limits limits_of(const struct endplate_trajectory *t, size_t column)
{
	struct motion_limits l = t->columns[column].limits;

	l.velocity_rad_s *= t->share;
	return l;
}

static struct motion_state *row_of(const struct endplate_trajectory *t, const struct trajectory_path *path, size_t i)
{
	return &path->states[i * t->columns_n];
}

void trajectory_measured(const struct endplate_trajectory *t, struct motion_state states[])
{
	for (size_t i = 0; i < t->columns_n; i++) {
		const struct trajectory_column *c = &t->columns[i];
		const struct msg_joint_state *s = &c->of->state.joints;
		const double most = limits_of(t, i).velocity_rad_s, rad_s = s->velocity[c->joint];

		states[i] = (struct motion_state){ .rad = s->position[c->joint] };
		if (fabs(rad_s) > STILL_RAD_S)
			states[i].rad_s = num_clamp(rad_s, -most, most);
	}
}

/* ---- what was not given ---- */

/* Where a joint that stays comes to rest. */
static double rest_of(const struct endplate_trajectory *t, size_t column, const struct motion_state *from)
{
	const struct motion_limits l = limits_of(t, column);
	struct plan_move stop;

	plan_stop(&stop, from, &l);
	return num_clamp(stop.brake.end_rad, l.min_rad, l.max_rad);
}

/* Accelerations follow from the velocities as these do from the positions. */
static void fill_pass(struct motion_state *at, const struct motion_state *before, double before_s,
		      const struct motion_state *after, double after_s)
{
	struct motion_state velocity = { .rad = at->rad_s }, pass = *at;

	if (isnan(at->rad_s)) {
		plan_pass(&pass, before->rad, before_s, after->rad, after_s);
		at->rad_s = pass.rad_s;
		at->rad_s2 = isnan(at->rad_s2) ? pass.rad_s2 : at->rad_s2;
	} else if (isnan(at->rad_s2)) {
		const double ahead = isnan(after->rad_s) ? (after->rad - at->rad) / after_s : after->rad_s;

		plan_pass(&velocity, before->rad_s, before_s, ahead, after_s);
		at->rad_s2 = velocity.rad_s;
	}
}

static void fill_in(const struct endplate_trajectory *t, struct trajectory_path *path, const struct motion_state from[])
{
	const size_t n = t->columns_n;

	for (size_t i = 0; i < path->n * n; i++)
		if (isnan(path->states[i].rad))
			path->states[i].rad = i < n ? rest_of(t, i, &from[i]) : path->states[i - n].rad;
	path->waypoints[path->n - 1].passed = false;
	for (size_t i = 0; i < path->n; i++) {
		const struct trajectory_waypoint *w = &path->waypoints[i];
		const struct motion_state *before = i ? row_of(t, path, i - 1) : from;
		struct motion_state *row = row_of(t, path, i);

		for (size_t k = 0; k < n; k++)
			if (w->passed)
				fill_pass(&row[k], &before[k], w->seconds, &row[k + n], w[1].seconds);
			else
				row[k].rad_s = row[k].rad_s2 = 0;
	}
}

/* ---- motions ---- */

static int refuse_peak(const struct endplate_trajectory *t, size_t column, size_t waypoint, const char *name,
		       double value, double limit)
{
	const struct trajectory_column *c = &t->columns[column];

	return endplate_refuse(-ERANGE,
			       "%s: joint %s: %s %.4g on the way to waypoint %zu, limit %.4g; give it more time",
			       c->of->device->name, c->name, name, value, waypoint, limit);
}

static int plan_quintics(struct endplate_trajectory *t, const struct trajectory_path *path, size_t i,
			 const struct motion_state from[], struct plan_joint joints[])
{
	for (size_t k = 0; k < t->columns_n; k++) {
		struct plan_move *move = &joints[k].move;
		struct motion_limits l = limits_of(t, k);
		struct motion_peaks peaks;
		double value, limit;
		const char *name;

		*move = (struct plan_move){ .shape = PLAN_QUINTIC };
		quintic_fit(&move->quintic, &from[k], &row_of(t, path, i)[k], path->waypoints[i].seconds);
		quintic_peaks(&move->quintic, &peaks);
		l.min_rad = fmin(l.min_rad, from[k].rad); /* it may rest a little outside, and goes back */
		l.max_rad = fmax(l.max_rad, from[k].rad);
		name = plan_exceeds(&peaks, &l, &value, &limit);
		if (name)
			return refuse_peak(t, k, i, name, value, limit);
	}
	return 0;
}

static int plan_rest(struct endplate_trajectory *t, struct trajectory_path *path, size_t i,
		     const struct motion_state from[], struct plan_joint joints[])
{
	struct trajectory_waypoint *w = &path->waypoints[i];
	const struct trajectory_column *c;
	size_t wrong;
	int status;

	for (size_t k = 0; k < t->columns_n; k++)
		joints[k] = (struct plan_joint){ .from = from[k],
						 .to_rad = row_of(t, path, i)[k].rad,
						 .limits = limits_of(t, k) };
	status = plan_together(joints, t->columns_n, t->shape, &w->total_s, &wrong);
	if (!status)
		return 0;
	c = &t->columns[wrong];
	w->total_s = 0;
	if (plan_together(joints, t->columns_n, t->shape, &w->total_s, &(size_t){ 0 }))
		return endplate_refuse(status, "%s: joint %s: unable to plan a motion to waypoint %zu",
				       c->of->device->name, c->name, i);
	return endplate_refuse(status, "%s: joint %s: waypoint %zu cannot be reached in %.4g s; give it %.4g s",
			       c->of->device->name, c->name, i, w->seconds, w->total_s);
}

/* The motions to a waypoint; how long they take is kept. */
static int plan_to(struct endplate_trajectory *t, struct trajectory_path *path, size_t i,
		   const struct motion_state from[], struct plan_joint joints[])
{
	const struct trajectory_waypoint *w = &path->waypoints[i];

	if (w->passed || (i && w[-1].passed))
		return plan_quintics(t, path, i, from, joints);
	return plan_rest(t, path, i, from, joints);
}

int trajectory_plan(struct endplate_trajectory *t, struct trajectory_path *path, const struct motion_state from[])
{
	int status = 0;

	fill_in(t, path, from);
	for (size_t i = 0; i < path->n && !status; i++) {
		path->waypoints[i].total_s = path->waypoints[i].seconds;
		status = plan_to(t, path, i, i ? row_of(t, path, i - 1) : from, t->trial);
	}
	return status;
}

void trajectory_enter(struct endplate_trajectory *t, const struct motion_state from[], int64_t begun_ns)
{
	/* It was planned before; what plan_to says now cannot be heard. */
	plan_to(t, &t->path, t->goal, from, t->joints);
	t->total_s = t->path.waypoints[t->goal].total_s;
	t->begun_ns = begun_ns;
	if (begun_ns)
		return;
	t->now_ns = 0;
	memcpy(t->now, from, t->columns_n * sizeof(*from));
}

int trajectory_enter_again(struct endplate_trajectory *t)
{
	struct trajectory_waypoint *w = &t->path.waypoints[t->goal];
	struct motion_state from[TRAJECTORY_JOINTS];
	int status;

	trajectory_measured(t, from);
	w->total_s = w->seconds;
	status = plan_to(t, &t->path, t->goal, from, t->trial);
	if (status == -ERANGE) {
		w->total_s = 0;
		status = plan_to(t, &t->path, t->goal, from, t->trial);
	}
	if (!status)
		trajectory_enter(t, from, 0);
	return status;
}
