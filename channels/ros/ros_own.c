/* ros_own.c: endplate_msgs, encoded from the tables of channels/msg/types.h, and back. */
#include <string.h>

#include "channels/ros/ros_inside.h"
#include "channels/ros/ros_own.h"
#include "config/utf8.h"

static bool is_count(const struct msg_group *group, const struct msg_field *field)
{
	for (const struct msg_field *f = group->fields; f < group->fields + group->n; f++)
		if (f->used && !strcmp(f->used, field->name))
			return true;
	return false;
}

bool ros_own_has(const struct msg_group *group, const struct msg_field *field)
{
	return strcmp(field->name, "reserved") != 0 && !is_count(group, field);
}

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

static void put_group(struct cdr_out *o, const struct msg_group *group, const uint8_t *base)
{
	const uint8_t *at = base;

	for (const struct msg_field *f = group->fields; f < group->fields + group->n; at += msg_field_size(f), f++) {
		const size_t n = msg_used(group, f, base);

		if (!ros_own_has(group, f))
			continue;
		if (f->used)
			cdr_put_u32(o, (uint32_t)n);
		if (f->kind < MSG_name || f->kind == MSG_word || f->kind == MSG_flags)
			cdr_put(o, at, f->size, n);
		for (size_t i = 0; i < n && f->kind == MSG_group; i++)
			put_group(o, f->group, at + i * f->size);
		for (size_t i = 0; i < n && (f->kind == MSG_name || f->kind == MSG_text); i++)
			ros_put_text(o, (const char *)at + i * f->size, f->size);
	}
}

void ros_own_encode(struct cdr_out *o, const struct msg_type *type, const void *msg, const struct ros_context *c)
{
	ros_put_header(o, msg, c);
	put_group(o, type->body, msg);
}

/* ---- decoding ---- */

static size_t offset_of(const struct msg_group *group, const char *name)
{
	size_t offset = 0;

	for (const struct msg_field *f = group->fields; strcmp(f->name, name) != 0; f++)
		offset += msg_field_size(f);
	return offset;
}

/* Lists that count together have one length. */
static uint32_t get_length(struct cdr_in *in, const struct msg_group *group, const struct msg_field *list,
			   uint8_t *base)
{
	uint8_t *count = base + offset_of(group, list->used);
	const uint32_t n = cdr_get_length(in, 1);
	uint32_t before;
	bool first = true;

	for (const struct msg_field *f = group->fields; f < list; f++)
		first &= !f->used || strcmp(f->used, list->used) != 0;
	memcpy(&before, count, sizeof(before));
	in->bad |= n > list->count || (!first && n != before);
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

static void get_group(struct cdr_in *in, const struct msg_group *group, uint8_t *base)
{
	uint8_t *at = base;

	for (const struct msg_field *f = group->fields; f < group->fields + group->n; at += msg_field_size(f), f++) {
		size_t n = f->count ? f->count : 1;

		if (!ros_own_has(group, f))
			continue;
		if (f->used)
			n = get_length(in, group, f, base);
		if (f->kind < MSG_name || f->kind == MSG_word || f->kind == MSG_flags)
			cdr_get(in, at, f->size, n);
		for (size_t i = 0; i < n && f->kind == MSG_group; i++)
			get_group(in, f->group, at + i * f->size);
		for (size_t i = 0; i < n && (f->kind == MSG_name || f->kind == MSG_text); i++)
			get_text(in, (char *)at + i * f->size, f->size);
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
	get_group(&in, type->body, msg);
	return in.bad || msg_check(msg, type->body->size, type, NULL) != MSG_FINE ? -1 : 0;
}
