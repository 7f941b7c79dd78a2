/* log_ixxat.c: CSV as IXXAT's MiniMon and canAnalyser Mini write it.
 *
 *	ASCII Trace IXXAT MiniMon V3  Version: 1.1.4.4533
 *	Date: 5/9/2024
 *	"Time","Identifier (hex)","Format","Flags","Data (hex)"
 *	"00:30:06.866","184","Std","","00 06 00 16 75 EE 00 3C"
 *	"00:30:06.866","184","Ext","Rtr","Remote request DLC=4"
 *	"00:30:06.867","Stuff Error","","",""
 *
 * Fields have semicolons between them where the comma is the decimal one.  Times count from the start of the controller
 * and not from the date, whose order of day and month depends on the place.  Of the flags only Rtr is known.
 */
#include "can/log/log_formats.h"

#define FIELDS 5
#define HOURS_MAX 100000

static const char columns[] = "\"Time\",\"Identifier (hex)\",\"Format\",\"Flags\",\"Data (hex)\"";

static bool ixxat_probe(struct log_text line)
{
	static const char *const headers[] = { "ASCII Trace IXXAT", "\"Time\",\"Identifier (hex)\"",
					       "\"Time\";\"Identifier (hex)\"", NULL };

	return log_begins_any(line, headers);
}

/* ---- reading ---- */

/* "...", and the comma or semicolon behind it. */
static bool read_field(struct log_text *line, struct log_text *f)
{
	const char *quote;

	if (line->at == line->end || *line->at != '"')
		return false;
	f->at = line->at + 1;
	quote = memchr(f->at, '"', (size_t)(line->end - f->at));
	if (!quote)
		return false;
	f->end = quote;
	line->at = quote + 1;
	if (line->at < line->end && (*line->at == ',' || *line->at == ';'))
		line->at++;
	return true;
}

/* 00:30:06.866; the comma may be the decimal one. */
static bool read_time(struct log_text f, int64_t *ns)
{
	char text[32], *comma;

	snprintf(text, sizeof(text), "%.*s", (int)(f.end - f.at), f.at);
	comma = strchr(text, ',');
	if (comma)
		*comma = '.';
	return log_clock((struct log_text){ text, text + strlen(text) }, HOURS_MAX, 60, ns);
}

static const char *read_remote(struct frame *f, struct log_text text)
{
	const char *equals = memchr(text.at, '=', (size_t)(text.end - text.at));
	struct log_text number = { equals ? equals + 1 : text.end, text.end };
	uint32_t len;

	log_skip_blanks(&number);
	if (!log_begins(text, "Remote request") || !log_number(log_word(&number), 10, FRAME_DATA_MAX, &len))
		return "a remote frame says \"Remote request DLC=4\"";
	f->id |= FRAME_RTR;
	f->len = (uint8_t)len;
	return NULL;
}

static const char *read_data(struct frame *f, struct log_text text)
{
	for (struct log_text word = log_word(&text); word.at < word.end; word = log_word(&text)) {
		uint32_t byte;

		if (f->len == FRAME_DATA_MAX)
			return "a frame has at most 8 bytes";
		if (word.end - word.at != 2 || !log_number(word, 16, 255, &byte))
			return "data is hexadecimal, two digits for each byte";
		f->data[f->len++] = (uint8_t)byte;
	}
	return NULL;
}

static const char *ixxat_line(struct log *log, struct log_record *r, struct log_text line)
{
	static const char *const headers[] = { "ASCII Trace IXXAT", "date:",	 "start time:", "stop time:",
					       "overruns:",	    "baudrate:", "\"time\"",	NULL };
	struct log_text f[FIELDS];
	bool remote, extended;
	const char *wrong;
	uint32_t id;

	(void)log;
	if (log_begins_any(line, headers))
		return log_nothing;
	for (size_t i = 0; i < FIELDS; i++)
		if (!read_field(&line, &f[i]))
			return "a line has 5 fields in quotes: time, identifier, format, flags, data";
	log_clear(r);
	if (!read_time(f[0], &r->t_ns))
		return "not a time: it is hours, minutes and seconds, such as 00:30:06.866";
	if (f[1].end - f[1].at > 5 && log_begins((struct log_text){ f[1].end - 5, f[1].end }, "Error"))
		return log_set_error(r);
	extended = log_is(f[2], "Ext");
	if (!extended && !log_is(f[2], "Std"))
		return "the format of a frame is Std or Ext";
	if (!log_number(f[1], 16, UINT32_MAX, &id))
		return "an identifier is hexadecimal, such as 184";
	remote = log_is(f[3], "Rtr");
	if (!remote && f[3].at < f[3].end)
		return "unknown flag: a frame has none, or Rtr";
	wrong = log_set_id(&r->frame, id, extended);
	if (wrong)
		return wrong;
	return remote ? read_remote(&r->frame, f[4]) : read_data(&r->frame, f[4]);
}

/* ---- writing ---- */

static void ixxat_begin(struct log_writer *w)
{
	log_put_text(w, "ASCII Trace IXXAT MiniMon V3\n%s\n", columns);
}

static void ixxat_put(struct log_writer *w, const struct log_record *r)
{
	const int64_t us = log_put_since(w, r->t_ns) / 1000;
	const struct frame *f = &r->frame;
	const unsigned int n = frame_data_len(f);

	log_put_text(w, "\"%02lld:%02lld:%02lld.%06lld\",\"%X\",\"%s\",\"%s\",\"", (long long)(us / 3600000000),
		     (long long)(us / 60000000 % 60), (long long)(us / 1000000 % 60), (long long)(us % 1000000),
		     frame_id(f), f->id & FRAME_EXT ? "Ext" : "Std", f->id & FRAME_RTR ? "Rtr" : "");
	if (f->id & FRAME_RTR)
		log_put_text(w, "Remote request DLC=%u", f->len);
	for (unsigned int i = 0; i < n; i++)
		log_put_text(w, i ? " %02X" : "%02X", f->data[i]);
	log_put_text(w, "\"\n");
}

const struct log_format log_ixxat_format = {
	.name = "CSV of IXXAT",
	.suffix = ".ixxat.csv",
	.probe = ixxat_probe,
	.read_line = ixxat_line,
	.start_unit_ns = 1,
	.begin = ixxat_begin,
	.put = ixxat_put,
	.lacks =
		LOG_NO_FD | LOG_NO_BUSES | LOG_NO_DIRECTION | LOG_NO_NAMES | LOG_NO_ERRORS | LOG_NO_CODES | LOG_NO_PAST,
};
