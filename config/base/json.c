/* json.c: writes JSON; see json.h. */
#include "config/base/json.h"

#include <assert.h>
#include <inttypes.h>
#include <math.h>
#include <stdarg.h>

#include "config/base/text.h"

struct json json_to(FILE *to)
{
	return (struct json){ .to = to };
}

/* The comma and the name before a value. */
static void begin(struct json *j, const char *name)
{
	if (j->more)
		fputc(',', j->to);
	j->more = true;
	if (name) {
		text_json(j->to, name);
		fputc(':', j->to);
	}
}

static void open(struct json *j, const char *name, const char *pair)
{
	begin(j, name);
	assert(j->depth < JSON_DEPTH_MAX);
	fputc(pair[0], j->to);
	j->close[j->depth++] = pair[1];
	j->more = false;
}

void json_object(struct json *j, const char *name)
{
	open(j, name, "{}");
}

void json_array(struct json *j, const char *name)
{
	open(j, name, "[]");
}

void json_end(struct json *j)
{
	assert(j->depth > 0);
	fputc(j->close[--j->depth], j->to);
	j->more = true;
}

void json_line(struct json *j)
{
	if (j->more)
		fputc(',', j->to);
	j->more = false;
	fputs("\n ", j->to);
}

void json_text(struct json *j, const char *name, const char *text)
{
	if (!text) {
		json_null(j, name);
		return;
	}
	begin(j, name);
	text_json(j->to, text);
}

void json_textf(struct json *j, const char *name, const char *format, ...)
{
	char text[1024];
	va_list args;

	va_start(args, format);
	vsnprintf(text, sizeof text, format, args);
	va_end(args);
	json_text(j, name, text);
}

void json_int(struct json *j, const char *name, int64_t value)
{
	begin(j, name);
	fprintf(j->to, "%" PRId64, value);
}

void json_uint(struct json *j, const char *name, uint64_t value)
{
	begin(j, name);
	fprintf(j->to, "%" PRIu64, value);
}

void json_uint_or_null(struct json *j, const char *name, uint64_t value)
{
	if (value)
		json_uint(j, name, value);
	else
		json_null(j, name);
}

void json_bool(struct json *j, const char *name, bool value)
{
	json_raw(j, name, value ? "true" : "false");
}

void json_null(struct json *j, const char *name)
{
	json_raw(j, name, "null");
}

void json_real(struct json *j, const char *name, double value)
{
	char text[TEXT_VALUE_MAX] = "null";

	if (isfinite(value))
		text_from_real(text, value);
	json_raw(j, name, text);
}

/* digits: in all, or, if fixed, behind the point. */
static void print_real(struct json *j, const char *name, double value, int digits, bool fixed)
{
	if (!isfinite(value)) {
		json_null(j, name);
		return;
	}
	begin(j, name);
	fprintf(j->to, fixed ? "%.*f" : "%.*g", digits, value);
}

void json_digits(struct json *j, const char *name, int digits, double value)
{
	print_real(j, name, value, digits, false);
}

void json_fixed(struct json *j, const char *name, int decimals, double value)
{
	print_real(j, name, value, decimals, true);
}

void json_raw(struct json *j, const char *name, const char *json)
{
	begin(j, name);
	fputs(json, j->to);
}
