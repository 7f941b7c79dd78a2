/* log_asc.c: lines of Vector's ASC.
 *
 *	date Fri Jul 10 06:17:32.249 am 2015
 *	base hex  timestamps absolute
 *	   0.003040 1  123x            Rx   d 8 01 02 03 04 05 06 07 08  Length = 240015 BitCount = 124 ID = 291x
 *	   0.004000 2  123             Tx   r 4
 *	   0.005000 1  ErrorFrame
 *	   0.006000 CANFD   1 Rx        123  Name         1 0 9 12 11 22 ... CC   130000  130     3000 0 0 0 0 0
 *
 * Time, channel, identifier, direction, length code, data; of CAN FD: channel, direction, identifier, perhaps a name,
 * BRS, ESI, length code, length, data, duration, bits, flags.  A length is decimal always, the rest as base says.
 * TxRq is a wish and no frame yet; other events have other words in these places.
 *
 * Times.  Vector describes absolute stamps as counted from the start of the measurement, and relative ones from the
 * event before.  The header's date is when the file was begun.  Of a trigger block it says only that its line has a
 * date;
 * so the block's date counts if its first event says that the measurement starts there ("0.000000 Start of
 * measurement"), which is how other writers give the time of the first frame.  Otherwise stamps go on from the header's
 * date, also in the blocks that follow, and a file without such a date takes that of its first block.
 */
#include "can/log/log_formats.h"

/* In the flags of a CANFD event. */
#define FLAG_REMOTE 0x0010
#define FLAG_FD 0x1000

#define HOUR_NS (3600 * NS_PER_S)
#define HALF_DAY_NS (12 * HOUR_NS)

/* ---- is it one? ---- */

/* "0.1 1 123 Rx ..." or "0.1 CANFD 1 Rx ..." */
static bool asc_probe(struct log_text line)
{
	static const char *const headers[] = {
		"date ", "base ", "//", "begin trigger", "internal events", "no internal events", NULL
	};
	struct log_text rest = line, first = log_word(&rest), second = log_word(&rest);
	int64_t ns;

	if (log_begins_any(line, headers))
		return true;
	return memchr(first.at, '.', (size_t)(first.end - first.at)) && log_time(&first, NS_PER_S, &ns) &&
	       first.at == first.end && second.at < second.end && (log_digit(*second.at) || log_is(second, "CANFD"));
}

/* ---- headers ---- */

static int month_of(struct log_text word)
{
	static const char *const names[] = { "jan", "feb", "mar", "apr", "may", "jun",
					     "jul", "aug", "sep", "oct", "nov", "dec" };
	/* Names of a German recorder; the umlaut of March has two encodings. */
	static const struct {
		const char *name;
		int month;
	} german[] = { { "mrz", 2 }, { "m\xE4", 2 }, { "m\xC3\xA4", 2 }, { "mai", 4 }, { "okt", 9 }, { "dez", 11 } };

	for (int i = 0; i < 12; i++)
		if (log_begins(word, names[i]))
			return i;
	for (size_t i = 0; i < sizeof(german) / sizeof(*german); i++)
		if (log_begins(word, german[i].name))
			return german[i].month;
	return -1;
}

/* "Fri Jul 10 06:17:32.249 pm 2015": 0 if it is something else. */
static int64_t date_ns(struct log_text line)
{
	struct log_text word;
	struct tm wall = { 0 };
	uint32_t day, year;
	int64_t ns;

	log_word(&line);
	wall.tm_mon = month_of(log_word(&line));
	if (wall.tm_mon < 0 || !log_number(log_word(&line), 10, 31, &day))
		return 0;
	if (!log_clock(log_word(&line), 23, 61, &ns))
		return 0;
	word = log_word(&line);
	if (log_is(word, "am") || log_is(word, "pm")) {
		/* Some write 14:00 pm. */
		if (log_is(word, "pm") && ns < HALF_DAY_NS)
			ns += HALF_DAY_NS;
		else if (log_is(word, "am") && ns >= HALF_DAY_NS && ns < HALF_DAY_NS + HOUR_NS)
			ns -= HALF_DAY_NS;
		word = log_word(&line);
	}
	if (!log_number(word, 10, 2200, &year) || year < 1970)
		return 0;
	wall.tm_mday = (int)day;
	wall.tm_year = (int)year - 1900;
	return log_local_ns(wall, ns);
}

static const char *read_header(struct log *log, struct log_text line)
{
	struct log_text all = line, word = log_word(&line);

	if (log_is(word, "date")) {
		log->of.start_ns = date_ns(line);
		return log_nothing;
	}
	if (log_is(word, "begin")) { /* Triggerblock, and the date once more */
		log_word(&line);
		log->of.block_ns = date_ns(line);
		if (!log->of.start_ns)
			log->of.start_ns = log->of.block_ns;
		return log_nothing;
	}
	if (log_is(word, "base") || log_is(word, "timestamps")) {
		for (; word.at < word.end; word = log_word(&line)) {
			if (log_is(word, "hex"))
				log->of.base = 16;
			else if (log_is(word, "dec"))
				log->of.base = 10;
			else if (log_is(word, "absolute") || log_is(word, "relative"))
				log->of.relative = log_is(word, "relative");
			else if (!log_is(word, "base") && !log_is(word, "timestamps"))
				return "the header says base hex or dec, timestamps absolute or relative";
		}
		return log_nothing;
	}
	if (log_begins(all, "//") || log_is(word, "internal") || log_is(word, "no") || log_is(word, "end"))
		return log_nothing;
	return "not a line of ASC: it begins with the time in seconds";
}

/* ---- events ---- */

/* The word is an identifier, with x of 29 bits. */
static const char *read_id(struct frame *f, struct log_text word, unsigned int base)
{
	bool extended = word.end > word.at && (word.end[-1] == 'x' || word.end[-1] == 'X');
	uint32_t id;

	word.end -= extended;
	if (!log_number(word, base, UINT32_MAX, &id))
		return "the identifier is not a number: record without symbolic names";
	return log_set_id(f, id, extended);
}

/* The length code: a hexadecimal digit, in decimal files perhaps 10 to 15. */
static const char *read_code(struct frame *f, struct log_text word, unsigned int base)
{
	uint32_t code;

	if (!log_number(word, word.end - word.at == 1 ? 16 : base, 15, &code))
		return "a length code is 0 to 15";
	return log_set_code(f, code);
}

static bool read_direction(struct log_record *r, struct log_text word, bool *wish)
{
	*wish = log_is(word, "TxRq");
	r->direction = log_is(word, "Rx") ? 'R' : 'T';
	return *wish || log_is(word, "Rx") || log_is(word, "Tx");
}

/* Behind time and channel of a classic event. */
static const char *read_classic(struct log *log, struct log_record *r, struct log_text line)
{
	const unsigned int base = (unsigned int)log->of.base;
	struct log_text id = log_word(&line), direction = log_word(&line), word;
	struct frame *f = &r->frame;
	const char *wrong;
	bool wish;

	if (log_is(id, "ErrorFrame"))
		return log_set_error(r);
	if (id.at == id.end)
		return "there is nothing after the channel";
	wrong = read_id(f, id, base);
	if (!read_direction(r, direction, &wish))
		return wrong ? log_nothing : "Rx or Tx must follow the identifier";
	if (wish)
		return log_nothing;
	if (wrong)
		return wrong;
	word = log_word(&line);
	if (log_is(word, "r")) {
		f->id |= FRAME_RTR;
		word = log_word(&line);
		/* Older tools write no length here, but perhaps other things. */
		if (word.at < word.end && log_digit(*word.at))
			wrong = read_code(f, word, base);
	} else if (log_is(word, "d")) {
		wrong = read_code(f, log_word(&line), base);
		wrong = wrong ? wrong : log_set_data(f, &line, base);
	} else {
		wrong = "d or r must follow the direction";
	}
	return wrong;
}

/* The third word behind the data; without it the kind comes from the name of the line. */
static bool read_flags(struct log_text line, uint32_t *flags)
{
	struct log_text word;

	for (int i = 0; i < 3; i++)
		word = log_word(&line);
	*flags = FLAG_FD;
	return word.at == word.end || log_number(word, 16, UINT32_MAX, flags);
}

static bool read_bit(struct log_text word, uint8_t flag, uint8_t *flags)
{
	if (log_is(word, "1"))
		*flags |= flag;
	return log_is(word, "0") || log_is(word, "1");
}

/* Behind the word CANFD; its flags may say that it is a classic frame. */
static const char *read_fd(struct log *log, struct log_record *r, struct log_text line)
{
	const unsigned int base = (unsigned int)log->of.base;
	struct frame *f = &r->frame;
	struct log_text word, code, tail;
	uint32_t len, flags;
	const char *wrong;
	bool wish;

	wrong = log_set_bus(r, log_word(&line));
	if (wrong)
		return wrong;
	if (!read_direction(r, log_word(&line), &wish))
		return "Rx or Tx must follow the channel";
	if (wish)
		return log_nothing;
	word = log_word(&line);
	if (log_is(word, "ErrorFrame"))
		return log_set_error(r);
	wrong = read_id(f, word, base);
	if (wrong)
		return wrong;
	word = log_word(&line);
	if (word.at < word.end && !log_digit(*word.at))
		word = log_word(&line);
	if (!read_bit(word, FRAME_BRS, &f->flags) || !read_bit(log_word(&line), FRAME_ESI, &f->flags))
		return "BRS and ESI, 0 or 1 each, must precede the length code";
	code = log_word(&line);
	if (!log_number(log_word(&line), 10, FRAME_DATA_MAX_FD, &len))
		return "the length, 0 to 64, must follow the length code";
	tail = line;
	for (uint32_t i = 0; i < len; i++)
		log_word(&tail);
	if (!read_flags(tail, &flags))
		return "the flags behind the data are not a number";
	/* Some writers leave the flags at 0; what no classic frame has decides then. */
	if (flags & FLAG_FD || f->flags || len > FRAME_DATA_MAX)
		f->flags |= FRAME_FD;
	f->id |= !f->flags && flags & FLAG_REMOTE ? FRAME_RTR : 0;
	wrong = read_code(f, code, base);
	if (!wrong && len != frame_data_len(f))
		wrong = "length code and length do not match";
	return wrong ? wrong : log_set_data(f, &line, base);
}

static const char *asc_line(struct log *log, struct log_record *r, struct log_text line)
{
	struct log_text word;
	int64_t ns;
	const char *wrong;

	if (!log_digit(*line.at))
		return read_header(log, line);
	if (!log_time(&line, NS_PER_S, &ns) || (line.at < line.end && !log_blank(*line.at)) ||
	    (log->of.relative && __builtin_add_overflow(log->of.now_ns, ns, &ns)))
		return "no time: it is seconds, such as 12.003040";
	log->of.now_ns = ns;
	wrong = log_set_time(r, log->of.start_ns, ns);
	if (wrong)
		return wrong;
	memset(&r->frame, 0, sizeof(r->frame));
	word = log_word(&line);
	if (log->of.block_ns) {
		if (!ns && log_is(word, "Start"))
			log->of.start_ns = log->of.block_ns;
		log->of.block_ns = 0;
	}
	if (log_is(word, "CANFD"))
		return read_fd(log, r, line);
	if (word.at == word.end || !log_digit(*word.at))
		return word.at == word.end ? "there is nothing after the time" : log_nothing;
	wrong = log_set_bus(r, word);
	return wrong ? wrong : read_classic(log, r, line);
}

/* ---- writing ---- */

static void put_date(struct log_writer *w, const char *before, int64_t t_ns)
{
	static const char days[] = "SunMonTueWedThuFriSat", months[] = "JanFebMarAprMayJunJulAugSepOctNovDec";
	const time_t s = (time_t)(t_ns / NS_PER_S);
	struct tm wall;

	if (!localtime_r(&s, &wall))
		return;
	log_put_text(w, "%s %.3s %.3s %02d %02d:%02d:%02d.%03d %s %d\n", before, days + 3 * wall.tm_wday,
		     months + 3 * wall.tm_mon, wall.tm_mday, (wall.tm_hour + 11) % 12 + 1, wall.tm_min, wall.tm_sec,
		     (int)(t_ns % NS_PER_S / NS_PER_MS), wall.tm_hour < 12 ? "am" : "pm", wall.tm_year + 1900);
}

/* Both dates are that of the first frame, in whole milliseconds, which is as exact as they are; stamps count from
 * there.
 * Times that are not of the epoch have no date. */
static void asc_begin(struct log_writer *w)
{
	if (w->dated)
		put_date(w, "date", w->start_ns);
	log_put_text(w, "base hex  timestamps absolute\ninternal events logged\n// version 9.0.0\n");
	if (!w->dated)
		return;
	put_date(w, "Begin Triggerblock", w->start_ns);
	log_put_text(w, "   0.000000 Start of measurement\n");
}

static void put_fd(struct log_writer *w, const struct frame *f, const char *direction)
{
	const unsigned int brs = f->flags & FRAME_BRS ? 1 : 0, esi = f->flags & FRAME_ESI ? 1 : 0;

	log_put_text(w, "CANFD %3u %-4s %8X%s  %u %u %x %2u", w->channel, direction, frame_id(f),
		     f->id & FRAME_EXT ? "x" : "", brs, esi, frame_code(f), f->len);
	log_put_data(w, f);
	log_put_text(w, " 0 0 %X 0 0 0 0 0\n", FLAG_FD | brs << 13 | esi << 14);
}

static void asc_put(struct log_writer *w, const struct log_record *r)
{
	const char *direction = r->direction == 'T' ? "Tx" : "Rx";
	const int64_t ns = log_put_since(w, r->t_ns);
	const struct frame *f = &r->frame;

	log_put_text(w, "%4lld.%06lld ", (long long)(ns / NS_PER_S), (long long)(ns % NS_PER_S / NS_PER_US));
	if (f->id & FRAME_ERR) {
		log_put_text(w, "%u  ErrorFrame\n", w->channel);
	} else if (f->flags & FRAME_FD) {
		put_fd(w, f, direction);
	} else {
		log_put_text(w, "%u  %X%-8s %s   %c %x", w->channel, frame_id(f), f->id & FRAME_EXT ? "x" : "",
			     direction, f->id & FRAME_RTR ? 'r' : 'd', frame_code(f));
		log_put_data(w, f);
		log_put(w, "\n", 1);
	}
}

static void asc_end(struct log_writer *w)
{
	log_put_text(w, "End TriggerBlock\n");
}

const struct log_format log_asc_format = {
	.name = "Vector ASC",
	.suffix = ".asc",
	.probe = asc_probe,
	.read_line = asc_line,
	.start_unit_ns = NS_PER_MS,
	.begin = asc_begin,
	.put = asc_put,
	.end = asc_end,
	.lacks = LOG_NO_NAMES | LOG_NO_DETAILS | LOG_NO_PAST,
};
