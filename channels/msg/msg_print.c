/* msg_print.c: prints whole messages, as text and as JSON. */
#include <math.h>

#include "channels/msg/msg.h"

#define PREFIX_SIZE 64
#define ELEMENT_SIZE 256

/* An element; text that fills its field may have been cut inside a character. */
static void element_text(char text[ELEMENT_SIZE], const struct msg_field *f, const uint8_t *at)
{
	size_t len = msg_element_text(text, ELEMENT_SIZE, f, at);

	if ((f->kind == MSG_name || f->kind == MSG_text) && len + 1 >= f->size)
		utf8_mend(text);
}

/* ---- text ---- */

static void text_group(FILE *to, const struct msg_group *group, const uint8_t *base, const char *prefix);

static void text_field(FILE *to, const struct msg_group *group, const struct msg_field *f, const uint8_t *base,
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
			text_group(to, f->group, at + i * f->size, inner);
		}
		return;
	}
	fprintf(to, "%s%s =", prefix, f->name);
	for (size_t i = 0; i < n; i++) {
		element_text(text, f, at + i * f->size);
		fputc(' ', to);
		if (f->kind == MSG_name || f->kind == MSG_text)
			text_json(to, text);
		else
			fputs(text, to);
	}
	fprintf(to, *f->unit && strcmp(f->unit, "1") ? " %s\n" : "\n", f->unit);
}

static void text_group(FILE *to, const struct msg_group *group, const uint8_t *base, const char *prefix)
{
	const uint8_t *at = base;

	for (const struct msg_field *f = group->fields; f < group->fields + group->n; at += msg_field_size(f), f++)
		if (!msg_is_reserved(f))
			text_field(to, group, f, base, at, prefix);
}

void msg_text(FILE *to, const struct msg_type *type, const void *msg)
{
	text_group(to, type->body, msg, "");
}

/* ---- JSON ---- */

static void json_group(struct json *j, const struct msg_group *group, const uint8_t *base);

static void json_element(struct json *j, const char *name, const struct msg_field *f, const uint8_t *at)
{
	char text[ELEMENT_SIZE];
	double v = 0;

	if (f->kind == MSG_group) {
		json_object(j, name);
		json_group(j, f->group, at);
		json_end(j);
		return;
	}
	element_text(text, f, at);
	if (f->kind == MSG_f64)
		memcpy(&v, at, sizeof(v));
	if (isnan(v))
		json_null(j, name);
	else if (f->kind >= MSG_name || isinf(v))
		json_text(j, name, text);
	else
		json_raw(j, name, text);
}

static void json_group(struct json *j, const struct msg_group *group, const uint8_t *base)
{
	const uint8_t *at = base;

	for (const struct msg_field *f = group->fields; f < group->fields + group->n; at += msg_field_size(f), f++) {
		size_t n = msg_used(group, f, base);

		if (msg_is_reserved(f))
			continue;
		if (f->count)
			json_array(j, f->name);
		for (size_t i = 0; i < n; i++)
			json_element(j, f->count ? NULL : f->name, f, at + i * f->size);
		if (f->count)
			json_end(j);
	}
}

void msg_json(struct json *j, const char *name, const struct msg_type *type, const void *msg)
{
	json_object(j, name);
	json_text(j, "type", type->name);
	json_group(j, type->body, msg);
	json_end(j);
}
