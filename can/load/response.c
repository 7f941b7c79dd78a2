/* response.c: the longest time from the release of a frame to its end on the wire.  Checked: covered. */
#include "can/load/response.h"

#define PASSES 3		  /* bounds of the queue, which later passes use */
#define WINDOW_MAX_NS 10000000000 /* a busy period that lasts longer does not end */
#define PPM 1000000

/* What precedes one frame, or all frames of one queue. */
struct level {
	const struct response_frame *frames;
	size_t n;
	int64_t bit_ns;
	int sender;	    /* RESPONSE_ALONE, or the queue */
	uint32_t order;	    /* frames of others count if they are above this one */
	int64_t blocked_ns; /* by a frame that began before, or by answers to earlier requests */
};

static unsigned int burst(const struct response_frame *f)
{
	return f->burst ? f->burst : 1;
}

static int64_t least_ns(const struct response_frame *f)
{
	return f->least_ns ? f->least_ns : f->time_ns;
}

static bool queued_here(const struct level *l, const struct response_frame *f)
{
	return l->sender != RESPONSE_ALONE && f->sender == l->sender;
}

static const struct response_frame *request_of(const struct level *l, const struct response_frame *f)
{
	return f->cause < 0 ? NULL : &l->frames[f->cause];
}

static bool answers_here(const struct level *l, const struct response_frame *f)
{
	return f->cause >= 0 && queued_here(l, request_of(l, f));
}

/* By how much its releases are moved against its period, as the frames of this level see it; RESPONSE_NEVER: by any. */
static int64_t jitter_of(const struct level *l, const struct response_frame *f)
{
	const struct response_frame *request = request_of(l, f);
	int64_t before_ns = f->jitter_ns;

	if (answers_here(l, f))
		return request->jitter_ns;
	if (request) {
		if (request->response_ns == RESPONSE_NEVER)
			return RESPONSE_NEVER;
		before_ns += request->response_ns + f->delay_ns;
	} else if (f->sender != RESPONSE_ALONE && !queued_here(l, f)) {
		if (f->response_ns == RESPONSE_NEVER)
			return RESPONSE_NEVER;
		before_ns = f->response_ns - f->time_ns;
	}
	return before_ns;
}

/* Its time on the wire in the first window_ns of a busy period. */
static int64_t sent_ns(const struct level *l, const struct response_frame *f, int64_t window_ns)
{
	const int64_t jitter_ns = jitter_of(l, f);
	int64_t releases;

	if (!f->period_ns)
		return 0;
	if (jitter_ns == RESPONSE_NEVER)
		return WINDOW_MAX_NS;
	releases = (window_ns + jitter_ns + f->period_ns - 1) / f->period_ns;
	return releases * burst(f) * f->time_ns;
}

/* Frames that precede frame m, whose own earlier ones are not counted. */
static bool precedes(const struct level *l, const struct response_frame *f, const struct response_frame *m)
{
	return f != m && (queued_here(l, f) || f->order <= l->order);
}

static int64_t all_sent_ns(const struct level *l, const struct response_frame *m, int64_t window_ns)
{
	int64_t sum_ns = 0;

	for (size_t i = 0; i < l->n && sum_ns < WINDOW_MAX_NS; i++)
		if (precedes(l, &l->frames[i], m))
			sum_ns += sent_ns(l, &l->frames[i], window_ns);
	return sum_ns;
}

/* ---- what the level is ---- */

/* The longest frame that may be on the wire when the busy period begins, or that is sent at any time. */
static int64_t blocking_ns(const struct level *l)
{
	int64_t longest_ns = 0;

	for (size_t i = 0; i < l->n; i++) {
		const struct response_frame *f = &l->frames[i];

		if (!f->period_ns || (!queued_here(l, f) && f->order > l->order))
			longest_ns = num_max(longest_ns, f->time_ns);
	}
	return longest_ns;
}

/* Answers to requests that were on the wire before the busy period began: no more than can be under way, and no more
 * than requests can end within the delay. */
static int64_t owed_ns(const struct level *l)
{
	int64_t all_ns = 0, longest_ns = 0, delay_ns = 0, request_ns = INT64_MAX;

	for (size_t i = 0; i < l->n; i++) {
		const struct response_frame *f = &l->frames[i], *request = request_of(l, f);
		int64_t under_way;

		if (!f->period_ns || !answers_here(l, f) || f->order > l->order)
			continue;
		longest_ns = num_max(longest_ns, f->time_ns);
		delay_ns = num_max(delay_ns, f->delay_ns);
		request_ns = least_ns(request) < request_ns ? least_ns(request) : request_ns;
		if (request->response_ns == RESPONSE_NEVER) {
			all_ns = WINDOW_MAX_NS;
			continue;
		}
		under_way = (f->delay_ns + request->response_ns + f->period_ns - 1) / f->period_ns;
		all_ns += under_way * burst(f) * f->time_ns;
	}
	longest_ns *= 1 + delay_ns / request_ns;
	return all_ns < longest_ns ? all_ns : longest_ns;
}

static struct level level_of(const struct response_frame *frames, size_t n, const struct response_frame *m,
			     int64_t bit_ns)
{
	struct level l = { .frames = frames, .n = n, .bit_ns = bit_ns, .sender = m->sender, .order = m->order };

	for (size_t i = 0; i < n; i++)
		if (queued_here(&l, &frames[i]) && frames[i].order > l.order)
			l.order = frames[i].order;
	l.blocked_ns = blocking_ns(&l) + owed_ns(&l);
	return l;
}

/* ---- one frame ---- */

/* Is there time for all that is sent at this level? */
static bool fits(const struct level *l, const struct response_frame *m)
{
	int64_t ppm = 0;

	for (size_t i = 0; i < l->n; i++) {
		const struct response_frame *f = &l->frames[i];

		if (f->period_ns && (f == m || precedes(l, f, m)))
			ppm += PPM * burst(f) * f->time_ns / f->period_ns;
	}
	return ppm < PPM;
}

/* The busy period that frame m takes part in; RESPONSE_NEVER: it does not end. */
static int64_t busy_ns(const struct level *l, const struct response_frame *m)
{
	int64_t t_ns = m->time_ns, next_ns;

	for (;; t_ns = next_ns) {
		next_ns = l->blocked_ns + all_sent_ns(l, m, t_ns) + sent_ns(l, m, t_ns);
		if (next_ns > WINDOW_MAX_NS)
			return RESPONSE_NEVER;
		if (next_ns <= t_ns)
			return t_ns;
	}
}

/* From the beginning of the busy period, which ends, to the start of the frame that has own_ns of its own kind before
 * it. */
static int64_t start_ns(const struct level *l, const struct response_frame *m, int64_t own_ns, int64_t from_ns)
{
	int64_t w_ns = from_ns, next_ns;

	for (;; w_ns = next_ns) {
		next_ns = l->blocked_ns + own_ns + all_sent_ns(l, m, w_ns + l->bit_ns);
		if (next_ns <= w_ns)
			return w_ns;
	}
}

/* From the release of an instance that starts w_ns after the beginning of the busy period: that of an answer is not
 * before the beginning, and the period counts from the request. */
static int64_t since_release_ns(const struct response_frame *m, unsigned int instance, int64_t jitter_ns, int64_t w_ns)
{
	const int64_t nominal_ns = instance * m->period_ns - jitter_ns;

	return w_ns + m->time_ns - (m->cause < 0 ? nominal_ns : num_max(nominal_ns, 0));
}

static void solve(struct response_frame *m, const struct level *l)
{
	const int64_t jitter_ns = jitter_of(l, m);
	int64_t busy, w_ns = l->blocked_ns, longest_ns = 0;

	m->instance = 0;
	m->response_ns = RESPONSE_NEVER;
	busy = jitter_ns != RESPONSE_NEVER && fits(l, m) ? busy_ns(l, m) : RESPONSE_NEVER;
	if (busy == RESPONSE_NEVER)
		return;
	for (unsigned int instance = 0; instance * m->period_ns < busy + jitter_ns; instance++) {
		const int64_t own_ns = ((int64_t)(instance + 1) * burst(m) - 1) * m->time_ns;
		int64_t response_ns;

		w_ns = start_ns(l, m, own_ns, w_ns);
		response_ns = since_release_ns(m, instance, jitter_ns, w_ns);
		if (response_ns > longest_ns) {
			longest_ns = response_ns;
			m->instance = instance;
		}
	}
	m->response_ns = longest_ns;
}

static void solve_all(struct response_frame *frames, size_t n, int64_t bit_ns, bool queued)
{
	for (size_t i = 0; i < n; i++) {
		struct response_frame *m = &frames[i];

		if (m->period_ns && (m->sender != RESPONSE_ALONE) == queued) {
			const struct level l = level_of(frames, n, m, bit_ns);

			solve(m, &l);
		}
	}
}

void response_solve(struct response_frame *frames, size_t n, int64_t bit_ns)
{
	for (size_t i = 0; i < n; i++)
		frames[i].response_ns = RESPONSE_NEVER;
	for (unsigned int pass = 0; pass < PASSES; pass++)
		solve_all(frames, n, bit_ns, true);
	solve_all(frames, n, bit_ns, false);
}
