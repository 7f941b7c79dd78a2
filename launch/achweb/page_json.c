/* page_json.c: what the page gets, as JSON.
 *
 * A number that is not finite is null, and a whole number beyond 2^53, which a browser would round, is a text.
 */
#include <math.h>

#include "config/settings/options.h"
#include "config/settings/robot.h"
#include "launch/achweb/page_json.h"

#define EXACT ((uint64_t)1 << 53)
#define DIGITS 5

/* ---- fields of messages ---- */

static void write_word(struct json *j, const char *name, const struct msg_field *f, const void *at)
{
	char text[MSG_TEXT_SIZE + 80];

	msg_element_text(text, sizeof(text), f, at);
	utf8_clean(text);
	json_text(j, name, text);
}

static void write_element(struct json *j, const char *name, const struct msg_field *f, const void *at)
{
	const union msg_any value = msg_any(f, at);

	switch (f->kind) {
	case MSG_f64:
		json_digits(j, name, DIGITS, value.f64);
		break;
	case MSG_i32:
		json_int(j, name, value.i32);
		break;
	case MSG_i64: /* an age: ns that count as ms */
		json_digits(j, name, DIGITS, value.i64 == INT64_MAX ? NAN : (double)value.i64);
		break;
	case MSG_u8:
	case MSG_u16:
	case MSG_u32:
	case MSG_u64:
		if (value.u64 < EXACT)
			json_uint(j, name, value.u64);
		else
			json_textf(j, name, "%" PRIu64, value.u64);
		break;
	default:
		write_word(j, name, f, at);
	}
}

static void write_field(struct json *j, const struct msg_group *group, const struct msg_field *f, const void *base,
			size_t offset)
{
	const char *at = (const char *)base + offset;
	const size_t n = msg_used(group, f, base);

	if (!f->count) {
		write_element(j, f->name, f, at);
		return;
	}
	json_array(j, f->name);
	for (size_t i = 0; i < n; i++)
		write_element(j, NULL, f, at + i * f->size);
	json_end(j);
}

/* Members of the object: the fields of a message without its header and common block. */
static void put_fields(struct json *j, const struct msg_type *type, const void *msg)
{
	size_t offset = 0;

	for (size_t i = 0; i < type->body->n; i++) {
		const struct msg_field *f = &type->body->fields[i];

		if (f->kind != MSG_group && strcmp(f->name, "reserved") != 0)
			write_field(j, type->body, f, msg, offset);
		offset += msg_field_size(f);
	}
}

/* ---- the robot ---- */

static void write_latches(struct json *j, uint32_t latches)
{
	static const char *const words[] = { MSG_WORDS_LATCH(MSG_WORD) };

	json_array(j, "latches");
	for (size_t i = 0; i < sizeof(words) / sizeof(*words); i++)
		if (latches & 1u << i)
			json_text(j, NULL, words[i]);
	json_end(j);
}

static void write_device(struct json *j, const struct robot_view_device *d, int64_t now_ns)
{
	struct msg_common common;

	memcpy(&common, d->msg.bytes + sizeof(struct msg_header), sizeof(common));
	json_object(j, NULL);
	json_text(j, "name", d->name);
	json_text(j, "type", d->type->name);
	json_digits(j, "age_ms", DIGITS, (double)(now_ns - d->msg.header.t_publish_ns) / 1e6);
	json_text(j, "life", msg_life_word(common.lifecycle));
	write_latches(j, common.latches);
	json_bool(j, "simulated", d->msg.header.flags & MSG_FLAG_SIMULATED);
	json_object(j, "fields");
	put_fields(j, d->type, d->msg.bytes);
	json_end(j);
	json_end(j);
}

static void write_seen(struct json *j, const struct estop *e)
{
	const struct estop_seen seen = estop_seen(e);

	json_array(j, "seen");
	for (int i = 0; i < ESTOP_CHANNELS; i++) {
		json_textf(j, NULL, "%" PRIu64, seen.id[i]);
		json_textf(j, NULL, "%" PRIu64, seen.seq[i]);
	}
	json_end(j);
}

static void write_ranks(struct json *j, const struct status *s)
{
	json_array(j, "daemon_ranks");
	for (size_t i = 0; i < s->daemons_n; i++)
		json_int(j, NULL, status_daemon_rank(&s->daemons[i]));
	json_end(j);
	json_array(j, "bus_ranks");
	for (size_t i = 0; i < s->buses_n; i++)
		json_int(j, NULL, status_bus_rank(&s->buses[i]));
	json_end(j);
}

static void write_doctor(struct json *j, const struct doctor_report *report)
{
	json_array(j, "doctor");
	for (size_t i = 0; i < report->n; i++) {
		const struct doctor_finding *f = &report->at[i];

		if (f->verdict != DOCTOR_FAIL)
			continue;
		json_object(j, NULL);
		json_text(j, "part", f->part);
		json_text(j, "found", f->found);
		json_text(j, "mend", f->mend);
		json_end(j);
	}
	json_end(j);
}

struct blob *page_json_robot(const struct robot_view *v, int64_t now_ns)
{
	const struct status_daemon *apart = status_other_level(&v->status);
	struct json *j = blob_begin();

	json_text(j, "op", "robot");
	json_bool(j, "supervised", !v->achstart.away);
	json_text(j, "unsupervised_why", v->achstart.away ? v->achstart.why : NULL);
	json_bool(j, "fine", !v->achstart.away && status_is_fine(&v->status));
	json_text(j, "apart", apart ? apart->name : NULL);
	status_write(&v->status, j);
	write_ranks(j, &v->status);
	write_seen(j, &v->estop);
	json_array(j, "devices");
	for (size_t i = 0; i < v->devices_n; i++)
		if (*v->devices[i]->name && msg_is_state(v->devices[i]->type))
			write_device(j, v->devices[i], now_ns);
	json_end(j);
	write_doctor(j, &v->doctor);
	return blob_end();
}

/* ---- events ---- */

static int newest_first(const void *a, const void *b)
{
	const int64_t x = (*(const struct robot_view_event *const *)a)->real_ns;
	const int64_t y = (*(const struct robot_view_event *const *)b)->real_ns;

	return x < y ? 1 : x > y ? -1 : 0;
}

struct blob *page_json_events(const struct robot_view *v)
{
	const size_t n = v->events_n < ROBOT_VIEW_EVENTS ? (size_t)v->events_n : ROBOT_VIEW_EVENTS;
	const struct robot_view_event *sorted[ROBOT_VIEW_EVENTS];
	struct json *j = blob_begin();

	for (size_t i = 0; i < n; i++)
		sorted[i] = &v->events[i];
	if (n)
		qsort(sorted, n, sizeof(*sorted), newest_first);
	json_text(j, "op", "events");
	json_array(j, "list");
	for (size_t i = 0; i < n; i++) {
		const struct msg_event *e = &sorted[i]->msg;

		json_object(j, NULL);
		json_int(j, "t_ms", sorted[i]->real_ns / 1000000);
		json_text(j, "severity", msg_severity_word(e->severity));
		json_uint(j, "repeated", e->repeated);
		json_text(j, "source", e->source);
		json_text(j, "code", e->code);
		json_text(j, "text", e->text);
		json_end(j);
	}
	json_end(j);
	return blob_end();
}

/* ---- what does not change ---- */

static void write_limits(struct json *j, const char *name, const struct robot_limits *l)
{
	json_object(j, name);
	json_array(j, "position");
	json_digits(j, NULL, DIGITS, l->position[0]);
	json_digits(j, NULL, DIGITS, l->position[1]);
	json_end(j);
	json_digits(j, "velocity", DIGITS, l->velocity);
	json_digits(j, "current", DIGITS, l->current);
	json_end(j);
}

static void write_device_limits(struct json *j, const struct robot *robot)
{
	for (size_t d = 0; d < robot->devices_n; d++) {
		const struct robot_device *device = &robot->devices[d];

		json_object(j, device->name);
		write_limits(j, "", &device->limits);
		for (size_t i = 0; i < device->joints_n; i++)
			write_limits(j, device->joints[i].name, &device->joints[i].limits);
		json_end(j);
	}
}

static void write_units(struct json *j)
{
	for (size_t t = 0; t < msg_types_n; t++) {
		const struct msg_group *body = msg_types[t].body;

		if (!msg_is_state(&msg_types[t]))
			continue;
		json_object(j, msg_types[t].name);
		for (size_t i = 0; i < body->n; i++)
			if (*body->fields[i].unit)
				json_text(j, body->fields[i].name, body->fields[i].unit);
		json_end(j);
	}
}

struct blob *page_json_facts(const char *config)
{
	struct robot robot;
	const bool known = *config && !robot_open(&robot, config, &(struct error_sink){ 0 });
	struct json *j = blob_begin();

	json_text(j, "op", "facts");
	json_object(j, "limits");
	if (known) {
		write_device_limits(j, &robot);
		robot_close(&robot);
	}
	json_end(j);
	json_object(j, "units");
	write_units(j);
	json_end(j);
	return blob_end();
}

struct blob *page_json_hello(const struct client *c)
{
	struct json *j = blob_begin();

	json_text(j, "op", "hello");
	json_text(j, "version", OPTIONS_VERSION);
	json_text(j, "who", c->who);
	json_bool(j, "act", c->rights & TOKEN_ACT);
	return blob_end();
}

struct blob *page_json_again(void)
{
	static const char text[] = "{\"op\":\"again\"}";

	return blob_make(text, strlen(text));
}
