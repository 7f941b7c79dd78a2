/* msg_element.c: one element of a field as text, and back. */
#include <math.h>

#include "channels/msg/msg.h"

union msg_any msg_any(const struct msg_field *f, const void *element)
{
	union msg_any v = { 0 };

	if (f->size <= sizeof(v))
		memcpy(&v, element, f->size); /* element may lie anywhere */
	return v;
}

/* The fewest digits that read back as the same number; 17 always do. */
static void real_text(struct text_out *o, double v)
{
	char text[TEXT_VALUE_MAX];

	text_from_real(text, v);
	text_add(o, "%s", isnan(v) ? "nan" : text);
}

static void flags_text(struct text_out *o, const char *const *words, uint32_t v)
{
	const char *between = "";

	for (uint32_t bit = 0; words[bit]; bit++)
		if (v & 1u << bit) {
			text_add(o, "%s%s", between, words[bit]);
			between = "|";
			v &= ~(1u << bit);
		}
	if (v)
		text_add(o, "%s0x%" PRIx32, between, v); /* bits without a word */
	else if (!*between)
		text_add(o, "-");
}

static size_t words_n(const char *const *words)
{
	size_t n = 0;

	while (words[n])
		n++;
	return n;
}

size_t msg_element_text(char *text, size_t size, const struct msg_field *f, const void *element)
{
	struct text_out o = text_out(text, size);
	const union msg_any v = msg_any(f, element);

	switch (f->kind) {
	case MSG_u8:
	case MSG_u16:
	case MSG_u32:
	case MSG_u64:
		text_add(&o, "%" PRIu64, v.u64);
		break;
	case MSG_i32:
		text_add(&o, "%" PRId32, v.i32);
		break;
	case MSG_i64:
		text_add(&o, "%" PRId64, v.i64);
		break;
	case MSG_f64:
		real_text(&o, v.f64);
		break;
	case MSG_word:
		if (v.u32 < words_n(f->words))
			text_add(&o, "%s", f->words[v.u32]);
		else
			text_add(&o, "%" PRIu32, v.u32);
		break;
	case MSG_flags:
		flags_text(&o, f->words, v.u32);
		break;
	case MSG_name:
	case MSG_text:
		text_add(&o, "%.*s", (int)strnlen(element, f->size), (const char *)element);
		break;
	case MSG_group:
		break;
	}
	return o.len;
}

/* ---- and back ---- */

static int parse_unsigned(const char *text, uint64_t max, uint64_t *v)
{
	char *end;

	errno = 0;
	*v = strtoull(text, &end, 0);
	return errno || end == text || *end || strchr(text, '-') || *v > max ? -1 : 0;
}

/* From -max - 1 to max. */
static int parse_signed(const char *text, int64_t max, int64_t *v)
{
	char *end;

	errno = 0;
	*v = strtoll(text, &end, 0);
	return errno || end == text || *end || *v < -max - 1 || *v > max ? -1 : 0;
}

static int parse_word(const char *const *words, const char *text, size_t len, uint32_t *v)
{
	for (uint32_t i = 0; words[i]; i++)
		if (strlen(words[i]) == len && !memcmp(words[i], text, len)) {
			*v = i;
			return 0;
		}
	return -1;
}

static int parse_flags(const char *const *words, const char *text, uint32_t *v)
{
	uint64_t bits;

	*v = 0;
	if (!strcmp(text, "-"))
		return 0;
	for (;; text++) {
		size_t len = strcspn(text, "|");
		char number[16];
		uint32_t bit;

		if (!parse_word(words, text, len, &bit)) {
			*v |= 1u << bit;
		} else {
			if (len >= sizeof(number))
				return -1;
			memcpy(number, text, len);
			number[len] = '\0';
			if (parse_unsigned(number, UINT32_MAX, &bits))
				return -1;
			*v |= (uint32_t)bits;
		}
		text += len;
		if (!*text)
			return 0;
	}
}

int msg_element_parse(const struct msg_field *f, void *element, const char *text)
{
	union msg_any v = { 0 };
	char *end;
	int wrong = -1;

	switch (f->kind) {
	case MSG_u8:
	case MSG_u16:
	case MSG_u32:
	case MSG_u64:
		wrong = parse_unsigned(text, UINT64_MAX >> (64 - 8 * f->size), &v.u64);
		break;
	case MSG_i32:
	case MSG_i64:
		wrong = parse_signed(text, INT64_MAX >> (64 - 8 * f->size), &v.i64);
		break;
	case MSG_f64:
		v.f64 = strtod(text, &end);
		wrong = end == text || *end;
		break;
	case MSG_word:
		wrong = parse_word(f->words, text, strlen(text), &v.u32) && parse_unsigned(text, UINT32_MAX, &v.u64);
		break;
	case MSG_flags:
		wrong = parse_flags(f->words, text, &v.u32);
		break;
	case MSG_name:
	case MSG_text:
		if (strlen(text) < f->size)
			strncpy(element, text, f->size); /* zeroes behind it */
		return strlen(text) < f->size ? 0 : -1;
	case MSG_group:
		break;
	}
	if (wrong)
		return -1;
	memcpy(element, &v, f->size); /* little endian: ach_ring.h asks for it */
	return 0;
}

size_t msg_element_allowed(char *text, size_t size, const struct msg_field *f)
{
	struct text_out o = text_out(text, size);

	switch (f->kind) {
	case MSG_u8:
	case MSG_u16:
	case MSG_u32:
	case MSG_u64:
		text_add(&o, "a whole number of %u bits", f->size * 8u);
		break;
	case MSG_i32:
	case MSG_i64:
		text_add(&o, "a whole number, signed, of %u bits", f->size * 8u);
		break;
	case MSG_f64:
		text_add(&o, "a number");
		break;
	case MSG_word:
	case MSG_flags:
		text_add(&o, f->kind == MSG_word ? "one of " : "some of ");
		for (size_t i = 0; f->words[i]; i++)
			text_add(&o, "%s%s", i ? (f->kind == MSG_word ? ", " : "|") : "", f->words[i]);
		break;
	case MSG_name:
	case MSG_text:
		text_add(&o, "text of at most %u bytes", f->size - 1u);
		break;
	case MSG_group:
		text_add(&o, "fields of its own");
		break;
	}
	return o.len;
}
