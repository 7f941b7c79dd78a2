/* engine_time.c: exact time.
 *
 * A bit lasts 10^9 / bitrate nanoseconds, which is not always whole.  The rest is kept in parts of 1 / bitrate of a
 * nanosecond, so that a million frames end where their bits end.
 */
#include "can/wire/engine_inner.h"

#define ENGINE_TIME_S 1000000000

struct engine_instant engine_time_at(int64_t ns)
{
	return (struct engine_instant){ .ns = ns };
}

struct engine_instant engine_time_add(const struct engine *e, struct engine_instant t, uint64_t bits)
{
	const uint64_t bitrate = e->settings.bitrate;
	uint64_t seconds = bits / bitrate; /* apart, or the product below does not fit */
	uint64_t parts = bits % bitrate * ENGINE_TIME_S + t.part;

	return (struct engine_instant){ .ns = t.ns + (int64_t)(seconds * ENGINE_TIME_S + parts / bitrate),
					.part = (uint32_t)(parts % bitrate) };
}

bool engine_time_before(struct engine_instant a, struct engine_instant b)
{
	return a.ns != b.ns ? a.ns < b.ns : a.part < b.part;
}

struct engine_instant engine_time_max(struct engine_instant a, struct engine_instant b)
{
	return engine_time_before(a, b) ? b : a;
}

int64_t engine_time_bits(const struct engine *e, struct engine_instant from, struct engine_instant to)
{
	const int64_t bitrate = e->settings.bitrate;
	int64_t ns = to.ns - from.ns, parts = (int64_t)to.part - from.part;

	/* Seconds apart for the same reason; rounding down needs parts that are not negative. */
	parts += ns % ENGINE_TIME_S * bitrate;
	ns /= ENGINE_TIME_S;
	if (parts < 0) {
		parts += ENGINE_TIME_S * bitrate;
		ns--;
	}
	return ns * bitrate + parts / ENGINE_TIME_S;
}

int64_t engine_time_ns(struct engine_instant t)
{
	return t.ns + (t.part > 0);
}
