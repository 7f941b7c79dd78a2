/* msg.h: what flows through the channels, each message described once.
 *
 * A message is one table of rows in types.h.  From it come the struct, its
 * description (struct msg_type), and through that the text and JSON forms in
 * both directions, recording, and what else needs to know the fields.
 *
 * Fixed width, native alignment, no padding (checked at compile time), SI units.
 * All times are nanoseconds of CLOCK_MONOTONIC.
 *
 * Offered to other folders:
 *	ref.h types.h
 */
#pragma once

#include "channels/msg/types.h"
#include "config/base/base.h"

/* ---- description ---- */

enum msg_kind {
	MSG_u8,
	MSG_u16,
	MSG_u32,
	MSG_u64,
	MSG_i32,
	MSG_i64,
	MSG_f64,
	MSG_name,  /* char[24], zero-terminated */
	MSG_text,  /* char[120], zero-terminated */
	MSG_word,  /* u32, one of words */
	MSG_flags, /* u32, any of words, bit by bit */
	MSG_group  /* a struct of its own */
};

struct msg_field {
	const char *name;
	enum msg_kind kind;
	uint16_t size;		  /* of one element */
	uint16_t count;		  /* elements; 0: not an array */
	const char *used;	  /* the u32 field of the same struct that says how many elements count, or NULL: all */
	const char *unit;	  /* "" for none, "1" for a share */
	const char *const *words; /* ends with NULL */
	const struct msg_group *group;
};

/* All its elements. */
static inline size_t msg_field_size(const struct msg_field *f)
{
	return (size_t)f->size * (f->count ? f->count : 1u);
}

/* The rows of a struct.  There is no padding, so a field lies behind the sizes of those before it. */
struct msg_group {
	const struct msg_field *fields;
	size_t n;
	size_t size;
};

struct msg_type {
	uint32_t number;
	uint16_t version;
	const char *name; /* as people write it: "joint-state" */
	const struct msg_group *body;
	size_t retained; /* messages a channel of this type holds */
};

/* All types there are. */
extern const struct msg_type msg_types[];
extern const size_t msg_types_n;

/* The structs that types.h defines: those inside messages, each behind those that it has itself, then the messages. */
struct msg_struct {
	const char *name; /* "msg_header" */
	const struct msg_group *group;
};
extern const struct msg_struct msg_structs[];
extern const size_t msg_structs_n;
const char *msg_struct_name(const struct msg_group *group);

const struct msg_type *msg_type_by_number(uint32_t type);
const struct msg_type *msg_type_by_name(const char *name);
bool msg_is_state(const struct msg_type *type); /* the common block follows the header */
/* The type of a channel of that name on every robot (estop, clock, waist-event); NULL: it depends on the device. */
const struct msg_type *msg_type_by_channel(const char *channel);

/* The word of a value, as texts have it: "run", "holding", "bus-off", "warning"; "unknown" for a value without one. */
const char *msg_level_word(uint32_t level);
const char *msg_life_word(uint32_t life);
const char *msg_link_word(uint32_t link);
const char *msg_severity_word(uint32_t severity);

/* ---- reading a message that another process wrote ---- */

enum msg_refusal {
	MSG_FINE,
	MSG_SHORT,	/* not even a header */
	MSG_OTHER_TYPE, /* not the type asked for, or not an Endplate type */
	MSG_OTHER_VERSION,
	MSG_OTHER_SIZE /* len, the header's size and the table's are not all the same */
};

/* Is buf, len bytes, a message of the expected type (NULL: any; *found is its type)?  Nothing else of it may be
 * used before this says MSG_FINE. */
enum msg_refusal msg_check(const void *buf, size_t len, const struct msg_type *expected, const struct msg_type **found);

/* The reason: "imu of version 2; this program knows version 1" */
void msg_refusal_text(char *text, size_t size, enum msg_refusal why, const void *buf, size_t len,
		      const struct msg_type *expected);

/* Type, version and size filled in, everything else zero. */
void msg_init(void *msg, const struct msg_type *type);
/* A state before anything was measured: behind the header and the common block every real number is NaN,
 * every age the longest there is, and every word "unknown" if its list has that. */
void msg_unknown(void *msg, const struct msg_type *type);

/* ---- fields ---- */

/* A field of a message by its path: "position", "position[2]", "common.bus[0].sent", "header.sequence". */
struct msg_place {
	const struct msg_field *field;
	size_t offset;	 /* of the first element meant, in the message */
	size_t elements; /* one, or those that an array named without an index has room for */
	size_t used;	 /* offset of the u32 that says how many of them count; MSG_ALL: all */
};
#define MSG_ALL SIZE_MAX

/* 0, or -1 with a line in error that says what was expected. */
int msg_find(const struct msg_type *type, const char *path, struct msg_place *place, char *error, size_t error_size);

/* Elements that count in this message. */
size_t msg_elements(const void *msg, const struct msg_place *place);

/* An element as a number, words and flags too; 0, or -1 for names, text and groups. */
int msg_value(const void *msg, const struct msg_place *place, size_t element, double *value);

/* Elements of this array of a struct at base that count; 1 for a field that is not an array. */
size_t msg_used(const struct msg_group *group, const struct msg_field *field, const void *base);

/* Where a field of the group lies in the struct; the field that counts its elements (NULL: all of them count);
 * whether it counts others; whether it is only kept free. */
size_t msg_offset(const struct msg_group *group, const struct msg_field *field);
const struct msg_field *msg_count_of(const struct msg_group *group, const struct msg_field *field);
bool msg_is_count(const struct msg_group *group, const struct msg_field *field);
bool msg_is_reserved(const struct msg_field *field);

/* ---- text and JSON ---- */

/* The bytes of an element that is a number; little endian, so u64 is any unsigned one. */
union msg_any {
	uint32_t u32;
	uint64_t u64;
	int32_t i32;
	int64_t i64;
	double f64;
};
union msg_any msg_any(const struct msg_field *field, const void *element);

/* An element without its unit: 1.25, active, partial|held.  Returns the length, as snprintf does. */
size_t msg_element_text(char *text, size_t size, const struct msg_field *field, const void *element);
/* The other way round; -1: text is not one. */
int msg_element_parse(const struct msg_field *field, void *element, const char *text);
/* The values that msg_element_parse takes: "one of run, hold, estop". */
size_t msg_element_allowed(char *text, size_t size, const struct msg_field *field);

/* path = value value … unit, a line per field; only elements that count. */
void msg_text(FILE *to, const struct msg_type *type, const void *msg);

/* An object: {"type":"imu","header":{…},…}.  NaN is null, infinities are "inf" and "-inf";
 * msg_from_node also reads NaN, Infinity and -Infinity, as some writers of JSON put them. */
struct json;
void msg_json(struct json *j, const char *name, const struct msg_type *type, const void *msg);

/* The other way round.  The message is initialised; what the text does not name stays zero, the counts follow the
 * lists given, and msg_lists.h says what becomes of lists that are missing.  A key of JSON may be a path as well.
 * Unknown fields, wrong kinds, too many elements, something said twice: -1 and one line in error. */
int msg_from_text(const struct msg_type *type, void *msg, const char *text, char *error, size_t error_size);
/* The same of JSON that was read with config/settings/yaml.h. */
struct yaml_node;
int msg_from_node(const struct msg_type *type, void *msg, const struct yaml_node *root, char *error, size_t error_size);
