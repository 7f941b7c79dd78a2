/* ros_own.c: endplate_msgs, encoded from the tables of channels/msg/types.h, and back. */
#include <string.h>

#include "channels/ros/ros_inside.h"
#include "channels/ros/ros_own.h"
#include "channels/ros/ros_plan.h"
#include "config/utf8.h"

/* ---- encoding ---- */

void ros_put_text(struct cdr_out *o, const char *from, size_t size)
{
	char text[MSG_TEXT_SIZE] = "";
	const size_t len = strnlen(from, size);

	memcpy(text, from, len < size ? len : size - 1);
	if (len + 1 >= size)
		utf8_mend(text); /* it may have been cut inside a character */
	utf8_clean(text);
	cdr_put_string(o, text, size);
}

static size_t used(const struct ros_step *s, const uint8_t *base)
{
	uint32_t n;

	memcpy(&n, base + s->count_offset, sizeof(n));
	return n < s->count ? n : s->count; /* whatever the writer put there */
}

static void put_plan(struct cdr_out *o, const struct ros_plan *plan, const uint8_t *base)
{
	for (const struct ros_step *s = plan->steps; s < plan->steps + plan->n; s += s->run_steps) {
		const uint8_t *at = base + s->offset;
		const size_t n = s->counted ? used(s, base) : s->count;

		if (s->counted)
			cdr_put_u32(o, (uint32_t)n);
		if (s->kind == ROS_STEP_NUMBERS)
			cdr_put_run(o, at, s->size, s->run_bytes ? s->run_bytes : n * s->size);
		for (size_t i = 0; i < n && s->kind == ROS_STEP_GROUPS; i++)
			put_plan(o, s->group, at + i * s->size);
		for (size_t i = 0; i < n && s->kind == ROS_STEP_TEXTS; i++)
			ros_put_text(o, (const char *)at + i * s->size, s->size);
	}
}

void ros_own_encode(struct cdr_out *o, const struct msg_type *type, const void *msg, const struct ros_context *c)
{
	ros_put_header(o, msg, c);
	put_plan(o, ros_plan_of(type), msg);
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

static void get_plan(struct cdr_in *in, const struct ros_plan *plan, uint8_t *base)
{
	for (const struct ros_step *s = plan->steps; s < plan->steps + plan->n;) {
		const bool run = s->run_bytes && !in->swapped;
		uint8_t *at = base + s->offset;
		const size_t n = s->counted ? get_length(in, s, base) : s->count;

		if (run)
			cdr_get_run(in, at, s->size, s->run_bytes);
		else if (s->kind == ROS_STEP_NUMBERS)
			cdr_get(in, at, s->size, n);
		for (size_t i = 0; i < n && s->kind == ROS_STEP_GROUPS; i++)
			get_plan(in, s->group, at + i * s->size);
		for (size_t i = 0; i < n && s->kind == ROS_STEP_TEXTS; i++)
			get_text(in, (char *)at + i * s->size, s->size);
		s += run ? s->run_steps : 1;
	}
}

int ros_own_decode(const void *cdr, size_t len, const struct msg_type *type, enum ros_unused unused, void *msg)
{
	struct cdr_in in = cdr_in(cdr, len);
	size_t frame_id;

	msg_init(msg, type);
	if (unused == ROS_UNUSED_UNKNOWN)
		msg_unknown(msg, type);
	cdr_get_i32(&in);
	cdr_get_u32(&in);
	cdr_get_string(&in, &frame_id);
	get_plan(&in, ros_plan_of(type), msg);
	return in.bad || msg_check(msg, type->body->size, type, NULL) != MSG_FINE ? -1 : 0;
}
