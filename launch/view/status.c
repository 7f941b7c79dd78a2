/* status.c: how a robot is: its fields, read from JSON, written as JSON, and filled from messages. */
#include <math.h>

#include "channels/msg/ref.h"
#include "launch/view/status.h"

#define FIELD(k, what, s, m, ...)                                                                               \
	{                                                                                                       \
		.key = k, .kind = what, .offset = offsetof(struct s, m), .size = sizeof(((struct s *)NULL)->m), \
		__VA_ARGS__                                                                                     \
	}
#define TEXT(s, m, ...) FIELD(#m, STATUS_TEXT, s, m, __VA_ARGS__)
#define WORD(s, m, ...) FIELD(#m, STATUS_WORD, s, m, __VA_ARGS__)
#define WHOLE(s, m, ...) FIELD(#m, STATUS_WHOLE, s, m, __VA_ARGS__)
#define REAL(s, m, ...) FIELD(#m, STATUS_REAL, s, m, __VA_ARGS__)
#define BOOL(s, m) FIELD(#m, STATUS_BOOL, s, m, )

static const struct status_field robot_fields[] = {
	TEXT(status, robot),
	WORD(status, config),
	WORD(status, level),
	WHOLE(status, epoch),
	TEXT(status, who),
	TEXT(status, why),
	WHOLE(status, pid),
	REAL(status, uptime_s),
	REAL(status, pace),
	REAL(status, behind_s),
	WORD(status, clock_still),
	BOOL(status, stopping),
	{ 0 },
};

/* In the order of the JSON. */
const struct status_field status_daemon_fields[] = {
	TEXT(status_daemon, name, .title = "DAEMON", .column = 0),
	WORD(status_daemon, state, .title = "STATE", .column = 1),
	BOOL(status_daemon, ready),
	WHOLE(status_daemon, pid, .title = "PID", .column = 9, .weight = 2),
	WHOLE(status_daemon, spare),
	WHOLE(status_daemon, incarnation, .title = "INC", .column = 3, .weight = 5),
	REAL(status_daemon, uptime_s, .title = "UP", .column = 4, .weight = 8, .unit = STATUS_S),
	WHOLE(status_daemon, restarts, .title = "RESTARTS", .column = 5, .weight = 7, .unit = STATUS_COUNT,
	      .alarm = true),
	REAL(status_daemon, late_p99_us, .title = "LATE", .column = 8, .weight = 6, .unit = STATUS_US),
	REAL(status_daemon, late_max_us),
	WORD(status_daemon, life, .title = "LIFE", .column = 2, .weight = 9),
	REAL(status_daemon, age_ms, .title = "AGE", .column = 7, .weight = 3, .unit = STATUS_MS),
	REAL(status_daemon, rate_hz, .title = "RATE", .column = 6, .weight = 4, .unit = STATUS_HZ),
	WHOLE(status_daemon, epoch),
	TEXT(status_daemon, level),
	BOOL(status_daemon, freerun),
	WHOLE(status_daemon, refs_taken),
	WHOLE(status_daemon, refs_refused),
	TEXT(status_daemon, refusal),
	WHOLE(status_daemon, ticks),
	WHOLE(status_daemon, skipped),
	BOOL(status_daemon, adopted),
	BOOL(status_daemon, wanted),
	TEXT(status_daemon, status),
	TEXT(status_daemon, last_end),
	TEXT(status_daemon, why),
	{ 0 },
};

const struct status_field status_bus_fields[] = {
	TEXT(status_bus, name, .title = "BUS", .column = 0),
	TEXT(status_bus, interface, .title = "INTERFACE", .column = 1, .weight = 2),
	WORD(status_bus, state, .title = "STATE", .column = 2),
	REAL(status_bus, load, .title = "LOAD", .column = 3, .weight = 9, .unit = STATUS_SHARE),
	WHOLE(status_bus, stale, .title = "STALE", .column = 4, .weight = 8, .unit = STATUS_COUNT, .alarm = true),
	WHOLE(status_bus, sent),
	WHOLE(status_bus, replaced, .title = "REPLACED", .column = 6, .weight = 5, .unit = STATUS_COUNT),
	WHOLE(status_bus, expired, .title = "EXPIRED", .column = 7, .weight = 6, .unit = STATUS_COUNT, .alarm = true),
	WHOLE(status_bus, lost, .title = "LOST", .column = 8, .weight = 3, .unit = STATUS_COUNT, .alarm = true),
	WHOLE(status_bus, rx_dropped),
	WHOLE(status_bus, errors, .title = "ERRORS", .column = 5, .weight = 7, .unit = STATUS_COUNT, .alarm = true),
	BOOL(status_bus, stalled),
	WHOLE(status_bus, resets, .title = "RESETS", .column = 9, .weight = 1, .unit = STATUS_COUNT),
	{ 0 },
};

static const struct status_field clock_fields[] = {
	TEXT(status_clock, name),    REAL(status_clock, rate_hz), REAL(status_clock, period_us),
	REAL(status_clock, late_us), WHOLE(status_clock, cycle),  { 0 },
};

static const struct status_field channel_fields[] = {
	TEXT(status_channel, name),
	REAL(status_channel, rate_hz),
	REAL(status_channel, age_ms),
	{ 0 },
};

/* ---- reading ---- */

static void read_fields(const struct status_field *f, void *base, const struct yaml_node *map)
{
	for (; f->key; f++) {
		const struct yaml_node *node = yaml_find(map, f->key);
		void *at = (char *)base + f->offset;

		if (f->kind == STATUS_REAL)
			*(double *)at = NAN;
		if (!node || node->kind != YAML_TEXT || yaml_is_null(node))
			continue;
		switch (f->kind) {
		case STATUS_TEXT:
		case STATUS_WORD:
			snprintf(at, f->size, "%s", node->text);
			utf8_clean(at); /* a terminal would obey control characters */
			break;
		case STATUS_WHOLE:
			yaml_int(node, at);
			break;
		case STATUS_REAL:
			yaml_real(node, at);
			break;
		case STATUS_BOOL:
			yaml_bool(node, at);
			break;
		}
	}
}

void status_read(struct status *s, const struct yaml_node *answer)
{
	const struct yaml_node *node;

	memset(s, 0, sizeof(*s));
	s->supervised = true;
	read_fields(robot_fields, s, answer);
	read_fields(clock_fields, &s->clock, yaml_find(answer, "clock"));
	if (yaml_first(yaml_find(answer, "clock")) && !*s->clock.name)
		STATUS_COPY(s->clock.name, "clock");
	for (node = yaml_first(yaml_find(answer, "daemons")); node && s->daemons_n < STATUS_DAEMONS_MAX;
	     node = node->next) {
		struct status_daemon *d = &s->daemons[s->daemons_n++];

		d->wanted = true;
		d->phase_us = NAN;
		read_fields(status_daemon_fields, d, node);
	}
	for (node = yaml_first(yaml_find(answer, "buses")); node && s->buses_n < STATUS_BUSES_MAX; node = node->next)
		read_fields(status_bus_fields, &s->buses[s->buses_n++], node);
}

/* ---- writing ---- */

static void write_fields(const struct status_field *f, const void *base, struct json *j)
{
	for (; f->key; f++) {
		const void *at = (const char *)base + f->offset;

		switch (f->kind) {
		case STATUS_TEXT:
			json_text(j, f->key, at);
			break;
		case STATUS_WORD:
			json_text(j, f->key, *(const char *)at ? at : NULL);
			break;
		case STATUS_WHOLE:
			json_int(j, f->key, *(const int64_t *)at);
			break;
		case STATUS_REAL:
			json_digits(j, f->key, 6, *(const double *)at);
			break;
		case STATUS_BOOL:
			json_bool(j, f->key, *(const bool *)at);
			break;
		}
	}
}

static void write_object(const struct status_field *fields, const char *name, const void *base, struct json *j)
{
	json_object(j, name);
	write_fields(fields, base, j);
	json_end(j);
}

void status_write(const struct status *s, struct json *j)
{
	write_fields(robot_fields, s, j);
	json_array(j, "daemons");
	for (size_t i = 0; i < s->daemons_n; i++)
		write_object(status_daemon_fields, NULL, &s->daemons[i], j);
	json_end(j);
	json_array(j, "buses");
	for (size_t i = 0; i < s->buses_n; i++)
		write_object(status_bus_fields, NULL, &s->buses[i], j);
	json_end(j);
	if (*s->clock.name)
		write_object(clock_fields, "clock", &s->clock, j);
	else
		json_null(j, "clock");
	if (!s->supervised)
		return;
	json_array(j, "channels");
	for (size_t i = 0; i < s->channels_n; i++)
		write_object(channel_fields, NULL, &s->channels[i], j);
	json_end(j);
}

/* ---- filled from messages ---- */

struct status_daemon *status_add_daemon(struct status *s, const char *name)
{
	struct status_daemon *d = status_find_daemon(s, name);

	if (d || s->daemons_n == STATUS_DAEMONS_MAX)
		return d;
	d = &s->daemons[s->daemons_n++];
	*d = (struct status_daemon){ .wanted = true };
	d->uptime_s = d->late_p99_us = d->late_max_us = d->age_ms = d->rate_hz = d->phase_us = NAN;
	STATUS_COPY(d->name, name);
	return d;
}

void status_take_state(struct status_daemon *d, const struct msg_header *header, const struct msg_common *c)
{
	STATUS_COPY(d->life, msg_life_word(c->lifecycle));
	STATUS_COPY(d->level, msg_level_word(c->level));
	d->epoch = (int64_t)c->epoch;
	d->late_p99_us = (double)c->late_p99_ns / 1e3;
	d->late_max_us = (double)c->late_max_ns / 1e3;
	d->freerun = header->flags & MSG_FLAG_FREERUN;
	d->refs_taken = (int64_t)c->refs_taken;
	d->refs_refused = (int64_t)ref_refused(&c->refs_refused);
	d->ticks = (int64_t)c->ticks;
	d->skipped = (int64_t)c->skipped;
}

void status_take_bus(struct status_bus *bus, const struct msg_bus *msg)
{
	if (!*bus->state ||
	    (msg->state != MSG_LINK_ERROR_ACTIVE && (bus->link == MSG_LINK_ERROR_ACTIVE || msg->state > bus->link))) {
		bus->link = msg->state;
		STATUS_COPY(bus->state, msg_link_word(msg->state));
	}
	bus->stale += (int64_t)msg->stale;
	bus->sent += (int64_t)msg->sent;
	bus->replaced += (int64_t)msg->replaced;
	bus->expired += (int64_t)msg->expired;
	bus->lost += (int64_t)msg->lost;
	bus->rx_dropped += (int64_t)msg->rx_dropped;
	if (bus->errors < (int64_t)msg->errors) /* all drivers on a bus see the same errors */
		bus->errors = (int64_t)msg->errors;
	bus->stalled |= msg->stalled_since_ns != 0;
}

void status_take_clock(struct status *s, const char *name, const struct msg_clock *c)
{
	STATUS_COPY(s->clock.name, name);
	s->clock.period_us = (double)c->period_ns / 1e3;
	s->clock.late_us = (double)c->late_ns / 1e3;
	s->clock.cycle = (int64_t)c->cycle;
	for (size_t i = 0; i < c->bus_count && i < MSG_BUSES; i++)
		for (size_t j = 0; j < s->buses_n; j++)
			if (!strncmp(s->buses[j].name, c->bus[i].name, MSG_NAME_SIZE))
				s->buses[j].load = c->bus[i].load;
}

/* ---- what is wrong ---- */

struct status_daemon *status_find_daemon(struct status *v, const char *name)
{
	for (size_t i = 0; i < v->daemons_n; i++)
		if (!strcmp(v->daemons[i].name, name))
			return &v->daemons[i];
	return NULL;
}

const struct status_daemon *status_other_level(const struct status *v)
{
	for (size_t i = 0; i < v->daemons_n; i++)
		if (v->daemons[i].ready && *v->daemons[i].level && *v->level &&
		    strcmp(v->daemons[i].level, v->level) != 0)
			return &v->daemons[i];
	return NULL;
}

bool status_daemon_is_fine(const struct status_daemon *d)
{
	return d->ready || !strcmp(d->state, "done");
}

/* Is it one of the words in the list, which has blanks between them? */
static bool is_among(const char *word, const char *list)
{
	const size_t len = strlen(word);

	for (; *list; list += strcspn(list, " "), list += *list == ' ')
		if (strcspn(list, " ") == len && !strncmp(list, word, len))
			return true;
	return false;
}

enum status_rank status_daemon_rank(const struct status_daemon *d)
{
	if (is_among(d->state, "failed backoff killed gone silent") || !strcmp(d->life, "fault"))
		return STATUS_BAD;
	if (d->wanted && (!status_daemon_is_fine(d) || d->freerun))
		return STATUS_ODD;
	return STATUS_FINE;
}

enum status_rank status_bus_rank(const struct status_bus *b)
{
	if (is_among(b->state, "absent stopped bus-off") || b->stalled)
		return STATUS_BAD;
	return is_among(b->state, "warning passive") ? STATUS_ODD : STATUS_FINE;
}

bool status_is_fine(const struct status *v)
{
	if (!v->supervised || v->stopping)
		return false;
	for (size_t i = 0; i < v->daemons_n; i++)
		if (status_daemon_rank(&v->daemons[i]) != STATUS_FINE)
			return false;
	for (size_t i = 0; i < v->buses_n; i++)
		if (status_bus_rank(&v->buses[i]) != STATUS_FINE)
			return false;
	return true;
}
