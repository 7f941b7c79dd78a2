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

/* Brakes from what was commanded last; then it ends, or goes on. */
static void brake(struct endplate_trajectory *t, int status, bool goes_on)
{
	t->ended = status;
	snprintf(t->why, sizeof(t->why), "%s", endplate_errstr());
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

static int check_level(struct endplate_trajectory *t)
{
	for (size_t i = 0; i < t->devices_n; i++) {
		struct trajectory_device *d = &t->devices[i];

		if (d->moves && !d->status && d->view.level != MSG_LEVEL_RUN)
			return endplate_refuse(-EHOSTDOWN, "%s: level %s: achctl arm", d->device->name,
					       msg_level_word(d->view.level));
	}
	return 0;
}

/* ---- references ---- */

/* Where it would stop if it braked now, as its driver brakes, seen from the middle of the driver's tick. */
static double target_rad(const struct trajectory_column *c, const struct motion_state *at)
{
	const double v = at->rad_s - at->rad_s2 * (double)c->of->period_ns / 2e9;

	return num_clamp(at->rad + v * fabs(v) / (2 * c->ramp_rad_s2), c->limits.min_rad, c->limits.max_rad);
}

static void command(struct endplate_trajectory *t)
{
	const double after_s = (double)(t->now_ns - t->begun_ns) / 1e9;

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

		if (d->moves && is_sound(d) && d->view.follows && d->view.incarnation == d->incarnation)
			d->status = endplate_put(d->device, &d->ref, sizeof(d->ref), d->valid_ns);
	}
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
	return end(t, endplate_refuse(-ETIME, "%s: joint %s is at %.4g rad and does not arrive at %.4g rad",
				      late->of->device->name, trajectory_joint_name(late),
				      late->of->state.joints.position[late->joint], t->now[late - t->columns].rad));
}

/* The next waypoint begins exactly where and when the one before it ends. */
static void advance(struct endplate_trajectory *t)
{
	while (t->goal + 1 < t->path.n && (double)(t->now_ns - t->begun_ns) / 1e9 >= t->total_s) {
		const struct motion_state *from = &t->path.states[t->goal * t->columns_n];

		t->goal++;
		trajectory_enter(t, from, t->begun_ns + (int64_t)(t->total_s * 1e9));
	}
}

/* Finds what ends the motion, or interrupts it, in this tick. */
static void check(struct endplate_trajectory *t, int64_t now_ns)
{
	const struct trajectory_waypoint *w = &t->path.waypoints[t->goal];
	/* A motion through points has its times, which are over by then. */
	const bool may_go_on = !w->passed && !(t->goal && w[-1].passed);
	struct trajectory_device *lost = trajectory_lost(t);
	int status = check_conditions(t);

	if (status)
		return brake(t, status, false);
	if (lost)
		return brake(t, trajectory_say_lost(lost), may_go_on);
	/* Its references were over: the drivers have stopped. */
	if (t->now_ns && now_ns - t->now_ns > t->columns[0].of->valid_ns)
		brake(t, endplate_refuse(-ETIME, "no step for %.3g ms", (double)(now_ns - t->now_ns) / 1e6), may_go_on);
}

/* Waits for its devices, to begin again. */
static int wait(struct endplate_trajectory *t)
{
	struct trajectory_device *lost;
	int status = check_conditions(t);

	for (size_t i = 0; i < t->devices_n; i++)
		t->devices[i].incarnation = t->devices[i].view.incarnation;
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

	if (t->phase == TRAJECTORY_RUNS)
		check(t, now_ns);
	t->now_ns = now_ns;
	t->begun_ns = t->begun_ns ? t->begun_ns : now_ns - t->lead_ns / 2; /* its first tick */
	if (t->phase == TRAJECTORY_RUNS)
		advance(t);
	command(t);
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
	t->goes_on = false;
	return 0;
}

int endplate_trajectory_run(struct endplate_trajectory *t)
{
	int64_t period_ns = INT64_MAX;
	int status = endplate_trajectory_start(t);

	for (size_t i = 0; i < t->columns_n; i++)
		period_ns = num_min(period_ns, t->columns[i].of->period_ns);
	for (status = status ? status : 1; status == 1; status = endplate_trajectory_step(t))
		endplate_wait(t->robot, period_ns, NULL);
	return status;
}
