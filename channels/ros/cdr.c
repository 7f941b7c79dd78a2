/* cdr.c: plain CDR (XCDR1).  Checked: covered. */
#include "channels/ros/cdr.h"

_Static_assert(__BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__, "numbers are copied as they are");

/* ---- writing ---- */

struct cdr_out cdr_out(void *bytes, size_t room)
{
	struct cdr_out o = { bytes, room, 0 };

	cdr_put_bytes(&o, "\0\1\0", CDR_HEADER);
	return o;
}

void cdr_put_u8(struct cdr_out *o, uint8_t v)
{
	cdr_put_bytes(o, &v, sizeof(v));
}

void cdr_put_i32(struct cdr_out *o, int32_t v)
{
	cdr_put(o, &v, sizeof(v), 1);
}

void cdr_put_u32(struct cdr_out *o, uint32_t v)
{
	cdr_put(o, &v, sizeof(v), 1);
}

void cdr_put_f32(struct cdr_out *o, double v)
{
	cdr_put(o, &(float){ (float)v }, sizeof(float), 1);
}

void cdr_put_f64(struct cdr_out *o, double v)
{
	cdr_put(o, &v, sizeof(v), 1);
}

void cdr_put_string(struct cdr_out *o, const char *text, size_t len)
{
	len = strnlen(text, len);
	cdr_put_u32(o, (uint32_t)len + 1);
	cdr_put_bytes(o, text, len);
	cdr_put_u8(o, 0);
}

size_t cdr_mark(struct cdr_out *o)
{
	cdr_put_u32(o, 0);
	return o->len - sizeof(uint32_t);
}

void cdr_set_mark(struct cdr_out *o, size_t mark, uint32_t v)
{
	if (mark + sizeof(v) <= o->room)
		memcpy(o->bytes + mark, &v, sizeof(v));
}

/* ---- reading ---- */

struct cdr_in cdr_in(const void *bytes, size_t len)
{
	struct cdr_in in = { .bytes = bytes, .len = len, .at = CDR_HEADER };

	in.bad = len < CDR_HEADER || in.bytes[0] != 0 || in.bytes[1] > 1;
	in.swapped = !in.bad && in.bytes[1] == 0;
	return in;
}

/* The next len bytes; NULL: fewer remain. */
static const uint8_t *take(struct cdr_in *in, size_t len)
{
	const uint8_t *bytes = in->bytes + in->at;

	in->bad |= len > in->len - in->at;
	if (in->bad)
		return NULL;
	in->at += len;
	return bytes;
}

static void copy_swapped(uint8_t *to, const uint8_t *from, size_t size, size_t n)
{
	for (size_t i = 0; i < n; i++)
		for (size_t k = 0; k < size; k++)
			to[i * size + k] = from[i * size + size - 1 - k];
}

/* The next len bytes, aligned; NULL: fewer remain. */
static const uint8_t *take_run(struct cdr_in *in, size_t align, size_t len)
{
	return len && !in->bad && take(in, cdr_padding(in->at, align)) ? take(in, len) : NULL;
}

void cdr_get_run(struct cdr_in *in, void *bytes, size_t align, size_t len)
{
	const uint8_t *from = take_run(in, align, len);

	if (from)
		memcpy(bytes, from, len);
	else
		memset(bytes, 0, len);
}

void cdr_get(struct cdr_in *in, void *numbers, size_t size, size_t n)
{
	const uint8_t *from = in->swapped ? take_run(in, size, n * size) : NULL;

	if (from)
		copy_swapped(numbers, from, size, n);
	else
		cdr_get_run(in, numbers, size, n * size);
}

uint8_t cdr_get_u8(struct cdr_in *in)
{
	uint8_t v;

	cdr_get(in, &v, sizeof(v), 1);
	return v;
}

int32_t cdr_get_i32(struct cdr_in *in)
{
	int32_t v;

	cdr_get(in, &v, sizeof(v), 1);
	return v;
}

uint32_t cdr_get_u32(struct cdr_in *in)
{
	uint32_t v;

	cdr_get(in, &v, sizeof(v), 1);
	return v;
}

const char *cdr_get_string(struct cdr_in *in, size_t *len)
{
	const uint32_t n = cdr_get_u32(in);
	const uint8_t *text = n ? take(in, n) : NULL; /* some writers give an empty string without its zero */

	*len = text ? strnlen((const char *)text, n) : 0;
	in->bad |= text && *len == n;
	return text ? (const char *)text : "";
}

uint32_t cdr_get_length(struct cdr_in *in, size_t element)
{
	const uint32_t n = cdr_get_u32(in);

	in->bad |= n > (in->len - in->at) / element;
	return in->bad ? 0 : n;
}
