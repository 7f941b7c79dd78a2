/* relay_stamp.c: the times in a message of another machine. */
#include "launch/achdds/relay_stamp.h"

bool relay_stamp_is_time(const struct msg_field *field)
{
	static const char *const names[] = { "t_sample_ns",	 "t_publish_ns",      "valid_until_ns",
					     "stalled_since_ns", "last_confirmed_ns", "last_received_ns",
					     "t_cycle_ns",	 "until_ns",	      "t_read_ns" };

	for (size_t i = 0; i < sizeof(names) / sizeof(*names); i++)
		if (!strcmp(field->name, names[i]))
			return true;
	return false;
}

static void shift(const struct msg_group *group, uint8_t *at, int64_t by_ns)
{
	for (const struct msg_field *f = group->fields; f < group->fields + group->n; f++)
		for (size_t i = 0; i < (f->count ? f->count : 1u); i++, at += f->size) {
			int64_t t_ns;

			if (f->kind == MSG_group)
				shift(f->group, at, by_ns);
			if (f->kind != MSG_i64 || !relay_stamp_is_time(f))
				continue;
			memcpy(&t_ns, at, sizeof(t_ns));
			if (t_ns && !__builtin_add_overflow(t_ns, by_ns, &t_ns))
				memcpy(at, &t_ns, sizeof(t_ns));
		}
}

void relay_stamp_shift(const struct msg_type *type, void *msg, int64_t by_ns, int64_t error_ns)
{
	struct msg_header h;
	int64_t error_us;

	shift(type->body, msg, by_ns);
	memcpy(&h, msg, sizeof(h));
	error_us = h.uncertainty_us + error_ns / 1000 + (error_ns % 1000 > 0); /* rounded up: never 0 */
	h.uncertainty_us = error_us < UINT16_MAX ? (uint16_t)error_us : UINT16_MAX;
	memcpy(msg, &h, sizeof(h));
}
