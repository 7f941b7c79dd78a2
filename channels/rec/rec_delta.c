/* rec_delta.c: bytes without the words that repeat the one before.  Checked: covered. */
#include "channels/rec/rec_delta.h"

#define WORD sizeof(uint64_t)

struct piece {
	uint16_t repeats, words;
};

_Static_assert(REC_DELTA_MAX / 8 <= UINT16_MAX, "all words fit a piece");

static uint64_t word_at(const uint8_t *bytes, size_t i)
{
	uint64_t word;

	memcpy(&word, bytes + i * WORD, WORD);
	return word;
}

/* The words from there on that repeat the last one, and those behind them that do not. */
static struct piece next_piece(const uint8_t *bytes, size_t at, size_t words, uint64_t last)
{
	size_t i = at, from;

	while (i < words && word_at(bytes, i) == last)
		i++;
	from = i;
	for (; i < words && word_at(bytes, i) != last; i++)
		last = word_at(bytes, i);
	return (struct piece){ (uint16_t)(from - at), (uint16_t)(i - from) };
}

size_t rec_delta_pack(uint8_t to[REC_DELTA_MAX], const uint8_t *bytes, size_t len)
{
	const uint32_t whole = (uint32_t)len;
	const size_t words = len / WORD, rest = len % WORD;
	size_t n = sizeof(whole);
	uint64_t last = 0;

	if (!words || len > REC_DELTA_MAX)
		return 0;
	memcpy(to, &whole, sizeof(whole));
	for (size_t at = 0; at < words;) {
		const struct piece piece = next_piece(bytes, at, words, last);
		const size_t size = piece.words * WORD;

		if (n + sizeof(piece) + size + rest >= len)
			return 0;
		at += piece.repeats;
		memcpy(to + n, &piece, sizeof(piece));
		memcpy(to + n + sizeof(piece), bytes + at * WORD, size);
		n += sizeof(piece) + size;
		at += piece.words;
		last = word_at(bytes, at - 1); /* a piece is of one word or more */
	}
	memcpy(to + n, bytes + words * WORD, rest);
	return n + rest;
}

int rec_delta_unpack(uint8_t to[REC_DELTA_MAX], const uint8_t *packed, size_t len)
{
	size_t at = sizeof(uint32_t), words, i = 0;
	struct piece piece;
	uint64_t last = 0;
	uint32_t whole;

	if (len < at)
		return -1;
	memcpy(&whole, packed, sizeof(whole));
	if (whole > REC_DELTA_MAX)
		return -1;
	for (words = whole / WORD; i < words; at += piece.words * WORD) {
		if (len - at < sizeof(piece))
			return -1;
		memcpy(&piece, packed + at, sizeof(piece));
		at += sizeof(piece);
		if ((size_t)piece.repeats + piece.words > words - i || piece.words * WORD > len - at)
			return -1;
		for (; piece.repeats; piece.repeats--)
			memcpy(to + i++ * WORD, &last, WORD);
		memcpy(to + i * WORD, packed + at, piece.words * WORD);
		i += piece.words;
		if (piece.words)
			last = word_at(to, i - 1);
		else if (i < words)
			return -1; /* a run in two pieces: not as it is written */
	}
	if (len - at != whole % WORD)
		return -1;
	memcpy(to + words * WORD, packed + at, whole % WORD);
	return (int)whole;
}
