/* load.c: see load.h. */
#include "daemons/clock/load.h"

#define RING (LOAD_WINDOWS + 1)

static uint32_t *window_bits(struct load *l, int64_t window)
{
	return &l->bits[window % RING];
}

static void count_most(struct load *l, int64_t window)
{
	uint32_t bits = *window_bits(l, window);

	if (window > l->first && bits > l->most)
		l->most = bits;
}

void load_start(struct load *l, uint32_t bitrate, int64_t now_ns)
{
	memset(l, 0, sizeof(*l));
	l->bitrate = bitrate;
	l->first = l->now = now_ns / LOAD_WINDOW_NS;
}

static void move_to(struct load *l, int64_t window)
{
	if (window <= l->now)
		return;
	count_most(l, l->now);
	if (window - l->now >= RING) {
		memset(l->bits, 0, sizeof(l->bits));
		l->now = window;
	}
	while (l->now < window)
		*window_bits(l, ++l->now) = 0;
}

void load_add(struct load *l, uint32_t bits, int64_t t_ns)
{
	int64_t window = t_ns / LOAD_WINDOW_NS;

	move_to(l, window);
	if (window < l->first || l->now - window >= RING)
		return;
	*window_bits(l, window) += bits;
	if (window < l->now)
		count_most(l, window);
}

void load_at(struct load *l, int64_t now_ns)
{
	move_to(l, now_ns / LOAD_WINDOW_NS);
}

static double share(const struct load *l, uint64_t bits, int64_t windows)
{
	return (double)bits / ((double)windows * (LOAD_WINDOW_NS / 1e9) * l->bitrate);
}

double load_share(const struct load *l)
{
	int64_t whole = l->now - l->first - 1, windows = whole < LOAD_WINDOWS ? whole : LOAD_WINDOWS;
	uint64_t bits = 0;

	if (windows <= 0)
		return 0;
	for (int64_t window = l->now - windows; window < l->now; window++)
		bits += l->bits[window % RING];
	return share(l, bits, windows);
}

double load_most(const struct load *l)
{
	return share(l, l->most, 1);
}
