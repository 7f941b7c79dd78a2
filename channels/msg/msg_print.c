/* msg_print.c: whole messages as text and as JSON. */
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "channels/msg/msg.h"
#include "channels/msg/msg_out.h"
#include "config/utf8.h"

#define PREFIX_SIZE 64
#define ELEMENT_SIZE 256

static bool silent(const struct msg_field *f)
{
	return !strcmp(f->name, "reserved");
}

static size_t whole_size(const struct msg_field *f)
{
	return (size_t)f->size * (f->count ? f->count : 1u);
}

/* Characters at the front of s that stand for themselves. */
static size_t plain(const char *s)
{
	size_t n = 0;

	while (s[n] >= ' ' && s[n] <= '~' && s[n] != '"' && s[n] != '\\')
		n++;
	return n;
}

/* In quotes, as JSON wants it; the text form does the same.  Bytes that are no UTF-8 become the sign for that. */
static void quoted(struct msg_out *o, const char *s)
{
	char json[UTF8_JSON_MAX];

	msg_out(o, "\"");
	for (size_t left = strlen(s), n; left; s += n, left -= n) {
		n = plain(s);
		if (n) {
			msg_out(o, "%.*s", (int)n, s);
			continue;
		}
		n = utf8_json(json, s, left);
		msg_out(o, "%s", json);
	}
	msg_out(o, "\"");
}

/* An element; text that fills its field may have been cut inside a character. */
static void element_text(char text[ELEMENT_SIZE], const struct msg_field *f, const uint8_t *at)
{
	size_t len = msg_element_text(text, ELEMENT_SIZE, f, at);

	if ((f->kind == MSG_name || f->kind == MSG_text) && len + 1 >= f->size)
		utf8_mend(text);
}

/* ---- text ---- */

static void text_group(struct msg_out *o, const struct msg_group *group, const uint8_t *base, const char *prefix);

static void text_field(struct msg_out *o, const struct msg_group *group, const struct msg_field *f, const uint8_t *base,
		       const uint8_t *at, const char *prefix)
{
	size_t n = msg_used(group, f, base);
	char text[ELEMENT_SIZE];

	if (f->kind == MSG_group) {
		for (size_t i = 0; i < n; i++) {
			char inner[PREFIX_SIZE];

			if (f->count)
				snprintf(inner, sizeof(inner), "%s%s[%zu].", prefix, f->name, i);
			else
				snprintf(inner, sizeof(inner), "%s%s.", prefix, f->name);
			text_group(o, f->group, at + i * f->size, inner);
		}
		return;
	}
	msg_out(o, "%s%s =", prefix, f->name);
	for (size_t i = 0; i < n; i++) {
		element_text(text, f, at + i * f->size);
		msg_out(o, " ");
		if (f->kind == MSG_name || f->kind == MSG_text)
			quoted(o, text);
		else
			msg_out(o, "%s", text);
	}
	msg_out(o, *f->unit && strcmp(f->unit, "1") ? " %s\n" : "\n", f->unit);
}

static void text_group(struct msg_out *o, const struct msg_group *group, const uint8_t *base, const char *prefix)
{
	const uint8_t *at = base;

	for (const struct msg_field *f = group->fields; f < group->fields + group->n; at += whole_size(f), f++)
		if (!silent(f))
			text_field(o, group, f, base, at, prefix);
}

size_t msg_text(char *text, size_t size, const struct msg_type *type, const void *msg)
{
	struct msg_out o = msg_out_to(text, size);

	text_group(&o, type->body, msg, "");
	return o.len;
}

/* ---- JSON ---- */

static void json_group(struct msg_out *o, const struct msg_group *group, const uint8_t *base, const char *before);

static void json_element(struct msg_out *o, const struct msg_field *f, const uint8_t *at)
{
	char text[ELEMENT_SIZE];
	double v;

	if (f->kind == MSG_group) {
		msg_out(o, "{");
		json_group(o, f->group, at, "");
		msg_out(o, "}");
		return;
	}
	element_text(text, f, at);
	switch (f->kind) {
	case MSG_name:
	case MSG_text:
	case MSG_word:
	case MSG_flags:
		quoted(o, text);
		break;
	case MSG_f64:
		memcpy(&v, at, sizeof(v));
		msg_out(o, isnan(v) ? "null" : isinf(v) ? "\"%s\"" : "%s", text);
		break;
	default:
		msg_out(o, "%s", text);
	}
}

static void json_group(struct msg_out *o, const struct msg_group *group, const uint8_t *base, const char *before)
{
	const uint8_t *at = base;

	for (const struct msg_field *f = group->fields; f < group->fields + group->n; at += whole_size(f), f++) {
		size_t n = msg_used(group, f, base);

		if (silent(f))
			continue;
		msg_out(o, "%s\"%s\":%s", before, f->name, f->count ? "[" : "");
		for (size_t i = 0; i < n; i++) {
			msg_out(o, i ? "," : "");
			json_element(o, f, at + i * f->size);
		}
		msg_out(o, f->count ? "]" : "");
		before = ",";
	}
}

size_t msg_json(char *text, size_t size, const struct msg_type *type, const void *msg)
{
	struct msg_out o = msg_out_to(text, size);

	msg_out(&o, "{\"type\":\"%s\"", type->name);
	json_group(&o, type->body, msg, ",");
	msg_out(&o, "}");
	return o.len;
}
