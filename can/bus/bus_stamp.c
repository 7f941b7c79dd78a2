/* bus_stamp.c: from the kernel's stamps to CLOCK_MONOTONIC. */
#include "can/bus/bus_stamp.h"

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

/* Is t_ns a time at which a frame of this batch can have been on the bus? */
static bool sensible(const struct bus_stamp *s, int64_t t_ns)
{
	int64_t jitter_ns = BUS_STAMP_JITTER_NS + s->unsure_ns;

	return t_ns >= s->last_ns - jitter_ns && t_ns <= s->arrival_ns + jitter_ns;
}

bool bus_stamp_frame(struct bus_stamp *s, int64_t *t_ns, int64_t real_ns)
{
	int64_t t = real_ns + s->offset_ns;
	bool bad = !real_ns || !sensible(s, t);

	if (bad || t > s->arrival_ns)
		t = s->arrival_ns;
	if (t < s->last_ns)
		t = s->last_ns;
	s->last_ns = t;
	*t_ns = t;
	return bad;
}
