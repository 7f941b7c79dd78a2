/* view.c: how a robot is, as achstart answers it, and as JSON again.  One table says what there is. */
#include <math.h>
#include <string.h>

#include "launch/achctl/ctl.h"
#include "launch/achctl/view.h"
#include "launch/common/terminal.h"

enum kind { TEXT, WORD /* "" is null */, WHOLE, REAL, YES };

struct field {
	const char *key;
	enum kind kind;
	size_t offset, size;
};

#define FIELD(k, kind, s, m)                                                  \
	{                                                                     \
		k, kind, offsetof(struct s, m), sizeof(((struct s *)NULL)->m) \
	}

static const struct field robot_fields[] = {
	FIELD("robot", TEXT, view, robot),	 FIELD("level", WORD, view, level),
	FIELD("epoch", WHOLE, view, epoch),	 FIELD("who", TEXT, view, who),
	FIELD("why", TEXT, view, why),		 FIELD("pid", WHOLE, view, pid),
	FIELD("uptime_s", REAL, view, uptime_s), FIELD("stopping", YES, view, stopping),
};

static const struct field daemon_fields[] = {
	FIELD("name", TEXT, view_daemon, name),
	FIELD("state", WORD, view_daemon, state),
	FIELD("ready", YES, view_daemon, ready),
	FIELD("pid", WHOLE, view_daemon, pid),
	FIELD("incarnation", WHOLE, view_daemon, incarnation),
	FIELD("uptime_s", REAL, view_daemon, uptime_s),
	FIELD("restarts", WHOLE, view_daemon, restarts),
	FIELD("late_p99_us", REAL, view_daemon, late_p99_us),
	FIELD("late_max_us", REAL, view_daemon, late_max_us),
	FIELD("life", WORD, view_daemon, life),
	FIELD("age_ms", REAL, view_daemon, age_ms),
	FIELD("rate_hz", REAL, view_daemon, rate_hz),
	FIELD("epoch", WHOLE, view_daemon, epoch),
	FIELD("level", WORD, view_daemon, level),
	FIELD("freerun", YES, view_daemon, freerun),
	FIELD("refs_taken", WHOLE, view_daemon, refs_taken),
	FIELD("refs_refused", WHOLE, view_daemon, refs_refused),
	FIELD("ticks", WHOLE, view_daemon, ticks),
	FIELD("skipped", WHOLE, view_daemon, skipped),
	FIELD("adopted", YES, view_daemon, adopted),
	FIELD("wanted", YES, view_daemon, wanted),
	FIELD("status", TEXT, view_daemon, status),
	FIELD("last_end", TEXT, view_daemon, last_end),
	FIELD("why", TEXT, view_daemon, why),
};

static const struct field bus_fields[] = {
	FIELD("name", TEXT, view_bus, name),	      FIELD("interface", TEXT, view_bus, interface),
	FIELD("state", WORD, view_bus, state),	      FIELD("load", REAL, view_bus, load),
	FIELD("stale", WHOLE, view_bus, stale),	      FIELD("sent", WHOLE, view_bus, sent),
	FIELD("replaced", WHOLE, view_bus, replaced), FIELD("expired", WHOLE, view_bus, expired),
	FIELD("lost", WHOLE, view_bus, lost),	      FIELD("rx_dropped", WHOLE, view_bus, rx_dropped),
	FIELD("errors", WHOLE, view_bus, errors),     FIELD("stalled", YES, view_bus, stalled),
	FIELD("resets", WHOLE, view_bus, resets),
};

static const struct field clock_fields[] = {
	FIELD("name", TEXT, view_clock, name),		 FIELD("rate_hz", REAL, view_clock, rate_hz),
	FIELD("period_us", REAL, view_clock, period_us), FIELD("late_us", REAL, view_clock, late_us),
	FIELD("cycle", WHOLE, view_clock, cycle),
};

#define COUNT(fields) (sizeof(fields) / sizeof(*(fields)))

/* ---- reading ---- */

void view_clean(char *text)
{
	terminal_clean(text);
	while ((text = strchr(text, '\t')))
		*text = '?';
}

static void read_field(const struct field *f, void *base, const struct yaml_node *node)
{
	char *at = (char *)base + f->offset;

	if (!node || node->kind != YAML_TEXT || yaml_is_null(node))
		return;
	switch (f->kind) {
	case TEXT:
	case WORD:
		snprintf(at, f->size, "%s", node->text);
		view_clean(at);
		break;
	case WHOLE:
		yaml_int(node, (int64_t *)(void *)at);
		break;
	case REAL:
		yaml_real(node, (double *)(void *)at);
		break;
	case YES:
		yaml_bool(node, (bool *)(void *)at);
		break;
	}
}

static void read_fields(const struct field *fields, size_t n, void *base, const struct yaml_node *map)
{
	for (size_t i = 0; i < n; i++) {
		if (fields[i].kind == REAL)
			*(double *)(void *)((char *)base + fields[i].offset) = NAN;
		read_field(&fields[i], base, yaml_find(map, fields[i].key));
	}
}

void view_read(struct view *v, const struct yaml_node *answer)
{
	const struct yaml_node *node;

	memset(v, 0, sizeof(*v));
	v->supervised = true;
	read_fields(robot_fields, COUNT(robot_fields), v, answer);
	read_fields(clock_fields, COUNT(clock_fields), &v->clock, yaml_find(answer, "clock"));
	if (yaml_first(yaml_find(answer, "clock")) && !*v->clock.name)
		snprintf(v->clock.name, sizeof(v->clock.name), "clock");
	for (node = yaml_first(yaml_find(answer, "daemons")); node && v->daemons_n < VIEW_DAEMONS_MAX;
	     node = node->next) {
		struct view_daemon *d = &v->daemons[v->daemons_n++];

		d->wanted = true;
		d->phase_us = NAN;
		read_fields(daemon_fields, COUNT(daemon_fields), d, node);
	}
	for (node = yaml_first(yaml_find(answer, "buses")); node && v->buses_n < VIEW_BUSES_MAX; node = node->next)
		read_fields(bus_fields, COUNT(bus_fields), &v->buses[v->buses_n++], node);
}

/* ---- writing ---- */

static void write_field(const struct field *f, const void *base, FILE *to)
{
	const char *at = (const char *)base + f->offset;
	const double real = f->kind == REAL ? *(const double *)(const void *)at : 0;

	fprintf(to, "\"%s\":", f->key);
	if ((f->kind == WORD && !*at) || (f->kind == REAL && !isfinite(real)))
		fputs("null", to);
	else if (f->kind == TEXT || f->kind == WORD)
		ctl_json_text(to, at);
	else if (f->kind == WHOLE)
		fprintf(to, "%lld", (long long)*(const int64_t *)(const void *)at);
	else if (f->kind == REAL)
		fprintf(to, "%.6g", real);
	else
		fputs(*(const bool *)(const void *)at ? "true" : "false", to);
}

static void write_fields(const struct field *fields, size_t n, const void *base, FILE *to)
{
	for (size_t i = 0; i < n; i++) {
		if (i)
			fputc(',', to);
		write_field(&fields[i], base, to);
	}
}

void view_json(const struct view *v, FILE *to)
{
	write_fields(robot_fields, COUNT(robot_fields), v, to);
	fputs(",\"daemons\":[", to);
	for (size_t i = 0; i < v->daemons_n; i++) {
		fputs(i ? ",{" : "{", to);
		write_fields(daemon_fields, COUNT(daemon_fields), &v->daemons[i], to);
		fputc('}', to);
	}
	fputs("],\"buses\":[", to);
	for (size_t i = 0; i < v->buses_n; i++) {
		fputs(i ? ",{" : "{", to);
		write_fields(bus_fields, COUNT(bus_fields), &v->buses[i], to);
		fputc('}', to);
	}
	fputs("],\"clock\":", to);
	if (*v->clock.name) {
		fputc('{', to);
		write_fields(clock_fields, COUNT(clock_fields), &v->clock, to);
		fputc('}', to);
	} else {
		fputs("null", to);
	}
}

/* ---- judging ---- */

const struct view_daemon *view_daemon(const struct view *v, const char *name)
{
	for (size_t i = 0; i < v->daemons_n; i++)
		if (!strcmp(v->daemons[i].name, name))
			return &v->daemons[i];
	return NULL;
}

const struct view_daemon *view_apart(const struct view *v)
{
	for (size_t i = 0; i < v->daemons_n; i++)
		if (v->daemons[i].ready && *v->daemons[i].level && *v->level &&
		    strcmp(v->daemons[i].level, v->level) != 0)
			return &v->daemons[i];
	return NULL;
}

bool view_daemon_is_fine(const struct view_daemon *d)
{
	return d->ready || !strcmp(d->state, "done");
}

enum view_rank view_daemon_rank(const struct view_daemon *d)
{
	static const char *const bad[] = { "failed", "backoff", "killed", "gone", "silent" };

	for (size_t i = 0; i < COUNT(bad); i++)
		if (!strcmp(d->state, bad[i]))
			return VIEW_BAD;
	if (!strcmp(d->life, "fault"))
		return VIEW_BAD;
	if (d->wanted && (!view_daemon_is_fine(d) || d->freerun))
		return VIEW_ODD;
	return VIEW_FINE;
}

enum view_rank view_bus_rank(const struct view_bus *b)
{
	static const char *const bad[] = { "absent", "stopped", "bus-off" }, *const odd[] = { "warning", "passive" };

	for (size_t i = 0; i < COUNT(bad); i++)
		if (!strcmp(b->state, bad[i]))
			return VIEW_BAD;
	if (b->stalled)
		return VIEW_BAD;
	for (size_t i = 0; i < COUNT(odd); i++)
		if (!strcmp(b->state, odd[i]))
			return VIEW_ODD;
	return VIEW_FINE;
}

bool view_fine(const struct view *v)
{
	if (!v->supervised || v->stopping)
		return false;
	for (size_t i = 0; i < v->daemons_n; i++)
		if (view_daemon_rank(&v->daemons[i]) != VIEW_FINE)
			return false;
	for (size_t i = 0; i < v->buses_n; i++)
		if (view_bus_rank(&v->buses[i]) != VIEW_FINE)
			return false;
	return true;
}
