/* json.h: writes JSON to a stream; commas, quotes and escapes are right whatever the values are.
 *
 *	struct json j = json_to(stdout);
 *
 *	json_object(&j, NULL);
 *	json_text(&j, "name", "waist");
 *	json_array(&j, "joints");
 *	json_real(&j, NULL, 0.5);
 *	json_end(&j);
 *	json_end(&j);
 *
 * writes {"name":"waist","joints":[0.5]}.  Each value has a name in an object, and NULL in an array and at the top.
 */
#pragma once

#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>

#define JSON_DEPTH_MAX 16

struct json {
	FILE *to;
	unsigned int depth;
	bool more;		    /* the next value takes a comma */
	char close[JSON_DEPTH_MAX]; /* closing bracket of each open object or array */
};

struct json json_to(FILE *to);
void json_object(struct json *j, const char *name);
void json_array(struct json *j, const char *name);
void json_end(struct json *j);	/* the innermost */
void json_line(struct json *j); /* a line end and a space before the next value, for people who read long lists */

void json_text(struct json *j, const char *name, const char *text); /* null if text is NULL */
__attribute__((format(printf, 3, 4))) void json_textf(struct json *j, const char *name, const char *format, ...);
void json_int(struct json *j, const char *name, int64_t value);
void json_uint(struct json *j, const char *name, uint64_t value);
void json_uint_or_null(struct json *j, const char *name, uint64_t value); /* null for 0 */
void json_bool(struct json *j, const char *name, bool value);
void json_null(struct json *j, const char *name);
/* The shortest text that reads back as the same value, at most that many digits, or that many decimals; null if it is
 * not a finite number. */
void json_real(struct json *j, const char *name, double value);
void json_digits(struct json *j, const char *name, int digits, double value);
void json_fixed(struct json *j, const char *name, int decimals, double value);
void json_raw(struct json *j, const char *name, const char *json); /* text that is JSON already */
