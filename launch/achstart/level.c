/* level.c: the level of the e-stop, as achstart maintains it. */
#include <unistd.h>

#include "channels/ach/ach_ring.h"
#include "channels/clock/clock.h"
#include "launch/achstart/supervise.h"

#define CREATE_EVERY_NS 1000000000   /* at most, of a channel that is removed or condemned again and again */
#define INVALID_EVERY_NS 10000000000 /* between two reports of invalid messages */
#define AUTO_LOWER_NS 2000000000     /* drivers may be busy with starting */
#define AUTO_WITHIN_NS 5000000000

/* ---- channels ---- */

static bool is_open(const struct estop *e)
{
	return e->channel[0].open && e->channel[1].open;
}

static void create_again(struct supervisor *s, int64_t now_ns)
{
	struct level *l = &s->level;
	struct events_sink wrong = { &s->events, now_ns, MSG_SEVERITY_ERROR, "achstart", "estop" };
	struct error_sink errors = { l->reported_closed ? NULL : events_line, &wrong, 0 };
	struct lines why;

	if (is_open(&s->estop) || (l->created_ns && now_ns - l->created_ns < CREATE_EVERY_NS))
		return;
	l->created_ns = now_ns;
	l->untouched = false;
	estop_why_closed(&s->estop, lines_begin(&why));
	if (estop_mend(&s->estop, &errors)) {
		supervise_say(s, now_ns, ERROR, "corrupt", "%s; created again, level estop", why.text);
		estop_read(&s->estop, now_ns); /* drops what was found in the old channel */
	}
	l->reported_closed = !is_open(&s->estop);
}

/* A lowering that drivers obey holds for an achstart that begins after it was written. */
static void inherit(struct supervisor *s, int64_t now_ns)
{
	struct estop *e = &s->estop;
	struct estop_kept kept = { 0 };

	for (size_t i = 0; e->channel[0].open && i < s->n; i++) {
		struct supervised *d = &s->supervised[i];

		if (d->daemon->alive != LAUNCH_ALIVE_STATE)
			continue;
		daemon_state_update_now(&d->published, now_ns);
		if (d->published.there)
			estop_lower_add(&kept, &d->published.common, e->boot, e->channel[0].chan.handle->id);
	}
	if (kept.base)
		estop_rule_start(&e->rule, &kept, e->boot);
}

int level_open(struct supervisor *s, int64_t now_ns, struct error_sink *errors)
{
	const struct estop_options options = {
		.owner = geteuid(), .group = s->launch->operators, .ratify = true, .name = "achstart"
	};
	struct estop *e = &s->estop;
	bool absent = true;
	int status = estop_open(e, &options, &(struct error_sink){ 0 });

	s->level = (struct level){ .epoch = epoch_read(), .quiet_since_ns = now_ns };
	if (status == -EINVAL)
		return estop_open(e, &options, errors);
	for (int c = 0; c < ESTOP_CHANNELS; c++)
		absent &= !e->channel[c].open && e->channel[c].status == ACH_ENOENT;
	inherit(s, now_ns);
	if (absent)
		s->level.untouched = estop_mend(e, errors) == ESTOP_CHANNELS;
	else
		create_again(s, now_ns);
	if (is_open(e))
		return 0;
	if (!absent)
		estop_why_closed(e, errors);
	return -EIO;
}

/* A robot that ended at another level than run is not armed by arm: auto when it comes up again. */
void level_close(struct supervisor *s, bool stopped)
{
	const bool raised = estop_read(&s->estop, clock_now_ns()) != MSG_LEVEL_RUN && !s->level.untouched;

	estop_close(&s->estop);
	s->level.epoch.ended_well = !raised;
	if (stopped && (s->level.epoch.last || raised))
		epoch_write(&s->level.epoch, &(struct error_sink){ 0 });
}

/* ---- raising ---- */

void level_begin(struct supervisor *s, bool adopted, int64_t now_ns)
{
	estop_read(&s->estop, now_ns);
	if (adopted || s->level.untouched)
		return;
	/* Every earlier process is dead, and their successors must not go on at their level. */
	estop_raise(&s->estop, MSG_LEVEL_ESTOP, "achstart", geteuid(), "the robot comes up", &(struct error_sink){ 0 });
	if (s->launch->arm == LAUNCH_ARM_AUTO)
		supervise_say(s, now_ns, WARNING, "not-armed",
			      "arm: auto does not count: the robot was not stopped by achctl stop; achctl arm arms it");
}

bool level_raise(struct supervisor *s, enum msg_level level, const char *source, const char *why, int64_t now_ns)
{
	struct events_sink wrong = { &s->events, now_ns, MSG_SEVERITY_ERROR, source, "estop" };
	struct error_sink errors = { events_line, &wrong, 0 };

	s->level.untouched = false;
	if (estop_read(&s->estop, now_ns) >= level)
		return false;
	estop_raise(&s->estop, level, "achstart", geteuid(), why, &errors);
	return true;
}

void level_say_raised(struct supervisor *s, enum msg_level level, const char *source, const char *why, int64_t now_ns)
{
	events_say(&s->events, now_ns, MSG_SEVERITY_ERROR, source, "raised", "level %s: %s", msg_level_word(level),
		   why);
}

int level_raise_for(struct supervisor *s, enum msg_level level, const char *who, uid_t uid, const char *why,
		    int64_t now_ns, struct error_sink *errors)
{
	char clean[MSG_TEXT_SIZE];
	int status;

	snprintf(clean, sizeof(clean), "%s", why);
	terminal_clean(clean);
	estop_read(&s->estop, now_ns);
	create_again(s, now_ns);
	status = estop_raise(&s->estop, level, who, uid, clean, errors);
	if (!status)
		supervise_say(s, now_ns, WARNING, "raised", "level %s by %s: %s", msg_level_word(level), who, clean);
	return status;
}

/* ---- arm: auto ---- */

static bool all_settled(const struct supervisor *s, int64_t now_ns)
{
	for (size_t i = 0; i < s->n; i++) {
		const struct supervised *d = &s->supervised[i];
		const bool fine = d->daemon->alive == LAUNCH_ALIVE_PROCESS
					  ? policy_is_settled(&d->policy, &d->daemon->rules, now_ns)
					  : policy_is_fine(&d->policy); /* it has said so itself */

		if (d->daemon->wanted && !fine && !supervise_goes_without(s, d))
			return false;
	}
	return true;
}

/* A daemon that has failed needs a person; others may be ready soon. */
static void report_failed(struct supervisor *s, int64_t now_ns)
{
	const struct supervised *failed = NULL;

	for (size_t i = 0; i < s->n && !failed; i++)
		if (s->supervised[i].daemon->wanted && s->supervised[i].policy.state == POLICY_FAILED)
			failed = &s->supervised[i];
	if (failed && failed != s->reported_failed)
		supervise_say(s, now_ns, WARNING, "not-armed",
			      "arm: auto: %s has failed: achctl clear %s once the cause is gone, or achctl arm",
			      failed->daemon->name, failed->daemon->name);
	s->reported_failed = failed;
}

/* Only a robot that was stopped well, or never started, in which no process has written to the e-stop since. */
static void arm_by_itself(struct supervisor *s, int64_t now_ns)
{
	const struct arming request = { .who = "arm: auto",
					.uid = geteuid(),
					.seen = estop_seen(&s->estop),
					.until_ns = now_ns + AUTO_WITHIN_NS,
					.lower_ns = AUTO_LOWER_NS,
					.by_itself = true };

	if (s->launch->arm != LAUNCH_ARM_AUTO || s->stop_ns || !s->level.untouched || !s->level.epoch.ended_well ||
	    arming_is_under_way(&s->arming))
		return;
	report_failed(s, now_ns);
	if (all_settled(s, now_ns) && !arming_check(s, request.who, now_ns, &(struct error_sink){ 0 }))
		arming_begin(s, &request, now_ns);
}

/* ---- updating ---- */

static void report_invalid(struct supervisor *s, int64_t now_ns)
{
	const uint64_t more = s->estop.invalid - s->level.reported_invalid;

	if (!more || (s->level.reported_invalid_ns && now_ns - s->level.reported_invalid_ns < INVALID_EVERY_NS))
		return;
	if (more == 1)
		supervise_say(s, now_ns, WARNING, "estop", "%s", s->estop.invalid_why);
	else
		supervise_say(s, now_ns, WARNING, "estop", "%s, and %llu more", s->estop.invalid_why,
			      (unsigned long long)more - 1);
	s->level.reported_invalid = s->estop.invalid;
	s->level.reported_invalid_ns = now_ns;
}

void level_update(struct supervisor *s, int64_t now_ns)
{
	struct estop_seen seen;

	estop_read(&s->estop, now_ns);
	seen = estop_seen(&s->estop);
	if (memcmp(&seen, &s->level.seen, sizeof(seen)) != 0)
		s->level.quiet_since_ns = now_ns;
	s->level.seen = seen;
	s->level.untouched &= !seen.seq[0] && !seen.seq[1];
	report_invalid(s, now_ns);
	create_again(s, now_ns);
	arming_update(s, now_ns);
	arm_by_itself(s, now_ns);
	estop_maintain(&s->estop, now_ns);
}
