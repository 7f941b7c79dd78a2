/* text.c: values as people write them. */
#include <errno.h>
#include <math.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include "config/base/text.h"
#include "config/base/utf8.h"

#define DIGITS "0123456789"
#define SHOWN_MAX 40
/* What JSON takes as it is. */
#define PLAIN " !#$%&'()*+,-./:;<=>?@[]^_`{|}~" LETTERS DIGITS
#define LETTERS "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz"

static const struct {
	const char *name;
	int64_t ns;
} units[] = {
	{ "h", 3600 * INT64_C(1000000000) },
	{ "min", 60 * INT64_C(1000000000) },
	{ "s", INT64_C(1000000000) },
	{ "ms", 1000000 },
	{ "us", 1000 },
	{ "ns", 1 },
};
#define UNITS (sizeof(units) / sizeof(*units))

int text_bool(const char *text, bool *value)
{
	if (!strcmp(text, "yes") || !strcmp(text, "true"))
		*value = true;
	else if (!strcmp(text, "no") || !strcmp(text, "false"))
		*value = false;
	else
		return -EINVAL;
	return 0;
}

int text_int(const char *text, int64_t *value)
{
	const char *digits = text + (*text == '-' || *text == '+');
	bool hex = digits[0] == '0' && digits[1] == 'x';
	size_t prefix = hex ? 2 : 0;
	size_t n = strspn(digits + prefix, hex ? DIGITS "abcdefABCDEF" : DIGITS);
	long long v;

	if (!n || digits[prefix + n])
		return -EINVAL;
	errno = 0;
	v = strtoll(text, NULL, hex ? 16 : 10);
	if (errno)
		return -ERANGE;
	*value = v;
	return 0;
}

/* How many bytes a decimal number takes at the start of text; strtod alone would take blanks, inf, nan and hex too. */
static size_t number_len(const char *text)
{
	size_t at = *text == '-' || *text == '+';
	size_t whole = strspn(text + at, DIGITS), part = 0, exponent, sign;

	at += whole;
	if (text[at] == '.') {
		part = strspn(text + at + 1, DIGITS);
		at += 1 + part;
	}
	if (!whole && !part)
		return 0;
	if (text[at] == 'e' || text[at] == 'E') {
		sign = text[at + 1] == '-' || text[at + 1] == '+';
		exponent = strspn(text + at + 1 + sign, DIGITS);
		at += exponent ? 1 + sign + exponent : 0;
	}
	return at;
}

int text_real_unit(const char *text, double *value, const char **unit)
{
	size_t n = number_len(text);
	double v;

	if (!n)
		return -EINVAL;
	v = strtod(text, NULL);
	if (!isfinite(v))
		return -ERANGE;
	*value = v;
	*unit = text + n + (text[n] == ' ' && text[n + 1]);
	return 0;
}

int text_real(const char *text, double *value)
{
	return text[number_len(text)] ? -EINVAL : text_real_unit(text, value, &text);
}

int text_duration(const char *text, int64_t *ns)
{
	size_t n = number_len(text), unit = 0;
	double v;

	if (!n)
		return -EINVAL;
	v = strtod(text, NULL);
	while (unit < UNITS && strcmp(text + n, units[unit].name))
		unit++;
	if (unit == UNITS && (text[n] || v != 0))
		return -EINVAL;
	if (unit < UNITS)
		v *= (double)units[unit].ns;
	if (!(fabs(v) < 9.2e18))
		return -ERANGE;
	*ns = llround(v);
	return 0;
}

void text_from_real(char text[TEXT_VALUE_MAX], double value)
{
	for (int digits = 15; digits <= 17; digits++) {
		snprintf(text, TEXT_VALUE_MAX, "%.*g", digits, value);
		if (strtod(text, NULL) == value)
			break;
	}
}

void text_from_duration(char text[TEXT_VALUE_MAX], int64_t ns)
{
	/* Hours and minutes are read but not written: 90s says more than 1.5min. */
	for (size_t unit = 2; unit < UNITS; unit++) {
		if (ns % units[unit].ns == 0) {
			snprintf(text, TEXT_VALUE_MAX, "%lld%s", (long long)(ns / units[unit].ns), units[unit].name);
			return;
		}
	}
}

const char *text_quote(char quoted[TEXT_QUOTED_MAX], const char *text)
{
	char shown[SHOWN_MAX + 1];

	snprintf(shown, sizeof(shown), "%s", text);
	utf8_mend(shown);
	snprintf(quoted, TEXT_QUOTED_MAX, "\"%s%s\"", shown, text[strnlen(text, SHOWN_MAX)] ? "..." : "");
	return quoted;
}

struct text_out text_out(char *text, size_t size)
{
	if (size)
		*text = '\0';
	return (struct text_out){ text, size, 0 };
}

void text_add(struct text_out *out, const char *fmt, ...)
{
	size_t at = out->len < out->size ? out->len : out->size;
	va_list args;
	int n;

	va_start(args, fmt);
	n = vsnprintf(out->size ? out->text + at : NULL, out->size - at, fmt, args);
	va_end(args);
	out->len += n > 0 ? (size_t)n : 0;
}

int text_refuse(char *text, size_t size, const char *fmt, ...)
{
	va_list args;

	va_start(args, fmt);
	vsnprintf(text, size, fmt, args);
	va_end(args);
	return -1;
}

bool text_ends_with(const char *text, const char *end)
{
	size_t len = strlen(text), n = strlen(end);

	return len >= n && !strcmp(text + len - n, end);
}

void text_json(FILE *to, const char *text)
{
	char json[UTF8_JSON_MAX];

	fputc('"', to);
	for (size_t left = strlen(text), n; left; text += n, left -= n) {
		n = strspn(text, PLAIN);
		if (n) {
			fwrite(text, 1, n, to);
		} else {
			n = utf8_json(json, text, left);
			fputs(json, to);
		}
	}
	fputc('"', to);
}

bool text_is_name(const char *text)
{
	size_t n = strnlen(text, TEXT_NAME_MAX + 1);

	return n && n <= TEXT_NAME_MAX && strspn(text, LETTERS DIGITS) && strspn(text, LETTERS DIGITS "_.-") == n;
}

const char *text_name_form(const char *text)
{
	return text_is_name(text) ? NULL : "a name: 1 to 23 of A-Z a-z 0-9 _ . -, a letter or digit first";
}
