/* utf8.h: is this text at all? */
#ifndef CONFIG_UTF8_H
#define CONFIG_UTF8_H

#include <stddef.h>
#include <stdint.h>

/* The character at text, whole and in its shortest form, and its length; 0: it is none. */
size_t utf8_character(const char *text, size_t len, uint32_t *c);

/* What is wrong with the first bad byte ("not UTF-8", "a zero byte", "a control character"), or NULL, and the line it
 * is in, counted from 1.  What passes holds no byte that a YAML reader chokes on without saying where. */
const char *utf8_check(const char *text, size_t len, unsigned int *line);

#endif
