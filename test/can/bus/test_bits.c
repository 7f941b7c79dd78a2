/* test_bits.c: frames on the wire: vectors, frames worked out by hand, and a second count written from the standard. */
#include "test/lib/testcase.h"

#include "can/bus/bits.h"

static uint64_t seed;

void setUp(void)
{
	seed = 0x9e3779b97f4a7c15;
}

static struct frame make(uint32_t id, unsigned int len, const char *hex)
{
	struct frame f = { .id = id, .len = (uint8_t)len };

	for (unsigned int i = 0; hex[2 * i]; i++) {
		unsigned int byte;

		TEST_ASSERT_EQUAL_INT(1, sscanf(hex + 2 * (size_t)i, "%2x", &byte));
		f.data[i] = (uint8_t)byte;
	}
	return f;
}

/* ---- the second count: a text of zeros and ones, divided as on paper ---- */

struct paper {
	char plain[160]; /* from the start bit to the CRC */
	char wire[200];	 /* with stuff bits, and the end of frame */
	unsigned int stuff, crc;
	bool stuff_at_end; /* behind the last bit of the CRC */
};

static void append(char *text, unsigned long value, int width)
{
	char *to = text + strlen(text);

	to[width] = 0;
	for (; width--; value >>= 1)
		to[width] = (char)('0' + (value & 1));
}

/* The remainder of the text and fifteen zeros after division by x^15+x^14+x^10+x^8+x^7+x^4+x^3+1. */
static unsigned int divide(const char *text)
{
	static const char divisor[] = "1100010110011001";
	size_t len = strlen(text);
	unsigned int rest = 0;
	char work[200];

	snprintf(work, sizeof(work), "%s000000000000000", text);
	for (size_t i = 0; i < len; i++)
		if (work[i] == '1')
			for (size_t k = 0; divisor[k]; k++)
				work[i + k] = work[i + k] == divisor[k] ? '0' : '1';
	for (size_t i = len; work[i]; i++)
		rest = 2 * rest + (work[i] == '1');
	return rest;
}

static void work_out(struct paper *p, const struct frame *f)
{
	bool remote = f->id & FRAME_RTR;
	size_t n = 0;

	memset(p, 0, sizeof(*p));
	append(p->plain, 0, 1); /* start of frame */
	if (f->id & FRAME_EXT) {
		append(p->plain, f->id >> 18, 11);
		append(p->plain, 3, 2); /* substitute remote request, identifier extension */
		append(p->plain, f->id, 18);
		append(p->plain, remote, 1);
		append(p->plain, 0, 2); /* r1, r0 */
	} else {
		append(p->plain, f->id, 11);
		append(p->plain, remote, 1);
		append(p->plain, 0, 2); /* identifier extension, r0 */
	}
	append(p->plain, f->dlc ? f->dlc : f->len, 4);
	for (unsigned int i = 0; !remote && i < f->len; i++)
		append(p->plain, f->data[i], 8);
	p->crc = divide(p->plain);
	append(p->plain, p->crc, 15);
	for (const char *bit = p->plain; *bit; bit++) {
		p->wire[n++] = *bit;
		p->stuff_at_end = false;
		if (n >= 5 && (!memcmp(p->wire + n - 5, "00000", 5) || !memcmp(p->wire + n - 5, "11111", 5))) {
			p->wire[n++] = *bit == '0' ? '1' : '0';
			p->stuff++;
			p->stuff_at_end = true;
		}
	}
	strcpy(p->wire + n, "1111111111"); /* CRC delimiter, acknowledge slot and delimiter, end of frame */
}

/* Both counts of the code against a text; the count, the string and which bits of it are stuff bits. */
static void check(const struct frame *f, const char *wire, unsigned int stuff, unsigned int crc)
{
	uint8_t string[BITS_MAX];
	bool stuffed[BITS_MAX];
	char text[BITS_MAX + 1], without[BITS_MAX + 1];
	unsigned int n = bits_string(string, stuffed, f), kept = 0;
	struct bits bits;
	struct paper p;

	TEST_ASSERT_TRUE(bits_of(&bits, f));
	TEST_ASSERT_EQUAL_UINT(strlen(wire), n);
	work_out(&p, f);
	for (unsigned int i = 0; i < n; i++) {
		text[i] = (char)('0' + string[i]);
		if (!stuffed[i])
			without[kept++] = text[i];
	}
	text[n] = without[kept] = 0;
	TEST_ASSERT_EQUAL_STRING(wire, text);
	TEST_ASSERT_EQUAL_UINT(strlen(p.plain) + 10, kept);
	TEST_ASSERT_EQUAL_MEMORY(p.plain, without, strlen(p.plain));
	TEST_ASSERT_EQUAL_UINT(n + 3, bits.all);
	TEST_ASSERT_EQUAL_UINT(stuff, bits.stuff);
	TEST_ASSERT_EQUAL_HEX(crc, bits.crc);
	TEST_ASSERT_LESS_OR_EQUAL_UINT(bits_worst(f->id & FRAME_EXT, f->id & FRAME_RTR, f->len), bits.all);
}

/* ---- vectors ---- */

TEST(test_vectors)
{
	static const struct {
		uint32_t id;
		unsigned int len, dlc;
		const char *data;
		unsigned int bits, stuff, crc;
	} vectors[] = {
		{ 0, 0, 0, "", 53, 6, 0 },
		{ 0x123 | FRAME_RTR, 4, 0, "", 47, 0, 0x4352 },
		{ 0x123, 4, 0, "DEADBEEF", 81, 2, 0x4e6b },
		{ 0x078, 8, 0, "3C3C3C3C3C3C3C3C", 131, 20, 0x1921 }, /* 19 of them before the CRC */
		{ 0x078, 8, 0, "3C3C3C3C3C3C207F", 132, 21, 0x707d },
		{ 0x7ff, 8, 0, "FFFFFFFFFFFFFFFF", 126, 15, 0x4c89 },
		{ 0x1fffffff | FRAME_EXT, 0, 0, "", 74, 7, 0x1c88 },
		{ 0x123, 8, 14, "1122334455667788", 112, 1, 0x7c6a }, /* length code 14 */
	};

	for (size_t i = 0; i < sizeof(vectors) / sizeof(*vectors); i++) {
		struct frame f = make(vectors[i].id, vectors[i].len, vectors[i].data);
		struct bits bits;

		f.dlc = (uint8_t)vectors[i].dlc;
		TEST_ASSERT_TRUE(bits_of(&bits, &f));
		TEST_ASSERT_EQUAL_UINT_MESSAGE(vectors[i].bits, bits.all, vectors[i].data);
		TEST_ASSERT_EQUAL_UINT_MESSAGE(vectors[i].stuff, bits.stuff, vectors[i].data);
		TEST_ASSERT_EQUAL_HEX_MESSAGE(vectors[i].crc, bits.crc, vectors[i].data);
	}
}

/* ---- by hand ---- */

/* Written as start, identifier ... with stuff bits in brackets. */
static void by_hand(struct frame f, const char *written, unsigned int crc)
{
	unsigned int n = 0, stuff = 0;
	char wire[200];

	for (const char *c = written; *c; c++) {
		stuff += *c == '[';
		if (*c == '0' || *c == '1')
			wire[n++] = *c;
	}
	wire[n] = 0;
	check(&f, wire, stuff, crc);
}

TEST(test_by_hand)
{
	/* Start, identifier, RTR, IDE and r0, length code, data, CRC, its delimiter, acknowledgement, end. */
	by_hand(make(0, 0, ""), "0 0000[1]00000[1]00 0 00[1] 0000 0[1]00000[1]00000[1]0000 1 1 1 1111111", 0);
	by_hand(make(0x123 | FRAME_RTR, 4, ""), "0 00100100011 1 00 0100 100001101010010 1 1 1 1111111", 0x4352);
	/* The stuff bit behind 11111 is the first of the next five; another one follows the last bit of the CRC. */
	by_hand(make(0x11e | FRAME_RTR, 0, ""), "0 00100011110 1 00 000[1]0 11001011111[0]0000[1] 1 1 1 1111111",
		0x65f0);
	by_hand(make(0x03b, 1, "55"), "0 0000[1]0111011 0 00 00[1]01 01010101 011010000100000[1] 1 1 1 1111111",
		0x3420);
	by_hand(make(0x123, 4, "DEADBEEF"),
		"0 00100100011 0 00 0100 11011110 10101101 1011111[0]0 11101111 1[0]00111001101011 1 1 1 1111111",
		0x4e6b);
	/* Start, 11 of the identifier, SRR, IDE, the other 18, RTR, r1 and r0, and so on. */
	by_hand(make(0x1fffffff | FRAME_EXT, 0, ""),
		"0 11111[0]11111[0]1 1 1 11[0]11111[0]11111[0]11111[0]1 0 00 00[1]00 001110010001000 1 1 1 1111111",
		0x1c88);
}

TEST(test_acknowledge_slot)
{
	struct frame f = make(0x123, 4, "DEADBEEF");
	uint8_t string[BITS_MAX];

	/* Start to acknowledge slot of this one are 70 bits. */
	TEST_ASSERT_EQUAL_UINT(70, bits_string(string, NULL, &f) - BITS_ACK_FROM_END + 1);
}

/* ---- at random ---- */

static uint64_t any(void)
{
	seed = seed * 6364136223846793005u + 1442695040888963407u;
	return seed >> 31;
}

/* Long runs of equal bits are what matters, so bytes are mostly zeros, mostly ones, or anything. */
static struct frame any_frame(void)
{
	struct frame f = { .len = (uint8_t)(any() % 9) };

	f.id = any() % 2 ? (uint32_t)any() & FRAME_STD_MASK : ((uint32_t)any() & FRAME_EXT_MASK) | FRAME_EXT;
	if (any() % 4 == 0)
		f.id &= (uint32_t)any() | FRAME_EXT;
	if (any() % 8 == 0)
		f.id |= FRAME_RTR;
	if (f.len == 8 && any() % 4 == 0)
		f.dlc = (uint8_t)(9 + any() % 7);
	for (int i = 0; i < 8; i++) {
		uint64_t byte = any();

		f.data[i] = (uint8_t)(any() % 3 == 0 ? byte : any() % 2 ? byte & any() & any() : byte | any() | any());
	}
	return f;
}

TEST(test_random)
{
	unsigned int at_end = 0;

	for (int i = 0; i < 100000; i++) {
		struct frame f = any_frame();
		struct paper p;

		work_out(&p, &f);
		check(&f, p.wire, p.stuff, p.crc);
		at_end += p.stuff_at_end;
	}
	/* One in thirty or so: enough to have seen the stuff bit that is easily forgotten. */
	TEST_ASSERT_GREATER_THAN_UINT(1000, at_end);
}

/* ---- bounds, and frames that are not classic ---- */

TEST(test_worst)
{
	for (unsigned int len = 0; len <= 8; len++) {
		TEST_ASSERT_EQUAL_UINT(55 + 10 * len, bits_worst(false, false, len));
		TEST_ASSERT_EQUAL_UINT(80 + 10 * len, bits_worst(true, false, len));
		TEST_ASSERT_EQUAL_UINT(55, bits_worst(false, true, len));
		TEST_ASSERT_EQUAL_UINT(80, bits_worst(true, true, len));
	}
	TEST_ASSERT_EQUAL_UINT(160, bits_worst(true, false, 64));
	TEST_ASSERT_EQUAL_UINT(BITS_MAX, bits_worst(true, false, 8));
}

TEST(test_remote_has_no_data)
{
	for (unsigned int len = 0; len <= 8; len++) {
		struct frame f = make(0x555 | FRAME_RTR, len, "FFFFFFFFFFFFFFFF");
		struct bits bits;

		TEST_ASSERT_TRUE(bits_of(&bits, &f));
		TEST_ASSERT_EQUAL_UINT(47 + bits.stuff, bits.all);
	}
}

TEST(test_not_classic)
{
	struct frame none[] = { make(0x123, 8, ""), make(FRAME_ERR | 0x40, 8, ""), make(0x123, 9, "") };
	uint8_t string[BITS_MAX];

	none[0].flags = FRAME_FD;
	for (size_t i = 0; i < 3; i++) {
		struct bits bits = { 1, 1, 1 };

		TEST_ASSERT_FALSE(bits_of(&bits, &none[i]));
		TEST_ASSERT_EQUAL_UINT(0, bits.all);
		TEST_ASSERT_EQUAL_UINT(0, bits_string(string, NULL, &none[i]));
	}
}

/* ---- arbitration ---- */

static int sign(int v)
{
	return (v > 0) - (v < 0);
}

/* The winner of two senders, bit by bit, until one reads dominant where it sent recessive.  Arbitration ends
 * with the RTR bit, and in a standard frame with the dominant IDE bit that an extended one loses against. */
static int contend(const struct frame *a, const struct frame *b)
{
	unsigned int left = a->id & b->id & FRAME_EXT ? 33 : 14;
	uint8_t x[BITS_MAX], y[BITS_MAX];
	bool stuffed[BITS_MAX];

	bits_string(x, stuffed, a);
	bits_string(y, NULL, b);
	for (unsigned int i = 0; left; left -= !stuffed[i], i++)
		if (x[i] != y[i])
			return x[i] ? 1 : -1;
	return 0;
}

TEST(test_arbitrate_random)
{
	unsigned int ties = 0;

	for (int i = 0; i < 100000; i++) {
		struct frame a = any_frame(), b = any_frame();

		/* Neighbours: the same base, the same identifier, one bit apart. */
		if (any() % 2)
			b.id = a.id ^ (any() % 4 ? 1u << any() % 29 : 0) ^ (any() % 4 ? 0 : FRAME_RTR);
		else if (any() % 2)
			b.id = a.id & FRAME_EXT ? a.id >> 18 & FRAME_STD_MASK
						: (a.id & FRAME_STD_MASK) << 18 | FRAME_EXT;
		if (!(b.id & FRAME_EXT))
			b.id &= FRAME_STD_MASK | FRAME_RTR;
		TEST_ASSERT_EQUAL_INT(contend(&a, &b), sign(bits_arbitrate(&a, &b)));
		TEST_ASSERT_EQUAL_INT(-sign(bits_arbitrate(&b, &a)), sign(bits_arbitrate(&a, &b)));
		ties += contend(&a, &b) == 0;
	}
	TEST_ASSERT_GREATER_THAN_UINT(1000, ties);
}

static void wins(uint32_t a, uint32_t b)
{
	struct frame x = make(a, 8, ""), y = make(b, 0, "");

	TEST_ASSERT_LESS_THAN_INT(0, bits_arbitrate(&x, &y));
	TEST_ASSERT_GREATER_THAN_INT(0, bits_arbitrate(&y, &x));
	TEST_ASSERT_EQUAL_INT(0, bits_arbitrate(&x, &x));
}

TEST(test_arbitrate)
{
	wins(0x100, 0x101);
	wins(0x123, 0x123 | FRAME_RTR);
	wins(0x123, 0x123u << 18 | FRAME_EXT);
	wins(0x123 | FRAME_RTR, 0x123u << 18 | FRAME_EXT);
	wins(0x122u << 18 | 0x3ffff | FRAME_EXT, 0x123);
	wins(0x123u << 18 | FRAME_EXT, 0x123u << 18 | 1 | FRAME_EXT);
	wins(0x123u << 18 | FRAME_EXT, 0x123u << 18 | FRAME_EXT | FRAME_RTR);
	wins(0x123u << 18 | FRAME_EXT | FRAME_RTR, 0x123u << 18 | 1 | FRAME_EXT);
	wins(0x123u << 18 | FRAME_EXT, 0x124);
}
