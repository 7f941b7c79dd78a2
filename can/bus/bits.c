/* bits.c: the bits of a classic frame on the wire.
 *
 *	standard: start, 11 of identifier, RTR, IDE 0, r0 0, 4 of length code, data, 15 of CRC
 *	extended: start, 11 of identifier, SRR 1, IDE 1, 18 of identifier, RTR, r1 0, r0 0, 4 of length code, data, CRC
 *
 * and then, never stuffed: CRC delimiter, acknowledge slot and its delimiter, seven bits of end of frame, three of
 * interframe space.  After five equal bits from the start to the last of the CRC, stuff bits among them, comes one of
 * the other kind.
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

struct bit_writer {
	uint8_t *bits;
	bool *stuffed;
	unsigned int n, run; /* bits; of them equal at the end */
	unsigned int crc;
};

static void put(struct bit_writer *line, unsigned int bit, bool stuffed)
{
	line->run = line->n && line->bits[line->n - 1] == bit ? line->run + 1 : 1;
	if (line->stuffed)
		line->stuffed[line->n] = stuffed;
	line->bits[line->n++] = (uint8_t)bit;
}

static void put_stuffed(struct bit_writer *line, uint64_t value, unsigned int n)
{
	while (n--) {
		unsigned int bit = value >> n & 1, over = line->crc >> (BITS_CRC - 1) ^ bit;

		line->crc = (line->crc << 1 & 0x7fff) ^ (over ? BITS_POLYNOMIAL : 0);
		put(line, bit, false);
		if (line->run == 5)
			put(line, !bit, true);
	}
}

unsigned int bits_string(uint8_t bits[BITS_MAX], bool stuffed[BITS_MAX], const struct frame *f)
{
	struct bit_writer line = { .bits = bits, .stuffed = stuffed };

	if (!is_classic(f))
		return 0;
	put_stuffed(&line, header(f), f->id & FRAME_EXT ? BITS_HEADER_EXT : BITS_HEADER_STD);
	for (unsigned int i = 0; i < frame_data_len(f); i++)
		put_stuffed(&line, f->data[i], 8);
	put_stuffed(&line, line.crc, BITS_CRC);
	for (unsigned int i = 0; i < BITS_TAIL; i++)
		put(&line, 1, false);
	return line.n;
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
