/* utf8.h: is this text at all?
 *
 * Answers what is wrong with the first bad byte ("not UTF-8", "a zero byte", "a control character"), or NULL, and
 * the line it is in, counted from 1.  What passes holds no byte that a YAML reader chokes on without saying where.
 */
#ifndef CONFIG_UTF8_H
#define CONFIG_UTF8_H

#include <stddef.h>

const char *utf8_check(const char *text, size_t len, unsigned int *line);

#endif
