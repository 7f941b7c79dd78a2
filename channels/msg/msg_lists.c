/* msg_lists.c: lists of a message that count together, once the text has been read. */
#include <math.h>

#include "channels/msg/msg_lists.h"

#define PREFIX_SIZE 96

/* A struct in the message. */
struct place {
	const struct msg_group *group;
	uint8_t *base;
	const uint8_t *given; /* as long as base */
	const char *prefix;   /* of its fields in error lines: "common." */
	char *error;
	size_t error_size;
};

#define fail(p, ...) text_refuse((p)->error, (p)->error_size, __VA_ARGS__)

static const struct msg_field *end_of(const struct msg_group *group)
{
	return group->fields + group->n;
}

static bool is_given(const struct place *p, const struct msg_field *list, size_t i)
{
	const uint8_t *at = p->given + msg_offset(p->group, list) + i * list->size;

	for (size_t k = 0; k < list->size; k++)
		if (at[k])
			return true;
	return false;
}

/* Elements given. */
static size_t length(const struct place *p, const struct msg_field *list)
{
	size_t n = 0;

	for (size_t i = 0; i < list->count; i++)
		n += is_given(p, list, i);
	return n;
}

/* Either all n elements of the list are given, or none. */
static int check_length(const struct place *p, const struct msg_field *list, size_t n, const char *other)
{
	size_t len = length(p, list);

	if (!len)
		return 0;
	if (len != n)
		return fail(p, "%s%s has length %zu, but %s", p->prefix, list->name, len, other);
	for (size_t i = 0; i < n; i++)
		if (!is_given(p, list, i))
			return fail(p, "%s%s[%zu] is missing", p->prefix, list->name, i);
	return 0;
}

/* The lists that count belongs to have one length, and it says which. */
static int one_length(const struct place *p, const struct msg_field *count)
{
	uint8_t *at = p->base + msg_offset(p->group, count);
	char other[PREFIX_SIZE + 64] = "";
	uint32_t n = 0;

	if (p->given[msg_offset(p->group, count)]) {
		memcpy(&n, at, sizeof(n));
		snprintf(other, sizeof(other), "%s%s is %u", p->prefix, count->name, n);
	} else {
		for (const struct msg_field *f = p->group->fields; f < end_of(p->group); f++)
			if (msg_count_of(p->group, f) == count && length(p, f) > n) {
				n = (uint32_t)length(p, f);
				snprintf(other, sizeof(other), "%s%s has length %u", p->prefix, f->name, n);
			}
		memcpy(at, &n, sizeof(n));
	}
	for (const struct msg_field *f = p->group->fields; f < end_of(p->group); f++) {
		/* A count beyond the room is the reader's to refuse: what ach echo prints of it comes back the same. */
		if (msg_count_of(p->group, f) == count && check_length(p, f, n < f->count ? n : f->count, other))
			return -1;
	}
	return 0;
}

/* The list of words that may choose this one, and which word does. */
static const struct msg_field *chooser(const struct place *p, const struct msg_field *list, uint32_t *word)
{
	for (const struct msg_field *f = p->group->fields; f < end_of(p->group); f++)
		if (f->kind == MSG_word && f->used && !strcmp(f->used, list->used))
			for (*word = 0; f->words[*word]; ++*word)
				if (!strcmp(f->words[*word], list->name))
					return f;
	return NULL;
}

static int fill(const struct place *p, const struct msg_field *list)
{
	static const double none = NAN;
	uint32_t word, chosen;
	const struct msg_field *words = chooser(p, list, &word);

	for (size_t i = 0; i < msg_used(p->group, list, p->base); i++) {
		if (!words && list->kind == MSG_f64)
			memcpy(p->base + msg_offset(p->group, list) + i * list->size, &none, sizeof(none));
		if (!words)
			continue;
		memcpy(&chosen, p->base + msg_offset(p->group, words) + i * words->size, sizeof(chosen));
		if (chosen == word)
			return fail(p, "%s%s[%zu] is %s, but there is no %s", p->prefix, words->name, i, list->name,
				    list->name);
	}
	return 0;
}

static int finish(const struct place *p);

static int finish_inner(const struct place *p, const struct msg_field *f, size_t i)
{
	size_t offset = msg_offset(p->group, f) + i * f->size;
	char prefix[PREFIX_SIZE];
	struct place inner = *p;

	if (f->count)
		snprintf(prefix, sizeof(prefix), "%s%s[%zu].", p->prefix, f->name, i);
	else
		snprintf(prefix, sizeof(prefix), "%s%s.", p->prefix, f->name);
	inner.group = f->group;
	inner.base += offset;
	inner.given += offset;
	inner.prefix = prefix;
	return finish(&inner);
}

static int finish(const struct place *p)
{
	for (const struct msg_field *f = p->group->fields; f < end_of(p->group); f++)
		if (msg_is_count(p->group, f) && one_length(p, f))
			return -1;
	for (const struct msg_field *f = p->group->fields; f < end_of(p->group); f++) {
		if (f->used && !length(p, f) && fill(p, f))
			return -1;
		for (size_t i = 0; f->kind == MSG_group && i < msg_used(p->group, f, p->base); i++)
			if (finish_inner(p, f, i))
				return -1;
	}
	return 0;
}

int msg_lists_finish(const struct msg_type *type, void *msg, const uint8_t *given, char *error, size_t error_size)
{
	struct place whole = { type->body, msg, given, "", error, error_size };

	return finish(&whole);
}
