/* bits_fd.c: the bits of a CAN FD frame on the wire.
 *
 *	standard: start, 11 of identifier, RRS 0, IDE 0, FDF 1, res 0, BRS, ESI, 4 of length code, data
 *	extended: start, 11 of identifier, SRR 1, IDE 1, 18 of identifier, RRS 0, FDF 1, res 0, BRS, ESI, 4, data
 *
 * then stuff count (3 bits, Gray code, and parity), CRC, and as in a classic frame CRC delimiter, acknowledge slot and
 * its delimiter, seven bits of end of frame, three of interframe space.  The CRC covers the stuff bits of the data and
 * the stuff count, not the fixed stuff bits.
 */
#include "can/bus/bits_fd.h"

#include "config/base/ns.h"

#define HEADER_STD 17 /* up to BRS */
#define HEADER_EXT 36
#define FAST_HEADER 5 /* ESI, length code */
#define STUFF_COUNT 4
#define TAIL 10 /* CRC delimiter to end of frame */
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

static uint64_t header(const struct frame *f)
{
	const uint64_t id = frame_id(f),
		       tail = (f->flags & FRAME_BRS ? 0x20u : 0) | (f->flags & FRAME_ESI ? 0x10u : 0) | frame_code(f);

	/* ... RRS 0, FDF 1, res 0 */
	if (f->id & FRAME_EXT)
		return (id >> 18 << 20 | 3u << 18 | (id & 0x3ffff)) << 9 | 0x080 | tail;
	return id << 10 | 0x080 | tail;
}

/* ---- bit by bit ---- */

struct writer {
	uint8_t *bits;
	bool *stuffed, *fast; /* or NULL */
	bool fast_now;
	unsigned int n, run, stuff, fast_n;
	unsigned int crc, polynomial, top;
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
			take_crc(w, opposite);
		}
		put(w, bit, false);
		take_crc(w, bit);
	}
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
	const unsigned int width = crc_bits(f->len), slow = f->id & FRAME_EXT ? HEADER_EXT : HEADER_STD;
	unsigned int since = 4, count;

	w->top = 1u << (width - 1);
	w->crc = w->top;
	w->polynomial = width == 17 ? 0x1685b : 0x102899;
	put_stuffed(w, header(f) >> FAST_HEADER, slow);
	w->fast_now = f->flags & FRAME_BRS;
	put_stuffed(w, header(f), FAST_HEADER);
	for (unsigned int i = 0; i < f->len; i++)
		put_stuffed(w, f->data[i], 8);
	count = stuff_count(w->stuff);
	for (unsigned int i = STUFF_COUNT; i--;)
		take_crc(w, count >> i & 1);
	put_fixed(w, count, STUFF_COUNT, &since);
	put_fixed(w, w->crc, width, &since);
	put(w, 1, false);
	w->fast_now = false;
	for (unsigned int i = 1; i < TAIL; i++)
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
	const unsigned int slow = extended ? HEADER_EXT : HEADER_STD, fast = FAST_HEADER + 8 * len;
	/* The first one needs five bits, each further one four more, and a bit behind it. */
	const unsigned int stuff = stuffed ? (slow + fast - 2) / 4 : 0, slow_stuff = stuffed ? (slow - 2) / 4 : 0;

	*bits = (struct bits_fd){ .stuff = stuff, .fixed = fixed_bits(len) };
	bits->slow = slow + slow_stuff + TAIL_SLOW + BITS_INTERFRAME;
	bits->fast = fast + stuff - slow_stuff + STUFF_COUNT + crc_bits(len) + bits->fixed + TAIL - TAIL_SLOW;
	if (!switched) {
		bits->slow += bits->fast;
		bits->fast = 0;
	}
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
