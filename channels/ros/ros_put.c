/* ros_put.c: what the encoders of messages share: stamps, headers, names and texts.  Checked: covered. */
#include "channels/ros/ros_inside.h"

/* ---- names ---- */

const char *ros_device(const struct ros_context *c)
{
	return c->device ? c->device : "";
}

const char *ros_joint(char name[MSG_TEXT_SIZE], const struct msg_joint_state *s, size_t i, const struct ros_context *c)
{
	if (*s->joint[i]) {
		memcpy(name, s->joint[i], MSG_NAME_SIZE);
		name[MSG_NAME_SIZE] = '\0';
	} else if (i < c->joints_n) {
		snprintf(name, MSG_TEXT_SIZE, "%s", c->joints[i]);
	} else {
		snprintf(name, MSG_TEXT_SIZE, "%.80s_%zu", ros_device(c), i);
	}
	return name;
}

/* ---- stamps and headers ---- */

/* s, and ns from 0 to 999999999 */
static void make_stamp(uint32_t stamp[2], const struct msg_header *h, const struct ros_context *c)
{
	/* Modulo 2^64: a writer may put any time. */
	const int64_t own_ns = h->t_sample_ns ? h->t_sample_ns : h->t_publish_ns;
	const int64_t t_ns = (int64_t)((uint64_t)own_ns + (uint64_t)c->wall_ns);
	const int64_t below = t_ns % NS_PER_S < 0;

	stamp[0] = (uint32_t)(t_ns / NS_PER_S - below);
	stamp[1] = (uint32_t)(t_ns % NS_PER_S + below * NS_PER_S);
}

void ros_put_stamp(struct cdr_out *o, const void *msg, const struct ros_context *c)
{
	uint32_t stamp[2];

	make_stamp(stamp, msg, c);
	cdr_put(o, stamp, sizeof(*stamp), 2);
}

void ros_put_header(struct cdr_out *o, const void *msg, const struct ros_context *c)
{
	const char *frame_id = c->frame_id ? c->frame_id : ros_device(c);
	const size_t len = strlen(frame_id) + 1;
	uint32_t head[3] = { 0, 0, (uint32_t)len };

	make_stamp(head, msg, c);
	cdr_put(o, head, sizeof(*head), 3);
	cdr_put(o, frame_id, 1, len);
}

void ros_skip_header(struct cdr_in *in)
{
	size_t frame_id;

	cdr_get_i32(in);
	cdr_get_u32(in);
	cdr_get_string(in, &frame_id);
}

/* ---- texts ---- */

/* Bytes before the first one that is not printable ASCII, a zero say. */
static size_t plain_part(const char *text, size_t size)
{
	size_t n = 0;

	while (n < size && text[n] >= ' ' && text[n] <= '~')
		n++;
	return n;
}

/* A text, size bytes, as sound UTF-8; behind it zeros. */
static void make_sound(char sound[MSG_TEXT_SIZE], const char *from, size_t size)
{
	const size_t len = strnlen(from, size);

	memset(sound, 0, MSG_TEXT_SIZE);
	memcpy(sound, from, len < size ? len : size - 1);
	if (len + 1 >= size)
		utf8_mend(sound); /* it may have been cut inside a character */
	utf8_clean(sound);
}

bool ros_text_is_sound(const char *text, size_t size)
{
	static const char zeros[MSG_TEXT_SIZE];
	const size_t plain = plain_part(text, size);
	char sound[MSG_TEXT_SIZE];

	if (plain < size && !text[plain])
		return !memcmp(text + plain, zeros, size - plain);
	make_sound(sound, text, size);
	return !memcmp(text, sound, size);
}

void ros_put_text(struct cdr_out *o, const char *from, size_t size)
{
	const size_t plain = plain_part(from, size);
	char sound[MSG_TEXT_SIZE];

	if (plain < size && !from[plain]) {
		cdr_put_string(o, from, plain);
	} else {
		make_sound(sound, from, size);
		cdr_put_string(o, sound, size);
	}
}
