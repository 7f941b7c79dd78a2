/* verdict.c: see verdict.h. */
#include <stdarg.h>
#include <stdio.h>

#include "test/daemons/clock/verdict.h"

#define MS 1000000
#define WINDOW 200 /* of ticks, in which one at least was in time */
#define COMPLAINTS_MAX 20

static int complaints;

__attribute__((format(printf, 1, 2))) static void complain(const char *fmt, ...)
{
	va_list args;

	if (complaints++ >= COMPLAINTS_MAX)
		return;
	va_start(args, fmt);
	vprintf(fmt, args);
	va_end(args);
	putchar('\n');
}

/* ---- the clock itself ---- */

/* One grid and one count through all lives.  A life begins anywhere: its first two messages may be of one cycle. */
static void check_grid(const struct verdict_record *r, uint32_t kills)
{
	bool first = false;

	for (size_t i = 0; i < r->clock_n; i++) {
		const struct verdict_message *m = &r->clock[i], *before = m - (i > 0);

		if (m->period_ns != VERDICT_CYCLE_NS || m->t_cycle_ns != (int64_t)m->cycle * VERDICT_CYCLE_NS)
			complain("cycle %llu at %lld ns", (unsigned long long)m->cycle, (long long)m->t_cycle_ns);
		if (i > 0 && m->cycle < before->cycle + !first)
			complain("cycle %llu after %llu", (unsigned long long)m->cycle,
				 (unsigned long long)before->cycle);
		first = m->incarnation != before->incarnation;
	}
	if (r->clock_n && r->clock[r->clock_n - 1].incarnation - r->clock[0].incarnation != kills)
		complain("%u lives of the clock after %u kills",
			 r->clock[r->clock_n - 1].incarnation - r->clock[0].incarnation + 1, kills);
}

/* Over any time at most one frame more than cycles of the bus began in it: late ones, but never a burst. */
static void check_frames(const struct verdict_record *r)
{
	int64_t least = INT64_MAX;

	for (size_t i = 0; i < r->frame_n; i++) {
		int64_t ahead = (int64_t)i - r->frame_ns[i] / VERDICT_PERIOD_NS;

		least = ahead < least ? ahead : least;
		if (ahead - least > 1)
			complain("clock frame %zu at %lld ns is one too many", i, (long long)r->frame_ns[i]);
	}
	printf("%zu clock frames\n", r->frame_n);
}

/* ---- references on the wire ---- */

/* Was the driver active all the time from 100 ms before until 100 ms after?  The tester's own references may come too
 * late.  *from moves on. */
static bool was_active(const struct verdict_record *r, size_t *from, int64_t since_ns, int64_t until_ns)
{
	while (*from < r->state_n && r->state[*from].t_publish_ns < since_ns - 100 * MS)
		(*from)++;
	for (size_t i = *from; i < r->state_n && r->state[i].t_publish_ns <= until_ns + 100 * MS; i++)
		if (!r->state[i].active)
			return false;
	return true;
}

/* Each is one more than the one before it; those that are not there were counted by the driver as not sent. */
static void check_references(const struct verdict_record *r)
{
	uint64_t checked = 0, missing = 0, unsent;
	size_t from = 0;

	for (size_t i = 1; i < r->reference_n; i++) {
		const struct verdict_reference *one = &r->reference[i], *before = one - 1;
		int step = one->value - before->value;

		if (!was_active(r, &from, before->t_ns, one->t_ns))
			continue;
		checked++;
		if (step <= 0)
			complain("reference %d after %d at %lld ns", one->value, before->value, (long long)one->t_ns);
		else
			missing += (uint64_t)step - 1;
	}
	unsent = r->state_n ? r->state[r->state_n - 1].unsent - r->state[0].unsent : 0;
	if (missing > unsent)
		complain("%llu references are missing, %llu were not sent", (unsigned long long)missing,
			 (unsigned long long)unsent);
	if (checked * 5 < r->reference_n * 4)
		complain("only %llu of %zu references could be checked", (unsigned long long)checked, r->reference_n);
	printf("%llu references, %llu did not leave\n", (unsigned long long)checked, (unsigned long long)unsent);
}

/* The value that most of them have, if one has. */
struct most {
	int64_t value;
	size_t weight;
};

static void vote(struct most *most, int64_t value)
{
	if (!most->weight)
		most->value = value;
	most->weight = most->value == value ? most->weight + 1 : most->weight - 1;
}

/* References and ticks keep pace, one for one: what most of a second's are ahead by never changes. */
static void check_pace(const struct verdict_record *r)
{
	struct most most = { 0, 0 };
	bool known = false;
	int64_t usual = 0;
	size_t from = 0, state = 0, votes = 0;

	for (size_t i = 0; i < r->reference_n; i++) {
		const struct verdict_reference *one = &r->reference[i];

		while (state < r->state_n && r->state[state].t_publish_ns <= one->t_ns)
			state++;
		if (!state || !was_active(r, &from, one->t_ns, one->t_ns)) {
			known = false;
			votes = most.weight = 0;
			continue;
		}
		vote(&most, one->value - (int64_t)r->state[state - 1].ticks);
		if (++votes < WINDOW)
			continue;
		if (most.weight < WINDOW / 8)
			complain("at %lld ns references and ticks do not keep pace", (long long)one->t_ns);
		else if (known && most.value != usual)
			complain("at %lld ns %lld references more than ticks", (long long)one->t_ns,
				 (long long)(most.value - usual));
		usual = most.value;
		known = true;
		votes = most.weight = 0;
	}
}

/* In each second the first of them come right after their cycle began. */
static void check_phase(const struct verdict_record *r)
{
	for (size_t w = 0; w + WINDOW <= r->reference_n; w += WINDOW) {
		int64_t least = VERDICT_PERIOD_NS;

		for (size_t i = w; i < w + WINDOW; i++) {
			int64_t after = r->reference[i].t_ns % VERDICT_PERIOD_NS;

			least = after < least ? after : least;
		}
		if (least > VERDICT_PERIOD_NS / 5)
			complain("references from %lld ns on come %lld ns after their cycles",
				 (long long)r->reference[w].t_ns, (long long)least);
	}
}

/* ---- ticks ---- */

/* One message for each tick, published before the next but one; and ticks, those skipped included, do not get ahead of
 * the clock nor behind it. */
static void check_ticks(const struct verdict_record *r)
{
	int64_t first_most = INT64_MIN, most = INT64_MIN;
	const struct verdict_state *first = &r->state[0];

	for (size_t i = 0; i < r->state_n; i++) {
		const struct verdict_state *s = &r->state[i], *before = s - (i > 0);
		int64_t ahead = (int64_t)(s->ticks + s->skipped) - s->t_publish_ns / VERDICT_PERIOD_NS;
		int64_t unpublished = (int64_t)(s->ticks - first->ticks) - (int64_t)(s->sequence - first->sequence);

		if (unpublished < -1 || unpublished > 1 ||
		    (s != before && !s->missed && s->sequence != before->sequence + 1))
			complain("state %llu of tick %llu after %llu of %llu", (unsigned long long)s->sequence,
				 (unsigned long long)s->ticks, (unsigned long long)before->sequence,
				 (unsigned long long)before->ticks);
		most = ahead > most ? ahead : most;
		if (i % WINDOW < WINDOW - 1)
			continue;
		if (first_most == INT64_MIN)
			first_most = most;
		if (most != first_most)
			complain("ticks are %lld ahead of the clock at %lld ns", (long long)(most - first_most),
				 (long long)s->t_publish_ns);
		most = INT64_MIN;
	}
}

/* ---- free run and lock ---- */

/* When a clock frame was last on the wire; INT64_MIN: never. */
static int64_t last_frame_ns(const struct verdict_record *r, size_t *frame, int64_t t_ns)
{
	while (*frame < r->frame_n && r->frame_ns[*frame] <= t_ns)
		(*frame)++;
	return *frame ? r->frame_ns[*frame - 1] : INT64_MIN;
}

/* The states from *state on that were published before until_ns, the last message of the clock having been at since_ns.
 * They say that they run free when the last they saw of it, frame or message, was two periods ago.  A driver that was
 * held up itself, and skipped ticks, may have seen anything later. */
static void check_absence(const struct verdict_record *r, size_t *state, size_t *frame, int64_t since_ns,
			  int64_t until_ns, unsigned int *flagged)
{
	const struct verdict_state *first = &r->state[*state];

	for (; *state < r->state_n && r->state[*state].t_publish_ns < until_ns; (*state)++) {
		const struct verdict_state *s = &r->state[*state];
		const int64_t frame_ns = last_frame_ns(r, frame, s->t_publish_ns);
		const int64_t seen_ns = frame_ns > since_ns ? frame_ns : since_ns;

		if (s->freerun)
			(*flagged)++;
		else if (s->skipped == first->skipped && s->t_publish_ns - seen_ns >= 2 * VERDICT_PERIOD_NS)
			complain("state %llu has no clock any more and does not say so",
				 (unsigned long long)s->sequence);
	}
}

/* Did the clock go on without a hole from message i until t_ns? */
static bool went_on(const struct verdict_record *r, size_t i, int64_t t_ns)
{
	for (i++; i < r->clock_n && r->clock[i - 1].t_publish_ns < t_ns; i++)
		if (r->clock[i].t_publish_ns - r->clock[i - 1].t_publish_ns > VERDICT_PERIOD_NS)
			return false;
	return true;
}

/* The third state follows it; the third after a tick that the driver skipped, being held up itself. */
static void check_return(const struct verdict_record *r, size_t state, size_t clock, unsigned int *locked)
{
	unsigned int in_vain = 0;

	for (size_t i = state; i + 1 < r->state_n && in_vain < 3; i++) {
		if (!r->state[i].freerun) {
			(*locked)++;
			return;
		}
		/* The next state says what was skipped on the way to this one. */
		in_vain = r->state[i + 1].skipped == r->state[i].skipped ? in_vain + 1 : 0;
		if (in_vain == 3 && went_on(r, clock, r->state[i].t_publish_ns))
			complain("state %llu: the clock of life %u is not followed",
				 (unsigned long long)r->state[i].sequence, r->clock[clock].incarnation);
	}
}

static void check_lives(const struct verdict_record *r, uint32_t kills)
{
	unsigned int flagged = 0, locked = 0;
	size_t state = 0, frame = 0;

	for (size_t i = 1; i < r->clock_n; i++) {
		const struct verdict_message *m = &r->clock[i];

		if (m->incarnation == m[-1].incarnation)
			continue;
		while (state < r->state_n && r->state[state].t_publish_ns < m[-1].t_publish_ns)
			state++;
		if (!m->missed)
			check_absence(r, &state, &frame, m[-1].t_publish_ns, m->t_publish_ns, &flagged);
		while (state < r->state_n && r->state[state].t_publish_ns < m->t_publish_ns)
			state++;
		check_return(r, state, i, &locked);
	}
	if (flagged < kills || locked * 5 < kills * 4)
		complain("only %u states in free run, and %u of %u lives followed", flagged, locked, kills);
	printf("%u lives of the clock followed, %u states in free run between them\n", locked, flagged);
}

int verdict(const struct verdict_record *r, uint32_t kills)
{
	complaints = 0;
	printf("%zu messages of the clock, %zu states\n", r->clock_n, r->state_n);
	check_grid(r, kills);
	check_frames(r);
	check_references(r);
	check_pace(r);
	check_phase(r);
	check_ticks(r);
	check_lives(r, kills);
	return complaints;
}
