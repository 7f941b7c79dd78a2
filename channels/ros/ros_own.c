/* ros_own.c: endplate_msgs, encoded from the tables of channels/msg/types.h, and back.  Checked: covered. */
#include "channels/ros/ros_inside.h"
#include "channels/ros/ros_layout.h"
#include "channels/ros/ros_own.h"

/* ---- encoding ---- */

static uint32_t counted(const struct ros_step *s, const uint8_t *base)
{
	uint32_t n;

	memcpy(&n, base + s->count_offset, sizeof(n));
	return n;
}

static size_t used(const struct ros_step *s, const uint8_t *base)
{
	const size_t n = s->counted ? counted(s, base) : s->count;

	return n < s->count ? n : s->count; /* whatever the writer put there */
}

/* Is the place behind at bytes of CDR, once aligned to s, the same modulo 8 as that of s in its struct? */
static bool in_step(const struct ros_step *s, size_t at)
{
	const size_t aligned = (at - CDR_HEADER + s->size - 1) & ~(size_t)(s->size - 1);

	return !((aligned - s->offset) % sizeof(uint64_t));
}

static void put_list(struct cdr_out *o, const struct ros_step *s, const uint8_t *base);

static void put_layout(struct cdr_out *o, const struct ros_layout *layout, const uint8_t *base)
{
	for (const struct ros_step *s = layout->steps; s < layout->steps + layout->n;) {
		if (!s->run_bytes) {
			put_list(o, s++, base);
		} else if (in_step(s, o->len)) {
			cdr_put_run(o, base + s->offset, s->size, s->stretch_bytes);
			s += s->stretch_steps;
		} else {
			cdr_put_run(o, base + s->offset, s->size, s->run_bytes);
			s += s->run_steps;
		}
	}
}

static void put_list(struct cdr_out *o, const struct ros_step *s, const uint8_t *base)
{
	const uint8_t *at = base + s->offset;
	const size_t n = used(s, base);

	if (s->counted)
		cdr_put_u32(o, (uint32_t)n);
	if (s->kind == ROS_STEP_NUMBERS)
		cdr_put(o, at, s->size, n);
	for (size_t i = 0; i < n && s->kind == ROS_STEP_GROUPS; i++)
		put_layout(o, s->group, at + i * s->size);
	for (size_t i = 0; i < n && s->kind == ROS_STEP_TEXTS; i++)
		ros_put_text(o, (const char *)at + i * s->size, s->size);
}

void ros_own_encode(struct cdr_out *o, const struct msg_type *type, const void *msg, const struct ros_context *c)
{
	ros_put_header(o, msg, c);
	put_layout(o, ros_layout_of(type), msg);
}

/* ---- what comes back ---- */

/* Numbers always come back. */
static bool keeps_layout(const struct ros_layout *layout, const uint8_t *base, const uint8_t *empty)
{
	for (const struct ros_step *s = layout->steps; s < layout->steps + layout->n; s += s->stretch_steps) {
		const size_t n = s->kind == ROS_STEP_RESERVED ? 0 : used(s, base);
		const uint8_t *at = base + s->offset, *none = empty + s->offset;

		if (s->run_bytes)
			continue;
		if (s->counted && counted(s, base) > s->count)
			return false;
		if (n < s->count && memcmp(at + n * s->size, none + n * s->size, (s->count - n) * s->size) != 0)
			return false;
		for (size_t i = 0; i < n && s->kind == ROS_STEP_GROUPS; i++)
			if (!keeps_layout(s->group, at + i * s->size, none + i * s->size))
				return false;
		for (size_t i = 0; i < n && s->kind == ROS_STEP_TEXTS; i++)
			if (!ros_text_is_sound((const char *)at + i * s->size, s->size))
				return false;
	}
	return true;
}

bool ros_own_keeps(const struct msg_type *type, const void *msg, const void *empty)
{
	return keeps_layout(ros_layout_of(type), msg, empty);
}

void ros_own_empty(const struct msg_type *type, enum ros_unused unused, void *msg)
{
	msg_init(msg, type);
	if (unused == ROS_UNUSED_UNKNOWN)
		msg_unknown(msg, type);
}

/* ---- decoding ---- */

/* Lists that count together have one length. */
static uint32_t get_length(struct cdr_in *in, const struct ros_step *s, uint8_t *base)
{
	uint8_t *count = base + s->count_offset;
	const uint32_t n = cdr_get_length(in, 1);
	uint32_t before;

	memcpy(&before, count, sizeof(before));
	in->bad |= n > s->count || (!s->first && n != before);
	memcpy(count, &n, sizeof(n));
	return in->bad ? 0 : n;
}

static void get_text(struct cdr_in *in, char *to, size_t size)
{
	size_t len;
	const char *text = cdr_get_string(in, &len);

	in->bad |= len >= size;
	memset(to, 0, size);
	memcpy(to, text, in->bad ? 0 : len);
}

static void get_list(struct cdr_in *in, const struct ros_step *s, uint8_t *base);

static void get_layout(struct cdr_in *in, const struct ros_layout *layout, uint8_t *base)
{
	for (const struct ros_step *s = layout->steps; s < layout->steps + layout->n;) {
		if (!s->run_bytes || in->swapped) {
			get_list(in, s++, base);
		} else if (in_step(s, in->at)) {
			cdr_get_run(in, base + s->offset, s->size, s->stretch_bytes);
			s += s->stretch_steps;
		} else {
			cdr_get_run(in, base + s->offset, s->size, s->run_bytes);
			s += s->run_steps;
		}
	}
}

static void get_list(struct cdr_in *in, const struct ros_step *s, uint8_t *base)
{
	uint8_t *at = base + s->offset;
	const size_t n = s->counted ? get_length(in, s, base) : s->count;

	if (s->kind == ROS_STEP_NUMBERS)
		cdr_get(in, at, s->size, n);
	for (size_t i = 0; i < n && s->kind == ROS_STEP_GROUPS; i++)
		get_layout(in, s->group, at + i * s->size);
	for (size_t i = 0; i < n && s->kind == ROS_STEP_TEXTS; i++)
		get_text(in, (char *)at + i * s->size, s->size);
}

int ros_own_decode(const void *cdr, size_t len, const struct msg_type *type, enum ros_unused unused, void *msg)
{
	struct cdr_in in = cdr_in(cdr, len);

	ros_own_empty(type, unused, msg);
	ros_skip_header(&in);
	get_layout(&in, ros_layout_of(type), msg);
	return in.bad || msg_check(msg, type->body->size, type, NULL) != MSG_FINE ? -1 : 0;
}
