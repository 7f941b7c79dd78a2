/* act_stop.c: stops: hold and estop, by the channels and through achstart, until every driver shows the level. */
#include <stdio.h>
#include <string.h>

#include "launch/achweb/act.h"

static void report(struct acts *acts, struct act_stop *s, bool done)
{
	struct raising *r = &s->raise;
	char text[ACT_TEXT_MAX];

	robot_level_read(&r->estop, &r->channels, clock_now_ns());
	if (done && !r->drivers)
		snprintf(text, sizeof(text), "NOT CONFIRMED: level %s is raised, but no driver runs that could obey it",
			 msg_level_word(r->level));
	else if (done)
		snprintf(text, sizeof(text), "level %s, epoch %llu, by %s; shown by %zu driver%s",
			 msg_level_word(r->estop.level), (unsigned long long)r->estop.epoch, s->who, r->drivers,
			 r->drivers == 1 ? "" : "s");
	else if (*r->behind && (r->put || r->answered))
		snprintf(text, sizeof(text), "NOT CONFIRMED: level %s is raised, but within %g s %s not show it: %s",
			 msg_level_word(r->level), RAISING_WITHIN_NS / 1e9,
			 strchr(r->behind, ',') ? "these drivers do" : "this driver does", r->behind);
	else
		snprintf(text, sizeof(text), "NOT RAISED: %.400s",
			 raising_is_absent(r) ? "no robot is up here" : r->lines.text);
	raising_end(r);
	s->under_way = false;
	for (size_t i = 0; i < s->waiters_n; i++)
		acts->done(acts->to, s->waiters[i], done && r->drivers, text);
	s->waiters_n = 0;
}

static void begin(struct act_stop *s, enum msg_level level, const char *who, const char *why, int64_t now_ns)
{
	snprintf(s->who, sizeof(s->who), "%s", who);
	snprintf(s->why, sizeof(s->why), "%s", why);
	s->under_way = true;
	s->until_ns = now_ns + RAISING_WITHIN_NS;
	raising_begin(&s->raise, level, s->who, s->why);
}

/* A second press joins the stop under way, which repeats its raise until it is shown. */
void act_stop_begin(struct acts *acts, enum msg_level level, uint64_t client, const char *who, int64_t now_ns)
{
	struct act_stop *s = &acts->stops[level == MSG_LEVEL_ESTOP];

	if (!s->under_way)
		begin(s, level, who, "stop button of the page", now_ns);
	if (s->waiters_n < ACT_WAITERS)
		s->waiters[s->waiters_n++] = client;
	else
		acts->done(acts->to, client, false, "a stop is under way; so many wait for it that this one cannot");
}

void act_stop_arming(struct acts *acts, struct act *a, const char *why, int64_t now_ns)
{
	struct act_stop *s = &acts->stops[1];
	char who[MSG_NAME_SIZE];

	snprintf(who, sizeof(who), "%s", a->who);
	act_finish(acts, a, false, "not armed, and level estop is being raised: %s", why);
	if (!s->under_way)
		begin(s, MSG_LEVEL_ESTOP, who, "achstart has not answered an arm request of the page", now_ns);
}

int64_t act_stop_step(struct acts *acts, int64_t now_ns)
{
	int64_t next_ns = CLOCK_NEVER;

	for (size_t i = 0; i < 2; i++) {
		struct act_stop *s = &acts->stops[i];
		bool done;

		if (!s->under_way)
			continue;
		done = raising_step(&s->raise, clock_now_ns());
		if (done || raising_is_hopeless(&s->raise) || now_ns >= s->until_ns)
			report(acts, s, done);
		else
			next_ns = now_ns + RAISING_EVERY_NS;
	}
	return next_ns;
}

void act_stop_close(struct acts *acts)
{
	for (size_t i = 0; i < 2; i++)
		if (acts->stops[i].under_way)
			raising_end(&acts->stops[i].raise);
}
