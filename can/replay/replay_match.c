/* replay_match.c: plays the devices of a recording to a live driver. */
#include "can/replay/replay_match_inside.h"

#define BEGIN_NS 100000000 /* in this time a driver asks what only its start asks */
#define SET_NS 1000000000  /* a stamp that is earlier by more: the clock was set */

/* ---- rules ---- */

static int bus_of(const struct replay_match *l, const char *name)
{
	for (unsigned int i = 0; i < l->buses; i++)
		if (!strcmp(l->names[i], name))
			return (int)i;
	return -ENOENT;
}

/* Do all rules have one bus? */
static bool one_bus(const struct replay_match_rules *rules)
{
	for (size_t i = 1; i < rules->n; i++)
		if (strcmp(rules->rows[i].bus, rules->rows[0].bus) != 0)
			return false;
	return true;
}

static int unknown_bus(const struct replay_match *l, const char *bus, struct error_sink *errors)
{
	char names[256];
	struct text_out out = text_out(names, sizeof(names));

	for (unsigned int i = 0; i < l->buses; i++)
		text_add(&out, "%s%s", i ? ", " : "", l->names[i]);
	return error_refuse(errors, -EINVAL, "the recording has no bus %s of the driver, only %s: --bus %s=%s", bus,
			    l->buses ? names : "an empty file", bus, l->buses ? l->names[0] : "NAME");
}

static void add_rule(struct replay_match *l, unsigned int bus, const struct replay_match_rule *rule)
{
	struct replay_match_id *id = (struct replay_match_id *)(uintptr_t)replay_match_id_of(l, bus, rule->id);

	if (!id) {
		id = &l->ids[l->ids_n++];
		*id = (struct replay_match_id){ .bus = bus, .id = rule->id };
	}
	id->len = rule->len > id->len ? rule->len : id->len;
	for (unsigned int i = 0; i < FRAME_DATA_MAX_FD; i++)
		id->key[i] |= rule->key[i];
}

/* Which bus a rule is for; or -ENOENT. */
static int rule_bus(const struct replay_match *l, const struct replay_match_rule *rule)
{
	return l->buses == 1 && one_bus(l->rules) ? 0 : bus_of(l, rule->bus);
}

/* The rules of each identifier, one behind the other. */
static void share_out(struct replay_match *l)
{
	size_t n = 0;

	for (size_t i = 0; i < l->ids_n; i++) {
		struct replay_match_id *id = &l->ids[i];

		id->rules = &l->id_rules[n];
		for (size_t r = 0; r < l->rules->n; r++) {
			const struct replay_match_rule *rule = &l->rules->rows[r];

			if (!rule->answered || rule_bus(l, rule) != (int)id->bus)
				continue;
			id->echoed |= !((rule->reply_id ^ id->id) & rule->reply_mask);
			if (rule->id == id->id)
				id->rules[id->rules_n++] = rule;
		}
		n += id->rules_n;
	}
}

int replay_match_new(struct replay_match **loop, const struct replay_match_rules *rules, const char *const *names,
		     unsigned int buses, const struct replay_match_options *options, struct error_sink *errors)
{
	struct replay_match *l = calloc(1, sizeof(*l));

	*loop = l;
	if (l) {
		l->ids = calloc(rules->n + 1, sizeof(*l->ids));
		l->id_rules = calloc(rules->n + 1, sizeof(*l->id_rules));
	}
	if (!l || !l->ids || !l->id_rules)
		return error_refuse(errors, -ENOMEM, "no memory left");
	l->rules = rules;
	l->options = options;
	l->names = names;
	l->buses = buses;
	l->first_own = REPLAY_MATCH_NONE;
	memset(l->heads, 0xFF, sizeof(l->heads));
	memset(l->newest, 0xFF, sizeof(l->newest));
	for (size_t i = 0; i < rules->n; i++) {
		const int bus = rule_bus(l, &rules->rows[i]);

		if (bus < 0)
			return unknown_bus(l, rules->rows[i].bus, errors);
		add_rule(l, (unsigned int)bus, &rules->rows[i]);
	}
	share_out(l);
	return 0;
}

void replay_match_free(struct replay_match *l)
{
	if (!l)
		return;
	free(l->ids);
	free(l->id_rules);
	free(l->items);
	free(l->streams);
	free(l->due);
	free(l);
}

/* ---- the recording ---- */

static int64_t place_in_time(struct replay_match *l, int64_t stamp_ns)
{
	if (!l->n)
		l->first_ns = l->newest_ns = stamp_ns;
	if (stamp_ns < l->newest_ns - SET_NS) {
		l->shift_ns += l->newest_ns - stamp_ns;
		l->newest_ns = stamp_ns;
		l->time_was_set = true;
	}
	l->newest_ns = stamp_ns > l->newest_ns ? stamp_ns : l->newest_ns;
	return l->newest_ns - l->first_ns + l->shift_ns;
}

int replay_match_add(struct replay_match *l, unsigned int bus, const struct frame *frame, int64_t t_ns, uint64_t line)
{
	if (l->n >= REPLAY_MATCH_NONE / 2 || !grow(&l->items, &l->room, l->n + 1, sizeof(*l->items)))
		return -ENOMEM;
	l->items[l->n] = (struct replay_match_item){ .t_ns = place_in_time(l, t_ns),
						     .line = line,
						     .frame = *frame,
						     .bus = (uint8_t)bus,
						     .next = REPLAY_MATCH_NONE,
						     .answers = REPLAY_MATCH_NONE };
	l->n++;
	return 0;
}

static void set_window(struct replay_match *l, struct replay_match_stream *s)
{
	const int64_t n = (int64_t)s->counts.recorded, took_ns = l->items[s->last].t_ns - l->items[s->first].t_ns;
	const int64_t half_ns = n > 1 ? took_ns / (n - 1) / 2 : REPLAY_MATCH_WINDOW_MAX_NS;

	s->window_ns = l->options->window_ns		      ? l->options->window_ns
		       : half_ns < REPLAY_MATCH_WINDOW_MAX_NS ? half_ns
							      : REPLAY_MATCH_WINDOW_MAX_NS;
}

int replay_match_prepare(struct replay_match *l)
{
	const int status = replay_match_sort(l);

	for (uint32_t i = 0; i < l->streams_n; i++)
		set_window(l, &l->streams[i]);
	l->end_ns = l->n ? l->items[l->n - 1].t_ns : 0;
	for (uint32_t i = 0; i < l->streams_n; i++) {
		const struct replay_match_stream *s = &l->streams[i];
		const int64_t wait_ns = s->window_ns < REPLAY_MATCH_TAIL_NS ? s->window_ns : REPLAY_MATCH_TAIL_NS;

		if (l->items[s->last].t_ns + wait_ns > l->end_ns)
			l->end_ns = l->items[s->last].t_ns + wait_ns;
	}
	return status;
}

/* ---- time ---- */

static void find_expiry(struct replay_match *l)
{
	l->expires_ns = INT64_MAX;
	for (uint32_t i = 0; i < l->streams_n; i++) {
		const struct replay_match_stream *s = &l->streams[i];

		if (s->at != REPLAY_MATCH_NONE && l->items[s->at].t_ns + s->window_ns < l->expires_ns)
			l->expires_ns = l->items[s->at].t_ns + s->window_ns;
	}
}

void replay_match_start(struct replay_match *l, int64_t now_ns)
{
	l->offset_ns = now_ns;
	l->begun = l->first_own == REPLAY_MATCH_NONE;
	find_expiry(l);
}

/* The driver's first frame: which moment of the recording it is. */
static void begin(struct replay_match *l, const struct replay_match_stream *s, int64_t t_ns)
{
	const int64_t first_ns = l->items[l->first_own].t_ns;
	int64_t at_ns = s ? l->items[s->first].t_ns : INT64_MAX;

	if (at_ns - first_ns > REPLAY_MATCH_WINDOW_MAX_NS) {
		l->totals.middle = true;
		at_ns = first_ns;
	}
	l->begun = true;
	l->offset_ns = t_ns - at_ns;
	for (; l->at < l->n && l->items[l->at].t_ns < first_ns; l->at++)
		l->totals.left_out += l->items[l->at].kind == REPLAY_MATCH_OTHER;
}

/* ---- events ---- */

bool replay_match_is_counted(const struct replay_match *l, int64_t at_ns)
{
	const struct replay_match_options *o = l->options;

	if (l->totals.middle && at_ns - l->items[l->first_own].t_ns < o->settle_ns)
		return false;
	return at_ns < o->from_ns || at_ns >= o->until_ns;
}

static void report(struct replay_match *l, struct replay_match_event *e)
{
	struct replay_match_counts *counts = e->stream ? &e->stream->counts : &l->strangers;
	const int64_t at_ns = e->then ? e->then->t_ns : e->now_ns;

	counts->what[e->what]++;
	e->counts = e->what != REPLAY_MATCH_SAME && replay_match_is_counted(l, at_ns);
	l->differences += e->counts;
	if (e->counts && e->stream && at_ns < e->stream->differs_ns) {
		e->stream->differs = e->then;
		e->stream->differs_ns = at_ns;
	}
	if (l->options->event)
		l->options->event(l->options->to, e);
}

static void give_up(struct replay_match *l, struct replay_match_stream *s, int64_t now_ns)
{
	struct replay_match_event e = {
		.what = REPLAY_MATCH_MISSING, .then = &l->items[s->at], .now_ns = now_ns, .bus = s->bus, .stream = s
	};

	s->at = l->items[s->at].next;
	report(l, &e);
}

static void give_up_until(struct replay_match *l, int64_t now_ns)
{
	if (!l->begun || now_ns <= l->expires_ns)
		return;
	for (uint32_t i = 0; i < l->streams_n; i++) {
		struct replay_match_stream *s = &l->streams[i];

		while (s->at != REPLAY_MATCH_NONE && l->items[s->at].t_ns + s->window_ns < now_ns)
			give_up(l, s, now_ns);
	}
	find_expiry(l);
}

/* ---- answers ---- */

static bool is_before(const struct replay_match_due *a, const struct replay_match_due *b)
{
	return a->due_ns < b->due_ns || (a->due_ns == b->due_ns && a->number < b->number);
}

/* In order of time. */
static int put_due(struct replay_match *l, const struct replay_match_due *due)
{
	size_t at = l->due_n;

	if (!grow(&l->due, &l->due_room, l->due_n + 1, sizeof(*due)))
		return -ENOMEM;
	for (; at && is_before(due, &l->due[at - 1]); at--)
		l->due[at] = l->due[at - 1];
	l->due[at] = *due;
	l->due_n++;
	return 0;
}

/* Everything that answered the request then. */
static int answer(struct replay_match *l, const struct replay_match_item *asked, int64_t t_ns, uint64_t *count)
{
	int status = 0;

	for (uint32_t i = asked->answers; !status && i != REPLAY_MATCH_NONE; i = l->items[i].next) {
		const int64_t took_ns = l->items[i].t_ns - asked->t_ns;

		status = put_due(l, &(struct replay_match_due){ t_ns + took_ns, l->asked++, i });
		++*count;
	}
	return status;
}

/* ---- frames of the driver ---- */

static int pair(struct replay_match *l, struct replay_match_event *e, int64_t t_ns)
{
	struct replay_match_stream *s = e->stream;
	const uint32_t number = s->at, newest = l->newest[e->bus];

	e->then = &l->items[number];
	s->before = number;
	s->at = e->then->next;
	if (newest != REPLAY_MATCH_NONE && number < newest)
		e->from = &l->items[newest];
	else
		l->newest[e->bus] = number;
	e->what = !replay_match_same_frames(l->options->same, &e->then->frame, e->now, e->why) ? REPLAY_MATCH_PAYLOAD
		  : e->from && !l->options->any_order					       ? REPLAY_MATCH_ORDER
											       : REPLAY_MATCH_SAME;
	report(l, e);
	return answer(l, e->then, t_ns, &l->totals.answered);
}

/* An item of the same request whose answers can be used: the partner before, or else one that follows. */
static const struct replay_match_item *lender(const struct replay_match *l, const struct replay_match_stream *s)
{
	if (s->before != REPLAY_MATCH_NONE && l->items[s->before].answers != REPLAY_MATCH_NONE)
		return &l->items[s->before];
	for (uint32_t i = s->at; i != REPLAY_MATCH_NONE; i = l->items[i].next)
		if (l->items[i].answers != REPLAY_MATCH_NONE)
			return &l->items[i];
	return NULL;
}

/* A driver that begins with a request that was never recorded: its beginning is missing in the recording.  All
 * differences so far lie within the time to settle. */
static void find_middle(struct replay_match *l, const struct replay_match_event *e)
{
	if (e->stream || l->totals.middle || l->first_own == REPLAY_MATCH_NONE ||
	    e->now_ns - l->items[l->first_own].t_ns > BEGIN_NS || l->options->settle_ns < BEGIN_NS)
		return;
	l->totals.middle = true;
	l->differences = 0;
	for (uint32_t i = 0; i < l->streams_n; i++) {
		l->streams[i].differs = NULL;
		l->streams[i].differs_ns = INT64_MAX;
	}
}

static int be_extra(struct replay_match *l, struct replay_match_event *e, const struct replay_match_id *id,
		    int64_t t_ns)
{
	e->what = REPLAY_MATCH_EXTRA;
	find_middle(l, e);
	e->from = e->stream && !l->options->strict ? lender(l, e->stream) : NULL;
	l->totals.unknown += id->rules_n && !e->from;
	report(l, e);
	return e->from ? answer(l, e->from, t_ns, &l->totals.borrowed) : 0;
}

int replay_match_heard(struct replay_match *l, unsigned int bus, const struct frame *frame, int64_t t_ns)
{
	const struct replay_match_id *id = replay_match_id_of(l, bus, frame->id);
	struct replay_match_event e = { .now = frame, .bus = bus };
	int status;

	if (!id) {
		l->totals.foreign++;
		return 0;
	}
	e.stream = replay_match_stream_of(l, id, frame);
	if (!l->begun)
		begin(l, e.stream, t_ns);
	e.now_ns = t_ns - l->offset_ns;
	give_up_until(l, e.now_ns);
	if (e.stream)
		e.stream->counts.sent++;
	else
		l->strangers.sent++;
	if (e.stream && e.stream->at != REPLAY_MATCH_NONE &&
	    l->items[e.stream->at].t_ns <= e.now_ns + e.stream->window_ns) {
		status = pair(l, &e, t_ns);
		find_expiry(l);
	} else if (l->n && e.now_ns > l->items[l->n - 1].t_ns) {
		l->totals.after++;
		status = 0;
	} else {
		status = be_extra(l, &e, id, t_ns);
	}
	return status;
}

void replay_match_pass_time(struct replay_match *l, int64_t now_ns)
{
	give_up_until(l, now_ns - l->offset_ns);
}

void replay_match_shift(struct replay_match *l, int64_t by_ns)
{
	l->offset_ns += by_ns;
	for (size_t i = 0; i < l->due_n; i++)
		l->due[i].due_ns += by_ns;
}

/* ---- frames of the devices ---- */

/* The next other frame; NULL: none, or the driver has to send first. */
static const struct replay_match_item *next_other(struct replay_match *l)
{
	while (l->at < l->n && l->items[l->at].kind != REPLAY_MATCH_OTHER && (l->begun || l->at != l->first_own))
		l->at++;
	return l->at < l->n && l->items[l->at].kind == REPLAY_MATCH_OTHER ? &l->items[l->at] : NULL;
}

bool replay_match_take(struct replay_match *l, int64_t until_ns, struct replay_match_play *play)
{
	const struct replay_match_item *other = next_other(l);
	const int64_t other_ns = other ? other->t_ns + l->offset_ns : INT64_MAX;

	if (l->due_n && l->due[0].due_ns <= other_ns && l->due[0].due_ns <= until_ns) {
		*play = (struct replay_match_play){ .item = &l->items[l->due[0].item], .due_ns = l->due[0].due_ns };
		memmove(l->due, l->due + 1, --l->due_n * sizeof(*l->due));
	} else if (other && other_ns <= until_ns) {
		*play = (struct replay_match_play){ .item = other, .due_ns = other_ns };
		l->at++;
		l->totals.cyclic++;
	} else {
		return false;
	}
	play->bus = play->item->bus;
	play->frame = &play->item->frame;
	return true;
}

int64_t replay_match_next_ns(struct replay_match *l)
{
	const struct replay_match_item *other = next_other(l);
	const int64_t other_ns = other ? other->t_ns + l->offset_ns : INT64_MAX;

	return l->due_n && l->due[0].due_ns < other_ns ? l->due[0].due_ns : other_ns;
}

int64_t replay_match_pass_ns(const struct replay_match *l)
{
	if (!l->begun)
		return INT64_MAX;
	return (l->expires_ns < l->end_ns ? l->expires_ns : l->end_ns) + l->offset_ns + 1;
}

/* ---- the end ---- */

bool replay_match_over(const struct replay_match *l, int64_t now_ns)
{
	return l->begun && now_ns - l->offset_ns > l->end_ns;
}

void replay_match_finish(struct replay_match *l)
{
	for (uint32_t i = 0; i < l->streams_n; i++)
		while (l->streams[i].at != REPLAY_MATCH_NONE)
			give_up(l, &l->streams[i], l->end_ns);
}

struct replay_match_counts replay_match_counts(const struct replay_match *l)
{
	struct replay_match_counts all = l->strangers;

	for (uint32_t i = 0; i < l->streams_n; i++) {
		const struct replay_match_counts *c = &l->streams[i].counts;

		all.recorded += c->recorded;
		all.sent += c->sent;
		for (int what = 0; what < REPLAY_MATCH_WHATS; what++)
			all.what[what] += c->what[what];
	}
	return all;
}
