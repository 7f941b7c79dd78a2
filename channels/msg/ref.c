/* ref.c: see ref.h.  Checked: covered. */
#include <math.h>

#include "channels/msg/ref.h"

/* ---- what there is to look at ---- */

/* A state may say "unknown", a reference not. */
static uint32_t words_n(const struct msg_field *field)
{
	uint32_t n = 0;

	while (field->kind == MSG_word && field->words[n] && strcmp(field->words[n], "unknown") != 0)
		n++;
	return n;
}

int ref_layout(struct ref_layout *layout, const struct msg_type *type)
{
	const struct msg_group *body = type->body;
	struct msg_place place;
	char error[MSG_TEXT_SIZE];

	*layout = (struct ref_layout){ .type = type };
	if (!msg_find(type, "count", &place, error, sizeof(error)))
		layout->count_at = place.offset;
	for (const struct msg_field *f = body->fields + 1; f < body->fields + body->n; f++) { /* behind the header */
		if (f->kind == MSG_group || layout->n == REF_PARTS_MAX)
			return -EINVAL;
		msg_find(type, f->name, &place, error, sizeof(error));
		if (f->used || f->kind == MSG_word || f->kind == MSG_f64)
			layout->parts[layout->n++] = (struct ref_part){ .at = place.offset,
									.used_at = f->used ? place.used : 0,
									.room = place.elements,
									.real = f->kind == MSG_f64,
									.words = words_n(f) };
	}
	return 0;
}

void ref_layout_rigid(struct ref_layout *layout)
{
	for (unsigned int i = 0; i < layout->n && layout->type->number == msg_joint_ref_number; i++)
		if (layout->parts[i].at == offsetof(struct msg_joint_ref, mode))
			layout->parts[i].words = MSG_MODE_COMPLIANT;
}

/* ---- one reference ---- */

static uint32_t u32_at(const uint8_t *msg, size_t at)
{
	uint32_t value;

	memcpy(&value, msg + at, sizeof(value));
	return value;
}

struct sound {
	bool counts, words, reals;
};

/* What of a field is not as it should be.  Elements beyond an array's room are never looked at, whatever its count
 * says. */
static void check_part(struct sound *sound, const struct ref_part *part, const uint8_t *msg)
{
	size_t used = part->used_at ? u32_at(msg, part->used_at) : part->room;

	if (used > part->room) {
		sound->counts = false;
		return;
	}
	for (size_t i = 0; i < used && part->real; i++) {
		double value;

		memcpy(&value, msg + part->at + i * sizeof(value), sizeof(value));
		sound->reals &= isfinite(value);
	}
	for (size_t i = 0; i < used && part->words; i++)
		sound->words &= u32_at(msg, part->at + i * sizeof(uint32_t)) < part->words;
}

static enum ref_verdict check_time(int64_t until_ns, int64_t max_ahead_ns, int64_t now_ns)
{
	int64_t ahead_ns;

	if (until_ns <= 0)
		return REF_NO_VALIDITY;
	if (until_ns < now_ns)
		return REF_PAST;
	if (__builtin_sub_overflow(until_ns, now_ns, &ahead_ns) || ahead_ns > max_ahead_ns)
		return REF_TOO_FAR;
	return REF_TAKEN;
}

enum ref_verdict ref_check(const void *msg, size_t len, const struct ref_rules *rules, int64_t now_ns)
{
	const struct ref_layout *layout = rules->layout;
	struct sound sound = { true, true, true };
	enum ref_verdict verdict;
	struct msg_header h;

	switch (msg_check(msg, len, layout->type, NULL)) {
	case MSG_FINE:
		break;
	case MSG_OTHER_TYPE:
		return REF_OTHER_TYPE;
	case MSG_OTHER_VERSION:
		return REF_OTHER_VERSION;
	default:
		return REF_OTHER_SIZE;
	}
	for (unsigned int i = 0; i < layout->n; i++)
		check_part(&sound, &layout->parts[i], msg);
	if (!sound.counts)
		return REF_OTHER_SIZE;
	if (rules->count && (!layout->count_at || u32_at(msg, layout->count_at) != rules->count))
		return REF_OTHER_SIZE;
	if (!sound.words)
		return REF_OTHER_TYPE;
	memcpy(&h, msg, sizeof(h));
	if (h.for_incarnation ? h.for_incarnation != rules->incarnation : !rules->any_incarnation)
		return REF_OTHER_INCARNATION;
	verdict = check_time(h.valid_until_ns, rules->max_ahead_ns, now_ns);
	if (verdict != REF_TAKEN)
		return verdict;
	return sound.reals ? REF_TAKEN : REF_NOT_FINITE;
}

static bool is_of_machine(int64_t until_ns, const struct ref_rules *rules, int64_t now_ns)
{
	return rules->machine_ns && now_ns - rules->machine_ns > 2 * rules->max_ahead_ns &&
	       check_time(until_ns, rules->max_ahead_ns, rules->machine_ns) == REF_TAKEN;
}

enum ref_verdict ref_take(void *msg, size_t len, const struct ref_rules *rules, int64_t now_ns)
{
	struct msg_header h;

	if (len >= sizeof(h)) {
		memcpy(&h, msg, sizeof(h));
		if (is_of_machine(h.valid_until_ns, rules, now_ns))
			h.valid_until_ns += now_ns - rules->machine_ns;
		memcpy(msg, &h, sizeof(h));
	}
	return ref_check(msg, len, rules, now_ns);
}

#define COUNTER(NAME, member) [REF_##NAME] = offsetof(struct msg_refused, member)
static const size_t counters[REF_TAKEN] = {
	COUNTER(OTHER_TYPE, other_type),   COUNTER(OTHER_VERSION, other_version),
	COUNTER(OTHER_SIZE, other_size),   COUNTER(OTHER_INCARNATION, other_incarnation),
	COUNTER(NO_VALIDITY, no_validity), COUNTER(PAST, past),
	COUNTER(TOO_FAR, too_far),	   COUNTER(NOT_FINITE, not_finite),
};

void ref_count(struct msg_common *common, enum ref_verdict verdict)
{
	if (verdict == REF_TAKEN)
		common->refs_taken++;
	else
		++*(uint32_t *)((char *)&common->refs_refused + counters[verdict]);
}

enum ref_verdict ref_counted(const struct msg_refused *before, const struct msg_refused *after)
{
	for (enum ref_verdict v = 0; v < REF_TAKEN; v++)
		if (*(const uint32_t *)((const char *)before + counters[v]) !=
		    *(const uint32_t *)((const char *)after + counters[v]))
			return v;
	return REF_TAKEN;
}
