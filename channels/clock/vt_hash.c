/* vt_hash.c: the hash over a run on a virtual clock. */
#include "channels/clock/vt_hash.h"

#include <ctype.h>

#include "channels/msg/msg.h"

static const char *const left_out[] = { "boot", "base_chan", "chan", "pid", "client_pid", "id" };

const char *vt_hash_name(const char *channel)
{
	const char *prefix = getenv("ENDPLATE_PREFIX");
	const size_t len = prefix ? strlen(prefix) : 0;

	return len && !strncmp(channel, prefix, len) ? channel + len : channel;
}

static bool is_left_out(const char *name)
{
	for (size_t i = 0; i < sizeof(left_out) / sizeof(*left_out); i++)
		if (!strcmp(name, left_out[i]))
			return true;
	return false;
}

/* Without digits, and without the words that are paths. */
static void plain_text(uint8_t *text, size_t size)
{
	size_t kept = 0, word = 0;
	bool path = false;

	for (size_t i = 0; i < size && text[i]; i++) {
		path |= text[i] == '/';
		if (!isdigit(text[i]))
			text[kept++] = text[i];
		if (text[i] == ' ' || i + 1 == size || !text[i + 1]) {
			kept = path ? word : kept;
			word = kept;
			path = false;
		}
	}
	memset(text + kept, 0, size - kept);
}

/* Where the bytes of a type are that are left out, or whose digits are. */
struct part {
	uint32_t offset, size;
	bool text;
};
#define PARTS_MAX 64
#define TYPES_MAX 32
static struct parts {
	size_t n;
	struct part part[PARTS_MAX];
} known[TYPES_MAX];

static void find_parts(struct parts *parts, const struct msg_group *group, size_t offset)
{
	for (size_t i = 0; i < group->n; i++) {
		const struct msg_field *f = &group->fields[i];
		const size_t size = msg_field_size(f);

		if (f->kind == MSG_group)
			for (size_t k = 0; k < size; k += f->size)
				find_parts(parts, f->group, offset + k);
		else if ((f->kind == MSG_text || is_left_out(f->name)) && parts->n < PARTS_MAX)
			parts->part[parts->n++] =
				(struct part){ (uint32_t)offset, (uint32_t)size, f->kind == MSG_text };
		offset += size;
	}
}

static const struct parts *parts_of(const struct msg_type *type)
{
	static const struct part writer = { offsetof(struct msg_header, incarnation), sizeof(uint32_t), false };
	struct parts *parts = &known[type - msg_types];

	if (!parts->n && text_ends_with(type->name, "-ref"))
		parts->part[parts->n++] = writer; /* the number of a process */
	else if (!parts->n)
		find_parts(parts, type->body, 0);
	return parts;
}

void vt_hash_message(struct vt_object *object, int64_t t_ns, const void *data, size_t len)
{
	const struct msg_type *type = NULL;
	const struct parts *parts;
	uint8_t copy[MSG_SIZE_MAX];

	if (len > sizeof(copy) || msg_check(data, len, NULL, &type) != MSG_FINE || type - msg_types >= TYPES_MAX) {
		vt_page_hash(object, t_ns, data, len);
		return;
	}
	memcpy(copy, data, len);
	parts = parts_of(type);
	for (size_t i = 0; i < parts->n; i++)
		if (parts->part[i].text)
			plain_text(copy + parts->part[i].offset, parts->part[i].size);
		else
			memset(copy + parts->part[i].offset, 0, parts->part[i].size);
	vt_page_hash(object, t_ns, copy, len);
}
