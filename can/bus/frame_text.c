/* frame_text.c: a frame as text, the way can-utils writes it. */
#include "can/bus/frame_text.h"

#define NO FRAME_TEXT_NO_DIGIT

const uint8_t frame_text_digits[256] = {
	[0 ... '0' - 1] = NO,	    ['0'] = 0,	1,  2,	3,  4,	5,  6, 7, 8, 9, /* 0 to 9 */
	['9' + 1 ... 'A' - 1] = NO, ['A'] = 10, 11, 12, 13, 14, 15,		/* A to F */
	['F' + 1 ... 'a' - 1] = NO, ['a'] = 10, 11, 12, 13, 14, 15,		/* a to f */
	['f' + 1 ... 255] = NO,
};

/* ---- reading ---- */

struct text {
	const unsigned char *at, *end;
};

static bool take(struct text *t, char c)
{
	if (t->at == t->end || *t->at != c)
		return false;
	t->at++;
	return true;
}

/* The identifier and the first #. */
static const char *read_id(struct frame *f, struct text *t)
{
	const unsigned char *from = t->at;
	uint32_t id = 0;
	size_t n;

	for (uint8_t digit; t->at < t->end && (digit = frame_text_digits[*t->at]) != NO; t->at++)
		id = id << 4 | digit;
	n = (size_t)(t->at - from);
	if (t->at == t->end)
		return "there is no # after the identifier";
	if (!take(t, '#'))
		return "an identifier is hexadecimal digits, then #";
	if (n != 3 && n != 8)
		return "an identifier has 3 or 8 digits";
	if (n == 3 && id > FRAME_STD_MASK)
		return "an 11-bit identifier is at most 7FF, one of 29 bits has 8 digits";
	if (n == 8 && id > (FRAME_ERR | FRAME_EXT_MASK))
		return "a 29-bit identifier is at most 1FFFFFFF";
	f->id = n == 3 || id & FRAME_ERR ? id : id | FRAME_EXT;
	return NULL;
}

/* Bytes up to the end or a '_'. */
static const char *read_data(struct frame *f, struct text *t, unsigned int max)
{
	const char *too_long = max == FRAME_DATA_MAX ? "a classic frame has at most 8 bytes, ## begins one of CAN FD"
						     : "a frame of CAN FD has at most 64 bytes";
	const unsigned char *at = t->at;
	unsigned int n = 0;

	for (;;) {
		uint8_t high, low;

		at += at < t->end && *at == '.';
		if (at == t->end || *at == '_')
			break;
		if (t->end - at < 2)
			return "each byte of data has two digits";
		high = frame_text_digits[at[0]];
		low = frame_text_digits[at[1]];
		if ((high | low) == NO)
			return "data is hexadecimal, two digits for each byte";
		if (n == max)
			return too_long;
		f->data[n++] = (uint8_t)(high << 4 | low);
		at += 2;
	}
	t->at = at;
	f->len = (uint8_t)n;
	return NULL;
}

static const char *read_fd(struct frame *f, struct text *t)
{
	uint8_t flags = t->at == t->end ? NO : frame_text_digits[*t->at];
	const char *wrong;

	if (flags > (FRAME_FD | FRAME_BRS | FRAME_ESI))
		return "a digit of flags, 0 to 7, must follow ##";
	if (f->id & FRAME_ERR)
		return "an error frame has one #";
	t->at++;
	f->flags = flags | FRAME_FD;
	wrong = read_data(f, t, FRAME_DATA_MAX_FD);
	if (wrong)
		return wrong;
	if (t->at != t->end)
		return "only a classic frame has a length code after _";
	if (frame_len_fd(f->len) != f->len)
		return "CAN FD has no such length: 0 to 8, 12, 16, 20, 24, 32, 48 or 64 bytes";
	return NULL;
}

static const char *read_remote(struct frame *f, struct text *t)
{
	if (f->id & FRAME_ERR)
		return "an error frame is never remote";
	f->id |= FRAME_RTR;
	if (t->at == t->end || *t->at == '_')
		return NULL;
	if (*t->at < '0' || *t->at > '8')
		return "the number of bytes asked for, 0 to 8, must follow R";
	f->len = *t->at++ - '0';
	return NULL;
}

/* An optional suffix: _ and the length code, if above 8. */
static const char *read_code(struct frame *f, struct text *t)
{
	uint8_t code;

	if (t->at == t->end)
		return NULL;
	if (!take(t, '_'))
		return "there is something after the frame";
	if (f->len != FRAME_DATA_MAX)
		return "only a frame of 8 bytes has a length code after _";
	code = t->at == t->end ? NO : frame_text_digits[*t->at++];
	if (code == NO || code <= FRAME_DATA_MAX || t->at != t->end)
		return "a length code, 9 to F, must follow _";
	f->dlc = code;
	return NULL;
}

const char *frame_text_read(struct frame *f, const char *text, size_t len)
{
	struct text t = { (const unsigned char *)text, (const unsigned char *)text + len };
	const char *wrong;

	memset(f, 0, sizeof(*f));
	wrong = read_id(f, &t);
	if (wrong)
		return wrong;
	if (take(&t, '#'))
		return read_fd(f, &t);
	wrong = take(&t, 'R') || take(&t, 'r') ? read_remote(f, &t) : read_data(f, &t, FRAME_DATA_MAX);
	if (__builtin_expect(f->id & FRAME_ERR, 0)) {
		if (!wrong && f->len && f->len != FRAME_DATA_MAX)
			wrong = "an error frame has 8 bytes, or none";
		f->len = FRAME_DATA_MAX;
	}
	return wrong ? wrong : read_code(f, &t);
}

bool frame_text_read_id(const char *text, uint32_t *id)
{
	char whole[16];
	struct frame f;

	snprintf(whole, sizeof(whole), "%s#", text); /* one that is cut has no # */
	if (frame_text_read(&f, whole, strlen(whole)) || f.id & FRAME_ERR)
		return false;
	*id = f.id;
	return true;
}

/* ---- writing ---- */

static char *put_hex(char *to, uint32_t value, unsigned int digits)
{
	for (unsigned int shift = digits * 4; shift; shift -= 4)
		*to++ = "0123456789ABCDEF"[value >> (shift - 4) & 0xF];
	return to;
}

size_t frame_text_write(char text[FRAME_TEXT_MAX], const struct frame *f)
{
	const bool fd = f->flags & FRAME_FD;
	const unsigned int most = fd ? FRAME_DATA_MAX_FD : FRAME_DATA_MAX, len = f->len < most ? f->len : most;
	char *to;

	if (f->id & FRAME_ERR)
		to = put_hex(text, f->id & (FRAME_ERR | FRAME_EXT_MASK), 8);
	else
		to = put_hex(text, frame_id(f), f->id & FRAME_EXT ? 8 : 3);
	*to++ = '#';
	if (fd) {
		*to++ = '#';
		to = put_hex(to, f->flags, 1);
	}
	if (!fd && f->id & FRAME_RTR) {
		*to++ = 'R';
		if (len)
			to = put_hex(to, len, 1);
	} else {
		for (unsigned int i = 0; i < len; i++)
			to = put_hex(to, f->data[i], 2);
	}
	if (!fd && len == FRAME_DATA_MAX && f->dlc > FRAME_DATA_MAX && f->dlc < 16) {
		*to++ = '_';
		to = put_hex(to, f->dlc, 1);
	}
	*to = '\0';
	return (size_t)(to - text);
}
