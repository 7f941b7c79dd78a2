/* engine_time.c: exact time.
 *
 * A bit lasts 10^9 / bitrate nanoseconds, which is not always whole.  The rest is kept in parts of 1 / unit of a
 * nanosecond, where unit is a multiple of both bit rates, so that a million frames end where their bits end.
 */
#include "can/wire/engine_inner.h"
#include "config/base/base.h"

struct engine_instant engine_time_at(int64_t ns)
{
	return (struct engine_instant){ .ns = ns };
}

static struct engine_instant add(const struct engine *e, struct engine_instant t, uint64_t bits, uint64_t bitrate)
{
	uint64_t seconds = bits / bitrate; /* apart, or the product below does not fit */
	uint64_t parts = bits % bitrate * (e->unit / bitrate) * NS_PER_S + t.part;

	return (struct engine_instant){ .ns = t.ns + (int64_t)(seconds * NS_PER_S + parts / e->unit),
					.part = (uint32_t)(parts % e->unit) };
}

struct engine_instant engine_time_add(const struct engine *e, struct engine_instant t, uint64_t bits)
{
	return add(e, t, bits, e->settings.bitrate);
}

bool engine_time_before(struct engine_instant a, struct engine_instant b)
{
	return a.ns != b.ns ? a.ns < b.ns : a.part < b.part;
}

struct engine_instant engine_time_max(struct engine_instant a, struct engine_instant b)
{
	return engine_time_before(a, b) ? b : a;
}

static int64_t whole_bits(const struct engine *e, struct engine_instant from, struct engine_instant to, int64_t bitrate)
{
	const int64_t bit = NS_PER_S * (int64_t)(e->unit / bitrate);
	int64_t ns = to.ns - from.ns, parts = (int64_t)to.part - from.part;

	/* Seconds apart for the same reason; rounding down needs parts that are not negative. */
	parts += ns % NS_PER_S * e->unit;
	ns /= NS_PER_S;
	if (parts < 0) {
		parts += NS_PER_S * (int64_t)e->unit;
		ns--;
	}
	return ns * bitrate + parts / bit;
}

int64_t engine_time_bits(const struct engine *e, struct engine_instant from, struct engine_instant to)
{
	return whole_bits(e, from, to, e->settings.bitrate);
}

/* ---- frames ---- */

/* Fast ones among the first bits. */
static unsigned int fast_bits(const struct engine_attempt *a, unsigned int bits)
{
	const unsigned int from = a->entry.fast_from;

	if (a->end != ENGINE_END_GOOD)
		bits = (unsigned int)num_min(bits, a->bit + 1);
	return bits <= from ? 0 : (unsigned int)num_min(bits - from, a->entry.fast);
}

struct engine_instant engine_time_frame(const struct engine *e, const struct engine_attempt *a, unsigned int bit)
{
	const unsigned int fast = fast_bits(a, bit);
	const struct engine_instant t = engine_time_add(e, a->start, bit - fast);

	return fast ? add(e, t, fast, e->settings.data_bitrate) : t;
}

unsigned int engine_time_frame_bit(const struct engine *e, const struct engine_attempt *a, struct engine_instant t)
{
	const unsigned int from = a->entry.fast_from, fast = fast_bits(a, from + a->entry.fast);
	const struct engine_instant begins = engine_time_frame(e, a, from);

	if (!fast || engine_time_before(t, begins))
		return (unsigned int)engine_time_bits(e, a->start, t);
	if (engine_time_before(t, engine_time_frame(e, a, from + fast)))
		return from + (unsigned int)whole_bits(e, begins, t, e->settings.data_bitrate);
	return from + fast + (unsigned int)engine_time_bits(e, engine_time_frame(e, a, from + fast), t);
}

int64_t engine_time_ns(struct engine_instant t)
{
	return t.ns + (t.part > 0);
}
