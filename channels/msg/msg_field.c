/* msg_field.c: finding a field by its path. */
#include "channels/msg/msg.h"

static const struct msg_field *field_by_name(const struct msg_group *group, const char *name, size_t len)
{
	for (const struct msg_field *f = group->fields; f < group->fields + group->n; f++)
		if (strlen(f->name) == len && !memcmp(f->name, name, len))
			return f;
	return NULL;
}

size_t msg_offset(const struct msg_group *group, const struct msg_field *field)
{
	size_t offset = 0;

	for (const struct msg_field *f = group->fields; f < field; f++)
		offset += msg_field_size(f);
	return offset;
}

const struct msg_field *msg_count_of(const struct msg_group *group, const struct msg_field *field)
{
	return field->used ? field_by_name(group, field->used, strlen(field->used)) : NULL;
}

bool msg_is_count(const struct msg_group *group, const struct msg_field *field)
{
	for (size_t i = 0; i < group->n; i++)
		if (msg_count_of(group, &group->fields[i]) == field)
			return true;
	return false;
}

bool msg_is_reserved(const struct msg_field *field)
{
	return !strcmp(field->name, "reserved");
}

static size_t counted(const void *base, size_t offset, size_t room)
{
	uint32_t n;

	memcpy(&n, (const uint8_t *)base + offset, sizeof(n));
	return n < room ? n : room; /* whatever the writer put there */
}

size_t msg_used(const struct msg_group *group, const struct msg_field *field, const void *base)
{
	const struct msg_field *count = msg_count_of(group, field);

	if (!field->count)
		return 1;
	return count ? counted(base, msg_offset(group, count), field->count) : field->count;
}

/* "imu has no field header.sequenc; did you mean header.sequence?"; len bytes at part do not name a field. */
static int no_field(const struct msg_type *type, const struct msg_group *group, const char *path, const char *part,
		    size_t len, char *error, size_t error_size)
{
	int before = (int)(part - path);
	const char *best = NULL;
	char word[NEAREST_LEN_MAX + 2];

	snprintf(word, sizeof(word), "%.*s", (int)len, part);
	for (size_t i = 0; i < group->n; i++)
		nearest_try(word, group->fields[i].name, &best);
	return text_refuse(error, error_size, "%s has no field %.*s%s%.*s%s%s", type->name, before + (int)len, path,
			   best ? "; did you mean " : "", best ? before : 0, path, best ? best : "", best ? "?" : "");
}

int msg_find(const struct msg_type *type, const char *path, struct msg_place *place, char *error, size_t error_size)
{
	const struct msg_group *group = type->body;
	const char *part = path;
	size_t base = 0;

	for (;;) {
		size_t len = strcspn(part, ".[");
		const struct msg_field *f = field_by_name(group, part, len), *count = f ? msg_count_of(group, f) : NULL;

		if (!f)
			return no_field(type, group, path, part, len, error, error_size);
		*place = (struct msg_place){ f, base + msg_offset(group, f), f->count ? f->count : 1u, MSG_ALL };
		if (count)
			place->used = base + msg_offset(group, count);
		part += len;
		if (*part == '[') {
			char *end;
			unsigned long i = strtoul(part + 1, &end, 10);

			if (!f->count)
				return text_refuse(error, error_size, "%s: %.*s is not a list", path,
						   (int)(part - path), path);
			if (end == part + 1 || *end != ']' || i >= f->count)
				return text_refuse(error, error_size, "%s: an index of %.*s is 0 to %d", path,
						   (int)(part - path), path, f->count - 1);
			place->offset += i * f->size;
			place->elements = 1;
			place->used = MSG_ALL;
			part = end + 1;
		}
		if (!*part)
			return 0;
		if (*part != '.' || f->kind != MSG_group || place->elements != 1)
			return text_refuse(error, error_size, "%s: %.*s is not a single group of fields", path,
					   (int)(part - path), path);
		group = f->group;
		base = place->offset;
		part++;
	}
}

size_t msg_elements(const void *msg, const struct msg_place *place)
{
	return place->used == MSG_ALL ? place->elements : counted(msg, place->used, place->elements);
}

int msg_value(const void *msg, const struct msg_place *place, size_t element, double *value)
{
	const struct msg_field *f = place->field;
	const union msg_any v = msg_any(f, (const uint8_t *)msg + place->offset + element * f->size);

	if (f->kind == MSG_name || f->kind == MSG_text || f->kind == MSG_group)
		return -1;
	*value = f->kind == MSG_f64   ? v.f64
		 : f->kind == MSG_i64 ? (double)v.i64
		 : f->kind == MSG_i32 ? v.i32
				      : (double)v.u64;
	return 0;
}
