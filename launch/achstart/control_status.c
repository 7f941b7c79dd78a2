/* control_status.c: how the whole robot is, as one line of JSON. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "config/text.h"
#include "launch/achstart/control_status.h"

static void text(FILE *to, const char *key, const char *value)
{
	fprintf(to, ",\"%s\":", key);
	text_json(to, value);
}

static void number(FILE *to, const char *key, double value)
{
	if (isfinite(value))
		fprintf(to, ",\"%s\":%.6g", key, value);
	else
		fprintf(to, ",\"%s\":null", key);
}

static void whole(FILE *to, const char *key, uint64_t value)
{
	fprintf(to, ",\"%s\":%llu", key, (unsigned long long)value);
}

static void yes(FILE *to, const char *key, bool value)
{
	fprintf(to, ",\"%s\":%s", key, value ? "true" : "false");
}

static uint64_t refused(const struct msg_refused *r)
{
	return (uint64_t)r->no_validity + r->past + r->too_far + r->other_type + r->other_version + r->other_size +
	       r->not_finite + r->other_incarnation;
}

static void daemon_json(FILE *to, const struct watch *w, int64_t now_ns)
{
	const bool runs = policy_has_process(&w->policy), there = runs && w->pulse.there;
	const struct msg_common *common = &w->pulse.common;

	fprintf(to, "{\"name\":\"%s\"", w->daemon->name);
	text(to, "state", policy_state_name(w->policy.state));
	yes(to, "ready", w->policy.state == POLICY_READY);
	whole(to, "pid", runs ? (uint64_t)w->child.pid : 0);
	whole(to, "incarnation", watch_incarnation(w));
	number(to, "uptime_s", runs ? (double)(now_ns - w->kept.spawned_ns) / 1e9 : NAN);
	whole(to, "restarts", w->policy.restarts);
	number(to, "late_p99_us", there ? (double)common->late_p99_ns / 1e3 : NAN);
	number(to, "late_max_us", there ? (double)common->late_max_ns / 1e3 : NAN);
	if (there)
		text(to, "life", msg_life_word(common->lifecycle));
	else
		fprintf(to, ",\"life\":null");
	number(to, "age_ms", there ? (double)pulse_age_ns(&w->pulse, now_ns) / 1e6 : NAN);
	number(to, "rate_hz", there ? w->pulse.rate_hz : NAN);
	whole(to, "epoch", there ? common->epoch : 0);
	text(to, "level", there ? msg_level_word(common->level) : "");
	yes(to, "freerun", there && w->pulse.header.flags & MSG_FLAG_FREERUN);
	whole(to, "refs_taken", there ? common->refs_taken : 0);
	whole(to, "refs_refused", there ? refused(&common->refs_refused) : 0);
	whole(to, "ticks", there ? common->ticks : 0);
	whole(to, "skipped", there ? common->skipped : 0);
	yes(to, "adopted", w->policy.adopted);
	yes(to, "wanted", w->daemon->wanted);
	text(to, "status", w->status);
	text(to, "last_end", w->last_end);
	text(to, "why", watch_why(w));
	fputc('}', to);
}

/* Sums of what the drivers on the bus say, the worst state, and the errors of the one that has seen most. */
static void bus_json(FILE *to, const struct supervisor *s, const struct links_one *one)
{
	struct msg_bus sum = { .state = MSG_LINK_ERROR_ACTIVE };
	double load = NAN;
	bool stalled = false, known = false;

	for (size_t i = 0; i < s->n; i++) {
		const struct pulse *p = &s->watches[i].pulse;

		for (size_t b = 0; p->there && b < p->common.bus_count && b < MSG_BUSES; b++) {
			const struct msg_bus *bus = &p->common.bus[b];

			if (strncmp(bus->name, one->bus->name, MSG_NAME_SIZE) != 0)
				continue;
			if (!known || (bus->state != MSG_LINK_ERROR_ACTIVE &&
				       (sum.state == MSG_LINK_ERROR_ACTIVE || bus->state > sum.state)))
				sum.state = bus->state;
			known = true;
			stalled |= bus->stalled_since_ns != 0;
			sum.sent += bus->sent;
			sum.replaced += bus->replaced;
			sum.expired += bus->expired;
			sum.lost += bus->lost;
			sum.stale += bus->stale;
			sum.rx_dropped += bus->rx_dropped;
			if (sum.errors < bus->errors) /* all see the same */
				sum.errors = bus->errors;
		}
		for (size_t b = 0; p->there && p->is_clock && b < p->clock.bus_count && b < MSG_BUSES; b++)
			if (!strncmp(p->clock.bus[b].name, one->bus->name, MSG_NAME_SIZE))
				load = p->clock.bus[b].load;
	}
	fprintf(to, "{\"name\":\"%s\"", one->bus->name);
	text(to, "interface", one->bus->interface);
	text(to, "state", known ? msg_link_word(sum.state) : "unknown");
	number(to, "load", load);
	whole(to, "stale", sum.stale);
	whole(to, "sent", sum.sent);
	whole(to, "replaced", sum.replaced);
	whole(to, "expired", sum.expired);
	whole(to, "lost", sum.lost);
	whole(to, "rx_dropped", sum.rx_dropped);
	whole(to, "errors", sum.errors);
	yes(to, "stalled", stalled);
	whole(to, "resets", one->resets);
	fputc('}', to);
}

static void clock_json(FILE *to, const struct supervisor *s)
{
	for (size_t i = 0; i < s->n; i++) {
		const struct pulse *p = &s->watches[i].pulse;

		if (!p->there || !p->is_clock)
			continue;
		fprintf(to, ",\"clock\":{\"name\":\"%s\"", s->watches[i].daemon->name);
		number(to, "rate_hz", p->rate_hz);
		number(to, "period_us", (double)p->clock.period_ns / 1e3);
		number(to, "late_us", (double)p->clock.late_ns / 1e3);
		whole(to, "cycle", p->clock.cycle);
		fputc('}', to);
		return;
	}
	fprintf(to, ",\"clock\":null");
}

char *control_status(struct supervisor *s, int64_t now_ns)
{
	char who[MSG_NAME_SIZE], why[MSG_TEXT_SIZE];
	const char *comma = "";
	char *json = NULL;
	size_t size;
	FILE *to = open_memstream(&json, &size);

	if (!to)
		return NULL;
	for (size_t i = 0; i < s->n; i++)
		if (s->watches[i].daemon->alive == LAUNCH_ALIVE_STATE)
			pulse_look(&s->watches[i].pulse, now_ns); /* as new as the level */
	estop_look(&s->estop, now_ns);
	snprintf(who, sizeof(who), "%s", s->estop.who);
	snprintf(why, sizeof(why), "%s", s->estop.why);
	terminal_clean(who);
	terminal_clean(why);
	fprintf(to, "{\"ok\":true");
	text(to, "robot", s->launch->name);
	text(to, "level", msg_level_word(s->estop.level));
	whole(to, "epoch", s->estop.epoch);
	text(to, "who", who);
	text(to, "why", why);
	whole(to, "pid", (uint64_t)getpid());
	number(to, "uptime_s", (double)(now_ns - s->begun_ns) / 1e9);
	yes(to, "stopping", s->stop_ns != 0);
	fprintf(to, ",\"daemons\":[");
	for (size_t i = 0; i < s->n; i++, comma = ",") {
		fprintf(to, "%s", comma);
		daemon_json(to, &s->watches[i], now_ns);
	}
	fprintf(to, "],\"buses\":[");
	comma = "";
	for (size_t i = 0; i < s->links.n; i++, comma = ",") {
		fprintf(to, "%s", comma);
		bus_json(to, s, &s->links.one[i]);
	}
	fputc(']', to);
	clock_json(to, s);
	fprintf(to, ",\"channels\":[");
	comma = "";
	for (size_t i = 0; i < s->n; i++) {
		const struct pulse *p = &s->watches[i].pulse;

		if (!p->there)
			continue;
		fprintf(to, "%s{\"name\":\"%s\"", comma, s->watches[i].daemon->channel);
		number(to, "rate_hz", p->rate_hz);
		number(to, "age_ms", (double)pulse_age_ns(p, now_ns) / 1e6);
		fputc('}', to);
		comma = ",";
	}
	fprintf(to, "]}\n");
	fclose(to);
	return json;
}
