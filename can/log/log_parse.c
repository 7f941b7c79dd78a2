/* log_parse.c: shared by the readers of log lines. */
#include <strings.h>

#include "can/bus/frame_text.h"
#include "can/log/log_parse.h"

#define CHANNELS_MAX 9999

const char log_nothing[] = "", log_end[] = "the end";

/* ---- pieces of a line ---- */

bool log_begins(struct log_text line, const char *text)
{
	size_t len = strlen(text);

	return (size_t)(line.end - line.at) >= len && !strncasecmp(line.at, text, len);
}

bool log_begins_any(struct log_text line, const char *const *texts)
{
	while (*texts && !log_begins(line, *texts))
		texts++;
	return *texts;
}

bool log_is(struct log_text word, const char *text)
{
	return (size_t)(word.end - word.at) == strlen(text) && log_begins(word, text);
}

bool log_number(struct log_text word, unsigned int base, uint32_t max, uint32_t *number)
{
	uint64_t n = 0;

	if (word.at == word.end)
		return false;
	for (; word.at < word.end; word.at++) {
		uint8_t digit = frame_text_digits[(unsigned char)*word.at];

		if (digit >= base)
			return false;
		n = n * base + digit;
		if (n > max)
			return false;
	}
	*number = (uint32_t)n;
	return true;
}

bool log_time(struct log_text *t, int64_t unit_ns, int64_t *ns)
{
	static const int64_t scale[] = { 1000000000, 100000000, 10000000, 1000000, 100000, 10000, 1000, 100, 10, 1 };
	const char *from = t->at, *at = from, *end = t->end;
	int64_t whole = 0, part = 0;

	for (; at < end && log_digit(*at); at++) {
		if (whole >= INT64_MAX / 10 / NS_PER_S)
			return false;
		whole = whole * 10 + (*at - '0');
	}
	if (at == from)
		return false;
	if (at < end && *at == '.') {
		from = ++at;
		for (; at < end && log_digit(*at); at++)
			if (at - from < 9)
				part = part * 10 + (*at - '0');
		if (at == from)
			return false;
		part *= scale[at - from < 9 ? at - from : 9];
	}
	*ns = whole * unit_ns + part / (NS_PER_S / unit_ns);
	t->at = at;
	return true;
}

bool log_clock(struct log_text text, uint32_t hours_max, unsigned int seconds, int64_t *ns)
{
	uint32_t part[2];

	for (size_t i = 0; i < 2; i++) {
		const char *colon = memchr(text.at, ':', (size_t)(text.end - text.at));

		if (!colon || !log_number((struct log_text){ text.at, colon }, 10, i ? 59 : hours_max, &part[i]))
			return false;
		text.at = colon + 1;
	}
	if (!log_time(&text, NS_PER_S, ns) || text.at != text.end || *ns >= seconds * NS_PER_S)
		return false;
	*ns += (part[0] * INT64_C(3600) + part[1] * INT64_C(60)) * NS_PER_S;
	return true;
}

int log_stamp(const char *text, int64_t *ns)
{
	struct log_text t = { text, text + strlen(text) };

	return log_time(&t, NS_PER_S, ns) && t.at == t.end ? 0 : -EINVAL;
}

/* ---- pieces of a record ---- */

void log_clear(struct log_record *r)
{
	memset(&r->frame, 0, sizeof(r->frame));
	r->direction = 0;
	memcpy(r->bus, "can0", sizeof("can0"));
}

const char *log_set_name(struct log_record *r, struct log_text name)
{
	const size_t n = (size_t)(name.end - name.at);

	if (!n)
		return "there is no interface after the time";
	if (n >= LOG_BUS_MAX)
		return "an interface's name has at most 15 bytes";
	for (const char *c = name.at; c < name.end; c++)
		if ((unsigned char)*c < ' ' || *c == 0x7F)
			return "a control character in the interface's name";
	memcpy(r->bus, name.at, n);
	r->bus[n] = '\0';
	return NULL;
}

const char *log_set_channel(struct log_record *r, uint32_t channel)
{
	if (!channel || channel > CHANNELS_MAX)
		return "a channel is a number from 1";
	if (channel <= 10) /* nearly always */
		memcpy(r->bus, (char[]){ 'c', 'a', 'n', (char)('0' + channel - 1), '\0' }, 5);
	else
		snprintf(r->bus, sizeof(r->bus), "can%u", channel - 1);
	return NULL;
}

const char *log_set_bus(struct log_record *r, struct log_text channel)
{
	uint32_t number;

	return log_number(channel, 10, CHANNELS_MAX, &number) ? log_set_channel(r, number)
							      : "a channel is a number from 1";
}

const char *log_set_time(struct log_record *r, int64_t start_ns, int64_t ns)
{
	return __builtin_add_overflow(start_ns, ns, &r->t_ns) ? "the time is out of range" : NULL;
}

const char *log_set_id(struct frame *f, uint32_t id, bool extended)
{
	if (!extended && id > FRAME_STD_MASK)
		return "an 11-bit identifier is at most 7FF";
	if (id > FRAME_EXT_MASK)
		return "a 29-bit identifier is at most 1FFFFFFF";
	f->id |= id | (extended ? FRAME_EXT : 0);
	return NULL;
}

const char *log_set_code(struct frame *f, uint32_t code)
{
	static const uint8_t lengths[16] = { 0, 1, 2, 3, 4, 5, 6, 7, 8, 12, 16, 20, 24, 32, 48, 64 };

	if (code > 15)
		return "a length code is 0 to 15";
	f->len = lengths[code];
	if (!(f->flags & FRAME_FD) && code > FRAME_DATA_MAX) {
		f->len = FRAME_DATA_MAX;
		f->dlc = (uint8_t)code;
	}
	return NULL;
}

const char *log_set_data(struct frame *f, struct log_text *t, unsigned int base)
{
	for (unsigned int i = 0, n = frame_data_len(f); i < n; i++) {
		struct log_text word = log_word(t);
		uint32_t byte;

		if (word.at == word.end)
			return "there is less data than its length says";
		if (!log_number(word, base, 255, &byte))
			return "a byte of data is not a number from 0 to 255";
		f->data[i] = (uint8_t)byte;
	}
	return NULL;
}

const char *log_known_frame(const struct frame *f)
{
	return frame_valid(f) ? NULL : "there is no such frame: its identifier or its length is damaged";
}

/* CAN_ERR_BUSERROR of the kernel, without details, since those of the formats depend on the hardware. */
const char *log_set_error(struct log_record *r)
{
	memset(&r->frame, 0, sizeof(r->frame));
	r->frame.id = FRAME_ERR | 0x80;
	r->frame.len = FRAME_DATA_MAX;
	r->direction = 0;
	return NULL;
}

int64_t log_local_ns(struct tm day, int64_t clock_ns)
{
	time_t s;

	day.tm_isdst = -1;
	day.tm_hour += (int)(clock_ns / NS_PER_S / 3600);
	day.tm_sec += (int)(clock_ns / NS_PER_S % 3600);
	s = mktime(&day);
	return s < 0 || s > INT64_MAX / NS_PER_S - 1 ? 0 : s * NS_PER_S + clock_ns % NS_PER_S;
}
