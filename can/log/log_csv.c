/* log_csv.c: CSV as python-can writes it.
 *
 *	timestamp,arbitration_id,extended,remote,error,dlc,data
 *	1483389946.197,0xdadada,1,0,0,6,WzQyLCA5XQ==
 *
 * Data is base64.  Neither the bus nor CAN FD is in it; data of more than 8 bytes is of CAN FD.
 */
#include "can/log/log_formats.h"

#define HEADER "timestamp,arbitration_id,extended,remote,error,dlc,data"
#define FIELDS 7

static bool csv_probe(struct log_text line)
{
	return log_is(line, HEADER);
}

/* ---- reading ---- */

static struct log_text field(struct log_text *line)
{
	const char *comma = memchr(line->at, ',', (size_t)(line->end - line->at));
	struct log_text f = { line->at, comma ? comma : line->end };

	line->at = comma ? comma + 1 : line->end;
	return f;
}

/* Python's float: 1483389946.197, 1e-05 */
static bool read_time(struct log_text f, int64_t *ns)
{
	struct log_text rest = f;
	char text[40];
	double s;

	if (log_time(&rest, NS_PER_S, ns) && rest.at == rest.end)
		return true;
	if (f.end - f.at >= (long)sizeof(text) || f.at == f.end || !log_digit(*f.at))
		return false;
	snprintf(text, sizeof(text), "%.*s", (int)(f.end - f.at), f.at);
	if (text_real(text, &s) || s < 0 || s >= 9e9)
		return false;
	*ns = (int64_t)(s * 1e9 + 0.5);
	return true;
}

static bool read_base64(struct frame *f, struct log_text text)
{
	uint8_t bytes[LOG_LINE_MAX];
	const ssize_t n = base64_read(bytes, text.at, (size_t)(text.end - text.at));

	if (n < 0 || n > FRAME_DATA_MAX_FD)
		return false;
	memcpy(f->data, bytes, (size_t)n);
	f->len = (uint8_t)n;
	return true;
}

static bool read_bit(struct log_text f, bool *bit)
{
	*bit = log_is(f, "1");
	return *bit || log_is(f, "0");
}

static const char *read_frame(struct frame *f, struct log_text data, uint32_t dlc, bool remote)
{
	if (remote) {
		if (dlc > FRAME_DATA_MAX)
			return "a remote frame asks for 0 to 8 bytes";
		f->id |= FRAME_RTR;
		f->len = (uint8_t)dlc;
		return NULL;
	}
	if (!read_base64(f, data))
		return "the data is not base64 of at most 64 bytes";
	if (f->len != dlc)
		return "the length is not that of the data";
	if (f->len > FRAME_DATA_MAX)
		f->flags = FRAME_FD;
	return frame_len_fd(f->len) == f->len ? NULL : "no frame has such a length";
}

static const char *csv_line(struct log *log, struct log_record *r, struct log_text line)
{
	bool extended, remote, error;
	struct log_text f[FIELDS];
	unsigned int commas = 0;
	const char *wrong;
	uint32_t id, dlc;

	(void)log;
	if (csv_probe(line))
		return log_nothing;
	for (const char *c = line.at; c < line.end; c++)
		commas += *c == ',';
	if (commas != FIELDS - 1)
		return "a line has 7 fields: " HEADER;
	for (size_t i = 0; i < FIELDS; i++)
		f[i] = field(&line);
	log_clear(r);
	if (!read_time(f[0], &r->t_ns))
		return "not a time: it is seconds, such as 1483389946.197";
	if (!log_begins(f[1], "0x") || !log_number((struct log_text){ f[1].at + 2, f[1].end }, 16, UINT32_MAX, &id))
		return "an identifier is hexadecimal, such as 0x123";
	if (!read_bit(f[2], &extended) || !read_bit(f[3], &remote) || !read_bit(f[4], &error))
		return "extended, remote and error are 0 or 1";
	if (!log_number(f[5], 10, FRAME_DATA_MAX_FD, &dlc))
		return "a length is 0 to 64";
	if (error)
		return log_set_error(r);
	wrong = log_set_id(&r->frame, id, extended);
	return wrong ? wrong : read_frame(&r->frame, f[6], dlc, remote);
}

/* ---- writing ---- */

static void csv_begin(struct log_writer *w)
{
	log_put_text(w, HEADER "\n");
}

static void csv_put(struct log_writer *w, const struct log_record *r)
{
	const struct frame *f = &r->frame;
	const bool error = f->id & FRAME_ERR;
	char data[BASE64_LEN(FRAME_DATA_MAX_FD)];
	const int64_t ns = r->t_ns > 0 ? r->t_ns : 0;

	log_put_text(w, "%lld.%09lld,0x%x,%d,%d,%d,%u,", (long long)(ns / NS_PER_S), (long long)(ns % NS_PER_S),
		     error ? 0 : frame_id(f), f->id & FRAME_EXT ? 1 : 0, f->id & FRAME_RTR ? 1 : 0, error,
		     error ? 0 : f->len);
	log_put(w, data, base64_write(data, f->data, error ? 0 : frame_data_len(f)));
	log_put(w, "\n", 1);
}

const struct log_format log_csv_format = {
	.name = "CSV of python-can",
	.suffix = ".csv",
	.probe = csv_probe,
	.read_line = csv_line,
	.begin = csv_begin,
	.put = csv_put,
	.lacks = LOG_NO_FD | LOG_NO_BUSES | LOG_NO_DIRECTION | LOG_NO_NAMES | LOG_NO_DETAILS | LOG_NO_CODES,
};
