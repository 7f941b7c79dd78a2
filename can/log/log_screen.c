/* log_screen.c: what candump prints without -L, with -t and perhaps -a, -x, -S, -e, -d.
 *
 *	 (1794892482.259474)  vcan0  123   [4]  DE AD BE EF               '....'	-ta -a
 *	 (2026-11-17 05:14:43.160123)  vcan0  12345678  [12]  11 22 ...			-tA
 *	 (000.278572)  vcan0  TX B -  00000123  [03]  33`22`11				-td or -tz; -x; -S
 *	 (000.428326)  vcan0       123   [4]  remote request
 *
 * A length of two digits is that of CAN FD; whether its bit rate was switched is known with -x only.  -td and -tz look
 * alike: stamps count from the frame before if one of them, as far as the file was read ahead, is less than the one
 * before it, and else from the first frame.
 */
#include "can/log/log_formats.h"

#define EPOCH_NS (INT64_C(100000000) * NS_PER_S) /* larger stamps are of -ta */

/* "[4]", "[12]" */
static bool is_length(struct log_text word)
{
	return word.end - word.at >= 3 && *word.at == '[' && log_digit(word.at[1]) && word.end[-1] == ']';
}

/* With a length in brackets as the second to the seventh word behind the time, if there is one. */
bool log_screen_probe(struct log_text line)
{
	if (*line.at == '(') {
		const char *bracket = memchr(line.at, ')', (size_t)(line.end - line.at));

		line.at = bracket ? bracket + 1 : line.end;
	}
	log_word(&line);
	for (int i = 0; i < 5; i++)
		if (is_length(log_word(&line)))
			return true;
	return false;
}

static const char *screen_refuse(struct log_text line)
{
	return *line.at == '(' ? NULL : "the output of candump has no times: record it with candump -L, or -ta";
}

/* ---- times ---- */

/* 2026-11-17 05:14:43.160123 */
static bool read_date(struct log_text t, int64_t *ns)
{
	struct tm wall = { 0 };
	const char *rest;
	char text[32];

	snprintf(text, sizeof(text), "%.*s", (int)(t.end - t.at), t.at);
	rest = strptime(text, "%Y-%m-%d ", &wall);
	if (!rest || wall.tm_year < 70 || wall.tm_year > 300 ||
	    !log_clock((struct log_text){ rest, text + strlen(text) }, 23, 61, ns))
		return false;
	*ns = log_local_ns(wall, *ns);
	return true;
}

static bool read_stamp(struct log_text *line, int64_t *ns)
{
	const char *bracket = memchr(line->at, ')', (size_t)(line->end - line->at));
	struct log_text t = { line->at + 1, bracket };

	if (!bracket)
		return false;
	line->at = bracket + 1;
	if (memchr(t.at, '-', (size_t)(t.end - t.at)))
		return read_date(t, ns);
	return log_time(&t, NS_PER_S, ns) && t.at == t.end;
}

/* Does a stamp of the lines ahead go back? */
static bool goes_back(const struct log *log, int64_t ns)
{
	const char *at = log->buffer + log->begin, *end = log->buffer + log->end;

	while (at < end) {
		const char *newline = memchr(at, '\n', (size_t)(end - at));
		struct log_text line = { at, newline ? newline : end };
		int64_t next_ns;

		log_skip_blanks(&line);
		if (newline && line.at < line.end && *line.at == '(' && read_stamp(&line, &next_ns)) {
			if (next_ns < ns)
				return true;
			ns = next_ns;
		}
		at = newline ? newline + 1 : end;
	}
	return false;
}

static const char *set_time(struct log *log, struct log_record *r, int64_t ns)
{
	if (!log->of.placed)
		log->of.relative = ns < EPOCH_NS && goes_back(log, ns);
	log->of.placed = true;
	if (log->of.relative && __builtin_add_overflow(log->of.now_ns, ns, &ns))
		return "the time is out of range";
	log->of.now_ns = r->t_ns = ns;
	return NULL;
}

/* ---- frames ---- */

static const char *set_bus(struct log_record *r, struct log_text word)
{
	if (memchr(word.at, '\033', (size_t)(word.end - word.at)))
		return "colours of candump -c: record without";
	return log_set_name(r, word);
}

static const char *read_id(struct frame *f, struct log_text word)
{
	const long digits = word.end - word.at;
	uint32_t id;

	if ((digits != 3 && digits != 8) || !log_number(word, 16, FRAME_ERR | FRAME_EXT_MASK, &id))
		return "an identifier has 3 or 8 hexadecimal digits";
	if (id & FRAME_ERR) {
		f->id = id;
		return NULL;
	}
	return log_set_id(f, id, digits == 8);
}

static const char *read_length(struct frame *f, struct log_text word)
{
	const bool fd = word.end - word.at == 4;
	uint32_t len;

	if (!is_length(word) ||
	    !log_number((struct log_text){ word.at + 1, word.end - 1 }, 10, FRAME_DATA_MAX_FD, &len))
		return "the length in brackets, such as [8], must follow the identifier";
	f->flags |= fd ? FRAME_FD : 0;
	f->len = (uint8_t)len;
	if (f->id & FRAME_ERR && (fd || len != FRAME_DATA_MAX))
		return "an error frame has 8 bytes";
	return (!fd && (f->flags || len > FRAME_DATA_MAX)) || frame_len_fd(len) != len ? "no frame has such a length"
										       : NULL;
}

/* With -S as one word, from the last byte to the first. */
static const char *read_swapped(struct frame *f, struct log_text word)
{
	for (unsigned int i = f->len; i-- > 0;) {
		const char *mark = memchr(word.at, '`', (size_t)(word.end - word.at));
		struct log_text byte = { word.at, mark ? mark : word.end };
		uint32_t value;

		if (byte.end - byte.at != 2 || !log_number(byte, 16, 255, &value) || !mark != !i)
			return "there is less data than its length says";
		f->data[i] = (uint8_t)value;
		word.at = mark ? mark + 1 : word.end;
	}
	return NULL;
}

static const char *read_data(struct frame *f, struct log_text *line)
{
	struct log_text ahead = *line, word = log_word(&ahead);

	if (log_is(word, "remote")) {
		*line = (struct log_text){ line->end, line->end };
		if (f->flags || f->id & FRAME_ERR)
			return "a frame of CAN FD is never remote";
		f->id |= FRAME_RTR;
		return NULL;
	}
	if (f->len > 1 && memchr(word.at, '`', (size_t)(word.end - word.at))) {
		*line = ahead;
		return read_swapped(f, word);
	}
	if (f->len && word.end - word.at == 8)
		return "binary digits of candump -i: record without";
	return log_set_data(f, line, 16);
}

/* "RX B E", of -x; otherwise id is the first word. */
static struct log_text read_extra(struct log_record *r, struct log_text *line)
{
	struct log_text word = log_word(line);

	if (!log_is(word, "RX") && !log_is(word, "TX"))
		return word;
	r->direction = *word.at;
	if (log_is(log_word(line), "B"))
		r->frame.flags |= FRAME_BRS;
	if (log_is(log_word(line), "E"))
		r->frame.flags |= FRAME_ESI;
	return log_word(line);
}

/* "DROPCOUNT: dropped 3 CAN frames on 'can0' socket (total drops 3)", of -d. */
static const char *read_drops(struct log *log, struct log_text line)
{
	uint32_t n;

	log_word(&line);
	log_word(&line);
	if (!log_number(log_word(&line), 10, UINT32_MAX, &n))
		return "how many frames candump dropped is not a number";
	log->lost += n;
	return log_nothing;
}

static const char *screen_line(struct log *log, struct log_record *r, struct log_text line)
{
	const bool detail = log->of.error;
	const char *wrong;
	int64_t ns;

	log->of.error = false;
	if (log_begins(line, "DROPCOUNT:"))
		return read_drops(log, line);
	if (*line.at != '(')
		return detail || *line.at == '#' ? log_nothing
						 : "there is no time in brackets: record with candump -ta, or -L";
	if (!read_stamp(&line, &ns))
		return "not a time: it is seconds in brackets, such as (1794892482.259474), or a date";
	wrong = set_time(log, r, ns);
	log_clear(r);
	wrong = wrong ? wrong : set_bus(r, log_word(&line));
	wrong = wrong ? wrong : read_id(&r->frame, read_extra(r, &line));
	wrong = wrong ? wrong : read_length(&r->frame, log_word(&line));
	wrong = wrong ? wrong : read_data(&r->frame, &line);
	if (wrong)
		return wrong;
	log->of.error = r->frame.id & FRAME_ERR;
	log_skip_blanks(&line);
	if (line.at < line.end && *line.at != '\'' && !log_begins(line, "ERRORFRAME"))
		return "there is something after the data";
	return NULL;
}

const struct log_format log_screen_format = {
	.name = "candump -t",
	.suffix = ".txt",
	.probe = log_screen_probe,
	.refuse = screen_refuse,
	.read_line = screen_line,
};
