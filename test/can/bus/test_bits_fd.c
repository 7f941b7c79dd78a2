/* test_bits_fd.c: CAN FD frames on the wire: by hand, and a second count written from the standard. */
#include "test/lib/testcase.h"

#include "can/bus/bits.h"

static uint64_t seed;

void setUp(void)
{
	seed = 0x9e3779b97f4a7c15;
}

static uint32_t any(void)
{
	seed = seed * 6364136223846793005u + 1442695040888963407u;
	return (uint32_t)(seed >> 33);
}

/* ---- the second count: texts of zeros and ones ---- */

static void append(char *text, unsigned long value, int width)
{
	char *to = text + strlen(text);

	to[width] = 0;
	for (; width--; value >>= 1)
		to[width] = (char)('0' + (value & 1));
}

/* The remainder of the text, and of as many zeros as the divisor has bits less one. */
static unsigned int divide(const char *text, const char *divisor)
{
	const size_t len = strlen(text), width = strlen(divisor) - 1;
	unsigned int rest = 0;
	char work[1000];

	memset(work, '0', sizeof(work));
	memcpy(work, text, len);
	for (size_t i = 0; i < len; i++)
		if (work[i] == '1')
			for (size_t k = 0; k <= width; k++)
				work[i + k] = work[i + k] == divisor[k] ? '0' : '1';
	for (size_t i = len; i < len + width; i++)
		rest = 2 * rest + (work[i] == '1');
	return rest;
}

/* x^17+x^16+x^14+x^13+x^11+x^6+x^4+x^3+x+1; x^21+x^20+x^13+x^11+x^7+x^4+x^3+1 */
static const char divisor_17[] = "110110100001011011", divisor_21[] = "1100000010100010011001";

struct paper {
	char plain[700];   /* from the start bit to the end of the data */
	char stuffed[900]; /* with stuff bits */
	char wire[900];	   /* all of it */
	unsigned int stuff, crc;
	size_t slow_head; /* characters of wire up to BRS */
};

/* The start bit is preset to 1 in the divided text: that is what a CRC register does that begins with its top bit. */
static void work_out_crc(struct paper *p, const char *count, bool small)
{
	char text[900];

	snprintf(text, sizeof(text), "1%s%s", p->stuffed + 1, count);
	p->crc = divide(text, small ? divisor_17 : divisor_21);
}

static void work_out(struct paper *p, const struct frame *f)
{
	static const char *const counts[] = { "0000", "0011", "0110", "0101", "1100", "1111", "1010", "1001" };
	static const unsigned int lens[] = { 0, 1, 2, 3, 4, 5, 6, 7, 8, 12, 16, 20, 24, 32, 48, 64 };
	const bool small = f->len <= 16;
	unsigned int code = 0, run = 0, brs, plain = 0;
	char field[64] = "", *to;

	memset(p, 0, sizeof(*p));
	while (lens[code] != f->len)
		code++;
	append(p->plain, 0, 1);
	if (f->id & FRAME_EXT) {
		append(p->plain, frame_id(f) >> 18, 11);
		append(p->plain, 3, 2);
		append(p->plain, frame_id(f) & 0x3ffff, 18);
		append(p->plain, 0, 1);
	} else {
		append(p->plain, frame_id(f), 11);
		append(p->plain, 0, 2);
	}
	append(p->plain, 2, 2); /* FDF, res */
	append(p->plain, !!(f->flags & FRAME_BRS), 1);
	brs = (unsigned int)strlen(p->plain);
	append(p->plain, !!(f->flags & FRAME_ESI), 1);
	append(p->plain, code, 4);
	for (unsigned int i = 0; i < f->len; i++)
		append(p->plain, f->data[i], 8);

	to = p->stuffed;
	for (const char *bit = p->plain; *bit; bit++) {
		run = to > p->stuffed && to[-1] == *bit ? run + 1 : 1;
		*to++ = *bit;
		if (++plain == brs)
			p->slow_head = (size_t)(to - p->stuffed);
		if (run == 5 && bit[1]) {
			*to = *bit == '0' ? '1' : '0';
			to++;
			run = 1;
			p->stuff++;
		}
	}
	work_out_crc(p, counts[p->stuff % 8], small);
	snprintf(p->wire, sizeof(p->wire), "%s", p->stuffed);
	strcpy(field, counts[p->stuff % 8]);
	append(field, p->crc, small ? 17 : 21);
	to = p->wire + strlen(p->wire);
	for (size_t i = 0; field[i]; i++) {
		if (i % 4 == 0) {
			*to = to[-1] == '0' ? '1' : '0';
			to++;
		}
		*to++ = field[i];
	}
	strcpy(to, "1111111111");
}

static void check(const struct frame *f)
{
	uint8_t string[BITS_FD_MAX];
	bool stuffed[BITS_FD_MAX], fast[BITS_FD_MAX];
	char text[BITS_FD_MAX + 1];
	unsigned int n = bits_fd_string(string, stuffed, fast, f), stuff = 0;
	struct bits_fd bits, worst, least;
	struct paper p;

	work_out(&p, f);
	for (unsigned int i = 0; i < n; i++)
		text[i] = (char)('0' + string[i]);
	text[n] = 0;
	TEST_ASSERT_EQUAL_STRING(p.wire, text);
	TEST_ASSERT_TRUE(bits_fd_of(&bits, f));
	TEST_ASSERT_EQUAL_UINT(strlen(p.wire) + 3, bits.slow + bits.fast);
	TEST_ASSERT_EQUAL_UINT(p.stuff, bits.stuff);
	TEST_ASSERT_EQUAL_HEX(p.crc, bits.crc);
	for (unsigned int i = 0; i < n; i++) {
		stuff += stuffed[i];
		if (stuffed[i])
			TEST_ASSERT_NOT_EQUAL(string[i - 1], string[i]);
	}
	TEST_ASSERT_EQUAL_UINT(bits.stuff + bits.fixed, stuff);
	TEST_ASSERT_EQUAL_UINT(n, bits_fd_string(string, NULL, NULL, f));
	/* Fast: behind BRS, and up to the CRC delimiter, nine bits before the end. */
	for (unsigned int i = 0; i < n; i++)
		TEST_ASSERT_EQUAL(f->flags & FRAME_BRS && i >= p.slow_head && i < n - 9, fast[i]);
	if (f->flags & FRAME_BRS)
		TEST_ASSERT_EQUAL_UINT(p.slow_head + 9 + 3, bits.slow);
	else
		TEST_ASSERT_EQUAL_UINT(0, bits.fast);
	bits_fd_bound(&worst, f->id & FRAME_EXT, f->flags & FRAME_BRS, f->len, true);
	bits_fd_bound(&least, f->id & FRAME_EXT, f->flags & FRAME_BRS, f->len, false);
	TEST_ASSERT_LESS_OR_EQUAL_UINT(worst.slow, bits.slow);
	TEST_ASSERT_LESS_OR_EQUAL_UINT(worst.slow + worst.fast, bits.slow + bits.fast);
	TEST_ASSERT_EQUAL_UINT(least.slow + least.fast + bits.stuff, bits.slow + bits.fast);
	TEST_ASSERT_EQUAL_UINT(least.fixed, bits.fixed);
}

/* ---- the methods themselves ---- */

/* The usual check value of a CRC, of the text 123456789 and a register that begins with 0. */
TEST(division_gives_the_published_check_values)
{
	char text[100] = "";

	for (const char *digit = "123456789"; *digit; digit++)
		append(text, (unsigned long)*digit, 8);
	TEST_ASSERT_EQUAL_HEX(0x04f03, divide(text, divisor_17));
	TEST_ASSERT_EQUAL_HEX(0x0ed841, divide(text, divisor_21));
}

/* ---- by hand ---- */

struct by_hand {
	struct frame f;
	const char *head; /* up to the stuff count, stuff bits and fixed stuff bits in brackets */
	unsigned int slow, fast;
};

static const struct by_hand hands[] = {
	/* start, identifier, RRS IDE FDF res BRS ESI, length; seven zeros behind FDF take a stuff bit */
	{ { .id = 0x123, .flags = FRAME_FD }, "0 00100100011 0 0 1 0 0 0 00[1]00 [1]0011", 63, 0 },
	/* Five ones end the data: the fixed stuff bit is the only one behind them. */
	{ { .id = 0x555, .flags = FRAME_FD | FRAME_BRS | FRAME_ESI, .len = 1, .data = { 0x1f } },
	  "0 10101010101 0 0 1 0 1 1 0001 00011111 [0]0000",
	  17 + 12,
	  5 + 8 + 27 + 1 },
	/* The same for zeros, with a stuff bit before. */
	{ { .id = 0x7ff, .flags = FRAME_FD | FRAME_BRS, .len = 1, .data = { 0xe0 } },
	  "0 11111[0]11111[0]1 0 0 1 0 1 0 0001 11100000 [1]0110",
	  19 + 12,
	  5 + 8 + 27 + 1 },
	/* 29 bits: SRR IDE are ones. */
	{ { .id = 0x15555555 | FRAME_EXT, .flags = FRAME_FD },
	  "0 10101010101 1 1 010101010101010101 0 1 0 0 0 00[1]00 [1]0011",
	  36 + 5 + 1 + 27 + 10 + 3,
	  0 },
};

TEST(frames_worked_out_by_hand)
{
	for (size_t i = 0; i < sizeof(hands) / sizeof(*hands); i++) {
		uint8_t string[BITS_FD_MAX];
		bool fast[BITS_FD_MAX];
		struct bits_fd bits;
		char expected[100] = "", got[100] = "";
		size_t n = 0;

		for (const char *c = hands[i].head; *c; c++)
			if (*c == '0' || *c == '1')
				expected[n++] = *c;
		TEST_ASSERT_GREATER_THAN_UINT(n, bits_fd_string(string, NULL, fast, &hands[i].f));
		for (size_t k = 0; k < n; k++)
			got[k] = (char)('0' + string[k]);
		TEST_ASSERT_EQUAL_STRING(expected, got);
		TEST_ASSERT_TRUE(bits_fd_of(&bits, &hands[i].f));
		TEST_ASSERT_EQUAL_UINT(hands[i].slow, bits.slow);
		TEST_ASSERT_EQUAL_UINT(hands[i].fast, bits.fast);
		check(&hands[i].f);
	}
}

/* ---- at random ---- */

static struct frame any_frame(void)
{
	struct frame f = { .flags = FRAME_FD };
	const uint32_t kind = any() % 4;

	f.id = any() % 2 ? any() & FRAME_STD_MASK : FRAME_EXT | (any() & FRAME_EXT_MASK);
	f.flags |= (uint8_t)((any() % 2 ? FRAME_BRS : 0) | (any() % 4 ? 0 : FRAME_ESI));
	f.len = (uint8_t)frame_len_fd(any() % 65);
	for (unsigned int i = 0; i < f.len; i++)
		f.data[i] = (uint8_t)(kind == 0 ? 0 : kind == 1 ? 0x3c : kind == 2 ? any() & any() & any() : any());
	return f;
}

TEST(both_methods_agree)
{
	unsigned int at_end = 0;

	for (int i = 0; i < 20000; i++) {
		const struct frame f = any_frame();
		const unsigned int last = f.len ? f.data[f.len - 1] & 0x1fu : 1;

		check(&f);
		at_end += last == 0 || last == 0x1f;
	}
	TEST_ASSERT_GREATER_THAN_UINT(1000, at_end); /* the fixed stuff bit in place of another */
}

TEST(only_valid_fd_frames_have_bits)
{
	const struct frame none[] = { { .id = 0x123, .len = 8 },
				      { .id = 0x123, .len = 9, .flags = FRAME_FD },
				      { .id = 0x123 | FRAME_RTR, .flags = FRAME_FD },
				      { .id = 0x40 | FRAME_ERR, .len = 8, .flags = FRAME_FD } };

	for (size_t i = 0; i < sizeof(none) / sizeof(*none); i++) {
		uint8_t string[BITS_FD_MAX];
		bool fast[BITS_FD_MAX];
		struct bits_fd bits = { 1, 1, 1, 1, 1 };

		TEST_ASSERT_FALSE(bits_fd_of(&bits, &none[i]));
		TEST_ASSERT_EQUAL_UINT(0, bits.slow + bits.fast);
		TEST_ASSERT_EQUAL_UINT(0, bits_fd_string(string, NULL, fast, &none[i]));
	}
}

/* ---- time ---- */

TEST(frames_of_both_kinds_are_counted_by_one_call)
{
	struct frame classic = { .id = 0x123, .len = 8 }, fd = { .id = 0x123, .len = 8, .flags = FRAME_FD | FRAME_BRS };
	struct bits_fd any, bits;
	struct bits slow;

	TEST_ASSERT_TRUE(bits_of(&slow, &classic) && bits_any_of(&any, &classic));
	TEST_ASSERT_TRUE(any.slow == slow.all && any.stuff == slow.stuff && any.crc == slow.crc);
	TEST_ASSERT_TRUE(!any.fast && !any.fixed);
	TEST_ASSERT_TRUE(bits_fd_of(&bits, &fd) && bits_any_of(&any, &fd));
	TEST_ASSERT_EQUAL_MEMORY(&bits, &any, sizeof(any));
	classic.id |= FRAME_ERR;
	TEST_ASSERT_FALSE(bits_any_of(&any, &classic));
}

TEST(both_bit_rates_count)
{
	static const struct bits_rates rates = { 500000, 2000000 }, odd = { 3, 7 }, same = { 1000000, 0 };
	static const struct bits_rates thirds = { 1, 3 };

	TEST_ASSERT_EQUAL_INT64(10 * 2000 + 8 * 500, bits_fd_ns(&rates, 10, 8));
	TEST_ASSERT_EQUAL_INT64(18000, bits_fd_ns(&same, 10, 8));
	TEST_ASSERT_EQUAL_INT64(476190477, bits_fd_ns(&odd, 1, 1)); /* 10/21 s, rounded up */
	TEST_ASSERT_EQUAL_INT64(333333334, bits_fd_ns(&thirds, 0, 1));
	TEST_ASSERT_EQUAL_INT64(666666667, bits_fd_ns(&thirds, 0, 2));
	TEST_ASSERT_EQUAL_INT64(0, bits_fd_ns(&rates, 0, 0));
	/* The longest frame at the highest rates. */
	TEST_ASSERT_EQUAL_INT64(56000 + 67900, bits_fd_ns(&(struct bits_rates){ 1000000, 10000000 }, 56, 679));
}

TEST(bounds_of_both_kinds)
{
	static const struct bits_rates rates = { 1000000, 5000000 };

	TEST_ASSERT_EQUAL_INT64(135000, bits_frame_ns(&rates, 0x123, 8, 0, true));
	TEST_ASSERT_EQUAL_INT64(111000, bits_frame_ns(&rates, 0x123, 8, 0, false));
	TEST_ASSERT_EQUAL_INT64(160000, bits_frame_ns(&rates, 0x123 | FRAME_EXT, 8, 0, true));
	TEST_ASSERT_EQUAL_INT64(47000, bits_frame_ns(&rates, 0x123 | FRAME_RTR, 8, 0, false));
	/* 64 bytes: 17 + 12 slow; 5 + 512 + 32 + 1 fast */
	TEST_ASSERT_EQUAL_INT64(29000 + 550 * 200, bits_frame_ns(&rates, 0x123, 64, FRAME_FD | FRAME_BRS, false));
	/* (17 + 517 - 2) / 4 = 133 stuff bits, 3 of them slow */
	TEST_ASSERT_EQUAL_INT64(32000 + 680 * 200, bits_frame_ns(&rates, 0x123, 64, FRAME_FD | FRAME_BRS, true));
	TEST_ASSERT_EQUAL_INT64(579000, bits_frame_ns(&rates, 0x123, 64, FRAME_FD, false));
	TEST_ASSERT_EQUAL_INT64(131000, bits_frame_ns(&rates, 0x123 | FRAME_EXT, 8, 0, false));
	TEST_ASSERT_EQUAL_INT64(67000, bits_frame_ns(&rates, 0x123 | FRAME_EXT | FRAME_RTR, 8, 0, false));
	/* Without data: (17 + 5 - 2) / 4 = 5 stuff bits, 3 of them slow; 5 + 2 + 27 + 1 fast */
	TEST_ASSERT_EQUAL_INT64(32000 + 35 * 200, bits_frame_ns(&rates, 0x123, 0, FRAME_FD | FRAME_BRS, true));
	/* 29 bits: (36 + 517 - 2) / 4 = 137 stuff bits, 8 of them slow; 36 + 12 slow, 517 + 32 + 1 fast */
	TEST_ASSERT_EQUAL_INT64(56000 + 679 * 200,
				bits_frame_ns(&rates, 0x123 | FRAME_EXT, 64, FRAME_FD | FRAME_BRS, true));
	TEST_ASSERT_EQUAL_INT64(735000, bits_frame_ns(&rates, 0x123 | FRAME_EXT, 64, FRAME_FD, true));
	/* 9 bytes need 12. */
	TEST_ASSERT_EQUAL_INT64(bits_frame_ns(&rates, 0x123, 12, FRAME_FD, true),
				bits_frame_ns(&rates, 0x123, 9, FRAME_FD, true));
}
