/* arming.c: one arm request at a time. */
#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "channels/clock.h"
#include "launch/achstart/arming.h"
#include "launch/achstart/fit.h"
#include "launch/common/obeyed.h"
#include "launch/achstart/supervise.h"

#define QUIET_NS 30000000 /* a driver copies what it has read of estop-b to estop within this time */

bool arming_is_under_way(const struct arming *a)
{
	return a->state == ARMING_QUIET || a->state == ARMING_PUT;
}

/* ---- the end ---- */

static void collect(void *to, const char *line)
{
	struct arming *a = to;
	const size_t len = strlen(a->why);

	snprintf(a->why + len, sizeof(a->why) - len, "%s%s", len ? "; " : "", line);
}

/* A lowering that is written is raised before anyone hears that it was refused. */
static void refuse(struct supervisor *s, int64_t now_ns)
{
	struct arming *a = &s->arming;

	if (a->state == ARMING_PUT)
		estop_raise(&s->estop, MSG_LEVEL_ESTOP, "achstart", geteuid(), "an arm request was refused",
			    &(struct error_sink){ 0 });
	a->state = ARMING_REFUSED;
	terminal_clean(a->why);
	events_say(&s->events, now_ns, MSG_SEVERITY_WARNING, "achstart", "not-armed", "%s%s",
		   a->by_itself ? "arm: auto: " : "", a->why);
}

void arming_cancel(struct supervisor *s, const char *why, int64_t now_ns)
{
	if (!arming_is_under_way(&s->arming))
		return;
	snprintf(s->arming.why, sizeof(s->arming.why), "%s", why);
	refuse(s, now_ns);
}

static void finish(struct supervisor *s, size_t taken, int64_t now_ns)
{
	struct arming *a = &s->arming;

	a->taken = taken;
	a->state = ARMING_DONE;
	if (a->by_itself)
		events_say(&s->events, now_ns, MSG_SEVERITY_INFO, "achstart", "armed", "arm: auto, and all are ready");
	else if (*a->claimed && strcmp(a->claimed, a->who) != 0)
		events_say(&s->events, now_ns, MSG_SEVERITY_INFO, "achstart", "armed", "armed by %s (%s)", a->who,
			   a->claimed);
	else
		events_say(&s->events, now_ns, MSG_SEVERITY_INFO, "achstart", "armed", "armed by %s", a->who);
}

/* ---- before the lowering ---- */

static void tell_raise(const struct estop_channel *c, struct error_sink *errors)
{
	const struct msg_estop *msg = &c->messages[c->window.newest % ESTOP_RETAINED];

	if (c->window.newest && msg->kind == MSG_ESTOP_RAISE)
		error_add(errors, "level raised since by %s: %s", *msg->who ? msg->who : "a process without a name",
			  msg->why);
	else
		error_add(errors, "channel %s was written since", c->name);
}

/* Was anything written since the person had read the channels?  estop-b first: what drivers copy to estop is there. */
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
			tell_raise(channel, errors);
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
	else if (has_changed(s, errors))
		return true;
	else
		return fit_to_arm(s, s->arming.who, now_ns, errors);
	return true;
}

void arming_begin(struct supervisor *s, const struct arming *request, int64_t now_ns)
{
	struct arming *a = &s->arming;
	struct error_sink errors = { collect, a, 0 };

	*a = *request;
	terminal_clean(a->claimed);
	a->state = ARMING_QUIET;
	*a->why = 0;
	estop_look(&s->estop, now_ns);
	if (is_refused(s, now_ns, &errors))
		refuse(s, now_ns);
}

/* ---- the lowering ---- */

static int put(struct supervisor *s, struct error_sink *errors)
{
	struct arming *a = &s->arming;
	struct epoch next = { s->level.epoch.last > s->estop.epoch ? s->level.epoch.last : s->estop.epoch, false };
	int64_t now_ns;
	int status;

	if (!++next.last)
		next.last = 1;
	status = epoch_write(&next, errors);
	if (status)
		return status;
	s->level.epoch = next;
	a->epoch = next.last;
	/* This process may have been stopped since the checks: the time is that of now, and so is the comparison.  A
	 * message in between takes the place of the lowering, which is not valid anywhere else. */
	now_ns = clock_now_ns();
	estop_look(&s->estop, now_ns);
	if (has_changed(s, errors))
		return -EAGAIN;
	a->taken_until_ns = now_ns + a->lower_ns < a->until_ns ? now_ns + a->lower_ns : a->until_ns;
	status = estop_lower(&s->estop, &a->seen, MSG_LEVEL_RUN, a->taken_until_ns, a->epoch, a->who, a->uid, "armed",
			     &a->base, errors);
	if (!status) {
		a->state = ARMING_PUT;
		estop_look(&s->estop, now_ns); /* before its time is over, however late the next look comes */
	}
	return status;
}

static void look_quiet(struct supervisor *s, int64_t now_ns)
{
	struct error_sink errors = { collect, &s->arming, 0 };

	if (now_ns - s->level.quiet_since_ns < QUIET_NS && now_ns <= s->arming.until_ns &&
	    !has_changed(s, &(struct error_sink){ 0 }))
		return;
	if (is_refused(s, now_ns, &errors) || put(s, &errors))
		refuse(s, now_ns);
}

/* ---- the drivers ---- */

static bool counts(const struct watch *w)
{
	return w->daemon->kind == LAUNCH_DRIVER && w->daemon->alive == LAUNCH_ALIVE_STATE &&
	       w->policy.state == POLICY_READY && w->pulse.there;
}

/* A driver takes a lowering in time or never, but it may publish later that it has. */
static bool will_not_take(const struct supervisor *s, const struct watch *w, int64_t now_ns)
{
	const struct arming *a = &s->arming;

	return now_ns > a->until_ns || w->pulse.header.t_publish_ns > a->taken_until_ns + 2 * ESTOP_LOOK_NS ||
	       (now_ns > a->taken_until_ns && pulse_age_ns(&w->pulse, now_ns) > watch_dead_after_ns(w));
}

static void look_put(struct supervisor *s, int64_t now_ns)
{
	struct arming *a = &s->arming;
	struct error_sink errors = { collect, a, 0 };
	size_t taken = 0, wait = 0;

	if (s->estop.level != MSG_LEVEL_RUN || s->estop.judge.kept.base != a->base) {
		error_add(&errors, "level %s, raised since%s%s%s%s", msg_level_word(s->estop.level),
			  *s->estop.who ? " by " : "", s->estop.who, *s->estop.why ? ": " : "", s->estop.why);
		refuse(s, now_ns);
		return;
	}
	for (size_t i = 0; i < s->n; i++) {
		const struct watch *w = &s->watches[i];

		if (fit_is_actuated(w) && w->policy.state != POLICY_READY)
			error_add(&errors, "%s: not ready any more", w->daemon->name);
		if (!counts(w))
			continue;
		if (obeyed_is_taken(&w->pulse.common, s->estop.boot, a->seen.id[0], a->base))
			taken++;
		else if (will_not_take(s, w, now_ns))
			error_add(&errors, "%s has not taken it: its state says level %s", w->daemon->name,
				  msg_level_word(w->pulse.common.level));
		else
			wait++;
	}
	if (errors.count)
		refuse(s, now_ns);
	else if (!wait)
		finish(s, taken, now_ns);
}

void arming_look(struct supervisor *s, int64_t now_ns)
{
	if (s->stop_ns)
		arming_cancel(s, "the robot is being stopped", now_ns);
	if (s->arming.state == ARMING_QUIET)
		look_quiet(s, now_ns);
	else if (s->arming.state == ARMING_PUT)
		look_put(s, now_ns);
}
