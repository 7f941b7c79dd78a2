/* drv_joints.c: the command of each joint in a tick, from references and measurements.  Checked: covered. */
#include <math.h>

#include "daemons/drv/drv_inside.h"

#define FRESH_TICKS 2	  /* an older sample begins no ramp */
#define STALE_TICKS 4	  /* with an older one no reference is followed, */
#define STALE_NS 40000000 /* but for devices that report less often than ticks come */

#define REST_NS 1000000000 /* after a freeze a joint may take this long to come to rest first */

/* ---- measurements ---- */

struct sample {
	int64_t age_ns, t_ns;
	double rad, rad_s; /* where by now, if it went on as it did when it was measured, and how fast */
	bool fresh;	   /* good enough to begin a ramp */
	bool stale;	   /* too old to follow a reference */
};

static struct sample sample_of(const struct drv *drv, unsigned int joint, int64_t now_ns)
{
	const struct msg_joint_state *state = &drv->state.joints;
	const int64_t old_ns = FRESH_TICKS * drv->tick.period_ns, stale_ticks_ns = STALE_TICKS * drv->tick.period_ns;
	const int64_t stale_ns = stale_ticks_ns > STALE_NS ? stale_ticks_ns : STALE_NS;
	struct sample s = { .age_ns = INT64_MAX };

	if (state->age_ns[joint] < INT64_MAX / 2) {
		s.t_ns = state->header.t_publish_ns - state->age_ns[joint];
		s.age_ns = now_ns - s.t_ns;
	}
	s.fresh = s.age_ns < old_ns;
	s.stale = s.age_ns >= stale_ns;
	/* A joint that measures neither a position nor a velocity has nothing that grows old. */
	if (drv->ramps[joint].no_position && isnan(state->velocity[joint]))
		s.stale = false;
	s.rad_s = state->velocity[joint];
	s.rad = state->position[joint];
	if (s.age_ns > 0 && isfinite(s.rad_s))
		s.rad += s.rad_s * (double)s.age_ns / 1e9;
	s.stale |= !drv->ramps[joint].no_position && isnan(s.rad);
	return s;
}

/* ---- commands ---- */

static struct drv_ref_want want_of(const struct msg_joint_ref *ref, unsigned int joint)
{
	return (struct drv_ref_want){ .mode = (enum msg_mode)ref->mode[joint],
				      .position_rad = ref->position[joint],
				      .velocity_rad_s = ref->velocity[joint],
				      .current_a = ref->current[joint] };
}

/* Can commands be sent to it?  A joint that hangs on no bus of its own needs all. */
static bool proven(const struct drv *drv, unsigned int joint)
{
	const unsigned int own = drv->joint_buses[joint];

	for (unsigned int i = 0; i < drv->buses_n; i++)
		if (drv->buses[i].moves && !slots_proven(&drv->buses[i].slots) && (!own || own == i + 1))
			return false;
	return true;
}

static void freeze_group(struct drv *drv, unsigned int group, int64_t now_ns)
{
	for (unsigned int i = 0; i < drv->joints_n; i++)
		drv->frozen[i] |= drv->joint_groups[i] == group;
	drv->frozen_ns = now_ns;
}

/* Its ramp, or NULL for the safe action; where nothing may be commanded its ramp ends. */
static void ramp(struct drv *drv, unsigned int joint, const struct drv_ref_want *want, const struct sample *s,
		 double dt_s)
{
	const bool commanded = drv->up && drv->estop.level < MSG_LEVEL_ESTOP; /* also in fault and when stopping */
	const double current_a = drv->state.joints.current[joint];
	struct drv_ref_joint *r = &drv->ramps[joint];
	double rad = s->rad;

	/* Where it came to is unknown: it has to come to rest until that is measured. */
	if (!s->fresh && drv_ref_begins(r, want, drv->setup.safe))
		rad = NAN;
	if (!commanded)
		drv_ref_forget(r);
	/* Not every device measures its current; a device that does not answer shows by its position. */
	drv->commands[joint] = drv_ref_joint(r, &drv->limits[joint], want, drv->setup.safe, rad,
					     drv->halted[joint] ? 0 : s->rad_s, isnan(current_a) ? 0 : current_a, dt_s);
	drv->halted[joint] &= !r->begun;
	if (!commanded)
		drv_ref_forget(r);
	/* A velocity measured at an e-stop is that of braking; the ramp begins at rest. */
	drv->halted[joint] |= drv->up && !commanded;
}

static void track(struct drv *drv, unsigned int joint, const struct sample *s, double dt_s, bool halted)
{
	const struct drv_ref_at at = { .position_rad = s->rad,
				       .velocity_rad_s = halted ? 0 : s->rad_s,
				       .fresh = s->fresh,
				       .gain_1_s = drv->gains_1_s[joint],
				       .dt_s = dt_s,
				       .ahead_s = (double)drv->tick.period_ns / 1e9 };
	struct drv_ref_command *command = &drv->commands[joint];

	if (drv->up && drv->estop.level >= MSG_LEVEL_ESTOP)
		command->track_rad_s = drv_ref_track_stand(&drv->tracks[joint], &drv->limits[joint], &at);
	else
		command->track_rad_s =
			drv_ref_track(&drv->tracks[joint], &drv->ramps[joint], command, &drv->limits[joint], &at);
	if (!drv->up)
		drv->tracks[joint].on = false;
}

/* Has it come to rest, by a sample of after the freeze?  A ramp that began before would take it back to there. */
static bool stands(const struct drv *drv, unsigned int joint, const struct sample *s)
{
	const double step_rad_s = drv->limits[joint].acceleration_rad_s2 * (double)drv->tick.period_ns / 1e9;

	if (drv->ramps[joint].no_position && isnan(s->rad_s))
		return true;
	return s->t_ns > drv->frozen_ns && (fabs(s->rad_s) <= step_rad_s || s->t_ns > drv->frozen_ns + REST_NS);
}

static bool rests(struct drv *drv, unsigned int joint, const struct sample *s)
{
	if (!drv->frozen[joint])
		return false;
	drv->frozen[joint] = !stands(drv, joint, s);
	drv->halted[joint] = true;
	drv->commands[joint] = drv_ref_rest(&drv->ramps[joint], drv->setup.safe);
	drv->tracks[joint] = (struct drv_ref_track){ .on = true };
	return true;
}

const char *drv_joints_stale(struct drv *drv, int64_t now_ns)
{
	const struct msg_joint_ref *ref = &drv->refs[drv->ref].joint_ref;

	for (unsigned int i = 0; i < drv->joints_n; i++)
		if (ref->mode[i] != MSG_MODE_NONE && !drv->joint_faulty[i] && !drv->joint_absent[i] &&
		    sample_of(drv, i, now_ns).stale)
			return drv->joints[i];
	return NULL;
}

void drv_joints_command(struct drv *drv, double dt_s, int64_t now_ns)
{
	const bool following = drv->ref_there && drv_may_move(drv);

	for (unsigned int i = 0; i < drv->joints_n; i++)
		/* A stall, a reset: the ramp would go on alone.  Before the start is done there is none. */
		if (drv->up && !proven(drv, i))
			freeze_group(drv, drv->joint_groups[i], now_ns);
	for (unsigned int i = 0; i < drv->joints_n; i++) {
		const struct drv_ref_want want = want_of(&drv->refs[drv->ref].joint_ref, i);
		const struct sample s = sample_of(drv, i, now_ns);
		const bool halted = drv->halted[i]; /* until its ramp begins, in this tick perhaps */

		if (drv->joint_absent[i] || rests(drv, i, &s))
			continue;
		ramp(drv, i, following && drv->joint_life[i] == MSG_LIFE_ACTIVE ? &want : NULL, &s, dt_s);
		track(drv, i, &s, dt_s, halted || drv->halted[i]);
	}
}

void drv_joints_freeze(struct drv *drv, int64_t now_ns)
{
	memset(drv->frozen, true, sizeof(drv->frozen));
	drv->frozen_ns = now_ns;
}

void drv_joints_freeze_bus(struct drv *drv, const struct drv_bus *bus, int64_t now_ns)
{
	const unsigned int own = (unsigned int)(bus - drv->buses) + 1;

	for (unsigned int i = 0; i < drv->joints_n; i++)
		if (!drv->joint_buses[i] || drv->joint_buses[i] == own)
			freeze_group(drv, drv->joint_groups[i], now_ns);
}

void drv_not_driven(struct drv *drv, unsigned int joint, bool stopped)
{
	drv_ref_forget(&drv->ramps[joint]);
	drv->tracks[joint].on = false;
	drv->halted[joint] = stopped;
}

/* ---- reports ---- */

void drv_joints_report(struct drv *drv)
{
	if (drv->stale && !drv->stale_reported)
		drv_event(drv, MSG_SEVERITY_WARNING, "stale",
			  "joint %s: its position is not measured, or too old: no reference is followed", drv->stale);
	else if (!drv->stale && drv->stale_reported)
		drv_event(drv, MSG_SEVERITY_INFO, "fresh", "all positions are measured again");
	drv->stale_reported = drv->stale;
}

/* ---- limits ---- */

static bool has_joint(const struct drv *drv, const char *name)
{
	for (unsigned int i = 0; i < drv->joints_n; i++)
		if (!strcmp(drv->joints[i], name))
			return true;
	return false;
}

static void check_name(const struct drv *drv, const struct robot_joint *limited, struct error_sink *errors)
{
	const char *best = NULL;

	if (has_joint(drv, limited->name))
		return;
	for (unsigned int i = 0; i < drv->joints_n; i++)
		nearest_try(limited->name, drv->joints[i], &best);
	if (best)
		yaml_error(errors, limited->node, "%s has no such joint; did you mean %s?", drv->setup.device->name,
			   best);
	else
		yaml_error(errors, limited->node, "%s has no such joint; it has %s%s", drv->setup.device->name,
			   drv->joints_n ? drv->joints[0] : "none", drv->joints_n > 1 ? " and others" : "");
}

/* A ramp needs limits of velocity and acceleration, or of current if no position is measured. */
static bool limited(const struct drv *drv, unsigned int joint)
{
	const struct robot_limits *l = robot_limits(drv->setup.device, drv->joints[joint]);

	if (drv->ramps[joint].no_position && isfinite(l->current))
		return true;
	return isfinite(l->velocity) && isfinite(l->acceleration);
}

bool drv_joints_check(const struct drv *drv, struct error_sink *errors)
{
	const struct robot_device *device = drv->setup.device;
	const unsigned int before = errors->count;

	for (size_t i = 0; device && i < device->joints_n; i++)
		check_name(drv, &device->joints[i], errors);
	if (!device || !device->actuated || !drv->driver->ref)
		return errors->count != before;
	for (unsigned int i = 0; i < drv->joints_n; i++) {
		if (drv->joint_absent[i] || limited(drv, i))
			continue;
		yaml_error(errors, device->limits_node ? device->limits_node : device->node,
			   "joint %s has no limits of velocity and acceleration; write limits: {velocity: 0.5, "
			   "acceleration: 2}%s",
			   drv->joints[i], drv->ramps[i].no_position ? ", or {current: 1}" : "");
	}
	return errors->count != before;
}
