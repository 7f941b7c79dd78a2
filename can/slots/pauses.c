/* pauses.c: when this process, or a wire, was paused. */
#include "can/slots/pauses.h"

void pauses_add(struct pauses *p, int64_t from_ns, int64_t to_ns)
{
	const int64_t end_ns = pauses_end_ns(p);

	if (to_ns <= from_ns)
		return;
	if (p->n && from_ns <= end_ns) {
		/* It may have begun before the newest, but not before the end of the one before that. */
		if (p->n > 1)
			from_ns = num_max(from_ns, p->of[p->n - 2].to_ns);
		p->of[p->n - 1].from_ns = num_min(p->of[p->n - 1].from_ns, from_ns);
		p->of[p->n - 1].to_ns = num_max(end_ns, to_ns);
		return;
	}
	if (p->n == PAUSES_MAX)
		memmove(p->of, p->of + 1, --p->n * sizeof(p->of[0]));
	p->of[p->n].from_ns = from_ns;
	p->of[p->n++].to_ns = to_ns;
}

int64_t pauses_within_ns(const struct pauses *p, int64_t from_ns, int64_t to_ns)
{
	int64_t sum_ns = 0;

	for (unsigned int i = p->n; i-- > 0 && p->of[i].to_ns > from_ns;) {
		const int64_t first_ns = num_max(p->of[i].from_ns, from_ns), last_ns = num_min(p->of[i].to_ns, to_ns);

		sum_ns += last_ns > first_ns ? last_ns - first_ns : 0;
	}
	return sum_ns;
}

int64_t pauses_end_ns(const struct pauses *p)
{
	return p->n ? p->of[p->n - 1].to_ns : INT64_MIN;
}

int64_t pauses_last_ns(const struct pauses *p)
{
	return p->n ? p->of[p->n - 1].to_ns - p->of[p->n - 1].from_ns : 0;
}
