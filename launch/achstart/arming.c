/* arming.c: one arm request at a time. */
#include <sched.h>
#include <unistd.h>

#include "can/bus/link.h"
#include "launch/achstart/supervise.h"

#define QUIET_NS 30000000 /* a driver copies what it has read of estop-b to estop within this time */

bool arming_is_under_way(const struct arming *a)
{
	return a->state == ARMING_QUIET || a->state == ARMING_PUT;
}

/* ---- may the robot be armed? ---- */

static bool is_actuated(const struct supervised *d)
{
	return d->daemon->wanted && d->daemon->device && d->daemon->device->actuated;
}

/* The robot must not run without it. */
static bool is_needed(const struct supervised *d)
{
	return is_actuated(d) || (d->daemon->wanted && d->daemon->critical != MSG_LEVEL_RUN);
}

static bool is_real_time(pid_t pid)
{
	const int policy = sched_getscheduler(pid) & ~SCHED_RESET_ON_FORK;

	return policy == SCHED_FIFO || policy == SCHED_RR;
}

static bool is_locked(pid_t pid)
{
	char text[2048];
	const char *line = folder_proc_read(pid, "status", text, sizeof(text)) < 0 ? NULL : strstr(text, "\nVmLck:");

	return line && atol(line + strlen("\nVmLck:")) > 0;
}

static const struct msg_bus *report_on(const struct supervised *d, const struct robot_bus *bus)
{
	for (size_t i = 0; i < d->published.common.bus_count && i < MSG_BUSES; i++)
		if (!strncmp(d->published.common.bus[i].name, bus->name, MSG_NAME_SIZE))
			return &d->published.common.bus[i];
	return NULL;
}

static void check_real_bus(const struct supervised *d, const struct robot_bus *bus, struct error_sink *errors)
{
	const char *name = d->daemon->name;
	const struct msg_bus *bus_state = report_on(d, bus);

	if (!is_real_time(d->child.pid))
		error_add(errors,
			  "%s: on a real bus it needs a real-time priority: priority in the launch file, and a limit "
			  "that allows it (LimitRTPRIO=, ulimit -r)",
			  name);
	if (!is_locked(d->child.pid))
		error_add(errors,
			  "%s: on a real bus it needs its memory locked, and a limit that allows it (LimitMEMLOCK=, "
			  "ulimit -l)",
			  name);
	if (!bus_state || bus_state->state != MSG_LINK_ERROR_ACTIVE || bus_state->stalled_since_ns)
		error_add(errors, "%s: bus %s is not well", name, bus->name);
}

/* At level hold only a driver by which the robot stands is active, and it does what it will do when armed. */
static bool is_at_rest(const struct msg_common *common)
{
	return common->lifecycle == MSG_LIFE_DISARMED || common->lifecycle == MSG_LIFE_HOLDING ||
	       (common->lifecycle == MSG_LIFE_ACTIVE && common->level == MSG_LEVEL_HOLD);
}

static bool is_well(struct supervised *d, int64_t now_ns, struct error_sink *errors)
{
	const char *name = d->daemon->name;

	daemon_state_update_now(&d->published, now_ns); /* it may have made its channel a moment ago */
	if (supervised_in_fault(d)) {
		error_add(errors, "%s: in fault%s%s", name, *supervised_why(d) ? ": " : "", supervised_why(d));
		return false;
	}
	if (d->policy.state != POLICY_READY) {
		error_add(errors, "%s: not ready", name);
		return false;
	}
	return true;
}

static void check_driver(struct supervised *d, const char *who, bool automatic, int64_t now_ns,
			 struct error_sink *errors)
{
	const char *name = d->daemon->name;
	bool real = false;

	if (d->daemon->alive != LAUNCH_ALIVE_STATE ||
	    daemon_state_age_ns(&d->published, now_ns) > supervised_dead_after_ns(d)) {
		error_add(errors, "%s: it publishes nothing", name);
		return;
	}
	if (!is_at_rest(&d->published.common))
		error_add(errors, "%s: neither disarmed nor holding", name);
	for (size_t i = 0; i < d->daemon->buses_n; i++) {
		if (link_is_virtual(d->daemon->buses[i]->interface))
			continue;
		check_real_bus(d, d->daemon->buses[i], errors);
		real = true;
	}
	if (real && automatic)
		error_add(errors, "%s: arm: auto, but its bus is not virtual: write arm: no", name);
	if (real && !*who)
		error_add(errors, "%s: on a real bus the operator has to be named", name);
}

/* arm: auto is for a robot of which everything is ready or done, until the last driver has taken it. */
static void check_failed(const struct supervisor *s, struct error_sink *errors)
{
	for (size_t i = 0; s->arming.by_itself && i < s->n; i++)
		if (s->supervised[i].daemon->wanted && s->supervised[i].policy.state == POLICY_FAILED)
			error_add(errors, "%s has failed", s->supervised[i].daemon->name);
}

int arming_check(struct supervisor *s, const char *who, int64_t now_ns, struct error_sink *errors)
{
	const unsigned int before = errors->count;

	for (size_t i = 0; i < s->n; i++) {
		struct supervised *d = &s->supervised[i];

		if (is_needed(d) && is_well(d, now_ns, errors) && is_actuated(d))
			check_driver(d, who, s->launch->arm == LAUNCH_ARM_AUTO, now_ns, errors);
	}
	return errors->count == before ? 0 : -EPERM;
}

/* ---- the end ---- */

/* A lowering that was written is raised before the refusal is reported. */
static void refuse(struct supervisor *s, int64_t now_ns)
{
	struct arming *a = &s->arming;

	if (a->state == ARMING_PUT)
		estop_raise(&s->estop, MSG_LEVEL_ESTOP, "achstart", geteuid(), "an arm request was refused",
			    &(struct error_sink){ 0 });
	a->state = ARMING_REFUSED;
	terminal_clean(a->why.text);
	supervise_say(s, now_ns, WARNING, "not-armed", "%s%s", a->by_itself ? "arm: auto: " : "", a->why.text);
}

void arming_cancel(struct supervisor *s, const char *why, int64_t now_ns)
{
	if (!arming_is_under_way(&s->arming))
		return;
	error_add(lines_begin(&s->arming.why), "%s", why);
	refuse(s, now_ns);
}

static void finish(struct supervisor *s, size_t taken, int64_t now_ns)
{
	struct arming *a = &s->arming;

	a->taken = taken;
	a->state = ARMING_DONE;
	if (a->by_itself)
		supervise_say(s, now_ns, INFO, "armed", "arm: auto, and all are ready");
	else if (*a->claimed && strcmp(a->claimed, a->who) != 0)
		supervise_say(s, now_ns, INFO, "armed", "armed by %s (%s)", a->who, a->claimed);
	else
		supervise_say(s, now_ns, INFO, "armed", "armed by %s", a->who);
}

/* ---- before the lowering ---- */

static void report_change(const struct estop_channel *c, struct error_sink *errors)
{
	const struct msg_estop *msg = &c->messages[c->window.newest % ESTOP_RETAINED];

	if (c->window.newest && msg->kind == MSG_ESTOP_RAISE)
		error_add(errors, "level raised since by %s: %s", *msg->who ? msg->who : "a process without a name",
			  msg->why);
	else
		error_add(errors, "channel %s was written since", c->name);
}

/* Was anything written since the operator read the channels?  estop-b first: drivers copy from there to estop. */
static bool has_changed(struct supervisor *s, struct error_sink *errors)
{
	const struct estop_seen *then = &s->arming.seen, now = estop_seen(&s->estop);

	for (int c = ESTOP_CHANNELS - 1; c >= 0; c--) {
		const struct estop_channel *channel = &s->estop.channel[c];

		if (!channel->open)
			error_add(errors, "channel %s: %s", channel->name, channel->why);
		else if (now.id[c] != then->id[c])
			error_add(errors, "channel %s was created again since", channel->name);
		else if (now.seq[c] != then->seq[c])
			report_change(channel, errors);
		else
			continue;
		return true;
	}
	return false;
}

static bool is_refused(struct supervisor *s, int64_t now_ns, struct error_sink *errors)
{
	if (s->stop_ns)
		error_add(errors, "the robot is being stopped");
	else if (now_ns > s->arming.until_ns)
		error_add(errors, "the request has expired");
	else if (!has_changed(s, errors))
		check_failed(s, errors);
	return errors->count || arming_check(s, s->arming.who, now_ns, errors);
}

void arming_begin(struct supervisor *s, const struct arming *request, int64_t now_ns)
{
	struct arming *a = &s->arming;

	*a = *request;
	terminal_clean(a->claimed);
	a->state = ARMING_QUIET;
	estop_read(&s->estop, now_ns);
	if (is_refused(s, now_ns, lines_begin(&a->why)))
		refuse(s, now_ns);
}

/* ---- the lowering ---- */

static int put(struct supervisor *s, struct error_sink *errors)
{
	struct arming *a = &s->arming;
	const struct epoch next = epoch_next(&s->level.epoch, s->estop.epoch);
	int64_t now_ns;
	int status;

	status = epoch_write(&next, errors);
	if (status)
		return status;
	s->level.epoch = next;
	a->epoch = next.last;
	/* This process may have been stopped since the checks: read time and channels again.  A message in between
	 * takes the place of the lowering, which is not valid in another place. */
	now_ns = clock_now_ns();
	estop_read(&s->estop, now_ns);
	if (has_changed(s, errors))
		return -EAGAIN;
	a->taken_until_ns = now_ns + a->lower_ns < a->until_ns ? now_ns + a->lower_ns : a->until_ns;
	status = estop_lower(&s->estop, &a->seen, MSG_LEVEL_RUN, a->taken_until_ns, a->epoch, a->who, a->uid, "armed",
			     &a->base, errors);
	if (!status) {
		a->state = ARMING_PUT;
		estop_read(&s->estop, now_ns); /* before its time is over, however late the next look comes */
	}
	return status;
}

static void update_quiet(struct supervisor *s, int64_t now_ns)
{
	struct error_sink *errors = lines_begin(&s->arming.why);

	if (now_ns - s->level.quiet_since_ns < QUIET_NS && now_ns <= s->arming.until_ns &&
	    !has_changed(s, &(struct error_sink){ 0 }))
		return;
	if (is_refused(s, now_ns, errors) || put(s, errors))
		refuse(s, now_ns);
}

/* ---- the drivers ---- */

static bool counts(const struct supervised *d)
{
	return d->daemon->kind == LAUNCH_DRIVER && d->daemon->alive == LAUNCH_ALIVE_STATE &&
	       d->policy.state == POLICY_READY && d->published.there;
}

/* A driver takes a lowering in time or never, but may publish that later. */
static bool will_not_take(const struct supervisor *s, const struct supervised *d, int64_t now_ns)
{
	const struct arming *a = &s->arming;

	return now_ns > a->until_ns || d->published.header.t_publish_ns > a->taken_until_ns + 2 * ESTOP_READ_NS ||
	       (now_ns > a->taken_until_ns && daemon_state_age_ns(&d->published, now_ns) > supervised_dead_after_ns(d));
}

static void update_put(struct supervisor *s, int64_t now_ns)
{
	struct arming *a = &s->arming;
	struct error_sink *errors = lines_begin(&a->why);
	size_t taken = 0, wait = 0;

	check_failed(s, errors);
	if (s->estop.level != MSG_LEVEL_RUN || s->estop.rule.kept.base != a->base) {
		error_add(errors, "level %s, raised since%s%s%s%s", msg_level_word(s->estop.level),
			  *s->estop.who ? " by " : "", s->estop.who, *s->estop.why ? ": " : "", s->estop.why);
		refuse(s, now_ns);
		return;
	}
	for (size_t i = 0; i < s->n; i++) {
		const struct supervised *d = &s->supervised[i];

		if (is_needed(d) && d->policy.state != POLICY_READY)
			error_add(errors, "%s: not ready any more", d->daemon->name);
		if (!counts(d))
			continue;
		if (estop_lower_is_taken(&d->published.common, s->estop.boot, a->seen.id[0], a->base))
			taken++;
		else if (will_not_take(s, d, now_ns))
			error_add(errors, "%s has not taken it: its state says level %s", d->daemon->name,
				  msg_level_word(d->published.common.level));
		else
			wait++;
	}
	if (errors->count)
		refuse(s, now_ns);
	else if (!wait)
		finish(s, taken, now_ns);
}

void arming_update(struct supervisor *s, int64_t now_ns)
{
	if (s->stop_ns)
		arming_cancel(s, "the robot is being stopped", now_ns);
	if (s->arming.state == ARMING_QUIET)
		update_quiet(s, now_ns);
	else if (s->arming.state == ARMING_PUT)
		update_put(s, now_ns);
}
