/* text.h: values as people write them.
 *
 * Strict: the whole text is the value, without blanks around it.  0, -EINVAL when
 * the text is something else, -ERANGE when the value has no place in its type.
 * The decimal sign is the C locale's: a program that sets locales leaves LC_NUMERIC alone.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

#define TEXT_VALUE_MAX 32 /* bytes for any number or duration that is written here */

int text_bool(const char *text, bool *value);				/* yes no true false */
int text_int(const char *text, int64_t *value);				/* 42 -7 0x1F */
int text_real(const char *text, double *value);				/* 1 -0.5 2e-3; never inf or nan */
int text_real_unit(const char *text, double *value, const char **unit); /* 5 A, 5A: the unit is what follows, or "" */
int text_duration(const char *text, int64_t *ns);			/* 5ms 200us 1.5s 2min 1h 40ns, and 0 */

/* The shortest text that reads back as the same value. */
void text_from_real(char text[TEXT_VALUE_MAX], double value);
void text_from_duration(char text[TEXT_VALUE_MAX], int64_t ns);

/* "text" in quotes for an error line, cut to 40 bytes of whole characters.  Returns quoted. */
#define TEXT_QUOTED_MAX 48
const char *text_quote(char quoted[TEXT_QUOTED_MAX], const char *text);

/* Text that grows in a buffer of fixed size; len is as if there had been room. */
struct text_out {
	char *text;
	size_t size, len;
};
struct text_out text_out(char *text, size_t size);
void text_add(struct text_out *out, const char *fmt, ...) __attribute__((format(printf, 2, 3)));

/* The line into text; returns -1. */
int text_refuse(char *text, size_t size, const char *fmt, ...) __attribute__((format(printf, 3, 4)));

bool text_ends_with(const char *text, const char *end);

/* Writes text as a JSON string, in quotes, whatever its bytes. */
void text_json(FILE *to, const char *text);

/* Is it fit for a channel, a bus, a device: 1 to TEXT_NAME_MAX of A-Z a-z 0-9 _ . -, a letter or digit first? */
#define TEXT_NAME_MAX 23
bool text_is_name(const char *text);
const char *text_name_form(const char *text); /* of a row of settings: NULL, or the form that a name has */
