/* bus_stamp.c: from the kernel's stamps to CLOCK_MONOTONIC. */
#include "can/bus_stamp.h"

#define DRIFT_PER 5000 /* a controller's clock is wrong by at most 1/5000, 200 ppm */

void bus_stamp_start(struct bus_stamp *s, int64_t now_ns)
{
	*s = (struct bus_stamp){ .arrival_ns = now_ns, .last_ns = now_ns };
}

void bus_stamp_batch(struct bus_stamp *s, int64_t before_ns, int64_t real_ns, int64_t after_ns)
{
	int64_t unsure_ns = (after_ns - before_ns) / 2;
	int64_t offset_ns = before_ns + unsure_ns - real_ns;
	int64_t change_ns = offset_ns - s->offset_ns;

	s->arrival_ns = after_ns;
	if (s->sampled && after_ns - before_ns > BUS_STAMP_SAMPLE_NS && change_ns <= unsure_ns &&
	    change_ns >= -unsure_ns)
		return;
	s->sampled = true;
	s->offset_ns = offset_ns;
	s->unsure_ns = unsure_ns;
}

/* The counter against soft_ns, which is late by as long as the interrupt took: never too early.  So the fit is the
 * lower edge of the samples: down at once, up no faster than the two clocks can drift apart.  true: the counter
 * jumped. */
static bool fit_counter(struct bus_stamp *s, int64_t soft_ns, int64_t counter_ns)
{
	int64_t seen_ns = soft_ns - counter_ns;
	int64_t above_ns = seen_ns - s->fit_ns;
	int64_t drift_ns = (soft_ns - s->fit_at_ns) / DRIFT_PER;
	bool jumped = s->fitted && (above_ns > BUS_STAMP_COUNTER_JUMP_NS + drift_ns ||
				    above_ns < -BUS_STAMP_COUNTER_JUMP_NS - drift_ns);

	if (!s->fitted || jumped || above_ns < drift_ns)
		s->fit_ns = seen_ns;
	else
		s->fit_ns += drift_ns;
	s->fitted = true;
	s->fit_at_ns = soft_ns;
	return jumped;
}

/* Is t_ns a time at which a frame of this batch can have been on the bus? */
static bool sensible(const struct bus_stamp *s, int64_t t_ns)
{
	int64_t jitter_ns = BUS_STAMP_JITTER_NS + s->unsure_ns;

	return t_ns >= s->last_ns - jitter_ns && t_ns <= s->arrival_ns + jitter_ns;
}

bool bus_stamp_frame(struct bus_stamp *s, int64_t *t_ns, int64_t real_ns, int64_t counter_ns)
{
	int64_t t = real_ns + s->offset_ns;
	bool bad = !real_ns || !sensible(s, t);

	if (counter_ns && (s->fitted || !bad)) { /* setting the clock does not affect it */
		bool jumped = !bad && fit_counter(s, t, counter_ns);

		t = counter_ns + s->fit_ns;
		bad = jumped || !sensible(s, t);
	}
	if (bad || t > s->arrival_ns)
		t = s->arrival_ns;
	if (t < s->last_ns)
		t = s->last_ns;
	s->last_ns = t;
	*t_ns = t;
	return bad;
}
