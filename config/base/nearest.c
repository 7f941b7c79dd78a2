/* nearest.c: which word did they mean? */
#include <string.h>

#include "config/base/nearest.h"

static size_t least(size_t a, size_t b)
{
	return a < b ? a : b;
}

size_t nearest_distance(const char *a, const char *b)
{
	/* Rows of the usual table, the two before and the present one. */
	size_t rows[3][NEAREST_LEN_MAX + 1];
	size_t *before = rows[0], *last = rows[1], *now = rows[2];
	size_t na = strlen(a), nb = strlen(b);

	if (na > NEAREST_LEN_MAX || nb > NEAREST_LEN_MAX)
		return NEAREST_LEN_MAX + 1;
	memset(rows, 0, sizeof(rows));
	for (size_t j = 0; j <= nb; j++)
		now[j] = j;
	for (size_t i = 1; i <= na; i++) {
		size_t *oldest = before;

		before = last;
		last = now;
		now = oldest;
		now[0] = i;
		for (size_t j = 1; j <= nb; j++) {
			now[j] = least(last[j - 1] + (a[i - 1] != b[j - 1]), least(last[j], now[j - 1]) + 1);
			if (i > 1 && j > 1 && a[i - 1] == b[j - 2] && a[i - 2] == b[j - 1])
				now[j] = least(now[j], before[j - 2] + 1);
		}
	}
	return now[nb];
}

void nearest_try(const char *word, const char *candidate, const char **best)
{
	/* Three slips in a long word, and always most of the letters right. */
	const size_t allowed = least((strlen(word) + 1) / 3, 3);
	const size_t distance = nearest_distance(word, candidate);

	if (distance <= allowed && (!*best || distance < nearest_distance(word, *best)))
		*best = candidate;
}

const char *nearest_word(const char *word, const char *const *words)
{
	const char *best = NULL;

	for (; *words; words++)
		nearest_try(word, *words, &best);
	return best;
}
