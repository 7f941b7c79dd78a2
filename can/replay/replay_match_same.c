/* replay_match_same.c: are two frames the same, within tolerances?  Checked: covered. */
#include <math.h>

#include "can/bus/frame_text.h"
#include "can/replay/replay_match_same.h"

static const struct type {
	const char *name;
	unsigned int size;
	enum { UNSIGNED, SIGNED, FLOATING } kind;
} types[] = {
	{ "u8", 1, UNSIGNED },	{ "i8", 1, SIGNED },  { "u16", 2, UNSIGNED }, { "i16", 2, SIGNED },
	{ "u32", 4, UNSIGNED }, { "i32", 4, SIGNED }, { "f32", 4, FLOATING }, { "f64", 8, FLOATING },
};
#define TYPES (sizeof(types) / sizeof(*types))

/* ---- reading ---- */

/* 0EF or 0EF#0B11.  NULL, or what is wrong. */
static const char *read_frame(struct replay_match_same_row *row, const char *text, size_t len)
{
	char whole[FRAME_TEXT_MAX];
	struct frame f;

	if (len + 2 > sizeof(whole))
		return "the identifier is too long";
	snprintf(whole, sizeof(whole), "%.*s%s", (int)len, text, memchr(text, '#', len) ? "" : "#");
	if (frame_text_read(&f, whole, strlen(whole)) || f.id & (FRAME_ERR | FRAME_RTR) || f.len > sizeof(row->begins))
		return "it does not begin with an identifier such as 0EF, or 0EF#0B11 with the first bytes";
	row->id = f.id;
	row->begins_n = f.len;
	memcpy(row->begins, f.data, f.len);
	return NULL;
}

static const char *read_type(struct replay_match_same_row *row, const char *text, size_t len)
{
	row->big_endian = len > 2 && !memcmp(text + len - 2, "be", 2);
	len -= row->big_endian ? 2 : 0;
	for (row->type = 0; row->type < TYPES; row->type++)
		if (strlen(types[row->type].name) == len && !memcmp(types[row->type].name, text, len))
			return row->at + types[row->type].size <= FRAME_DATA_MAX_FD ? NULL : "no frame is that long";
	return "its type is not u8, i8, u16, i16, u32, i32, f32 or f64, perhaps with be";
}

static const char *read_how(struct replay_match_same_row *row, const char *text)
{
	row->how = !strcmp(text, "any")	     ? REPLAY_MATCH_SAME_ANY
		   : !strcmp(text, "offset") ? REPLAY_MATCH_SAME_OFFSET
					     : REPLAY_MATCH_SAME_WITHIN;
	if (row->how == REPLAY_MATCH_SAME_OFFSET && types[row->type].kind == FLOATING)
		return "offset is for integers";
	if (row->how == REPLAY_MATCH_SAME_WITHIN && (text_real(text, &row->within) || !(row->within >= 0)))
		return "what is behind the = is not a number from 0 on, any or offset";
	return NULL;
}

static const char *read_row(struct replay_match_same_row *row, const char *text)
{
	const char *colon = strchr(text, ':'), *second = colon ? strchr(colon + 1, ':') : NULL;
	const char *equals = second ? strchr(second, '=') : NULL, *wrong;
	char digits[8] = "";
	int64_t at;

	if (!equals)
		return "it is not ID:BYTE:TYPE=TOLERANCE such as 0EF:2:f32=0.001, or order";
	wrong = read_frame(row, text, (size_t)(colon - text));
	if (wrong)
		return wrong;
	snprintf(digits, sizeof(digits), "%.*s", (int)(second - colon - 1), colon + 1);
	if (text_int(digits, &at) || at < 0 || at >= FRAME_DATA_MAX_FD)
		return "its byte is not a number from 0 to 63";
	row->at = (unsigned int)at;
	wrong = read_type(row, second + 1, (size_t)(equals - second - 1));
	return wrong ? wrong : read_how(row, equals + 1);
}

int replay_match_same_read(struct replay_match_same *same, const char *text, struct error_sink *errors)
{
	struct replay_match_same_row row = { 0 };
	char quoted[TEXT_QUOTED_MAX];
	const char *wrong;

	if (!strcmp(text, "order")) {
		same->any_order = true;
		return 0;
	}
	wrong = read_row(&row, text);
	if (wrong)
		return error_refuse(errors, -EINVAL, "--tolerance: %s: %s", text_quote(quoted, text), wrong);
	if (same->n == REPLAY_MATCH_SAME_ROWS_MAX)
		return error_refuse(errors, -ENOSPC, "--tolerance: more than %d", REPLAY_MATCH_SAME_ROWS_MAX);
	same->rows[same->n++] = row;
	return 0;
}

/* ---- comparing ---- */

static const char *between(const struct text_out *why)
{
	return why->len ? "; " : "";
}

static uint64_t bits_of(const struct replay_match_same_row *row, const struct frame *f)
{
	const unsigned int size = types[row->type].size;
	uint64_t bits = 0;

	for (unsigned int i = 0; i < size; i++)
		bits = bits << 8 | f->data[row->at + (row->big_endian ? i : size - 1 - i)];
	return bits;
}

static int64_t extended(uint64_t bits, unsigned int size)
{
	const unsigned int shift = 64 - 8 * size;

	return (int64_t)(bits << shift) >> shift;
}

static double real_of(uint64_t bits, unsigned int size)
{
	const uint32_t half = (uint32_t)bits;
	double wide;
	float narrow;

	memcpy(&wide, &bits, sizeof(wide));
	memcpy(&narrow, &half, sizeof(narrow));
	return size == sizeof(wide) ? wide : (double)narrow;
}

static bool reals_agree(const struct replay_match_same_row *row, double then, double now)
{
	return (isnan(then) && isnan(now)) || then == now || fabs(then - now) <= row->within;
}

/* How far the integers are apart, the short way round. */
static bool integers_agree(struct replay_match_same_row *row, uint64_t then, uint64_t now)
{
	const unsigned int size = types[row->type].size;
	const int64_t apart = extended(now - then, size);

	if (row->how == REPLAY_MATCH_SAME_WITHIN)
		return fabs((double)apart) <= row->within;
	if (!row->known) {
		row->known = true;
		row->offset = (uint64_t)apart;
	}
	return row->offset == (uint64_t)apart;
}

static void add_value(struct text_out *why, const struct replay_match_same_row *row, uint64_t then, uint64_t now)
{
	const struct type *type = &types[row->type];

	text_add(why, "%s%s in byte %u-%u: ", between(why), type->name, row->at, row->at + type->size - 1);
	if (type->kind == FLOATING)
		text_add(why, "%g, now %g", real_of(then, type->size), real_of(now, type->size));
	else if (type->kind == SIGNED)
		text_add(why, "%" PRId64 ", now %" PRId64, extended(then, type->size), extended(now, type->size));
	else
		text_add(why, "%" PRIu64 ", now %" PRIu64, then, now);
}

/* Compares the values, and adds them to why if they differ. */
static void compare(struct replay_match_same_row *row, const struct frame *a, const struct frame *b,
		    struct text_out *why)
{
	const struct type *type = &types[row->type];
	const uint64_t then = bits_of(row, a), now = bits_of(row, b);
	const bool agree = row->how == REPLAY_MATCH_SAME_ANY ? true
			   : type->kind == FLOATING
				   ? reals_agree(row, real_of(then, type->size), real_of(now, type->size))
				   : integers_agree(row, then, now);

	if (!agree)
		add_value(why, row, then, now);
}

static bool row_takes(const struct replay_match_same_row *row, const struct frame *f)
{
	return f->id == row->id && row->at + types[row->type].size <= f->len && row->begins_n <= f->len &&
	       !memcmp(row->begins, f->data, row->begins_n);
}

bool replay_match_same_frames(struct replay_match_same *same, const struct frame *then, const struct frame *now,
			      char why[REPLAY_MATCH_SAME_TEXT_MAX])
{
	const unsigned int bytes = frame_data_len(then);
	bool compared[FRAME_DATA_MAX_FD] = { false };
	struct text_out out = text_out(why, REPLAY_MATCH_SAME_TEXT_MAX);

	if (then->len != now->len || then->flags != now->flags || then->dlc != now->dlc) {
		text_add(&out, "length %u, now %u%s", then->len, now->len,
			 then->flags == now->flags ? "" : ", other flags");
		return false;
	}
	for (size_t i = 0; same && i < same->n; i++) {
		struct replay_match_same_row *row = &same->rows[i];

		if (!row_takes(row, then) || then->id & FRAME_RTR)
			continue;
		compare(row, then, now, &out);
		memset(compared + row->at, true, types[row->type].size);
	}
	for (unsigned int i = 0; i < bytes; i++)
		if (!compared[i] && then->data[i] != now->data[i])
			text_add(&out, "%sbyte %u: %02X, now %02X", between(&out), i, then->data[i], now->data[i]);
	return !out.len;
}
