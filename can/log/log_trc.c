/* log_trc.c: lines of PCAN's TRC.
 *
 *	;$FILEVERSION=1.1
 *	;$STARTTIME=44548.6028595139
 *	     1)      1059.9  Rx         0300  7  00 00 00 00 04 00 00
 *	     2)      1352.7  Rx         0100  3  RTR
 *
 *	;$FILEVERSION=2.1
 *	;$COLUMNS=N,O,T,B,I,d,R,L,D
 *	      1      1059.900 DT 1      0300 Rx -  7    00 00 00 00 04 00 00
 *
 * Columns: N number, O milliseconds since the start, T type, B bus, I identifier (4 digits: 11 bits, 5 to 8: 29
 * bits), d direction, R reserved, L length code, l length, D data.  Versions before 2.0 have fixed columns, and
 * directions for
 * types.
 * The start is days since the end of 1899.
 */
#include "can/log/log_formats.h"

#define DAYS_MAX 109575.0 /* of the year 2200 */

/* Before a file says anything it is of version 1.0, which says nothing. */
static const struct {
	const char *version, *columns;
} versions[] = {
	{ "1.0", "NOILD" },    { "1.1", "NOTILD" }, { "1.2", "NOBTILD" },
	{ "1.3", "NOBTIRLD" }, { "2.0", "?" }, /* they say it */
	{ "2.1", "?" },
};
#define VERSIONS (sizeof(versions) / sizeof(*versions))

enum kind { KIND_DATA, KIND_REMOTE, KIND_ERROR, KIND_OTHER };

static const struct type {
	const char *name;
	enum kind kind;
	uint8_t flags;
	char direction;
} types[] = {
	{ "DT", KIND_DATA, 0, 0 },
	{ "Rx", KIND_DATA, 0, 'R' },
	{ "Tx", KIND_DATA, 0, 'T' },
	{ "FD", KIND_DATA, FRAME_FD, 0 },
	{ "FB", KIND_DATA, FRAME_FD | FRAME_BRS, 0 },
	{ "FE", KIND_DATA, FRAME_FD | FRAME_ESI, 0 },
	{ "BI", KIND_DATA, FRAME_FD | FRAME_BRS | FRAME_ESI, 0 },
	{ "RR", KIND_REMOTE, 0, 0 },
	{ "ER", KIND_ERROR, 0, 0 },
	{ "Error", KIND_ERROR, 0, 0 },
	{ "ST", KIND_OTHER, 0, 0 },    /* state of the hardware */
	{ "Warng", KIND_OTHER, 0, 0 }, /* the same */
	{ "EC", KIND_OTHER, 0, 0 },    /* error counters */
	{ "EV", KIND_OTHER, 0, 0 },    /* a mark of the user */
};

/* ---- is it one? ---- */

/* "1) 100 0123 8 ...": not the rest of "(1436509052.249713) can0 ..." that was cut in two. */
static bool trc_probe(struct log_text line)
{
	struct log_text number = log_word(&line), second = log_word(&line);
	uint32_t n;

	if (*number.at == ';')
		return true;
	if (number.end[-1] != ')')
		return false;
	number.end--;
	return log_number(number, 10, UINT32_MAX, &n) && second.at < second.end && log_digit(*second.at);
}

/* ---- headers ---- */

static const char *read_version(struct log *log, struct log_text value)
{
	struct log_text word = log_word(&value);

	for (size_t i = 0; i < VERSIONS; i++)
		if (log_is(word, versions[i].version)) {
			strcpy(log->of.columns, versions[i].columns);
			return log_nothing;
		}
	strcpy(log->of.columns, "?");
	return "unknown version of TRC: 1.0 to 1.3, 2.0 and 2.1 are read";
}

static const char *read_columns(struct log *log, struct log_text value)
{
	char columns[sizeof(log->of.columns)];
	size_t n = 0;

	strcpy(log->of.columns, "?");
	for (; value.at < value.end && n < sizeof(columns) - 1; value.at += 2) {
		columns[n++] = *value.at;
		if (value.end - value.at == 1 || value.at[1] != ',')
			break;
	}
	columns[n] = '\0';
	if (value.end - value.at > 1 || !strchr(columns, 'O') || !strchr(columns, 'T') || !strchr(columns, 'I') ||
	    !strpbrk(columns, "Ll") || !n || columns[n - 1] != 'D')
		return "the columns are letters with commas between, O, T, I, L and last D among them";
	strcpy(log->of.columns, columns);
	return log_nothing;
}

static const char *read_start(struct log *log, struct log_text value)
{
	struct tm wall = { .tm_year = -1, .tm_mon = 11, .tm_mday = 30 };	 /* where its days count from */
	const char *end = memchr(value.at, ';', (size_t)(value.end - value.at)); /* some end it with a semicolon */
	double days, seconds;
	char text[32];

	snprintf(text, sizeof(text), "%.*s", (int)((end ? end : value.end) - value.at), value.at);
	if (text_real(text, &days) || days < 0 || days >= DAYS_MAX)
		return "the start is a number of days, such as 44548.6028595139";
	wall.tm_mday += (int)days;
	seconds = (days - (int)days) * 86400;
	wall.tm_sec = (int)seconds;
	log->of.start_ns = log_local_ns(wall, (int64_t)((seconds - (int)seconds) * 1e6 + 0.5) * 1000);
	return log_nothing;
}

static const char *read_header(struct log *log, struct log_text line)
{
	static const struct {
		const char *name;
		const char *(*read)(struct log *log, struct log_text value);
	} headers[] = {
		{ ";$FILEVERSION=", read_version },
		{ ";$STARTTIME=", read_start },
		{ ";$COLUMNS=", read_columns },
	};

	for (size_t i = 0; i < sizeof(headers) / sizeof(*headers); i++)
		if (log_begins(line, headers[i].name)) {
			line.at += strlen(headers[i].name);
			return headers[i].read(log, line);
		}
	return log_nothing;
}

/* ---- messages ---- */

/* A line by its columns, each a word. */
struct message {
	const struct type *type;
	struct log_text id, len, data;
	bool len_is_code;
};

static const char *read_type(struct message *m, struct log_record *r, struct log_text word)
{
	for (size_t i = 0; i < sizeof(types) / sizeof(*types); i++)
		if (log_is(word, types[i].name)) {
			m->type = &types[i];
			r->direction = m->type->direction;
			return NULL;
		}
	return "unknown type of message: DT, FD, FB, FE, BI, RR, ER, ST, EC, EV, Rx and Tx are read";
}

static const char *read_column(struct message *m, struct log *log, struct log_record *r, char column,
			       struct log_text word)
{
	int64_t ns;

	switch (column) {
	case 'N':
		return log_digit(*word.at) ? NULL : "not a line of TRC: it begins with a number";
	case 'O':
		if (!log_time(&word, NS_PER_MS, &ns) || word.at != word.end)
			return "no time: it is milliseconds, such as 1059.900";
		return log_set_time(r, log->of.start_ns, ns);
	case 'T':
		return read_type(m, r, word);
	case 'B':
		return log_set_bus(r, word);
	case 'I':
		m->id = word;
		return NULL;
	case 'd':
		r->direction = log_is(word, "Rx") ? 'R' : 'T';
		return log_is(word, "Rx") || log_is(word, "Tx") ? NULL : "a direction is Rx or Tx";
	case 'L':
	case 'l':
		m->len = word;
		m->len_is_code = column == 'L';
		return NULL;
	case '?':
		return "there is no ;$COLUMNS= before it";
	default:
		return NULL;
	}
}

static const char *read_len(struct frame *f, const struct message *m)
{
	const uint32_t max = f->flags & FRAME_FD ? FRAME_DATA_MAX_FD : FRAME_DATA_MAX;
	uint32_t len;

	if (m->len_is_code)
		return log_number(m->len, 10, 15, &len) ? log_set_code(f, len) : "a length code is 0 to 15";
	if (!log_number(m->len, 10, max, &len) || frame_len_fd(len) != len)
		return "no frame has such a length";
	f->len = (uint8_t)len;
	return NULL;
}

static const char *read_frame(struct frame *f, const struct message *m)
{
	const long digits = m->id.end - m->id.at;
	struct log_text data = m->data;
	const char *wrong;
	uint32_t id;

	if (digits < 4 || digits > 8 || !log_number(m->id, 16, UINT32_MAX, &id))
		return "an identifier has 4 hexadecimal digits, or 5 to 8 for 29 bits";
	wrong = log_set_id(f, id, digits > 4);
	if (wrong)
		return wrong;
	f->flags = m->type->flags;
	if (m->type->kind == KIND_REMOTE || (!f->flags && log_is(log_word(&data), "RTR")))
		f->id |= FRAME_RTR;
	wrong = read_len(f, m);
	data = m->data;
	return wrong ? wrong : log_set_data(f, &data, 16);
}

static const char *trc_line(struct log *log, struct log_record *r, struct log_text line)
{
	struct message m = { .type = &types[0] };
	struct log_text first;
	const char *wrong = NULL;

	if (*line.at == ';')
		return read_header(log, line);
	log_clear(r);
	for (const char *column = *log->of.columns ? log->of.columns : versions[0].columns; !wrong && *column != 'D';
	     column++) {
		struct log_text word;

		/* The rest of the line belongs to the kind, or is blank. */
		if (m.type->kind == KIND_OTHER || (m.type->kind == KIND_ERROR && *column == 'I'))
			break;
		word = log_word(&line);
		wrong = word.at == word.end ? "the line ends before its data" : read_column(&m, log, r, *column, word);
	}
	if (wrong)
		return wrong;
	m.data = first = line;
	first = log_word(&first);
	/* Version 1.0 has no types, but these words. */
	if (m.type->kind == KIND_OTHER || log_is(m.id, "FFFFFFFF"))
		return log_nothing;
	if (m.type->kind == KIND_ERROR || log_is(first, "ERROR"))
		return log_set_error(r);
	return read_frame(&r->frame, &m);
}

/* ---- writing, version 2.1 ---- */

#define EPOCH_DAYS 25569 /* from the end of 1899 to the epoch */

/* Local time as days; a day has 86400 seconds there. */
static void put_start(struct log_writer *w, int64_t t_ns)
{
	const time_t s = (time_t)(t_ns / NS_PER_S);
	struct tm wall;
	int64_t days, ns;

	if (!localtime_r(&s, &wall))
		return;
	ns = (int64_t)s + wall.tm_gmtoff;
	days = ns / 86400 + EPOCH_DAYS;
	ns = ns % 86400 * NS_PER_S + t_ns % NS_PER_S;
	/* 14 digits are 864 ps. */
	log_put_text(w, ";$STARTTIME=%lld.%014llu\r\n", (long long)days,
		     (unsigned long long)((unsigned __int128)ns * 100000000000000 / 86400000000000));
}

static void trc_begin(struct log_writer *w)
{
	log_put_text(w, ";$FILEVERSION=2.1\r\n");
	if (w->dated)
		put_start(w, w->start_ns);
	log_put_text(w, ";$COLUMNS=N,O,T,B,I,d,R,L,D\r\n");
}

static void trc_put(struct log_writer *w, const struct log_record *r)
{
	static const char *const fd[] = { "FD", "FB", "FE", "BI" };
	const int64_t ns = log_put_since(w, r->t_ns);
	const char *direction = r->direction == 'T' ? "Tx" : "Rx";
	const struct frame *f = &r->frame;

	log_put_text(w, "%7llu %6lld.%03lld ", (unsigned long long)w->records + 1, (long long)(ns / 1000000),
		     (long long)(ns % 1000000 / 1000));
	if (f->id & FRAME_ERR) {
		log_put_text(w, "ER %u         - %s -  5    00 00 00 00 00\r\n", w->channel, direction);
		return;
	}
	log_put_text(w, "%s %u  %*s%0*X %s -  %-4u",
		     f->flags & FRAME_FD ? fd[f->flags & 3]
		     : f->id & FRAME_RTR ? "RR"
					 : "DT",
		     w->channel, f->id & FRAME_EXT ? 0 : 4, "", f->id & FRAME_EXT ? 8 : 4, frame_id(f), direction,
		     frame_code(f));
	log_put_data(w, f);
	log_put_text(w, "\r\n");
}

const struct log_format log_trc_format = {
	.name = "PCAN TRC",
	.suffix = ".trc",
	.probe = trc_probe,
	.read_line = trc_line,
	.start_unit_ns = NS_PER_S,
	.begin = trc_begin,
	.put = trc_put,
	.lacks = LOG_NO_NAMES | LOG_NO_DETAILS | LOG_NO_PAST,
};
