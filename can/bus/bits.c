/* bits.c: the bits of a frame on the wire.
 *
 * Classic:
 *
 *	standard: start, 11 of identifier, RTR, IDE 0, r0 0, 4 of length code, data, 15 of CRC
 *	extended: start, 11 of identifier, SRR 1, IDE 1, 18 of identifier, RTR, r1 0, r0 0, 4 of length code, data, CRC
 *
 * and then, never stuffed: CRC delimiter, acknowledge slot and its delimiter, seven bits of end of frame, three of
 * interframe space.  After five equal bits from the start to the last of the CRC, stuff bits among them, comes one of
 * the other kind.
 *
 * CAN FD:
 *
 *	standard: start, 11 of identifier, RRS 0, IDE 0, FDF 1, res 0, BRS, ESI, 4 of length code, data
 *	extended: start, 11 of identifier, SRR 1, IDE 1, 18 of identifier, RRS 0, FDF 1, res 0, BRS, ESI, 4, data
 *
 * then stuff count (3 bits, Gray code, and parity), CRC, and as in a classic frame CRC delimiter, acknowledge slot and
 * its delimiter, seven bits of end of frame, three of interframe space.  The CRC covers the stuff bits of the data and
 * the stuff count, not the fixed stuff bits.
 *
 * Checked: covered.
 */
#include "can/bus/bits.h"

#define BITS_CRC 15
#define BITS_POLYNOMIAL 0x4599
#define BITS_TAIL 10 /* CRC delimiter, acknowledge slot and delimiter, end of frame */
#define BITS_HEADER_STD 19
#define BITS_HEADER_EXT 39

static bool is_classic(const struct frame *f)
{
	return !(f->flags & FRAME_FD) && !(f->id & FRAME_ERR) && f->len <= FRAME_DATA_MAX;
}

/* From the start bit to the length code, the last bit sent lowest. */
static uint64_t header(const struct frame *f)
{
	const uint64_t remote = f->id & FRAME_RTR ? 1 : 0;
	const uint64_t id = frame_id(f);

	if (f->id & FRAME_EXT)
		return id >> 18 << 27 | 3u << 25 | (id & 0x3ffff) << 7 | remote << 6 | frame_code(f);
	return id << 7 | remote << 6 | frame_code(f);
}

/* ---- the quick way: four bits at a time ---- */

/* [state][the next four bits]: 8 if there is a stuff bit among or behind them, which is never more than one, plus the
 * next state.  A state is the last bit times 4, plus the bits of its kind in a row (1 to 4) less one; the fifth
 * brings the stuff bit at once, so there is no state for it. */
static const uint8_t stuffing[8][16] = {
	{ 0x0c, 0x04, 0x00, 0x05, 0x01, 0x04, 0x00, 0x06, 0x02, 0x04, 0x00, 0x05, 0x01, 0x04, 0x00, 0x07 },
	{ 0x08, 0x0d, 0x00, 0x05, 0x01, 0x04, 0x00, 0x06, 0x02, 0x04, 0x00, 0x05, 0x01, 0x04, 0x00, 0x07 },
	{ 0x09, 0x0c, 0x08, 0x0e, 0x01, 0x04, 0x00, 0x06, 0x02, 0x04, 0x00, 0x05, 0x01, 0x04, 0x00, 0x07 },
	{ 0x0a, 0x0c, 0x08, 0x0d, 0x09, 0x0c, 0x08, 0x0f, 0x02, 0x04, 0x00, 0x05, 0x01, 0x04, 0x00, 0x07 },
	{ 0x03, 0x04, 0x00, 0x05, 0x01, 0x04, 0x00, 0x06, 0x02, 0x04, 0x00, 0x05, 0x01, 0x04, 0x00, 0x08 },
	{ 0x03, 0x04, 0x00, 0x05, 0x01, 0x04, 0x00, 0x06, 0x02, 0x04, 0x00, 0x05, 0x01, 0x04, 0x09, 0x0c },
	{ 0x03, 0x04, 0x00, 0x05, 0x01, 0x04, 0x00, 0x06, 0x02, 0x04, 0x00, 0x05, 0x0a, 0x0c, 0x08, 0x0d },
	{ 0x03, 0x04, 0x00, 0x05, 0x01, 0x04, 0x00, 0x06, 0x0b, 0x0c, 0x08, 0x0d, 0x09, 0x0c, 0x08, 0x0e },
};

/* The remainder of each byte. */
#define STEP(c) ((c) << 1 ^ ((c) >> 14 & 1 ? 0x8000 | BITS_POLYNOMIAL : 0))
#define BIT(n, k) ((n) >> (k)&1 ? bit_##k : 0)
#define BYTE(n) (BIT(n, 0) ^ BIT(n, 1) ^ BIT(n, 2) ^ BIT(n, 3) ^ BIT(n, 4) ^ BIT(n, 5) ^ BIT(n, 6) ^ BIT(n, 7))
#define ROW4(n) BYTE(n), BYTE((n) + 1), BYTE((n) + 2), BYTE((n) + 3)
#define ROW16(n) ROW4(n), ROW4((n) + 4), ROW4((n) + 8), ROW4((n) + 12)
#define ROW64(n) ROW16(n), ROW16((n) + 16), ROW16((n) + 32), ROW16((n) + 48)

enum {
	bit_0 = BITS_POLYNOMIAL,
	bit_1 = STEP(bit_0),
	bit_2 = STEP(bit_1),
	bit_3 = STEP(bit_2),
	bit_4 = STEP(bit_3),
	bit_5 = STEP(bit_4),
	bit_6 = STEP(bit_5),
	bit_7 = STEP(bit_6),
};

static const uint16_t remainders[256] = { ROW64(0), ROW64(64), ROW64(128), ROW64(192) };

struct quick {
	unsigned int state, stuff;
	unsigned int crc;
};

static inline void stuff_byte(struct quick *q, unsigned int byte)
{
	unsigned int high = stuffing[q->state][byte >> 4], low = stuffing[high & 7][byte & 15];

	q->state = low & 7;
	q->stuff += (high >> 3) + (low >> 3);
}

static inline void crc_byte(struct quick *q, unsigned int byte)
{
	q->crc = (q->crc << 8 ^ remainders[(q->crc >> 7 ^ byte) & 0xff]) & 0x7fff;
}

bool bits_of(struct bits *bits, const struct frame *f)
{
	const bool extended = f->id & FRAME_EXT;
	const unsigned int len = frame_data_len(f);
	struct quick q = { .state = 4 };
	uint64_t plain, filled;

	*bits = (struct bits){ 0 };
	if (!is_classic(f))
		return false;
	/* Filled up in front to whole bytes: with zeros, which leave the CRC at 0, and with alternating bits, which
	 * need no stuff bit and end in one that the start bit differs from. */
	plain = header(f);
	filled = plain | (extended ? 1ull << BITS_HEADER_EXT : 0x15u << BITS_HEADER_STD);
	for (int shift = extended ? 32 : 16; shift >= 0; shift -= 8) {
		crc_byte(&q, plain >> shift & 0xff);
		stuff_byte(&q, filled >> shift & 0xff);
	}
	for (unsigned int i = 0; i < len; i++) {
		crc_byte(&q, f->data[i]);
		stuff_byte(&q, f->data[i]);
	}
	/* Filled up behind with the opposite of the last bit, which cannot be a fifth. */
	stuff_byte(&q, q.crc >> 7);
	stuff_byte(&q, (q.crc << 1 | (~q.crc & 1)) & 0xff);
	bits->all = (extended ? BITS_HEADER_EXT : BITS_HEADER_STD) + 8 * len + BITS_CRC + BITS_TAIL + BITS_INTERFRAME +
		    q.stuff;
	bits->stuff = q.stuff;
	bits->crc = (uint16_t)q.crc;
	return true;
}

unsigned int bits_worst(bool extended, bool remote, unsigned int len)
{
	unsigned int data = remote ? 0 : len < FRAME_DATA_MAX ? len : FRAME_DATA_MAX;
	unsigned int stuffed = (extended ? BITS_HEADER_EXT : BITS_HEADER_STD) + 8 * data + BITS_CRC;

	/* The first stuff bit needs five bits, each further one four more: it begins the next five itself. */
	return stuffed + (stuffed - 1) / 4 + BITS_TAIL + BITS_INTERFRAME;
}

/* ---- the plain way: bit by bit ---- */

struct writer {
	uint8_t *bits;
	bool *stuffed, *fast; /* or NULL */
	bool fast_now;
	unsigned int n, run, stuff, fast_n;
	unsigned int crc, polynomial, top;
	bool crc_has_stuff; /* it covers the stuff bits */
};

static void put(struct writer *w, unsigned int bit, bool stuffed)
{
	w->run = w->n && w->bits[w->n - 1] == bit ? w->run + 1 : 1;
	if (w->stuffed)
		w->stuffed[w->n] = stuffed;
	if (w->fast)
		w->fast[w->n] = w->fast_now;
	w->fast_n += w->fast_now;
	w->bits[w->n++] = (uint8_t)bit;
}

static void take_crc(struct writer *w, unsigned int bit)
{
	const bool over = (w->crc & w->top ? 1u : 0) != bit;

	w->crc = (w->crc << 1 & (2 * w->top - 1)) ^ (over ? w->polynomial : 0);
}

/* A stuff bit is due before the next bit, so that none follows the last. */
static void put_stuffed(struct writer *w, uint64_t value, unsigned int n)
{
	while (n--) {
		const unsigned int bit = value >> n & 1;

		if (w->run == 5) {
			const unsigned int opposite = !w->bits[w->n - 1];

			w->stuff++;
			put(w, opposite, true);
			if (w->crc_has_stuff)
				take_crc(w, opposite);
		}
		put(w, bit, false);
		take_crc(w, bit);
	}
}

unsigned int bits_string(uint8_t bits[BITS_MAX], bool stuffed[BITS_MAX], const struct frame *f)
{
	struct writer w = {
		.bits = bits, .stuffed = stuffed, .polynomial = BITS_POLYNOMIAL, .top = 1u << (BITS_CRC - 1)
	};

	if (!is_classic(f))
		return 0;
	put_stuffed(&w, header(f), f->id & FRAME_EXT ? BITS_HEADER_EXT : BITS_HEADER_STD);
	for (unsigned int i = 0; i < frame_data_len(f); i++)
		put_stuffed(&w, f->data[i], 8);
	put_stuffed(&w, w.crc, BITS_CRC);
	if (w.run == 5)
		put(&w, !bits[w.n - 1], true);
	for (unsigned int i = 0; i < BITS_TAIL; i++)
		put(&w, 1, false);
	return w.n;
}

/* ---- CAN FD ---- */

#define FD_HEADER_STD 17 /* up to BRS */
#define FD_HEADER_EXT 36
#define FAST_HEADER 5 /* ESI, length code */
#define STUFF_COUNT 4
#define TAIL_SLOW 9
#define CRC21_LEN 20 /* bytes of data, and more: the longer CRC */

static bool is_fd(const struct frame *f)
{
	return f->flags & FRAME_FD && frame_valid(f);
}

static unsigned int crc_bits(unsigned int len)
{
	return len < CRC21_LEN ? 17 : 21;
}

/* One in front, and one behind every four. */
static unsigned int fixed_bits(unsigned int len)
{
	return 1 + (STUFF_COUNT + crc_bits(len)) / 4;
}

static uint64_t fd_header(const struct frame *f)
{
	const uint64_t id = frame_id(f),
		       tail = (f->flags & FRAME_BRS ? 0x20u : 0) | (f->flags & FRAME_ESI ? 0x10u : 0) | frame_code(f);

	/* ... RRS 0, FDF 1, res 0 */
	if (f->id & FRAME_EXT)
		return (id >> 18 << 20 | 3u << 18 | (id & 0x3ffff)) << 9 | 0x080 | tail;
	return id << 10 | 0x080 | tail;
}

/* The opposite of the last bit before every four. */
static void put_fixed(struct writer *w, uint64_t value, unsigned int n, unsigned int *since)
{
	while (n--) {
		if (*since == 4) {
			put(w, !w->bits[w->n - 1], true);
			*since = 0;
		}
		put(w, value >> n & 1, false);
		++*since;
	}
}

static unsigned int stuff_count(unsigned int stuff)
{
	const unsigned int gray = (stuff % 8) ^ (stuff % 8) >> 1;

	return gray << 1 | (unsigned int)__builtin_parity(gray);
}

static void write_frame(struct writer *w, const struct frame *f)
{
	const unsigned int width = crc_bits(f->len), slow = f->id & FRAME_EXT ? FD_HEADER_EXT : FD_HEADER_STD;
	unsigned int since = 4, count;

	w->top = 1u << (width - 1);
	w->crc = w->top;
	w->polynomial = width == 17 ? 0x1685b : 0x102899;
	w->crc_has_stuff = true;
	put_stuffed(w, fd_header(f) >> FAST_HEADER, slow);
	w->fast_now = f->flags & FRAME_BRS;
	put_stuffed(w, fd_header(f), FAST_HEADER);
	for (unsigned int i = 0; i < f->len; i++)
		put_stuffed(w, f->data[i], 8);
	count = stuff_count(w->stuff);
	for (unsigned int i = STUFF_COUNT; i--;)
		take_crc(w, count >> i & 1);
	put_fixed(w, count, STUFF_COUNT, &since);
	put_fixed(w, w->crc, width, &since);
	put(w, 1, false);
	w->fast_now = false;
	for (unsigned int i = 1; i < BITS_TAIL; i++)
		put(w, 1, false);
}

unsigned int bits_fd_string(uint8_t bits[BITS_FD_MAX], bool stuffed[BITS_FD_MAX], bool fast[BITS_FD_MAX],
			    const struct frame *f)
{
	struct writer w = { .bits = bits, .stuffed = stuffed, .fast = fast };

	if (!is_fd(f))
		return 0;
	write_frame(&w, f);
	return w.n;
}

bool bits_fd_of(struct bits_fd *bits, const struct frame *f)
{
	uint8_t string[BITS_FD_MAX];
	struct writer w = { .bits = string };

	*bits = (struct bits_fd){ 0 };
	if (!is_fd(f))
		return false;
	write_frame(&w, f);
	bits->fast = w.fast_n;
	bits->slow = w.n - w.fast_n + BITS_INTERFRAME;
	bits->stuff = w.stuff;
	bits->fixed = fixed_bits(f->len);
	bits->crc = w.crc;
	return true;
}

void bits_fd_bound(struct bits_fd *bits, bool extended, bool switched, unsigned int len, bool stuffed)
{
	const unsigned int slow = extended ? FD_HEADER_EXT : FD_HEADER_STD, fast = FAST_HEADER + 8 * len;
	/* The first one needs five bits, each further one four more, and a bit behind it. */
	const unsigned int stuff = stuffed ? (slow + fast - 2) / 4 : 0, slow_stuff = stuffed ? (slow - 2) / 4 : 0;

	*bits = (struct bits_fd){ .stuff = stuff, .fixed = fixed_bits(len) };
	bits->slow = slow + slow_stuff + TAIL_SLOW + BITS_INTERFRAME;
	bits->fast = fast + stuff - slow_stuff + STUFF_COUNT + crc_bits(len) + bits->fixed + BITS_TAIL - TAIL_SLOW;
	if (!switched) {
		bits->slow += bits->fast;
		bits->fast = 0;
	}
}

bool bits_any_of(struct bits_fd *bits, const struct frame *f)
{
	struct bits classic;

	if (!bits_of(&classic, f))
		return bits_fd_of(bits, f);
	*bits = (struct bits_fd){ .slow = classic.all, .stuff = classic.stuff, .crc = classic.crc };
	return true;
}

/* ---- time ---- */

int64_t bits_fd_ns(const struct bits_rates *rates, unsigned int slow, unsigned int fast)
{
	const uint64_t nominal = rates->nominal, data = rates->data ? rates->data : nominal;
	const uint64_t per_s = nominal * data;

	return (int64_t)(((slow * data + fast * nominal) * NS_PER_S + per_s - 1) / per_s);
}

int64_t bits_frame_ns(const struct bits_rates *rates, uint32_t id, unsigned int len, uint8_t flags, bool stuffed)
{
	const bool extended = id & FRAME_EXT, remote = id & FRAME_RTR;
	const unsigned int data = remote ? 0 : len;

	struct bits_fd bits;

	if (flags & FRAME_FD) {
		bits_fd_bound(&bits, extended, flags & FRAME_BRS, frame_len_fd(len), stuffed);
		return bits_fd_ns(rates, bits.slow, bits.fast);
	}
	return bits_fd_ns(rates, stuffed ? bits_worst(extended, remote, len) : (extended ? 67 : 47) + 8 * data, 0);
}

/* ---- arbitration ---- */

/* Equal bits have equal stuff bits. */
uint32_t bits_arbitration(uint32_t id)
{
	const uint32_t remote = id & FRAME_RTR ? 1 : 0, number = id & FRAME_EXT_MASK;

	if (id & FRAME_EXT)
		return number >> 18 << 21 | 3u << 19 | (number & 0x3ffff) << 1 | remote;
	return (id & FRAME_STD_MASK) << 21 | remote << 20;
}

int bits_arbitrate(const struct frame *a, const struct frame *b)
{
	uint32_t x = bits_arbitration(a->id), y = bits_arbitration(b->id);

	return (x > y) - (x < y);
}
