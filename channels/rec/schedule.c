/* schedule.c: when the items of a recording are due. */
#include <math.h>

#include "channels/rec/schedule.h"

void schedule_start(struct schedule *s, int64_t start_ns)
{
	s->begun = false;
	s->start_ns = start_ns;
	s->n = 0;
}

static int64_t scaled(const struct schedule *s, int64_t recorded_ns)
{
	return s->speed == 1 ? recorded_ns : llround((double)recorded_ns / s->speed);
}

int64_t schedule_at(struct schedule *s, int64_t stamp_ns)
{
	int64_t at_ns;

	if (!s->begun) {
		s->begun = true;
		s->base_ns = s->newest_ns = stamp_ns;
		s->first_at_ns = s->at_ns = s->start_ns;
	} else if (stamp_ns < s->newest_ns - SCHEDULE_STEP_NS) {
		s->start_ns = s->at_ns;
		s->base_ns = s->newest_ns = stamp_ns;
	} else if (s->max_gap_ns && stamp_ns - s->newest_ns > s->max_gap_ns) {
		s->start_ns = s->at_ns + scaled(s, s->max_gap_ns);
		s->base_ns = stamp_ns;
	}
	at_ns = s->start_ns + scaled(s, stamp_ns - s->base_ns);
	s->at_ns = at_ns > s->at_ns ? at_ns : s->at_ns;
	s->newest_ns = stamp_ns > s->newest_ns ? stamp_ns : s->newest_ns;
	s->n++;
	return s->at_ns;
}

void schedule_repeat(struct schedule *s)
{
	const int64_t mean_ns = s->n > 1 ? (s->at_ns - s->first_at_ns) / (int64_t)(s->n - 1) : 0;

	schedule_start(s, s->at_ns + (mean_ns > s->pause_ns ? mean_ns : s->pause_ns));
}
