/* vt_hash.c: the hash over a run on a virtual clock. */
#include "channels/vt_hash.h"

#include <ctype.h>
#include <stdlib.h>
#include <string.h>

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

static void drop_digits(uint8_t *text, size_t size)
{
	size_t kept = 0;

	for (size_t i = 0; i < size && text[i]; i++)
		if (!isdigit(text[i]))
			text[kept++] = text[i];
	memset(text + kept, 0, size - kept);
}

static void blank(uint8_t *bytes, const struct msg_group *group)
{
	for (size_t i = 0; i < group->n; i++) {
		const struct msg_field *f = &group->fields[i];
		const size_t size = (size_t)f->size * (f->count ? f->count : 1);

		if (is_left_out(f->name))
			memset(bytes, 0, size);
		else if (f->kind == MSG_group)
			for (size_t k = 0; k < size; k += f->size)
				blank(bytes + k, f->group);
		else if (f->kind == MSG_text)
			drop_digits(bytes, size);
		bytes += size;
	}
}

void vt_hash_message(struct vt_object *object, int64_t t_ns, const void *data, size_t len)
{
	const struct msg_type *type = NULL;
	uint8_t copy[MSG_SIZE_MAX];

	if (len > sizeof(copy) || msg_check(data, len, NULL, &type) != MSG_FINE) {
		vt_page_hash(object, t_ns, data, len);
		return;
	}
	memcpy(copy, data, len);
	blank(copy, type->body);
	vt_page_hash(object, t_ns, copy, len);
}
