/* log_csv.c: CSV as python-can writes it.
 *
 *	timestamp,arbitration_id,extended,remote,error,dlc,data
 *	1483389946.197,0xdadada,1,0,0,6,WzQyLCA5XQ==
 *
 * Data is base64.  Neither the bus nor CAN FD is in it; data of more than 8 bytes is of CAN FD.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "can/log_formats.h"
#include "can/log_parse.h"

#define NS_PER_S INT64_C(1000000000)
#define HEADER "timestamp,arbitration_id,extended,remote,error,dlc,data"
#define FIELDS 7

static const char digits[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";

bool log_csv_probe(struct log_text line)
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
	char text[40], *end;
	double s;

	if (log_time(&rest, NS_PER_S, ns) && rest.at == rest.end)
		return true;
	if (f.end - f.at >= (long)sizeof(text) || f.at == f.end || !log_digit(*f.at))
		return false;
	snprintf(text, sizeof(text), "%.*s", (int)(f.end - f.at), f.at);
	s = strtod(text, &end);
	if (*end || !(s >= 0 && s < 9e9))
		return false;
	*ns = (int64_t)(s * 1e9 + 0.5);
	return true;
}

static bool read_base64(struct frame *f, struct log_text text)
{
	unsigned int n = 0, bits = 0;
	uint32_t word = 0;

	if ((text.end - text.at) % 4)
		return false;
	for (int pad = 0; pad < 2 && text.end > text.at && text.end[-1] == '='; pad++)
		text.end--;
	for (; text.at < text.end; text.at++) {
		const char *digit = memchr(digits, *text.at, 64);

		if (!digit)
			return false;
		word = word << 6 | (uint32_t)(digit - digits);
		bits += 6;
		if (bits < 8)
			continue;
		if (n == FRAME_DATA_MAX_FD)
			return false;
		bits -= 8;
		f->data[n++] = (uint8_t)(word >> bits);
	}
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
	return frame_len_fd(f->len) == f->len ? NULL : "there is no frame of such a length";
}

const char *log_csv_line(struct log *log, struct log_record *r, struct log_text line)
{
	bool extended, remote, error;
	struct log_text f[FIELDS];
	unsigned int commas = 0;
	const char *wrong;
	uint32_t id, dlc;

	(void)log;
	if (log_csv_probe(line))
		return log_nothing;
	for (const char *c = line.at; c < line.end; c++)
		commas += *c == ',';
	if (commas != FIELDS - 1)
		return "a line has 7 fields: " HEADER;
	for (size_t i = 0; i < FIELDS; i++)
		f[i] = field(&line);
	memset(&r->frame, 0, sizeof(r->frame));
	r->direction = 0;
	strcpy(r->bus, "can0");
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

void log_csv_begin(struct log_writer *w, const struct log_record *first)
{
	(void)first;
	log_writer_print(w, HEADER "\n");
}

void log_csv_put(struct log_writer *w, const struct log_record *r, unsigned int channel)
{
	const struct frame *f = &r->frame;
	const bool error = f->id & FRAME_ERR;
	const unsigned int n = error ? 0 : frame_data_len(f);
	const int64_t ns = r->t_ns > 0 ? r->t_ns : 0;

	(void)channel;
	log_writer_print(w, "%lld.%09lld,0x%x,%d,%d,%d,%u,", (long long)(ns / NS_PER_S), (long long)(ns % NS_PER_S),
			 error ? 0 : frame_id(f), f->id & FRAME_EXT ? 1 : 0, f->id & FRAME_RTR ? 1 : 0, error,
			 error ? 0 : f->len);
	for (unsigned int i = 0; i < n; i += 3) {
		const uint32_t word = (uint32_t)f->data[i] << 16 | (i + 1 < n ? (uint32_t)f->data[i + 1] << 8 : 0) |
				      (i + 2 < n ? f->data[i + 2] : 0);
		char four[5] = { digits[word >> 18], digits[word >> 12 & 63], i + 1 < n ? digits[word >> 6 & 63] : '=',
				 i + 2 < n ? digits[word & 63] : '=', 0 };

		log_writer_add(w, four, 4);
	}
	log_writer_add(w, "\n", 1);
}
