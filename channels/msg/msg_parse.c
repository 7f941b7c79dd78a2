/* msg_parse.c: messages from text and from JSON. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "channels/msg/msg.h"
#include "config/yaml.h"

#define LINE_SIZE 8192
#define PATH_SIZE 96

struct problem {
	char *text;
	size_t size;
};

static int refuse(const struct problem *p, const char *path, const char *given, const struct msg_field *f)
{
	char allowed[512];

	msg_element_allowed(allowed, sizeof(allowed), f);
	snprintf(p->text, p->size, "%s: \"%s\" is not %s", path, given, allowed);
	return -1;
}

/* An array given as n elements says how many count. */
static void set_used(void *msg, const struct msg_place *place, size_t n)
{
	uint32_t count = (uint32_t)n;

	if (place->used != MSG_ALL)
		memcpy((uint8_t *)msg + place->used, &count, sizeof(count));
}

/* Text of another version names its own; the fields may mean something else there. */
static int check_header(const struct msg_type *type, const void *msg, const struct problem *p)
{
	enum msg_refusal why = msg_check(msg, type->body->size, type, NULL);

	if (why == MSG_FINE)
		return 0;
	msg_refusal_text(p->text, p->size, why, msg, type->body->size, type);
	return -1;
}

/* ---- text: path = value value unit ---- */

/* A character below U+10000 as UTF-8; behind it. */
static char *utf8_put(char *to, unsigned long c)
{
	if (c < 0x80) {
		*to++ = (char)c;
		return to;
	}
	if (c < 0x800) {
		*to++ = (char)(0xc0 | c >> 6);
	} else {
		*to++ = (char)(0xe0 | c >> 12);
		*to++ = (char)(0x80 | (c >> 6 & 0x3f));
	}
	*to++ = (char)(0x80 | (c & 0x3f));
	return to;
}

/* Takes the quotes and escapes out of what begins with a quote, in place; what follows, or NULL: no end. */
static char *unquote(char *quote)
{
	char *to = quote, *from = quote + 1;

	for (; *from && *from != '"'; from++) {
		if (*from == '\\' && from[1] == 'u' && strspn(from + 2, "0123456789abcdefABCDEF") >= 4) {
			char digits[5] = { from[2], from[3], from[4], from[5], 0 };

			to = utf8_put(to, strtoul(digits, NULL, 16));
			from += 5;
		} else {
			from += *from == '\\' && from[1];
			*to++ = *from;
		}
	}
	if (!*from)
		return NULL;
	*to = '\0';
	return from + 1;
}

/* The next word, or what stands in quotes; NULL at the end, with *rest NULL if the quotes have none. */
static char *next_value(char **rest)
{
	char *value = *rest + strspn(*rest, " \t"), *end;

	if (!*value)
		return NULL;
	if (*value == '"') {
		*rest = unquote(value);
		return *rest ? value : NULL;
	}
	end = value + strcspn(value, " \t");
	*rest = *end ? end + 1 : end;
	*end = '\0';
	return value;
}

static int text_line(const struct msg_type *type, void *msg, char *line, const struct problem *p)
{
	char *equals = strchr(line, '='), *rest, *value;
	struct msg_place place;
	size_t n = 0, len;

	line += strspn(line, " \t");
	if (!equals) {
		snprintf(p->text, p->size, "\"%.60s\" is not field = value", line);
		return -1;
	}
	*equals = '\0';
	len = strlen(line);
	while (len && (line[len - 1] == ' ' || line[len - 1] == '\t'))
		line[--len] = '\0';
	if (msg_find(type, line, &place, p->text, p->size))
		return -1;
	rest = equals + 1;
	len = strlen(rest);
	if (*place.field->unit && len > strlen(place.field->unit)) {
		char *unit = rest + len - strlen(place.field->unit);

		if (unit[-1] == ' ' && !strcmp(unit, place.field->unit) && strcmp(unit, "1"))
			unit[-1] = '\0';
	}
	for (; (value = next_value(&rest)); n++) {
		uint8_t *at = (uint8_t *)msg + place.offset + n * place.field->size;

		if (n >= place.elements) {
			snprintf(p->text, p->size, "%s: more than %zu values", line, place.elements);
			return -1;
		}
		if (msg_element_parse(place.field, at, value))
			return refuse(p, line, value, place.field);
	}
	if (!rest) {
		snprintf(p->text, p->size, "%s: the quotes do not end", line);
		return -1;
	}
	if (!n && !place.field->count && place.field->kind != MSG_name && place.field->kind != MSG_text)
		return refuse(p, line, "", place.field);
	set_used(msg, &place, n);
	return 0;
}

int msg_from_text(const struct msg_type *type, void *msg, const char *text, char *error, size_t error_size)
{
	struct problem p = { error, error_size };
	char line[LINE_SIZE];

	msg_init(msg, type);
	while (*text) {
		size_t len = strcspn(text, "\n");

		if (len >= sizeof(line)) {
			snprintf(error, error_size, "a line is longer than %d bytes", LINE_SIZE - 1);
			return -1;
		}
		memcpy(line, text, len);
		line[len] = '\0';
		if (line[strspn(line, " \t")] && text_line(type, msg, line, &p))
			return -1;
		text += len + (text[len] == '\n');
	}
	return check_header(type, msg, &p);
}

/* ---- JSON ---- */

static int json_group(const struct msg_type *type, void *msg, const struct yaml_node *map, const char *prefix,
		      const struct problem *p);

static int json_element(const struct msg_type *type, void *msg, const struct yaml_node *node, const char *path,
			const struct msg_field *f, size_t offset, const struct problem *p)
{
	static const double nan_value = NAN;
	char inner[PATH_SIZE];

	if (f->kind == MSG_group) {
		if (node->kind != YAML_MAP) {
			snprintf(p->text, p->size, "%s: is an object of fields", path);
			return -1;
		}
		snprintf(inner, sizeof(inner), "%s.", path);
		return json_group(type, msg, node, inner, p);
	}
	if (node->kind != YAML_TEXT)
		return refuse(p, path, yaml_kind_name(node), f);
	if (f->kind == MSG_f64 && yaml_is_null(node)) {
		memcpy((uint8_t *)msg + offset, &nan_value, sizeof(nan_value));
		return 0;
	}
	if (msg_element_parse(f, (uint8_t *)msg + offset, node->text))
		return refuse(p, path, node->text, f);
	return 0;
}

static int json_field(const struct msg_type *type, void *msg, const struct yaml_node *node, const char *path,
		      const struct problem *p)
{
	struct msg_place place;
	char element[PATH_SIZE + 24];
	size_t n = 0;

	if (msg_find(type, path, &place, p->text, p->size))
		return -1;
	if (!place.field->count)
		return json_element(type, msg, node, path, place.field, place.offset, p);
	if (node->kind != YAML_LIST || node->count > place.elements) {
		snprintf(p->text, p->size, "%s: is a list of at most %zu", path, place.elements);
		return -1;
	}
	for (const struct yaml_node *item = node->first; item; item = item->next) {
		snprintf(element, sizeof(element), "%s[%zu]", path, n);
		if (json_element(type, msg, item, element, place.field, place.offset + n * place.field->size, p))
			return -1;
		n++;
	}
	set_used(msg, &place, n);
	return 0;
}

static int json_group(const struct msg_type *type, void *msg, const struct yaml_node *map, const char *prefix,
		      const struct problem *p)
{
	char path[PATH_SIZE];

	for (const struct yaml_node *node = map->first; node; node = node->next) {
		if (!*prefix && !strcmp(node->key, "type"))
			continue; /* the caller chose it */
		if ((size_t)snprintf(path, sizeof(path), "%s%s", prefix, node->key) >= sizeof(path)) {
			snprintf(p->text, p->size, "%s%.40s…: no field has such a name", prefix, node->key);
			return -1;
		}
		if (json_field(type, msg, node, path, p))
			return -1;
	}
	return 0;
}

static void keep_first(void *to, const char *line)
{
	struct problem *p = to;

	if (!*p->text)
		snprintf(p->text, p->size, "%s", line);
}

int msg_from_json(const struct msg_type *type, void *msg, const char *json, char *error, size_t error_size)
{
	struct problem p = { error, error_size };
	struct error_sink errors = { keep_first, &p, 0 };
	struct yaml *doc;
	int r = -1;

	msg_init(msg, type);
	*error = '\0';
	if (yaml_open_text(&doc, "JSON", json, strlen(json), &errors))
		return -1;
	if (!yaml_root(doc) || yaml_root(doc)->kind != YAML_MAP) {
		snprintf(error, error_size, "expected an object: {\"field\": value, ...}");
	} else {
		const struct yaml_node *said = yaml_find(yaml_root(doc), "type");

		if (said && said->kind == YAML_TEXT && strcmp(said->text, type->name))
			snprintf(error, error_size, "is a message of type %.40s; expected %s", said->text, type->name);
		else
			r = json_group(type, msg, yaml_root(doc), "", &p) ? -1 : check_header(type, msg, &p);
	}
	yaml_close(doc);
	return r;
}
