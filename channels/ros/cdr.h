/* cdr.h: plain CDR (XCDR1), the bytes of ROS 2 messages; no I/O.
 *
 * Four bytes of encapsulation, 00 01 00 00 for little endian, then numbers aligned to their own size, counted from the
 * byte behind those four.  A string is a u32 length that counts the terminating zero, then the bytes and the zero.  A
 * sequence is a u32 length and its elements.
 */
#pragma once

#include "config/base/base.h"

#define CDR_HEADER 4

/* Bytes to the next multiple of size behind the encapsulation. */
static inline size_t cdr_padding(size_t at, size_t size)
{
	return -(at - CDR_HEADER) & (size - 1);
}

/* ---- writing: little endian ---- */

/* len is as if there had been room: the caller compares it with room once, at the end. */
struct cdr_out {
	uint8_t *bytes;
	size_t room, len;
};

struct cdr_out cdr_out(void *bytes, size_t room); /* with the encapsulation */

static inline void cdr_put_bytes(struct cdr_out *o, const void *bytes, size_t len)
{
	if (o->len <= o->room && len <= o->room - o->len)
		memcpy(o->bytes + o->len, bytes, len);
	o->len += len;
}

/* Bytes that are numbers without padding among them, none larger than align, the size of the first one; none of them:
 * no padding either. */
static inline void cdr_put_run(struct cdr_out *o, const void *bytes, size_t align, size_t len)
{
	const size_t pad = cdr_padding(o->len, align);

	if (!len)
		return;
	if (pad)
		cdr_put_bytes(o, "\0\0\0\0\0\0\0", pad);
	cdr_put_bytes(o, bytes, len);
}

/* n numbers of that size (1, 2, 4 or 8) from anywhere in memory. */
static inline void cdr_put(struct cdr_out *o, const void *numbers, size_t size, size_t n)
{
	cdr_put_run(o, numbers, size, n * size);
}

void cdr_put_u8(struct cdr_out *o, uint8_t v); /* bool, too */
void cdr_put_i32(struct cdr_out *o, int32_t v);
void cdr_put_u32(struct cdr_out *o, uint32_t v); /* the length of a sequence, too */
void cdr_put_f32(struct cdr_out *o, double v);
void cdr_put_f64(struct cdr_out *o, double v);
void cdr_put_string(struct cdr_out *o, const char *text, size_t len); /* up to a zero among the len bytes */

/* A u32 whose value is known later. */
size_t cdr_mark(struct cdr_out *o);
void cdr_set_mark(struct cdr_out *o, size_t mark, uint32_t v);

/* ---- reading: either byte order ---- */

/* Behind the end, or what cannot be: bad is set, and every value is 0 from there on. */
struct cdr_in {
	const uint8_t *bytes;
	size_t len, at;
	bool swapped; /* big endian */
	bool bad;
};

struct cdr_in cdr_in(const void *bytes, size_t len); /* bad: the encapsulation is not that of plain CDR */
void cdr_get(struct cdr_in *in, void *numbers, size_t size, size_t n);
void cdr_get_run(struct cdr_in *in, void *bytes, size_t align, size_t len); /* not swapped */
uint8_t cdr_get_u8(struct cdr_in *in);
int32_t cdr_get_i32(struct cdr_in *in);
uint32_t cdr_get_u32(struct cdr_in *in);
/* The string, in the message: len bytes, and unless it is bad a zero; "" if there is none. */
const char *cdr_get_string(struct cdr_in *in, size_t *len);
/* The length of a sequence whose elements take at least that many bytes each; bad if fewer bytes remain. */
uint32_t cdr_get_length(struct cdr_in *in, size_t element);
