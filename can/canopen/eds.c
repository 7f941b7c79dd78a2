/* eds.c: electronic data sheets. */
#include "can/canopen/eds.h"

#include <ctype.h>
#include <strings.h>

#define LINE_MAX_BYTES 256
#define FILE_MAX (4 * 1024 * 1024)

struct reading {
	struct eds *eds;
	struct error_sink *errors;
	const char *name;
	unsigned int line;
	struct eds_object *object; /* of the section; NULL: a section that is skipped */
	size_t room;
	bool failed;
};

static void wrong(struct reading *r, const char *what, const char *text)
{
	char quoted[TEXT_QUOTED_MAX];

	error_add(r->errors, "%s:%u: %s %s", r->name, r->line, text_quote(quoted, text), what);
	r->failed = true;
}

/* ---- sections ---- */

/* Reads at most max hexadecimal digits; NULL: there are none.  Else what follows. */
static const char *hex(const char *text, size_t max, unsigned int *value)
{
	size_t n = strspn(text, "0123456789abcdefABCDEF");

	if (!n || n > max)
		return NULL;
	*value = (unsigned int)strtoul(text, NULL, 16);
	return text + n;
}

/* 6041, or 1018sub1: an object.  Any other section is skipped. */
static bool is_object(const char *section, unsigned int *index, unsigned int *sub)
{
	const char *p = hex(section, 4, index);

	*sub = 0;
	if (!p || p != section + 4)
		return false;
	if (!*p)
		return true;
	if (strncasecmp(p, "sub", 3) != 0)
		return false;
	p = hex(p + 3, 2, sub);
	return p && !*p;
}

static int add_object(struct reading *r, unsigned int index, unsigned int sub)
{
	struct eds *eds = r->eds;

	if (!grow(&eds->objects, &r->room, eds->n + 1, sizeof(*eds->objects)))
		return -ENOMEM;
	r->object = &eds->objects[eds->n++];
	*r->object = (struct eds_object){ .index = (uint16_t)index, .sub = (uint8_t)sub };
	return 0;
}

static int read_section(struct reading *r, char *section)
{
	char *end = strchr(section, ']');
	unsigned int index, sub;

	r->object = NULL;
	if (!end) {
		wrong(r, "has no ]", section);
		return 0;
	}
	*end = '\0';
	return is_object(section, &index, &sub) ? add_object(r, index, sub) : 0;
}

/* ---- keys ---- */

static void read_key(struct reading *r, char *key)
{
	char *value = strchr(key, '=');
	int64_t number;

	if (!value) {
		wrong(r, "is neither a section nor key=value", key);
		return;
	}
	if (!r->object)
		return;
	*value++ = '\0';
	if (!strcasecmp(key, "ParameterName"))
		snprintf(r->object->name, sizeof(r->object->name), "%s", value);
	else if (!strcasecmp(key, "AccessType"))
		snprintf(r->object->access, sizeof(r->object->access), "%s", value);
	else if (!strcasecmp(key, "DataType") && *value) {
		if (text_int(value, &number) || number < 0 || number > 0xFFFF)
			wrong(r, "is not a DataType; write a number such as 0x0007", value);
		else
			r->object->type = (uint16_t)number;
	}
}

static char *trim(char *text)
{
	size_t len;

	text += strspn(text, " \t");
	for (len = strlen(text); len && isspace((unsigned char)text[len - 1]);)
		text[--len] = '\0';
	return text;
}

static int read_line(struct reading *r, const char *from, size_t len)
{
	char copy[LINE_MAX_BYTES], *line;

	r->line++;
	/* Only comments and names are as long as that. */
	snprintf(copy, sizeof(copy), "%.*s", (int)(len < sizeof(copy) ? len : sizeof(copy) - 1), from);
	line = trim(copy);
	if (!*line || *line == ';')
		return 0;
	if (*line == '[')
		return read_section(r, line + 1);
	read_key(r, line);
	return 0;
}

/* ---- the file ---- */

static int compare(const void *a, const void *b)
{
	const struct eds_object *x = a, *y = b;

	return (x->index << 8 | x->sub) - (y->index << 8 | y->sub);
}

static void find_doubles(struct reading *r)
{
	for (size_t i = 1; i < r->eds->n; i++) {
		const struct eds_object *o = &r->eds->objects[i];

		if (compare(o - 1, o))
			continue;
		error_add(r->errors, "%s: object 0x%04X.%02X is there twice", r->name, o->index, o->sub);
		r->failed = true;
	}
}

int eds_parse(struct eds *eds, const char *name, const char *text, size_t len, struct error_sink *errors)
{
	struct reading r = { .eds = eds, .errors = errors, .name = name };
	int status = 0;

	*eds = (struct eds){ 0 };
	for (size_t at = 0; at < len && !status;) {
		const char *end = memchr(text + at, '\n', len - at);
		const size_t n = end ? (size_t)(end - text) - at : len - at;

		status = read_line(&r, text + at, n);
		at += n + 1;
	}
	if (status)
		error_add(errors, "%s: %s", name, strerror(-status));
	if (eds->n)
		qsort(eds->objects, eds->n, sizeof(*eds->objects), compare);
	find_doubles(&r);
	if (!status && !r.failed && !eds->n) {
		error_add(errors, "%s: no object such as [6041]; is it an EDS file?", name);
		r.failed = true;
	}
	if (status || r.failed)
		eds_free(eds);
	return status ? status : r.failed ? -EINVAL : 0;
}

int eds_read(struct eds *eds, const char *path, struct error_sink *errors)
{
	char *text;
	size_t len;
	int status = read_files_take(path, FILE_MAX, &text, &len, errors);

	if (status)
		return status;
	status = eds_parse(eds, path, text, len, errors);
	free(text);
	return status;
}

void eds_free(struct eds *eds)
{
	free(eds->objects);
	*eds = (struct eds){ 0 };
}

const struct eds_object *eds_find(const struct eds *eds, uint16_t index, uint8_t sub)
{
	const struct eds_object key = { .index = index, .sub = sub };

	return eds->n ? bsearch(&key, eds->objects, eds->n, sizeof(key), compare) : NULL;
}

unsigned int eds_bytes(uint16_t type)
{
	/* CiA 301: BOOLEAN, INTEGER8 to 32, UNSIGNED8 to 32, REAL32. */
	static const uint8_t bytes[] = { 0, 1, 1, 2, 4, 1, 2, 4, 4 };

	return type < sizeof(bytes) ? bytes[type] : 0;
}
