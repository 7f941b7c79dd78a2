/* drv_ref.c: which references are taken.  The ramps are in drv_ref_ramp.c. */
#include <math.h>
#include <string.h>

#include "daemons/drv_ref.h"

static size_t room_of(const struct msg_field *field)
{
	return field->count ? field->count : 1;
}

/* The number in the field of that name; there is none: UINT32_MAX. */
static uint32_t count_of(const struct msg_group *group, const char *name, const uint8_t *at)
{
	uint32_t count = UINT32_MAX;

	for (const struct msg_field *f = group->fields; f < group->fields + group->n; f++) {
		if (!strcmp(f->name, name))
			memcpy(&count, at, sizeof(count));
		at += f->size * room_of(f);
	}
	return count;
}

static bool word_known(const struct msg_field *field, const uint8_t *at)
{
	uint32_t word, n = 0;

	memcpy(&word, at, sizeof(word));
	while (field->words[n])
		n++;
	return word < n;
}

static bool real_finite(const uint8_t *at)
{
	double real;

	memcpy(&real, at, sizeof(real));
	return isfinite(real);
}

struct sound {
	bool counts, words, reals;
};

/* What of the fields that count is not as it should be.  Elements beyond an array's room are never looked at,
 * whatever its count says (msg_used). */
static void look(struct sound *sound, const struct msg_group *group, const uint8_t *base)
{
	const uint8_t *at = base;

	for (const struct msg_field *f = group->fields; f < group->fields + group->n; f++) {
		size_t used = msg_used(group, f, base);

		if (f->used && count_of(group, f->used, base) > f->count)
			sound->counts = false;
		for (size_t i = 0; i < used; i++) {
			const uint8_t *element = at + i * f->size;

			if (f->kind == MSG_word)
				sound->words &= word_known(f, element);
			else if (f->kind == MSG_f64)
				sound->reals &= real_finite(element);
			else if (f->kind == MSG_group)
				look(sound, f->group, element);
		}
		at += f->size * room_of(f);
	}
}

enum drv_ref_verdict drv_ref_check(const void *msg, size_t len, const struct drv_ref_rules *rules, int64_t now_ns)
{
	struct sound sound = { true, true, true };
	struct msg_header h;
	int64_t ahead_ns;

	switch (msg_check(msg, len, rules->type, NULL)) {
	case MSG_FINE:
		break;
	case MSG_OTHER_TYPE:
		return DRV_REF_OTHER_TYPE;
	case MSG_OTHER_VERSION:
		return DRV_REF_OTHER_VERSION;
	default:
		return DRV_REF_OTHER_SIZE;
	}
	look(&sound, rules->type->body, msg);
	if (!sound.counts)
		return DRV_REF_OTHER_SIZE;
	if (rules->count && count_of(rules->type->body, "count", msg) != rules->count)
		return DRV_REF_OTHER_SIZE;
	if (!sound.words)
		return DRV_REF_OTHER_TYPE;
	memcpy(&h, msg, sizeof(h));
	if (h.for_incarnation ? h.for_incarnation != rules->incarnation : !rules->any_incarnation)
		return DRV_REF_OTHER_INCARNATION;
	if (h.valid_until_ns <= 0)
		return DRV_REF_NO_VALIDITY;
	if (h.valid_until_ns < now_ns)
		return DRV_REF_PAST;
	if (__builtin_sub_overflow(h.valid_until_ns, now_ns, &ahead_ns) || ahead_ns > rules->max_ahead_ns)
		return DRV_REF_TOO_FAR;
	return sound.reals ? DRV_REF_TAKEN : DRV_REF_NOT_FINITE;
}

void drv_ref_count(struct msg_common *common, enum drv_ref_verdict verdict)
{
	struct msg_refused *refused = &common->refs_refused;

	switch (verdict) {
	case DRV_REF_OTHER_TYPE:
		refused->other_type++;
		break;
	case DRV_REF_OTHER_VERSION:
		refused->other_version++;
		break;
	case DRV_REF_OTHER_SIZE:
		refused->other_size++;
		break;
	case DRV_REF_OTHER_INCARNATION:
		refused->other_incarnation++;
		break;
	case DRV_REF_NO_VALIDITY:
		refused->no_validity++;
		break;
	case DRV_REF_PAST:
		refused->past++;
		break;
	case DRV_REF_TOO_FAR:
		refused->too_far++;
		break;
	case DRV_REF_NOT_FINITE:
		refused->not_finite++;
		break;
	case DRV_REF_TAKEN:
		common->refs_taken++;
		break;
	}
}

const char *drv_ref_verdict_name(enum drv_ref_verdict verdict)
{
	static const char *const names[] = {
		[DRV_REF_OTHER_TYPE] = "other type",
		[DRV_REF_OTHER_VERSION] = "other version",
		[DRV_REF_OTHER_SIZE] = "other size",
		[DRV_REF_OTHER_INCARNATION] = "other incarnation",
		[DRV_REF_NO_VALIDITY] = "no validity",
		[DRV_REF_PAST] = "past",
		[DRV_REF_TOO_FAR] = "too far ahead",
		[DRV_REF_NOT_FINITE] = "not finite",
		[DRV_REF_TAKEN] = "taken",
	};

	return names[verdict];
}
