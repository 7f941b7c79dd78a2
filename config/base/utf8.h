/* utf8.h: is this text at all, and may a terminal or a reader of JSON have it? */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* The character at text, whole and in its shortest form, and its length; 0: not a valid character. */
size_t utf8_character(const char *text, size_t len, uint32_t *c);

/* What is wrong with the first bad byte ("not UTF-8", "a zero byte", "a control character", "U+2028"), or NULL, and the
 * line it is in, counted from 1.  A text that passes holds no byte that a YAML reader chokes on without saying where,
 * and no line end that editors do not show as one. */
const char *utf8_check(const char *text, size_t len, unsigned int *line);

/* False for control characters, line separators, byte order marks and marks that turn the direction of text. */
bool utf8_is_plain(uint32_t c);

/* Columns of a terminal that it takes: 0 for a mark on the character before, 2 for those of East Asia and pictures. */
size_t utf8_columns(uint32_t c);

/* Each byte of what is not plain, or not UTF-8, becomes '?'. */
void utf8_clean(char *text);

/* Drops the beginning of a character at the end of text that was cut there. */
void utf8_mend(char *text);

/* The character at text as it stands in a JSON string; U+FFFD for a byte that is not UTF-8.  Returns the bytes taken;
 * len is at least 1. */
#define UTF8_JSON_MAX 8
size_t utf8_json(char json[UTF8_JSON_MAX], const char *text, size_t len);
