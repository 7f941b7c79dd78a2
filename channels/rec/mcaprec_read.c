/* mcaprec_read.c: recordings as MCAP, read. */
#include <ctype.h>
#include <unistd.h>

#include "channels/rec/mcaprec.h"
#include "channels/ros/ros_can.h"
#include "channels/ros/ros_own.h"

#define FOREIGN_COUNT 64 /* messages that a channel of another writer's file retains */

enum kind {
	KIND_NONE, /* messages are left out: derived ones, or the channel is not known */
	KIND_EVENT,
	KIND_OWN,
	KIND_BYTES,
	KIND_EXACT, /* in place of the message that follows */
	KIND_FRAME,
	KIND_RAW, /* of another writer */
};

/* An MCAP channel. */
struct channel {
	enum kind kind;
	bool described; /* a record of the channel was given out */
	bool foreign;
	uint16_t number; /* in the recording */
	enum ros_unused unused;
	const struct msg_type *type;
	uint64_t next;	 /* the number of the last message, or of the first one that is to come */
	size_t size;	 /* of its largest message */
	char schema[64]; /* its name */
	char name[64];	 /* of the channel in the recording */
};

struct schema {
	bool cdr; /* ros2msg or ros2idl */
	char name[64];
};

struct mcaprec_reader {
	int fd;
	struct mcap_reader *mcap;
	struct channel channels[MCAP_IDS];
	struct schema schemas[MCAP_IDS];
	struct replaced {
		bool is;
		uint64_t number;
	} replaced[MCAP_IDS];  /* by number of the channel: a message was given out as its bytes, and comes again */
	bool known[MCAP_IDS];  /* numbers of channels that the file described */
	bool foreign, scanned; /* without metadata of ours */
	bool begun;	       /* the start was given out */
	uint64_t wall_ns;      /* modulo 2^64: times of a damaged file may be any */
	uint64_t first_ns;
	uint16_t numbers; /* channels of a foreign file */
	size_t describe;  /* of a foreign file: ids from here on are not yet described */
	uint8_t *bytes;
	size_t room;
	uint8_t body[RECLOG_CHANNEL_MAX];
	uint64_t image[MSG_SIZE_MAX / sizeof(uint64_t)];
	struct mcap_record held; /* waits for the description of its channel */
	bool has_held;
};

/* ---- channels ---- */

/* A topic as the name of a channel: /arm/joint_states is arm-joint_states. */
static void name_of_topic(char name[64], struct mcap_text topic)
{
	size_t n = 0;

	for (size_t i = 0; i < topic.len && n < 63; i++) {
		const unsigned char c = (unsigned char)topic.at[i];

		if (isalnum(c) || (n && (c == '_' || c == '.' || c == '-')))
			name[n++] = (char)c;
		else if (n)
			name[n++] = '-';
	}
	if (!n)
		name[n++] = 'x';
	name[n] = '\0';
}

/* The message of endplate_msgs, whichever file it is in. */
static const struct msg_type *own_type(const char *schema)
{
	const struct ros_type *ros = ros_type_by_name(schema);

	for (size_t i = 0; ros && ros->own && i < msg_structs_n; i++)
		for (size_t k = 0; !strcmp(msg_structs[i].name, ros->own) && k < msg_types_n; k++)
			if (msg_types[k].body == msg_structs[i].group)
				return &msg_types[k];
	return NULL;
}

static void take_schema(struct mcaprec_reader *reader, const struct mcap_schema *s)
{
	struct schema *schema = &reader->schemas[s->id];

	mcap_copy(s->name, schema->name, sizeof(schema->name));
	schema->cdr = mcap_is(s->encoding, "ros2msg") || mcap_is(s->encoding, "ros2idl");
}

static void take_own_channel(struct channel *c, struct mcap_text map)
{
	const struct mcap_text kind = mcap_map_get(map, "kind");

	mcap_copy(mcap_map_get(map, "channel"), c->name, sizeof(c->name));
	c->number = (uint16_t)mcap_map_number(map, "channel_number", 0);
	c->next = mcap_map_number(map, "first", 0);
	c->unused = mcap_is(mcap_map_get(map, "unused"), "zero") ? ROS_UNUSED_ZERO : ROS_UNUSED_UNKNOWN;
	c->kind = mcap_is(kind, "recording")		? KIND_EVENT
		  : mcap_is(kind, "message") && c->type ? KIND_OWN
		  : mcap_is(kind, "bytes")		? KIND_BYTES
		  : mcap_is(kind, "exact")		? KIND_EXACT
		  : mcap_is(kind, "frame") && !c->type	? KIND_FRAME
							: KIND_NONE;
}

/* A channel of another writer is known by its schema. */
static void take_foreign_channel(struct mcaprec_reader *reader, struct channel *c, const struct mcap_channel *m)
{
	const bool cdr = reader->schemas[m->schema].cdr && mcap_is(m->encoding, "cdr");

	c->foreign = true;
	c->number = reader->numbers++;
	c->unused = c->type && msg_is_state(c->type) ? ROS_UNUSED_UNKNOWN : ROS_UNUSED_ZERO;
	name_of_topic(c->name, m->topic);
	c->kind = cdr && c->type ? KIND_OWN : cdr && ros_can_known(c->schema) ? KIND_FRAME : KIND_RAW;
}

static void take_channel(struct mcaprec_reader *reader, const struct mcap_channel *m)
{
	struct channel *c = &reader->channels[m->id];

	if (c->kind != KIND_NONE)
		return; /* it is there again */
	memcpy(c->schema, reader->schemas[m->schema].name, sizeof(c->schema));
	c->type = own_type(c->schema);
	if (reader->foreign)
		take_foreign_channel(reader, c, m);
	else
		take_own_channel(c, m->metadata);
}

/* ---- the scan ---- */

/* The time of the first message, the largest one of each channel, and the offset of the wall clock. */
static void scan_message(struct mcaprec_reader *reader, const struct mcap_message *m)
{
	struct channel *c = &reader->channels[m->channel];
	struct msg_header h;

	if (!reader->first_ns)
		reader->first_ns = m->log_ns;
	c->size = m->len > c->size ? m->len : c->size;
	if (c->kind != KIND_OWN || reader->wall_ns ||
	    ros_own_decode(m->data, m->len, c->type, c->unused, reader->image))
		return;
	memcpy(&h, reader->image, sizeof(h));
	if (h.t_publish_ns) /* of CLOCK_MONOTONIC, and publish_ns of the wall clock */
		reader->wall_ns = m->publish_ns - (uint64_t)h.t_publish_ns;
}

/* Is it one of our files?  Of others: its channels, the largest message of each, and the offset of its clocks. */
static enum reclog_found scan_file(struct mcaprec_reader *reader)
{
	struct mcap_record m;
	enum mcap_found found;
	bool own = false;

	reader->foreign = true;
	while (!own && ((found = mcap_read(reader->mcap, &m)) == MCAP_FOUND_RECORD || found == MCAP_FOUND_DAMAGE)) {
		if (found == MCAP_FOUND_DAMAGE)
			continue;
		if (m.op == MCAP_METADATA && mcap_is(m.metadata.name, "endplate")) {
			own = true;
			reader->wall_ns = mcap_map_number(m.metadata.map, "realtime_minus_monotonic_ns", 0);
		}
		if (m.op == MCAP_SCHEMA)
			take_schema(reader, &m.schema);
		if (m.op == MCAP_CHANNEL)
			take_channel(reader, &m.channel);
		if (m.op == MCAP_MESSAGE)
			scan_message(reader, &m.message);
	}
	if (own) {
		memset(reader->channels, 0, sizeof(reader->channels));
		reader->foreign = false;
	}
	mcap_reader_free(reader->mcap);
	reader->mcap = mcap_reader_new(input_read_fd, &reader->fd);
	if (!reader->mcap || lseek(reader->fd, 0, SEEK_SET))
		return RECLOG_FOUND_ERROR;
	return RECLOG_FOUND_RECORD;
}

/* ---- records ---- */

static void describe(struct mcaprec_reader *reader, struct channel *c, struct reclog_record *r, int64_t t_ns)
{
	struct reclog_channel what = { .mode = 0660, .type = c->type ? c->type->number : 0 };

	if (c->kind == KIND_FRAME) {
		what.type = RECLOG_CAN;
		what.mode = 0;
	} else {
		what.count = c->type ? (uint32_t)c->type->retained : FOREIGN_COUNT;
		what.size = c->type ? (uint32_t)c->type->body->size : (uint32_t)(c->size + 64);
	}
	memcpy(what.name, c->name, sizeof(what.name));
	c->described = true;
	*r = (struct reclog_record){ .kind = RECLOG_CHANNEL, .channel = c->number, .t_ns = t_ns, .body = reader->body };
	r->len = reclog_channel_write(reader->body, &what);
}

/* The start of another writer's file, then its channels.  false: they were all given out. */
static bool give_beginning(struct mcaprec_reader *reader, struct reclog_record *r)
{
	const int64_t t_ns = (int64_t)(reader->first_ns - reader->wall_ns);

	if (!reader->begun) {
		reader->begun = true;
		*r = (struct reclog_record){ .kind = RECLOG_START, .t_ns = t_ns, .number = reader->first_ns };
		return true;
	}
	for (; reader->describe < MCAP_IDS; reader->describe++) {
		struct channel *c = &reader->channels[reader->describe];

		if (c->kind != KIND_NONE && !c->described) {
			describe(reader, c, r, t_ns);
			return true;
		}
	}
	return false;
}

static enum reclog_found damaged(struct mcaprec_reader *reader, struct reclog_record *r, const char *what)
{
	*r = (struct reclog_record){ .position = mcap_position(reader->mcap), .damage = what };
	return RECLOG_FOUND_DAMAGE;
}

/* The bytes of "base64":"..."; -1: there are none. */
static ssize_t get_bytes(struct mcaprec_reader *reader, const struct mcap_message *m)
{
	static const char key[] = "\"base64\":\"";
	const char *at = memmem(m->data, m->len, key, sizeof(key) - 1);
	const char *end, *stop = (const char *)m->data + m->len;

	if (!at)
		return -1;
	at += sizeof(key) - 1;
	end = memchr(at, '"', (size_t)(stop - at));
	if (!end)
		return -1;
	if (!grow(&reader->bytes, &reader->room, (size_t)(end - at), 1))
		return -1;
	return base64_read(reader->bytes, at, (size_t)(end - at));
}

static enum reclog_found give_event(struct mcaprec_reader *reader, const struct mcap_message *m,
				    struct reclog_record *r)
{
	const ssize_t n = get_bytes(reader, m);

	if (n < RECLOG_HEAD_SIZE)
		return damaged(reader, r, "a record of the recording is not one");
	*r = reclog_head_read(reader->bytes);
	if (r->kind < RECLOG_START || r->kind > RECLOG_END || r->len != (size_t)n - RECLOG_HEAD_SIZE)
		return damaged(reader, r, "a record of the recording is not one");
	r->body = reader->bytes + RECLOG_HEAD_SIZE;
	if (r->kind == RECLOG_CHANNEL)
		reader->known[r->channel] = true;
	return RECLOG_FOUND_RECORD;
}

/* The message itself: 1; 0: it was given out as bytes already; -1: it is damaged. */
static int give_body(struct mcaprec_reader *reader, struct channel *c, const struct mcap_message *m,
		     struct reclog_record *r)
{
	struct replaced *replaced = &reader->replaced[c->number];
	const bool again = !c->foreign && replaced->is && replaced->number == r->number && c->kind != KIND_BYTES;
	struct ros_can can;
	ssize_t n;

	replaced->is = false;
	if (again && c->kind != KIND_EXACT)
		return 0;
	switch (c->kind) {
	case KIND_OWN:
		if (ros_own_decode(m->data, m->len, c->type, c->unused, reader->image))
			return -1;
		r->body = (const uint8_t *)reader->image;
		r->len = c->type->body->size;
		return 1;
	case KIND_FRAME:
		if (ros_can_decode(c->schema, m->data, m->len, &can))
			return -1;
		r->body = reader->body;
		r->len = reclog_can_write(reader->body, &can);
		return 1;
	case KIND_BYTES:
	case KIND_EXACT:
		n = get_bytes(reader, m);
		if (n < 0)
			return -1;
		*replaced = (struct replaced){ c->kind == KIND_EXACT, r->number };
		r->body = reader->bytes;
		r->len = (size_t)n;
		return 1;
	default:
		r->body = m->data;
		r->len = m->len;
		return 1;
	}
}

/* RECLOG_FOUND_EOF: there is nothing to give out. */
static enum reclog_found give_message(struct mcaprec_reader *reader, const struct mcap_message *m,
				      struct reclog_record *r)
{
	struct channel *c = &reader->channels[m->channel];
	int given;

	if (c->kind == KIND_NONE)
		return RECLOG_FOUND_EOF;
	if (c->kind == KIND_EVENT)
		return give_event(reader, m, r);
	if (!c->foreign && !reader->known[c->number]) { /* its description was lost */
		reader->known[c->number] = true;
		describe(reader, c, r, (int64_t)(m->log_ns - reader->wall_ns));
		reader->has_held = true;
		return RECLOG_FOUND_RECORD;
	}
	c->next += c->foreign ? 1 : (uint64_t)(int64_t)(int32_t)(m->sequence - (uint32_t)c->next);
	*r = (struct reclog_record){ .kind = RECLOG_MESSAGE,
				     .channel = c->number,
				     .t_ns = (int64_t)(m->log_ns - reader->wall_ns),
				     .number = c->next,
				     .position = mcap_position(reader->mcap) };
	given = give_body(reader, c, m, r);
	return given > 0 ? RECLOG_FOUND_RECORD
	       : given	 ? damaged(reader, r, "a message is not of its type")
			 : RECLOG_FOUND_EOF;
}

static enum reclog_found not_found(struct mcaprec_reader *reader, enum mcap_found found, struct reclog_record *r)
{
	*r = (struct reclog_record){ .position = mcap_position(reader->mcap) };
	switch (found) {
	case MCAP_FOUND_DAMAGE:
		return damaged(reader, r, mcap_damage(reader->mcap));
	case MCAP_FOUND_CUT:
		return RECLOG_FOUND_CUT;
	case MCAP_FOUND_NO_MCAP:
		return RECLOG_FOUND_NO_LOG;
	case MCAP_FOUND_ERROR:
		errno = -mcap_error(reader->mcap);
		return RECLOG_FOUND_ERROR;
	default:
		return RECLOG_FOUND_EOF;
	}
}

enum reclog_found mcaprec_read(struct mcaprec_reader *reader, struct reclog_record *r)
{
	enum reclog_found given = RECLOG_FOUND_EOF;

	if (!reader->scanned) {
		reader->scanned = true;
		if (scan_file(reader) != RECLOG_FOUND_RECORD)
			return RECLOG_FOUND_ERROR;
	}
	if (reader->foreign && reader->first_ns && give_beginning(reader, r))
		return RECLOG_FOUND_RECORD;
	while (given == RECLOG_FOUND_EOF) {
		struct mcap_record *m = &reader->held;
		const enum mcap_found found = reader->has_held ? MCAP_FOUND_RECORD : mcap_read(reader->mcap, m);

		reader->has_held = false;
		if (found != MCAP_FOUND_RECORD)
			return not_found(reader, found, r);
		if (m->op == MCAP_SCHEMA)
			take_schema(reader, &m->schema);
		if (m->op == MCAP_CHANNEL)
			take_channel(reader, &m->channel);
		if (m->op == MCAP_MESSAGE)
			given = give_message(reader, &m->message, r);
	}
	return given;
}

struct mcaprec_reader *mcaprec_reader_new(int fd)
{
	struct mcaprec_reader *reader = calloc(1, sizeof(*reader)); /* pages that are not used cost nothing */

	if (!reader)
		return NULL;
	reader->fd = fd;
	reader->mcap = mcap_reader_new(input_read_fd, &reader->fd);
	if (reader->mcap)
		return reader;
	mcaprec_reader_free(reader);
	return NULL;
}

void mcaprec_reader_free(struct mcaprec_reader *reader)
{
	if (!reader)
		return;
	mcap_reader_free(reader->mcap);
	free(reader->bytes);
	free(reader);
}
