/* base64.h: bytes as text. */
#pragma once

#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#define BASE64_LEN(n) (((n) + 2) / 3 * 4)

/* BASE64_LEN(n) characters, not terminated; returns their number. */
size_t base64_write(char *text, const uint8_t *bytes, size_t n);
/* Returns the number of bytes, at most len / 4 * 3; -1: the text is not base64. */
ssize_t base64_read(uint8_t *bytes, const char *text, size_t len);
