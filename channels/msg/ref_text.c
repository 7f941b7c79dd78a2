/* ref_text.c: why a reference was refused, in words.  Checked: pure, covered. */
#include <math.h>

#include "channels/msg/ref.h"

#define OTHER_CLOCK_NS 10000000000 /* no validity is meant to be that long, and no message that old */

static uint32_t u32_at(const void *msg, size_t at)
{
	uint32_t value;

	memcpy(&value, (const char *)msg + at, sizeof(value));
	return value;
}

static double ms(int64_t ns)
{
	return (double)ns / 1e6;
}

static const struct msg_field *field_at(const struct msg_type *type, size_t at)
{
	const struct msg_field *f = type->body->fields;

	while (msg_offset(type->body, f) != at)
		f++;
	return f;
}

/* "position[2] (elbow)" */
static void add_element(struct text_out *o, const struct ref_rules *rules, const struct ref_part *part, size_t i)
{
	const struct msg_field *f = field_at(rules->layout->type, part->at);

	text_add(o, "%s", f->name);
	if (f->count)
		text_add(o, "[%zu]", i);
	if (rules->joints && i < rules->count)
		text_add(o, " (%.*s)", MSG_NAME_SIZE - 1, rules->joints[i]);
}

static void add_type(struct text_out *o, const void *msg, size_t len, const struct msg_type *expected)
{
	char line[MSG_TEXT_SIZE];

	msg_refusal_text(line, sizeof(line), msg_check(msg, len, expected, NULL), msg, len, expected);
	text_add(o, "%s", line);
}

/* A mode or word that the device does not take; false: there is none. */
static bool add_word(struct text_out *o, const void *msg, const struct ref_rules *rules)
{
	for (const struct ref_part *p = rules->layout->parts; p < rules->layout->parts + rules->layout->n; p++) {
		const struct msg_field *f = field_at(rules->layout->type, p->at);
		const size_t used = p->used_at ? u32_at(msg, p->used_at) : p->room;

		for (size_t i = 0; i < used && i < p->room && p->words; i++) {
			const char *at = (const char *)msg + p->at + i * sizeof(uint32_t);
			char word[TEXT_VALUE_MAX];

			if (u32_at(at, 0) < p->words)
				continue;
			msg_element_text(word, sizeof(word), f, at);
			add_element(o, rules, p, i);
			text_add(o, " is %s: give ", word);
			for (uint32_t k = 0; k < p->words; k++)
				text_add(o, "%s%s", k == 0 ? "" : k + 1 == p->words ? " or " : ", ", f->words[k]);
			return true;
		}
	}
	return false;
}

static void add_real(struct text_out *o, const void *msg, const struct ref_rules *rules)
{
	for (const struct ref_part *p = rules->layout->parts; p < rules->layout->parts + rules->layout->n; p++) {
		const size_t used = p->used_at ? u32_at(msg, p->used_at) : p->room;

		for (size_t i = 0; i < used && i < p->room && p->real; i++) {
			double value;

			memcpy(&value, (const char *)msg + p->at + i * sizeof(value), sizeof(value));
			if (isfinite(value))
				continue;
			add_element(o, rules, p, i);
			text_add(o, " is %s: give a finite number", isnan(value) ? "nan" : value > 0 ? "inf" : "-inf");
			return;
		}
	}
}

static void add_size(struct text_out *o, const void *msg, size_t len, const struct ref_rules *rules)
{
	const struct ref_layout *layout = rules->layout;
	const char *what = layout->type->number == msg_joint_ref_number ? "joints" : "elements";

	if (msg_check(msg, len, layout->type, NULL) != MSG_FINE)
		add_type(o, msg, len, layout->type);
	else if (rules->count)
		text_add(o, "%u %s, the device has %u: give one value for each", u32_at(msg, layout->count_at), what,
			 rules->count);
	else
		text_add(o, "more %s than there is room for", what);
}

static void add_incarnation(struct text_out *o, const struct msg_header *h, const struct ref_rules *rules)
{
	if (h->for_incarnation)
		text_add(o, "for incarnation %u, the driver is %u: read its state again", h->for_incarnation,
			 rules->incarnation);
	else
		text_add(o, "for no incarnation, the driver is %u: read its state, and fill in for_incarnation",
			 rules->incarnation);
}

/* How long its writer meant it to be valid; what is left of that if the writer does not say when it was put. */
static int64_t given_ns(const struct msg_header *h, int64_t now_ns)
{
	const bool known = h->t_publish_ns > 0 && h->t_publish_ns <= now_ns;
	int64_t ns;

	return __builtin_sub_overflow(h->valid_until_ns, known ? h->t_publish_ns : now_ns, &ns) ? INT64_MAX : ns;
}

static void add_time(struct text_out *o, const struct msg_header *h, const struct ref_rules *rules, int64_t now_ns)
{
	const int64_t valid_ns = given_ns(h, now_ns);
	const int64_t late_ns = h->valid_until_ns > 0 ? now_ns - h->valid_until_ns : 0;

	if (h->valid_until_ns <= 0)
		text_add(o, "valid_until_ns is %lld: give it a validity, at most %.4g ms", (long long)h->valid_until_ns,
			 ms(rules->max_ahead_ns));
	else if (valid_ns > OTHER_CLOCK_NS || late_ns > OTHER_CLOCK_NS)
		text_add(o, "valid_until_ns is %.4g s %s: give it in CLOCK_MONOTONIC",
			 ms(late_ns > 0 ? late_ns : valid_ns) / 1e3, late_ns > 0 ? "ago" : "ahead");
	else if (late_ns > 0)
		text_add(o, "over for %.3g ms when it was read: give it more time, at most %.4g ms", ms(late_ns),
			 ms(rules->max_ahead_ns));
	else
		text_add(o, "valid for %.4g ms, at most %.4g ms: give it less", ms(valid_ns), ms(rules->max_ahead_ns));
}

void ref_refusal_text(char *text, size_t size, enum ref_verdict verdict, const void *msg, size_t len,
		      const struct ref_rules *rules, int64_t now_ns)
{
	struct text_out o = text_out(text, size);
	struct msg_header h = { 0 };

	memcpy(&h, msg, len < sizeof(h) ? len : sizeof(h));
	switch (verdict) {
	case REF_OTHER_TYPE:
		if (msg_check(msg, len, rules->layout->type, NULL) != MSG_FINE || !add_word(&o, msg, rules))
			add_type(&o, msg, len, rules->layout->type);
		break;
	case REF_OTHER_VERSION:
		text_add(&o, "%s of version %u, the driver takes version %u: build its writer with the same headers",
			 rules->layout->type->name, h.version, rules->layout->type->version);
		break;
	case REF_OTHER_SIZE:
		add_size(&o, msg, len, rules);
		break;
	case REF_OTHER_INCARNATION:
		add_incarnation(&o, &h, rules);
		break;
	case REF_NO_VALIDITY:
	case REF_PAST:
	case REF_TOO_FAR:
		add_time(&o, &h, rules, now_ns);
		break;
	case REF_NOT_FINITE:
		add_real(&o, msg, rules);
		break;
	case REF_TAKEN:
		break;
	}
}

void ref_refusal_by(char *text, size_t size, enum ref_verdict verdict, const void *msg, size_t len,
		    const struct ref_rules *rules, int64_t now_ns)
{
	struct text_out o = text_out(text, size);
	struct msg_header h = { 0 };

	memcpy(&h, msg, len < sizeof(h) ? len : sizeof(h));
	if (h.incarnation)
		text_add(&o, "process %u: ", h.incarnation);
	else
		text_add(&o, "a reference: ");
	if (o.len < size)
		ref_refusal_text(text + o.len, size - o.len, verdict, msg, len, rules, now_ns);
}

const char *ref_reason_text(enum ref_verdict verdict)
{
	static const char *const reasons[] = {
		[REF_OTHER_TYPE] = "another message, or a mode that the device does not take",
		[REF_OTHER_VERSION] = "another version of the message: build its writer with the driver's headers",
		[REF_OTHER_SIZE] = "another size, or not as many joints as the device has",
		[REF_OTHER_INCARNATION] = "for another incarnation: read the driver's state again",
		[REF_NO_VALIDITY] = "valid_until_ns is 0: give it a validity",
		[REF_PAST] = "over when it was read: give it more time",
		[REF_TOO_FAR] = "valid for too long: give it less",
		[REF_NOT_FINITE] = "not a finite number",
		[REF_TAKEN] = "",
	};

	return reasons[verdict];
}
