/* log_sign.c: of which format a file is, by one of its lines. */
#include <string.h>

#include "can/log_parse.h"

/* A header of ASC. */
static bool is_asc_header(struct log_text line)
{
	static const char *const headers[] = {
		"date ", "base ", "//", "begin trigger", "internal events", "no internal events",
	};

	for (size_t i = 0; i < sizeof(headers) / sizeof(*headers); i++)
		if (log_begins(line, headers[i]))
			return true;
	return false;
}

/* "0.1 1 123 Rx ..." or "0.1 CANFD 1 Rx ..." */
static bool is_asc(struct log_text first, struct log_text second)
{
	struct log_text rest = first;
	int64_t ns;

	return memchr(first.at, '.', (size_t)(first.end - first.at)) && log_time(&rest, 1000000000, &ns) &&
	       rest.at == rest.end && second.at < second.end && (log_digit(*second.at) || log_is(second, "CANFD"));
}

/* "1) 100 0123 8 ...": not the rest of "(1436509052.249713) can0 ..." that was cut in two. */
static bool is_trc(struct log_text first, struct log_text second)
{
	struct log_text number = first;
	uint32_t n;

	if (first.at == first.end || first.end[-1] != ')')
		return false;
	number.end--;
	return log_number(number, 10, UINT32_MAX, &n) && second.at < second.end && log_digit(*second.at);
}

enum log_sign log_sign(struct log_text line, enum log_format *format)
{
	struct log_text rest, first, second;

	log_skip_blanks(&line);
	rest = line;
	first = log_word(&rest);
	second = log_word(&rest);
	if (line.at == line.end || *line.at == '#')
		return LOG_SIGN_NONE;
	if (*line.at == ';' && !log_begins(line, ";$"))
		return LOG_SIGN_NONE; /* a comment of TRC, and of too many other things */
	if (*line.at == '(' && line.end - line.at > 1 && log_digit(line.at[1]))
		*format = LOG_CANDUMP;
	else if (is_asc_header(line) || is_asc(first, second))
		*format = LOG_ASC;
	else if (*line.at == ';' || is_trc(first, second))
		*format = LOG_TRC;
	else
		return LOG_SIGN_STRANGE;
	return LOG_SIGN_CLEAR;
}
