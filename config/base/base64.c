/* base64.c: bytes as text. */
#include <string.h>

#include "config/base/base64.h"

static const char digits[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";

size_t base64_write(char *text, const uint8_t *bytes, size_t n)
{
	size_t len = 0;

	for (size_t i = 0; i < n; i += 3) {
		const size_t left = n - i;
		const uint32_t three = (uint32_t)bytes[i] << 16 | (left > 1 ? (uint32_t)bytes[i + 1] << 8 : 0) |
				       (left > 2 ? bytes[i + 2] : 0);

		text[len++] = digits[three >> 18];
		text[len++] = digits[three >> 12 & 63];
		text[len++] = left > 1 ? digits[three >> 6 & 63] : '=';
		text[len++] = left > 2 ? digits[three & 63] : '=';
	}
	return len;
}

/* The value of a digit; -1: it is not one. */
static int digit(char c)
{
	const char *at = c ? strchr(digits, c) : NULL;

	return at ? (int)(at - digits) : -1;
}

ssize_t base64_read(uint8_t *bytes, const char *text, size_t len)
{
	size_t n = 0;

	if (len % 4)
		return -1;
	for (size_t i = 0; i < len; i += 4) {
		const int pad = i + 4 < len || text[i + 3] != '=' ? 0 : text[i + 2] != '=' ? 1 : 2;
		uint32_t three = 0;

		for (size_t k = 0; k < 4; k++) {
			const int value = (int)k < 4 - pad ? digit(text[i + k]) : 0;

			if (value < 0)
				return -1;
			three = three << 6 | (uint32_t)value;
		}
		for (int k = 0; k < 3 - pad; k++)
			bytes[n++] = (uint8_t)(three >> (16 - 8 * k));
	}
	return (ssize_t)n;
}
