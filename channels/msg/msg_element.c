/* msg_element.c: one element of a field as text, and back. */
#include <errno.h>
#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "channels/msg/msg.h"
#include "config/text.h"

/* The fewest digits that read back as the same number; 17 always do. */
static void real_text(struct text_out *o, double v)
{
	char text[32];

	for (int digits = 15; digits <= 17; digits++) {
		snprintf(text, sizeof(text), "%.*g", digits, v);
		if (digits == 17 || strtod(text, NULL) == v)
			break;
	}
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
	union {
		uint32_t u32;
		uint64_t u64;
		int32_t i32;
		int64_t i64;
		double f64;
	} v = { 0 };

	if (f->size <= sizeof(v))
		memcpy(&v, element, f->size); /* element may lie anywhere */
	switch (f->kind) {
	case MSG_u8:
	case MSG_u16:
	case MSG_u32:
	case MSG_u64:
		text_add(&o, "%" PRIu64, v.u64); /* little endian: ach_ring.h asks for it */
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

static int parse_signed(const char *text, int64_t min, int64_t max, int64_t *v)
{
	char *end;

	errno = 0;
	*v = strtoll(text, &end, 0);
	return errno || end == text || *end || *v < min || *v > max ? -1 : 0;
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
	static const uint64_t max_unsigned[] = {
		[MSG_u8] = UINT8_MAX, [MSG_u16] = UINT16_MAX, [MSG_u32] = UINT32_MAX, [MSG_u64] = UINT64_MAX
	};
	uint64_t u = 0;
	int64_t i = 0;
	uint32_t w = 0;
	double d;
	char *end;

	switch (f->kind) {
	case MSG_u8:
	case MSG_u16:
	case MSG_u32:
	case MSG_u64:
		if (parse_unsigned(text, max_unsigned[f->kind], &u))
			return -1;
		memcpy(element, &u, f->size); /* little endian */
		return 0;
	case MSG_i32:
	case MSG_i64:
		if (f->kind == MSG_i32 ? parse_signed(text, INT32_MIN, INT32_MAX, &i)
				       : parse_signed(text, INT64_MIN, INT64_MAX, &i))
			return -1;
		memcpy(element, &i, f->size);
		return 0;
	case MSG_f64:
		d = strtod(text, &end);
		if (end == text || *end)
			return -1;
		memcpy(element, &d, sizeof(d));
		return 0;
	case MSG_word:
		if (parse_word(f->words, text, strlen(text), &w)) {
			if (parse_unsigned(text, UINT32_MAX, &u))
				return -1;
			w = (uint32_t)u;
		}
		memcpy(element, &w, sizeof(w));
		return 0;
	case MSG_flags:
		if (parse_flags(f->words, text, &w))
			return -1;
		memcpy(element, &w, sizeof(w));
		return 0;
	case MSG_name:
	case MSG_text:
		if (strlen(text) >= f->size)
			return -1;
		memset(element, 0, f->size);
		memcpy(element, text, strlen(text));
		return 0;
	case MSG_group:
		break;
	}
	return -1;
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
