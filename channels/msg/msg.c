/* msg.c: the descriptions made from the tables, and whether a message is what it should be. */
#include <math.h>

#include "channels/msg/msg.h"

/* clang-format off */

static const char *const msg_words_flag[] = { MSG_WORDS_FLAG(MSG_WORD) NULL };
static const char *const msg_words_life[] = { MSG_WORDS_LIFE(MSG_WORD) NULL };
static const char *const msg_words_level[] = { MSG_WORDS_LEVEL(MSG_WORD) NULL };
static const char *const msg_words_estop[] = { MSG_WORDS_ESTOP(MSG_WORD) NULL };
static const char *const msg_words_latch[] = { MSG_WORDS_LATCH(MSG_WORD) NULL };
static const char *const msg_words_link[] = { MSG_WORDS_LINK(MSG_WORD) NULL };
static const char *const msg_words_mode[] = { MSG_WORDS_MODE(MSG_WORD) NULL };
static const char *const msg_words_joint[] = { MSG_WORDS_JOINT(MSG_WORD) NULL };
static const char *const msg_words_grip[] = { MSG_WORDS_GRIP(MSG_WORD) NULL };
static const char *const msg_words_finger[] = { MSG_WORDS_FINGER(MSG_WORD) NULL };
static const char *const msg_words_alarm[] = { MSG_WORDS_ALARM(MSG_WORD) NULL };
static const char *const msg_words_severity[] = { MSG_WORDS_SEVERITY(MSG_WORD) NULL };
static const char *const msg_words_verb[] = { MSG_WORDS_VERB(MSG_WORD) NULL };
static const char *const msg_words_balance[] = { MSG_WORDS_BALANCE(MSG_WORD) NULL };
static const char *const msg_words_body[] = { MSG_WORDS_BODY(MSG_WORD) NULL };
static const char *const msg_words_input[] = { MSG_WORDS_INPUT(MSG_WORD) NULL };
static const char *const msg_words_source[] = { MSG_WORDS_SOURCE(MSG_WORD) NULL };

#define DETAIL_u8(d)
#define DETAIL_u16(d)
#define DETAIL_u32(d)
#define DETAIL_u64(d)
#define DETAIL_i32(d)
#define DETAIL_i64(d)
#define DETAIL_f64(d)
#define DETAIL_name(d)
#define DETAIL_text(d)
#define DETAIL_word(d) .words = d,
#define DETAIL_flags(d) .words = d,
#define DETAIL_group(d) .group = &d##_group,

#define FIELD(kind_, name_, dims, used_, unit_, detail)                                                        \
	{ .name = #name_,                                                                                      \
	  .kind = MSG_##kind_,                                                                                 \
	  .size = sizeof(MSG_C_##kind_(detail)),                                                               \
	  .count = sizeof(#dims) > 1 ? sizeof(MSG_C_##kind_(detail) dims) / sizeof(MSG_C_##kind_(detail)) : 0, \
	  .used = sizeof(#used_) > 1 ? #used_ : NULL,                                                          \
	  .unit = unit_,                                                                                       \
	  DETAIL_##kind_(detail) },

#define DESCRIBE(struct_name, TABLE)                                                                 \
	static const struct msg_field struct_name##_fields[] = { TABLE(FIELD) };                     \
	static const struct msg_group struct_name##_group = { struct_name##_fields,                  \
							      sizeof(struct_name##_fields) /         \
								      sizeof(*struct_name##_fields), \
							      sizeof(struct struct_name) };
MSG_GROUPS(DESCRIBE)

#define DESCRIBE_TYPE(struct_name, TABLE, number, version, name, retained) DESCRIBE(struct_name, TABLE)
MSG_TYPES(DESCRIBE_TYPE)

#define TYPE(struct_name, TABLE, number, version, name, retained) \
	{ number, version, name, &struct_name##_group, retained },
const struct msg_type msg_types[] = { MSG_TYPES(TYPE) };
const size_t msg_types_n = sizeof(msg_types) / sizeof(*msg_types);

#define NAMED(struct_name, TABLE) { #struct_name, &struct_name##_group },
#define NAMED_TYPE(struct_name, TABLE, number, version, name, retained) NAMED(struct_name, TABLE)
const struct msg_struct msg_structs[] = { MSG_GROUPS(NAMED) MSG_TYPES(NAMED_TYPE) };
const size_t msg_structs_n = sizeof(msg_structs) / sizeof(*msg_structs);

const char *msg_struct_name(const struct msg_group *group)
{
	size_t i = 0;

	while (msg_structs[i].group != group)
		i++;
	return msg_structs[i].name;
}

/* The list ends with NULL, which is counted. */
#define WORD_OF(list)                                                                             \
	const char *msg_##list##_word(uint32_t value)                                             \
	{                                                                                         \
		const size_t n = sizeof(msg_words_##list) / sizeof(*msg_words_##list) - 1;        \
		return value < n ? msg_words_##list[value] : "unknown";                           \
	}
WORD_OF(level)
WORD_OF(life)
WORD_OF(link)
WORD_OF(severity)

/* clang-format on */

const struct msg_type *msg_type_by_number(uint32_t type)
{
	for (size_t i = 0; i < msg_types_n; i++)
		if (msg_types[i].number == type)
			return &msg_types[i];
	return NULL;
}

bool msg_is_state(const struct msg_type *type)
{
	return type->body->n > 1 && type->body->fields[1].group == &msg_common_group;
}

const struct msg_type *msg_type_by_name(const char *name)
{
	for (size_t i = 0; i < msg_types_n; i++)
		if (!strcmp(msg_types[i].name, name))
			return &msg_types[i];
	return NULL;
}

const struct msg_type *msg_type_by_channel(const char *channel)
{
	static const struct {
		const char *end; /* of the name, behind a prefix or a device */
		const char *type;
	} names[] = {
		{ "-event", "event" },	{ "-req", "request" }, { "-rep", "reply" },  { "-info", "device-info" },
		{ "estop-b", "estop" }, { "estop", "estop" },  { "clock", "clock" },
	};

	for (size_t i = 0; i < sizeof(names) / sizeof(*names); i++)
		if (text_ends_with(channel, names[i].end))
			return msg_type_by_name(names[i].type);
	return NULL;
}

enum msg_refusal msg_check(const void *buf, size_t len, const struct msg_type *expected, const struct msg_type **found)
{
	struct msg_header h;
	const struct msg_type *type;

	if (found)
		*found = NULL;
	if (len < sizeof(h))
		return MSG_SHORT;
	memcpy(&h, buf, sizeof(h)); /* buf may lie anywhere */
	type = expected && expected->number == h.type ? expected : msg_type_by_number(h.type);
	if (!type || (expected && type != expected))
		return MSG_OTHER_TYPE;
	if (h.version != type->version)
		return MSG_OTHER_VERSION;
	if (h.size != len || len != type->body->size)
		return MSG_OTHER_SIZE;
	if (found)
		*found = type;
	return MSG_FINE;
}

void msg_refusal_text(char *text, size_t size, enum msg_refusal why, const void *buf, size_t len,
		      const struct msg_type *expected)
{
	struct msg_header h = { 0 };
	struct text_out out = text_out(text, size);
	const struct msg_type *type;

	memcpy(&h, buf, len < sizeof(h) ? len : sizeof(h));
	type = msg_type_by_number(h.type);
	switch (why) {
	case MSG_FINE:
		text_add(&out, "a sound message");
		break;
	case MSG_SHORT:
		text_add(&out, "%zu bytes are not an Endplate message", len);
		break;
	case MSG_OTHER_TYPE:
		if (type)
			text_add(&out, "a message of type %s", type->name);
		else
			text_add(&out, "%zu bytes of an unknown type", len);
		if (expected)
			text_add(&out, "; expected %s", expected->name);
		break;
	case MSG_OTHER_VERSION:
		text_add(&out, "%s of version %u; this program knows version %u", type ? type->name : "a message",
			 h.version, type ? type->version : 0u);
		break;
	case MSG_OTHER_SIZE:
		text_add(&out, "%s of %zu bytes that says it has %u; it should have %zu",
			 type ? type->name : "a message", len, h.size, type ? type->body->size : (size_t)0);
		break;
	}
}

void msg_init(void *msg, const struct msg_type *type)
{
	struct msg_header h = { .type = type->number, .version = type->version, .size = (uint32_t)type->body->size };

	memset(msg, 0, type->body->size);
	memcpy(msg, &h, sizeof(h));
}

static uint32_t unknown_word(const struct msg_field *field)
{
	for (uint32_t i = 0; field->words[i]; i++)
		if (!strcmp(field->words[i], "unknown"))
			return i;
	return 0;
}

static void make_unknown(const struct msg_group *group, char *at)
{
	for (const struct msg_field *f = group->fields; f < group->fields + group->n; f++) {
		const size_t n = f->count ? f->count : 1;

		for (size_t i = 0; i < n; i++, at += f->size) {
			if (f->kind == MSG_f64)
				memcpy(at, &(double){ NAN }, sizeof(double));
			else if (f->kind == MSG_i64 && !strcmp(f->name, "age_ns"))
				memcpy(at, &(int64_t){ INT64_MAX }, sizeof(int64_t));
			else if (f->kind == MSG_word)
				memcpy(at, &(uint32_t){ unknown_word(f) }, sizeof(uint32_t));
			else if (f->kind == MSG_group && f->group != &msg_header_group && f->group != &msg_common_group)
				make_unknown(f->group, at);
		}
	}
}

void msg_unknown(void *msg, const struct msg_type *type)
{
	make_unknown(type->body, msg);
}
