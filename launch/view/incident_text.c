/* incident_text.c: what happened, in words and in order. */
#include "launch/view/incident_text.h"

/* ---- lines ---- */

static void say(struct incident_text *s, int64_t t_ns, const char *fmt, ...) __attribute__((format(printf, 3, 4)));
static void say(struct incident_text *s, int64_t t_ns, const char *fmt, ...)
{
	struct incident_text_line *line;
	va_list args;

	if (!grow(&s->lines, &s->room, s->n + 1, sizeof(*s->lines))) {
		s->failed = -ENOMEM;
		return;
	}
	line = &s->lines[s->n];
	line->t_ns = t_ns;
	line->number = s->n++;
	va_start(args, fmt);
	vsnprintf(line->text, sizeof(line->text), fmt, args);
	va_end(args);
}

static int by_time(const void *a, const void *b)
{
	const struct incident_text_line *x = a, *y = b;

	if (x->t_ns != y->t_ns)
		return x->t_ns < y->t_ns ? -1 : 1;
	return x->number < y->number ? -1 : 1;
}

/* ---- rhythms ---- */

static struct incident_text_rhythm *rhythm_of(struct incident_text *s, const char *what)
{
	for (size_t i = 0; i < s->rhythms_n; i++)
		if (!strcmp(s->rhythms[i].what, what))
			return &s->rhythms[i];
	if (!grow(&s->rhythms, &s->rhythms_room, s->rhythms_n + 1, sizeof(*s->rhythms))) {
		s->failed = -ENOMEM;
		return NULL;
	}
	s->rhythms[s->rhythms_n] = (struct incident_text_rhythm){ 0 };
	snprintf(s->rhythms[s->rhythms_n].what, sizeof(s->rhythms->what), "%s", what);
	return &s->rhythms[s->rhythms_n++];
}

static int64_t mean_ns(const struct incident_text_rhythm *r)
{
	return r->n > INCIDENT_TEXT_REGULAR ? (r->last_ns - r->first_ns) / (int64_t)(r->n - 1) : 0;
}

static bool is_late(const struct incident_text_rhythm *r, int64_t t_ns)
{
	const int64_t mean = mean_ns(r), gap_ns = t_ns - r->last_ns;

	return mean && gap_ns > INCIDENT_TEXT_LATE * mean && gap_ns > INCIDENT_TEXT_LATE_NS &&
	       gap_ns > 2 * r->longest_ns;
}

/* One more of it.  verb: "sent", "published". */
static void beat(struct incident_text *s, struct incident_text_rhythm *r, int64_t t_ns, const char *verb)
{
	if (is_late(r, t_ns) && t_ns - r->last_ns <= r->last_ns - r->first_ns) { /* bursts have no rhythm */
		say(s, r->last_ns + mean_ns(r), "%s, %s every %.1f ms until then, is late by %.1f ms", r->what, verb,
		    (double)mean_ns(r) / 1e6, (double)(t_ns - r->last_ns - mean_ns(r)) / 1e6);
		r->n = 0;
		r->longest_ns = 0;
	}
	if (r->n && t_ns - r->last_ns > r->longest_ns)
		r->longest_ns = t_ns - r->last_ns;
	if (!r->n++)
		r->first_ns = t_ns;
	r->last_ns = t_ns;
}

/* ---- frames and messages ---- */

void incident_text_frame(struct incident_text *s, const char *bus, const struct frame *frame, int64_t t_ns)
{
	struct incident_text_rhythm *r;
	char what[72];

	if (frame->id & FRAME_ERR) {
		say(s, t_ns, "error on bus %s", bus);
		return;
	}
	snprintf(what, sizeof(what), "frame %0*X of %s", frame->id & FRAME_EXT ? 8 : 3, frame_id(frame), bus);
	r = rhythm_of(s, what);
	if (r)
		beat(s, r, t_ns, "sent");
}

static bool has_code(const struct msg_event *e, const char *code)
{
	return !strncmp(e->code, code, sizeof(e->code));
}

/* "waist died: signal 9", "waist was restarted: ready after 0.032 s"; others as they are. */
static void event(struct incident_text *s, const struct msg_event *e, int64_t t_ns)
{
	static const char *const chosen[] = { "ended", "ready", "armed", "adopted", "active", "bus-back", "well" };
	const bool died = has_code(e, "ended") && e->severity >= MSG_SEVERITY_ERROR;
	const char *what = died ? " died" : has_code(e, "killed") ? " is hung" : "";
	bool say_it = e->severity >= MSG_SEVERITY_WARNING;
	struct incident_text_rhythm *r;
	char name[72];

	snprintf(name, sizeof(name), "daemon %.*s", (int)sizeof(e->source), e->source);
	r = rhythm_of(s, name);
	if (r && r->gone && has_code(e, "ready")) {
		what = " was restarted";
		r->gone = false;
	}
	if (r && died)
		r->gone = true;
	for (size_t i = 0; i < sizeof(chosen) / sizeof(*chosen); i++)
		say_it |= has_code(e, chosen[i]);
	if (say_it)
		say(s, e->header.t_sample_ns ? e->header.t_sample_ns : t_ns, "%.*s%s: %.*s", (int)sizeof(e->source),
		    e->source, what, (int)sizeof(e->text), e->text);
}

static void reference(struct incident_text *s, const char *channel, const struct msg_header *h)
{
	struct incident_text_rhythm *r = rhythm_of(s, channel);

	if (!r)
		return;
	if (r->valid_until_ns && h->t_publish_ns > r->valid_until_ns)
		say(s, r->valid_until_ns, "%s: the reference expires; the next one comes %.1f ms later", channel,
		    (double)(h->t_publish_ns - r->valid_until_ns) / 1e6);
	r->valid_until_ns = h->valid_until_ns;
}

static void state(struct incident_text *s, const char *channel, const void *bytes, const struct msg_header *h)
{
	struct incident_text_rhythm *r = rhythm_of(s, channel);
	struct {
		struct msg_header header;
		struct msg_common common;
	} both;

	if (!r)
		return;
	memcpy(&both, bytes, sizeof(both));
	if (r->known && r->incarnation != h->incarnation)
		say(s, h->t_publish_ns, "%s: a new process publishes, incarnation %u", channel, h->incarnation);
	else if (r->known && r->life != both.common.lifecycle)
		say(s, h->t_publish_ns, "%s: %s, was %s", channel, msg_life_word(both.common.lifecycle),
		    msg_life_word((enum msg_life)r->life));
	beat(s, r, h->t_publish_ns, "published");
	r->known = true;
	r->incarnation = h->incarnation;
	r->life = both.common.lifecycle;
}

void incident_text_message(struct incident_text *s, const char *channel, const void *bytes, size_t len, int64_t t_ns)
{
	const struct msg_type *type;
	struct msg_header h;
	struct msg_event e;
	struct msg_estop estop;

	if (msg_check(bytes, len, NULL, &type) != MSG_FINE)
		return;
	memcpy(&h, bytes, sizeof(h));
	if (type->number == msg_event_number && text_ends_with(channel, "-event")) {
		event(s, memcpy(&e, bytes, sizeof(e)), t_ns); /* bytes may be at any address */
	} else if (type->number == msg_estop_number && text_ends_with(channel, "estop")) {
		memcpy(&estop, bytes, sizeof(estop));
		say(s, h.t_publish_ns, "level %s %s by %.*s: %.*s", msg_level_word(estop.level),
		    estop.kind == MSG_ESTOP_LOWER ? "ordered" : "raised", (int)sizeof(estop.who), estop.who,
		    (int)sizeof(estop.why), estop.why);
	} else if (text_ends_with(channel, "-ref")) {
		reference(s, channel, &h);
	} else if (text_ends_with(channel, "-state")) {
		state(s, channel, bytes, &h);
	}
}

int incident_text_end(struct incident_text *s, int64_t t_ns)
{
	for (size_t i = 0; i < s->rhythms_n; i++) {
		const struct incident_text_rhythm *r = &s->rhythms[i];

		if (is_late(r, t_ns))
			say(s, r->last_ns, "%s is the last one of those every %.1f ms", r->what,
			    (double)mean_ns(r) / 1e6);
		if (r->valid_until_ns && r->valid_until_ns < t_ns)
			say(s, r->valid_until_ns, "%s: the reference expires, and no other follows", r->what);
	}
	if (s->n)
		qsort(s->lines, s->n, sizeof(*s->lines), by_time);
	return s->failed;
}

void incident_text_free(struct incident_text *s)
{
	free(s->lines);
	free(s->rhythms);
	*s = (struct incident_text){ 0 };
}
