/* web_action_stop.c: stops: hold and estop, by the channels and through achstart, until every driver shows the
 * level. */
#include "launch/achweb/web_action.h"

static void report(struct web_actions *acts, struct web_action_stop *s, bool done)
{
	struct estop_raise *r = &s->raise;
	char text[WEB_ACTION_TEXT_MAX];

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
			 msg_level_word(r->level), ESTOP_RAISE_WITHIN_NS / 1e9,
			 strchr(r->behind, ',') ? "these drivers do" : "this driver does", r->behind);
	else
		snprintf(text, sizeof(text), "NOT RAISED: %.400s",
			 estop_raise_is_absent(r) ? "no robot is up here" : r->lines.text);
	estop_raise_end(r);
	s->under_way = false;
	for (size_t i = 0; i < s->waiters_n; i++)
		acts->done(acts->to, s->waiters[i], done && r->drivers, text);
	s->waiters_n = 0;
}

static void begin(struct web_action_stop *s, enum msg_level level, const char *who, const char *why, int64_t now_ns)
{
	snprintf(s->who, sizeof(s->who), "%s", who);
	snprintf(s->why, sizeof(s->why), "%s", why);
	s->under_way = true;
	s->until_ns = now_ns + ESTOP_RAISE_WITHIN_NS;
	estop_raise_begin(&s->raise, level, s->who, s->why);
}

/* A second press joins the stop under way, which repeats its raise until it is shown. */
void web_action_stop_begin(struct web_actions *acts, enum msg_level level, uint64_t client, const char *who,
			   int64_t now_ns)
{
	struct web_action_stop *s = &acts->stops[level == MSG_LEVEL_ESTOP];

	if (!s->under_way)
		begin(s, level, who, "stop button of the page", now_ns);
	if (s->waiters_n < WEB_ACTION_WAITERS)
		s->waiters[s->waiters_n++] = client;
	else
		acts->done(acts->to, client, false, "a stop is under way, and too many wait for it already");
}

void web_action_stop_arming(struct web_actions *acts, struct web_action *a, const char *why, int64_t now_ns)
{
	struct web_action_stop *s = &acts->stops[1];
	char who[MSG_NAME_SIZE];

	snprintf(who, sizeof(who), "%s", a->who);
	web_action_finish(acts, a, false, "not armed, and level estop is being raised: %s", why);
	if (!s->under_way)
		begin(s, MSG_LEVEL_ESTOP, who, "achstart has not answered an arm request of the page", now_ns);
}

int64_t web_action_stop_step(struct web_actions *acts, int64_t now_ns)
{
	int64_t next_ns = CLOCK_NEVER;

	for (size_t i = 0; i < 2; i++) {
		struct web_action_stop *s = &acts->stops[i];
		bool done;

		if (!s->under_way)
			continue;
		done = estop_raise_step(&s->raise, clock_now_ns());
		if (done || estop_raise_is_hopeless(&s->raise) || now_ns >= s->until_ns)
			report(acts, s, done);
		else
			next_ns = now_ns + ESTOP_RAISE_EVERY_NS;
	}
	return next_ns;
}

void web_action_stop_close(struct web_actions *acts)
{
	for (size_t i = 0; i < 2; i++)
		if (acts->stops[i].under_way)
			estop_raise_end(&acts->stops[i].raise);
}
