/* endplate_trajectory_step.c: a trajectory in each tick: states, conditions, references.
 *
 * The ramp of a driver could stop at every target (daemons/drv/drv_ref.h), and would be v^2 / 2a behind one that moves.
 * So a reference is that far ahead of the motion: it is where the joint would stop if it braked now, and a driver that
 * hears no more stops there.  Then the ramp is on the motion in every tick.
 */
#include <math.h>

#include "channels/client/endplate_trajectory.h"
#include "channels/clock/clock.h"

#define THERE_RAD 0.005
#define THERE_RAD_S 0.01
#define LATE_S 2.0		    /* at the end of its path a joint may take that long to arrive */
#define WAIT_NS INT64_C(5000000000) /* for a driver that does not follow, before it ends */
#define DOUBTS (ENDPLATE_SILENT | ENDPLATE_OLD | ENDPLATE_NOT_UP)

/* ---- devices ---- */

void trajectory_look(struct endplate_trajectory *t)
{
	for (size_t i = 0; i < t->devices_n; i++) {
		struct trajectory_device *d = &t->devices[i];
		const uint32_t number = d->moves ? (uint32_t)msg_joint_state_number : d->device->number;
		const struct msg_type *type = number ? msg_type_by_number(number) : d->device->type;

		d->status = endplate_state(d->device, &d->state, type ? type->body->size : sizeof(d->state), &d->view);
		d->refused += d->view.refused;
	}
}

static bool is_sound(const struct trajectory_device *d)
{
	return !d->status && !(d->view.doubts & DOUBTS);
}

static bool is_driven(const struct trajectory_column *c)
{
	const struct msg_joint_state *s = &c->of->state.joints;

	return c->joint < s->count && s->lifecycle[c->joint] != MSG_LIFE_FAULT && isfinite(s->position[c->joint]) &&
	       !isinf(s->velocity[c->joint]);
}

struct trajectory_device *trajectory_lost(struct endplate_trajectory *t)
{
	for (size_t i = 0; i < t->columns_n; i++) {
		struct trajectory_device *d = t->columns[i].of;

		if (!is_sound(d) || !d->view.follows || d->view.incarnation != d->incarnation ||
		    !is_driven(&t->columns[i]))
			return d;
	}
	return NULL;
}

int trajectory_say_lost(struct trajectory_device *d)
{
	if (!d->status && d->view.follows && d->view.incarnation != d->incarnation)
		return endplate_refuse(-EHOSTDOWN, "%s: its driver was restarted", d->device->name);
	if (!endplate_ready(&d->device, 1, 0))
		return endplate_refuse(-EHOSTDOWN, "%s: a joint follows no references: a fault, or no position",
				       d->device->name);
	return -EHOSTDOWN;
}

/* ---- ends ---- */

static int end(struct endplate_trajectory *t, int status)
{
	t->phase = TRAJECTORY_ENDED;
	t->ended = status;
	snprintf(t->why, sizeof(t->why), "%s", status ? endplate_errstr() : "");
	return status;
}

/* It brakes already: it does not go on then, and ends with this. */
static void stay(struct endplate_trajectory *t, int status)
{
	t->goes_on = false;
	t->ended = status;
	snprintf(t->why, sizeof(t->why), "%s", endplate_errstr());
}

/* Brakes from what was commanded last; then it ends, or goes on. */
static void brake(struct endplate_trajectory *t, int status, bool goes_on)
{
	stay(t, status);
	t->phase = TRAJECTORY_STOPS;
	t->goes_on = goes_on;
	t->begun_ns = t->now_ns; /* 0 before the first step, as there */
	t->total_s = 0;
	for (size_t i = 0; i < t->columns_n; i++) {
		plan_stop(&t->joints[i].move, &t->now[i], &t->columns[i].limits);
		t->total_s = fmax(t->total_s, t->joints[i].move.brake.total_s);
	}
}

static int say_met(struct trajectory_condition *c, double value)
{
	if (!is_sound(c->of))
		return endplate_refuse(-EINTR, "%s: stopped, for its state cannot be trusted: %s", c->of->device->name,
				       c->of->status ? endplate_strerror(c->of->status)
						     : endplate_doubt_text(c->of->view.doubts));
	return endplate_refuse(-EINTR, "%s: stopped: %s is %.4g, above %.4g", c->of->device->name, c->field, value,
			       c->above);
}

/* -EINTR with a line: a condition is met. */
static int check_conditions(struct endplate_trajectory *t)
{
	for (size_t i = 0; i < t->conditions_n; i++) {
		struct trajectory_condition *c = &t->conditions[i];
		const size_t n = is_sound(c->of) ? msg_elements(&c->of->state, &c->place) : 0;
		double sum = 0, value = 0;

		for (size_t k = 0; k < n; k++) {
			msg_value(&c->of->state, &c->place, k, &value);
			sum += value * value;
		}
		if (!is_sound(c->of) || !(sqrt(sum) <= c->above))
			return say_met(c, sqrt(sum));
	}
	return 0;
}

void trajectory_remember(struct endplate_trajectory *t)
{
	t->jumped_ns = clock_jumped_ns();
	for (size_t i = 0; i < t->devices_n; i++) {
		struct trajectory_device *d = &t->devices[i];

		d->refused = 0;
		d->base[0] = d->state.joints.common.base_chan;
		d->base[1] = d->state.joints.common.base_seq;
	}
}

/* Also a level that was above run for a while: whoever lowered it did not see this motion. */
static int check_level(struct endplate_trajectory *t)
{
	for (size_t i = 0; i < t->devices_n; i++) {
		struct trajectory_device *d = &t->devices[i];
		const struct msg_common *common = &d->state.joints.common;

		if (!d->moves || d->status)
			continue;
		if (d->view.level != MSG_LEVEL_RUN)
			return endplate_refuse(-EHOSTDOWN, "%s: level %s: achctl arm", d->device->name,
					       msg_level_word(d->view.level));
		if (common->base_chan != d->base[0] || common->base_seq != d->base[1])
			return endplate_refuse(-EHOSTDOWN, "%s: the level was above run meanwhile: start again",
					       d->device->name);
	}
	if (clock_jumped_ns() != t->jumped_ns)
		return endplate_refuse(-ETIME, "the clock of the robot is another one: start again");
	return 0;
}

/* ---- references ---- */

/* Where it would stop if it braked now, as its driver brakes, seen from the middle of the driver's tick. */
static double target_rad(const struct trajectory_column *c, const struct motion_state *at)
{
	const double v = at->rad_s - at->rad_s2 * (double)c->of->period_ns / 2e9;

	return num_clamp(at->rad + v * fabs(v) / (2 * c->ramp_rad_s2), c->limits.min_rad, c->limits.max_rad);
}

/* Will it pass?  A driver that is gone is found by its state; a writer that is stopped may be continued. */
static bool is_passing(int status)
{
	return status == -ESTALE || status == -EHOSTDOWN || status == -ETIME || status == -ETIMEDOUT;
}

/* 0, or why a reference could not be put. */
static int command(struct endplate_trajectory *t)
{
	const double after_s = (double)(t->now_ns - t->begun_ns) / 1e9;
	int status = 0;

	for (size_t i = 0; i < t->columns_n; i++) {
		const struct trajectory_column *c = &t->columns[i];
		struct msg_joint_ref *ref = &c->of->ref;

		plan_at(&t->joints[i].move, after_s, &t->now[i]);
		ref->count = c->of->device->count;
		ref->mode[c->joint] = MSG_MODE_POSITION;
		ref->position[c->joint] = target_rad(c, &t->now[i]);
		ref->velocity[c->joint] = t->now[i].rad_s;
	}
	for (size_t i = 0; i < t->devices_n; i++) {
		struct trajectory_device *d = &t->devices[i];

		if (!status && d->moves && is_sound(d) && d->view.follows && d->view.incarnation == d->incarnation)
			status = endplate_put(d->device, &d->ref, sizeof(d->ref), d->valid_ns);
	}
	return status;
}

/* ---- a tick ---- */

/* The first joint that is not there yet; NULL: all are. */
static const struct trajectory_column *find_late(const struct endplate_trajectory *t)
{
	for (size_t i = 0; i < t->columns_n; i++) {
		const struct trajectory_column *c = &t->columns[i];
		const struct msg_joint_state *s = &c->of->state.joints;

		if (!(fabs(s->position[c->joint] - t->now[i].rad) < THERE_RAD) ||
		    fabs(s->velocity[c->joint]) > THERE_RAD_S)
			return c;
	}
	return NULL;
}

/* Behind the end of the path. */
static int arrive(struct endplate_trajectory *t, double after_s)
{
	const struct trajectory_column *late = find_late(t);

	if (!late)
		return end(t, 0);
	if (after_s < t->total_s + LATE_S)
		return 1;
	return end(t, endplate_refuse(-ETIME, "%s: joint %s is at %.4g rad and does not arrive at %.4g rad%s%s",
				      late->of->device->name, late->name, late->of->state.joints.position[late->joint],
				      t->now[late - t->columns].rad,
				      late->of->refused ? "; references were refused: " : "",
				      late->of->refused ? endplate_refusal(late->of->device) : ""));
}

/* The next waypoint begins exactly where and when the one before it ends.  Those that are over are passed over. */
static void advance(struct endplate_trajectory *t)
{
	size_t goal = t->goal;
	int64_t begun_ns = t->begun_ns;
	double total_s = t->total_s;

	while (goal + 1 < t->path.n && (double)(t->now_ns - begun_ns) / 1e9 >= total_s) {
		begun_ns += (int64_t)(total_s * 1e9);
		total_s = t->path.waypoints[++goal].total_s;
	}
	if (goal == t->goal)
		return;
	t->goal = goal;
	trajectory_enter(t, &t->path.states[(goal - 1) * t->columns_n], begun_ns);
}

/* A motion through points has its times, which are over after a pause. */
static bool may_go_on(const struct endplate_trajectory *t)
{
	const struct trajectory_waypoint *w = &t->path.waypoints[t->goal];

	return !w->timed && !(t->goal && w[-1].timed);
}

/* Finds what ends the motion, or interrupts it, in this tick. */
static void check(struct endplate_trajectory *t)
{
	struct trajectory_device *lost = trajectory_lost(t);
	int status = check_conditions(t);

	if (status)
		brake(t, status, false);
	else if (lost)
		brake(t, trajectory_say_lost(lost), may_go_on(t));
}

/* Its references were over, and the drivers have stopped: it begins again where the joints are, or has ended. */
static int resume(struct endplate_trajectory *t, int64_t now_ns)
{
	const int64_t pause_ns = now_ns - t->now_ns;

	if (t->phase == TRAJECTORY_RUNS) {
		t->goes_on = may_go_on(t);
		t->ended = endplate_refuse(-ETIME, "no step for %.3g ms", (double)pause_ns / 1e6);
		snprintf(t->why, sizeof(t->why), "%s", endplate_errstr());
	}
	if (!t->goes_on || pause_ns > WAIT_NS)
		return end(t, endplate_refuse(t->ended, "%s", t->why));
	t->phase = TRAJECTORY_WAITS;
	t->now_ns = t->begun_ns = now_ns;
	return 1;
}

/* Waits for its devices, to begin again. */
static int wait(struct endplate_trajectory *t)
{
	struct trajectory_device *lost;
	int status = check_conditions(t);
	bool came_back = false;

	for (size_t i = 0; i < t->devices_n; i++)
		came_back |= is_sound(&t->devices[i]) && t->devices[i].view.incarnation != t->devices[i].incarnation;
	if (!status && came_back)
		status = trajectory_renew(t);
	lost = trajectory_lost(t);
	if (!status && lost && t->now_ns - t->begun_ns > WAIT_NS)
		status = trajectory_say_lost(lost);
	if (!status && !lost)
		status = trajectory_enter_again(t);
	if (status)
		return end(t, status);
	if (!lost)
		t->phase = TRAJECTORY_RUNS;
	return 1;
}

static int move(struct endplate_trajectory *t, int64_t now_ns)
{
	double after_s;
	int status;

	if (t->now_ns && now_ns - t->now_ns > t->valid_ns)
		return resume(t, now_ns);
	if (t->phase == TRAJECTORY_RUNS)
		check(t);
	else if (t->goes_on && check_conditions(t))
		stay(t, -EINTR);
	t->now_ns = now_ns;
	t->begun_ns = t->begun_ns ? t->begun_ns : now_ns - t->lead_ns / 2; /* its first tick */
	if (t->phase == TRAJECTORY_RUNS)
		advance(t);
	status = command(t);
	if (status && t->phase == TRAJECTORY_RUNS)
		brake(t, status, is_passing(status) && may_go_on(t));
	after_s = (double)(now_ns - t->begun_ns) / 1e9;
	if (after_s < t->total_s)
		return 1;
	if (t->phase == TRAJECTORY_RUNS)
		return arrive(t, after_s);
	if (!t->goes_on)
		return end(t, endplate_refuse(t->ended, "%s", t->why));
	t->phase = TRAJECTORY_WAITS;
	return 1;
}

int endplate_trajectory_step(struct endplate_trajectory *t)
{
	const int64_t now_ns = clock_now_ns() + t->lead_ns;
	int status;

	if (t->phase == TRAJECTORY_ENDED)
		return t->ended ? endplate_refuse(t->ended, "%s", t->why) : 0;
	trajectory_look(t);
	status = check_level(t);
	if (status)
		return end(t, status);
	if (t->phase != TRAJECTORY_WAITS)
		return move(t, now_ns);
	t->now_ns = now_ns;
	return wait(t);
}

int endplate_trajectory_stop(struct endplate_trajectory *t)
{
	if (t->phase == TRAJECTORY_ENDED)
		return 0;
	endplate_refuse(-EINTR, "stopped");
	if (t->phase == TRAJECTORY_RUNS)
		brake(t, -EINTR, false);
	else if (t->phase == TRAJECTORY_WAITS)
		end(t, -EINTR);
	else
		stay(t, -EINTR);
	return 0;
}

int endplate_trajectory_run(struct endplate_trajectory *t)
{
	int64_t period_ns = INT64_MAX;
	int status = endplate_trajectory_start(t);

	for (size_t i = 0; i < t->columns_n; i++)
		period_ns = num_min(period_ns, t->columns[i].of->period_ns);
	for (status = status ? status : 1; status == 1; status = endplate_trajectory_step(t))
		if (endplate_wait(t->robot, period_ns, NULL))
			return endplate_refuse(-EINVAL, "no driver ticks every %lld ns", (long long)period_ns);
	return status;
}
