/* msg_parse.c: messages from text and from JSON. */
#include "channels/msg/msg_lists.h"
#include "config/settings/yaml.h"

#define LINE_SIZE 8192
#define PATH_SIZE 96

struct reading {
	const struct msg_type *type;
	uint8_t *msg;
	char *error;
	size_t error_size;
	uint8_t given[MSG_SIZE_MAX]; /* not 0 where in msg an element begins that the text gave; see msg_lists.h */
};

#define fail(r, ...) text_refuse((r)->error, (r)->error_size, __VA_ARGS__)

static void begin(struct reading *r, const struct msg_type *type, void *msg, char *error, size_t error_size)
{
	*r = (struct reading){ .type = type, .msg = msg, .error = error, .error_size = error_size };
	msg_init(msg, type);
}

static int refuse(const struct reading *r, const char *path, const char *given, const struct msg_field *f)
{
	char allowed[512];

	msg_element_allowed(allowed, sizeof(allowed), f);
	return fail(r, "%s: \"%s\" is not %s", path, given, allowed);
}

/* An element from its text. */
static int take(struct reading *r, const char *path, const struct msg_field *f, size_t offset, const char *text)
{
	if (r->given[offset] & MSG_GIVEN_VALUE)
		return fail(r, "%s: said twice", path);
	if (msg_element_parse(f, r->msg + offset, text))
		return refuse(r, path, text, f);
	r->given[offset] |= MSG_GIVEN_VALUE;
	return 0;
}

/* Text of another version names its own; the fields may mean something else there. */
static int finish(struct reading *r)
{
	size_t size = r->type->body->size;
	enum msg_refusal why = msg_check(r->msg, size, r->type, NULL);

	if (why == MSG_FINE)
		return msg_lists_finish(r->type, r->msg, r->given, r->error, r->error_size);
	msg_refusal_text(r->error, r->error_size, why, r->msg, size, r->type);
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

static int text_line(struct reading *r, char *line)
{
	char *equals = strchr(line, '='), *rest, *value;
	struct msg_place place;
	size_t n = 0, len;

	line += strspn(line, " \t");
	if (!equals)
		return fail(r, "\"%.60s\" is not field = value", line);
	*equals = '\0';
	len = strlen(line);
	while (len && (line[len - 1] == ' ' || line[len - 1] == '\t'))
		line[--len] = '\0';
	if (msg_find(r->type, line, &place, r->error, r->error_size))
		return -1;
	rest = equals + 1;
	len = strlen(rest);
	if (*place.field->unit && len > strlen(place.field->unit)) {
		char *unit = rest + len - strlen(place.field->unit);

		if (unit[-1] == ' ' && !strcmp(unit, place.field->unit) && strcmp(unit, "1"))
			unit[-1] = '\0';
	}
	for (; (value = next_value(&rest)); n++) {
		if (n >= place.elements)
			return fail(r, "%s: more than %zu values", line, place.elements);
		if (take(r, line, place.field, place.offset + n * place.field->size, value))
			return -1;
	}
	if (!rest)
		return fail(r, "%s: the quotes do not end", line);
	if (!n && !place.field->count && place.field->kind != MSG_name && place.field->kind != MSG_text)
		return refuse(r, line, "", place.field);
	return 0;
}

int msg_from_text(const struct msg_type *type, void *msg, const char *text, char *error, size_t error_size)
{
	struct reading r;
	char line[LINE_SIZE];

	begin(&r, type, msg, error, error_size);
	while (*text) {
		size_t len = strcspn(text, "\n");

		if (len >= sizeof(line))
			return text_refuse(error, error_size, "a line is longer than %d bytes", LINE_SIZE - 1);
		memcpy(line, text, len);
		line[len] = '\0';
		if (line[strspn(line, " \t")] && text_line(&r, line))
			return -1;
		text += len + (text[len] == '\n');
	}
	return finish(&r);
}

/* ---- JSON ---- */

static int json_group(struct reading *r, const struct yaml_node *map, const char *prefix);

static int json_element(struct reading *r, const struct yaml_node *node, const char *path, const struct msg_field *f,
			size_t offset)
{
	char inner[PATH_SIZE];

	if (f->kind == MSG_group) {
		if (node->kind != YAML_MAP)
			return fail(r, "%s: is an object of fields", path);
		r->given[offset] |= MSG_GIVEN_GROUP;
		snprintf(inner, sizeof(inner), "%s.", path);
		return json_group(r, node, inner);
	}
	if (node->kind != YAML_TEXT)
		return refuse(r, path, yaml_kind_name(node), f);
	return take(r, path, f, offset, f->kind == MSG_f64 && yaml_is_null(node) ? "nan" : node->text);
}

static int json_field(struct reading *r, const struct yaml_node *node, const char *path)
{
	struct msg_place place;
	char element[PATH_SIZE + 24];
	size_t n = 0;

	if (msg_find(r->type, path, &place, r->error, r->error_size))
		return -1;
	if (!place.field->count || path[strlen(path) - 1] == ']')
		return json_element(r, node, path, place.field, place.offset);
	if (node->kind != YAML_LIST || node->count > place.elements)
		return fail(r, "%s: is a list of at most %zu", path, place.elements);
	for (const struct yaml_node *item = node->first; item; item = item->next) {
		snprintf(element, sizeof(element), "%s[%zu]", path, n);
		if (json_element(r, item, element, place.field, place.offset + n * place.field->size))
			return -1;
		n++;
	}
	return 0;
}

static int json_group(struct reading *r, const struct yaml_node *map, const char *prefix)
{
	char path[PATH_SIZE];

	for (const struct yaml_node *node = map->first; node; node = node->next) {
		if (!*prefix && !strcmp(node->key, "type"))
			continue; /* the caller chose it */
		if ((size_t)snprintf(path, sizeof(path), "%s%s", prefix, node->key) >= sizeof(path))
			return fail(r, "%s%.40s…: no field has such a name", prefix, node->key);
		if (json_field(r, node, path))
			return -1;
	}
	return 0;
}

int msg_from_node(const struct msg_type *type, void *msg, const struct yaml_node *root, char *error, size_t error_size)
{
	const struct yaml_node *said = yaml_find(root, "type");
	struct reading r;

	begin(&r, type, msg, error, error_size);
	if (!root || root->kind != YAML_MAP)
		return text_refuse(error, error_size, "expected an object: {\"field\": value, ...}");
	if (said && said->kind != YAML_TEXT)
		return text_refuse(error, error_size, "type: is the name of a type, such as %s", type->name);
	if (said && strcmp(said->text, type->name))
		return text_refuse(error, error_size, "is a message of type %.40s; expected %s", said->text,
				   type->name);
	return json_group(&r, root, "") ? -1 : finish(&r);
}
