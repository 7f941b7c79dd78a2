/* log_candump.c: lines of candump -L, read and written.
 *
 *	(1436509052.249713) vcan0 044#2A366C2BBA
 *	(1436509052.249713)  can0 123#R4 T
 *	# can0: 12 frames lost
 */
#include "can/bus/frame_text.h"
#include "can/log/log_formats.h"

/* candump without -L begins with a time in brackets, too. */
static bool candump_probe(struct log_text line)
{
	return *line.at == '(' && line.end - line.at > 1 && log_digit(line.at[1]) && !log_screen_probe(line);
}

/* A comment; one of ours counts lost frames. */
static const char *read_comment(struct log *log, struct log_text line)
{
	struct log_text words[5];
	uint64_t n = 0;

	for (size_t i = 0; i < 5; i++)
		words[i] = log_word(&line);
	if (!log_is(words[0], "#") || !log_is(words[3], "frames") || !log_is(words[4], "lost"))
		return log_nothing;
	for (const char *c = words[2].at; c < words[2].end; c++)
		if (!log_digit(*c) || __builtin_mul_overflow(n, 10, &n) || __builtin_add_overflow(n, *c - '0', &n))
			return log_nothing;
	if (__builtin_add_overflow(log->lost, n, &log->lost))
		log->lost = UINT64_MAX;
	return log_nothing;
}

static bool read_time(struct log_text *line, int64_t *ns)
{
	line->at++;
	return log_time(line, NS_PER_S, ns) && line->at < line->end && *line->at++ == ')';
}

static const char *candump_line(struct log *log, struct log_record *r, struct log_text line)
{
	struct log_text word;
	const char *wrong;

	if (*line.at == '#')
		return read_comment(log, line);
	if (*line.at != '(')
		return "not a line of candump -L: it begins with the time in brackets";
	if (!read_time(&line, &r->t_ns))
		return "no time: it is seconds in brackets, such as (1436509052.249713)";
	wrong = log_set_name(r, log_word(&line));
	if (wrong)
		return wrong;
	word = log_word(&line);
	wrong = word.at == word.end ? "there is nothing after the interface"
				    : frame_text_read(&r->frame, word.at, (size_t)(word.end - word.at));
	if (wrong)
		return wrong;
	r->direction = 0;
	if (line.at == line.end)
		return NULL;
	word = log_word(&line);
	if (word.end - word.at != 1 || (*word.at != 'R' && *word.at != 'T'))
		return "after the frame there may be R or T and nothing else";
	r->direction = *word.at;
	log_skip_blanks(&line);
	return line.at == line.end ? NULL : "there is something after R or T";
}

/* ---- writing ---- */

static char *put_digits(char *to, uint64_t value, unsigned int digits)
{
	for (unsigned int i = digits; i-- > 0; value /= 10)
		to[i] = (char)('0' + value % 10);
	return to + digits;
}

size_t log_write_line(char text[LOG_WRITE_MAX], int64_t t_ns, const char *bus, const struct frame *f)
{
	const uint64_t us = t_ns < 0 ? 0 : (uint64_t)t_ns / 1000;
	const size_t bus_len = strnlen(bus, LOG_BUS_MAX - 1);
	char *to = text;

	*to++ = '(';
	to = put_digits(to, us / 1000000, 10);
	*to++ = '.';
	to = put_digits(to, us % 1000000, 6);
	*to++ = ')';
	*to++ = ' ';
	to = mempcpy(to, bus, bus_len);
	*to++ = ' ';
	to += frame_text_write(to, f);
	*to++ = '\n';
	*to = '\0';
	return (size_t)(to - text);
}

static void candump_put(struct log_writer *w, const struct log_record *r)
{
	char text[LOG_WRITE_MAX];
	size_t len = log_write_line(text, r->t_ns, r->bus, &r->frame);

	if (r->direction) {
		text[len - 1] = ' ';
		text[len++] = r->direction;
		text[len++] = '\n';
	}
	log_put(w, text, len);
}

size_t log_write_loss(char text[LOG_WRITE_MAX], const char *bus, uint64_t frames)
{
	return (size_t)snprintf(text, LOG_WRITE_MAX, "# %.*s: %" PRIu64 " frames lost\n", LOG_BUS_MAX - 1, bus, frames);
}

const struct log_format log_candump_format = {
	.name = "candump -L",
	.suffix = ".log",
	.probe = candump_probe,
	.read_line = candump_line,
	.put = candump_put,
};
