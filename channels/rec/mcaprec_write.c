/* mcaprec_write.c: recordings as MCAP, written. */
#include "channels/rec/mcaprec.h"
#include "channels/ros/ros_can.h"
#include "channels/ros/ros_own.h"

#define TOPIC_MAX 128
#define DERIVED_MAX 4 /* standard types of one message */

/* The MCAP channels of one channel of the recording; 0: there is none yet. */
struct channel {
	struct reclog_channel what;
	uint64_t id;
	const struct msg_type *type; /* that what follows is for */
	const struct ros_map *map, *standard[DERIVED_MAX];
	uint16_t own, can;
	struct bytes {
		uint16_t id;
		uint64_t last; /* number */
	} bytes, exact;
	uint16_t derived[DERIVED_MAX];
	enum ros_unused unused;
	const void *empty; /* of type and unused */
	uint64_t own_last; /* number */
};

struct mcaprec_writer {
	struct mcap_writer *mcap;
	uint64_t wall_ns; /* CLOCK_REALTIME less CLOCK_MONOTONIC, modulo 2^64: a file may have any times */
	bool started;
	int64_t chunk_ns; /* of the first record in the open chunk */
	uint16_t channels_n, events;
	bool *schema_written; /* by their id */
	struct channel channels[RECLOG_CHANNELS_MAX];
	void **empty; /* of each type with each kind of unused elements, once it is used: ros_own_empty */
	char schema[ROS_SCHEMA_MAX];
	uint64_t aligned[MSG_SIZE_MAX / sizeof(uint64_t)];
};

/* ---- schemas and channels ---- */

enum { SCHEMA_EVENTS = 1, SCHEMA_BYTES, SCHEMA_ROS }; /* ids: behind them the rows of ros_types */

static const char schema_events[] = "{\"title\":\"endplate.Recording\",\"type\":\"object\",\"properties\":{"
				    "\"kind\":{\"type\":\"string\",\"enum\":[\"start\",\"channel\",\"loss\",\"end\"]},"
				    "\"channel\":{\"type\":\"string\"},\"number\":{\"type\":\"integer\"},"
				    "\"base64\":{\"type\":\"string\",\"contentEncoding\":\"base64\","
				    "\"description\":\"the record of ach record\"}}}";
static const char schema_bytes[] =
	"{\"title\":\"endplate.Bytes\",\"type\":\"object\",\"properties\":{\"base64\":{\"type\":\"string\","
	"\"contentEncoding\":\"base64\",\"description\":\"the message as it was in its channel\"}}}";

static int write_schema(struct mcaprec_writer *w, uint16_t id)
{
	const struct ros_type *type = id >= SCHEMA_ROS ? &ros_types[id - SCHEMA_ROS] : NULL;
	struct mcap_schema schema = { .id = id, .encoding = mcap_text(type ? ROS_SCHEMA_ENCODING : "jsonschema") };

	if (w->schema_written[id])
		return 0;
	w->schema_written[id] = true;
	if (type) {
		schema.name = mcap_text(type->name);
		schema.data = (struct mcap_text){ w->schema, ros_schema(type, w->schema) };
	} else {
		schema.name = mcap_text(id == SCHEMA_EVENTS ? "endplate.Recording" : "endplate.Bytes");
		schema.data = mcap_text(id == SCHEMA_EVENTS ? schema_events : schema_bytes);
	}
	return mcap_write_schema(w->mcap, &schema);
}

static uint16_t schema_of(const char *ros_type)
{
	return (uint16_t)(SCHEMA_ROS + (ros_type_by_name(ros_type) - ros_types));
}

/* A new MCAP channel.  0 or -errno. */
static int write_channel(struct mcaprec_writer *w, uint16_t *id, uint16_t schema, const char *topic,
			 const struct mcap_map *map)
{
	struct mcap_channel c = { .schema = schema,
				  .topic = mcap_text(topic),
				  .encoding = mcap_text(schema >= SCHEMA_ROS ? ROS_MESSAGE_ENCODING : "json"),
				  .metadata = mcap_map_text(map) };
	int r = write_schema(w, schema);

	if (r)
		return r;
	if (w->channels_n == UINT16_MAX)
		return -EOVERFLOW;
	c.id = *id = ++w->channels_n;
	return mcap_write_channel(w->mcap, &c);
}

/* The same for a channel of the recording; it names the channel, and the number of its first message. */
static int write_channel_of(struct mcaprec_writer *w, const struct reclog_record *r, uint16_t *id, uint16_t schema,
			    const char *kind, const char *before, const char *behind)
{
	const struct channel *c = &w->channels[r->channel];
	struct mcap_map map = { .len = 0 };
	char topic[TOPIC_MAX];

	mcap_map_add(&map, "channel", "%.*s", (int)sizeof(c->what.name), c->what.name);
	mcap_map_add(&map, "channel_number", "%u", r->channel);
	mcap_map_add(&map, "kind", "%s", kind);
	mcap_map_add(&map, "first", "%" PRIu64, r->number);
	if (!strcmp(kind, "message"))
		mcap_map_add(&map, "unused", "%s", c->unused == ROS_UNUSED_ZERO ? "zero" : "unknown");
	snprintf(topic, sizeof(topic), "/%s%.*s%s%s", before, (int)sizeof(c->what.name), c->what.name,
		 *behind ? "/" : "", behind);
	return write_channel(w, id, schema, topic, &map);
}

static int write_message(struct mcaprec_writer *w, uint16_t id, const struct reclog_record *r, int64_t publish_ns,
			 const void *data, size_t len)
{
	return mcap_write_message(w->mcap, &(struct mcap_message){ .channel = id,
								   .sequence = (uint32_t)r->number,
								   .log_ns = (uint64_t)r->t_ns + w->wall_ns,
								   .publish_ns = (uint64_t)publish_ns + w->wall_ns,
								   .data = data,
								   .len = len });
}

/* Does the number follow from the low half of it and the last one?  Else the channel begins again. */
static bool follows(uint64_t last, uint64_t number)
{
	return last + (uint64_t)(int64_t)(int32_t)((uint32_t)number - (uint32_t)last) == number;
}

/* ---- JSON ---- */

static int write_bytes(struct mcaprec_writer *w, const struct reclog_record *r, struct bytes *to, const char *kind)
{
	size_t len = 0;
	char *json;
	int err = 0;

	if (!to->id || !follows(to->last, r->number))
		err = write_channel_of(w, r, &to->id, SCHEMA_BYTES, kind, "", kind);
	to->last = r->number;
	if (err)
		return err;
	json = (char *)mcap_room(w->mcap, sizeof("{\"base64\":\"\"}") + BASE64_LEN(r->len));
	if (json) {
		len = (size_t)sprintf(json, "{\"base64\":\"");
		len += base64_write(json + len, r->body, r->len);
		len += (size_t)sprintf(json + len, "\"}");
	}
	return write_message(w, to->id, r, r->t_ns, json, len); /* without room it says why */
}

/* A record that is not a message. */
static int write_event(struct mcaprec_writer *w, const struct reclog_record *r)
{
	static const char *const kinds[] = {
		[RECLOG_START] = "start", [RECLOG_CHANNEL] = "channel", [RECLOG_LOSS] = "loss", [RECLOG_END] = "end"
	};
	const bool of_channel = r->kind == RECLOG_CHANNEL || r->kind == RECLOG_LOSS;
	uint8_t record[RECLOG_HEAD_SIZE + RECLOG_CHANNEL_MAX];
	char base64[BASE64_LEN(sizeof(record)) + 1], name[sizeof(((struct reclog_channel *)0)->name) + 1];
	struct mcap_map map = { .len = 0 };
	int err = 0;
	char *text;
	size_t len;
	FILE *to;
	struct json j;

	if (r->len > RECLOG_CHANNEL_MAX)
		return 0; /* not a record of ours */
	if (!w->events) {
		mcap_map_add(&map, "kind", "recording");
		err = write_channel(w, &w->events, SCHEMA_EVENTS, "/endplate/recording", &map);
	}
	if (err)
		return err;
	reclog_head(record, r);
	memcpy(record + RECLOG_HEAD_SIZE, r->len ? r->body : record, r->len);
	base64[base64_write(base64, record, RECLOG_HEAD_SIZE + r->len)] = '\0';
	to = open_memstream(&text, &len);
	if (!to)
		return -ENOMEM;
	j = json_to(to);
	json_object(&j, NULL);
	json_text(&j, "kind", kinds[r->kind]);
	snprintf(name, sizeof(name), "%.*s", (int)sizeof(name) - 1, w->channels[r->channel].what.name);
	if (of_channel)
		json_text(&j, "channel", name);
	json_uint(&j, "number", r->number);
	json_text(&j, "base64", base64);
	json_end(&j);
	if (fclose(to))
		return -ENOMEM;
	err = write_message(w, w->events, &(struct reclog_record){ .t_ns = r->t_ns }, r->t_ns, text, len);
	free(text);
	return err;
}

/* ---- messages ---- */

/* NULL: no memory. */
static const void *empty_of(struct mcaprec_writer *w, const struct msg_type *type, enum ros_unused unused)
{
	void **empty = &w->empty[2 * (type - msg_types) + (unused == ROS_UNUSED_UNKNOWN)];

	if (!*empty) {
		*empty = malloc(type->body->size);
		if (*empty)
			ros_own_empty(type, unused, *empty);
	}
	return *empty;
}

/* As its first message has them. */
static int choose_unused(struct mcaprec_writer *w, struct channel *c, const void *msg)
{
	c->unused = ROS_UNUSED_ZERO;
	c->empty = empty_of(w, c->type, c->unused);
	if (c->empty && !ros_own_keeps(c->type, msg, c->empty)) {
		c->unused = ROS_UNUSED_UNKNOWN;
		c->empty = empty_of(w, c->type, c->unused);
	}
	return c->empty ? 0 : -ENOMEM;
}

/* Begins a channel, or one whose messages are of another type than before. */
static void take_type(struct channel *c, const struct msg_type *type)
{
	const struct ros_map *map = ros_map_of(type->number, NULL);

	c->type = type;
	c->map = ros_map_for(type->number, ROS_OWN);
	memset(c->standard, 0, sizeof(c->standard));
	memset(c->derived, 0, sizeof(c->derived));
	for (size_t i = 0; i < DERIVED_MAX && map && map->use == ROS_STANDARD; i++) {
		c->standard[i] = map;
		map = ros_map_of(type->number, map);
	}
}

static int write_encoded(struct mcaprec_writer *w, uint16_t id, const struct reclog_record *r,
			 const struct ros_map *map, const void *msg, const struct ros_context *context,
			 int64_t publish_ns)
{
	uint8_t *cdr = mcap_room(w->mcap, ROS_CDR_MAX);
	const struct msg_type *type = w->channels[r->channel].type;
	const size_t len = cdr ? ros_encode_sound(map, type, msg, context, cdr, ROS_CDR_MAX) : 0;

	return write_message(w, id, r, publish_ns, cdr, len); /* without room it says why */
}

static int write_derived(struct mcaprec_writer *w, const struct reclog_record *r, const void *msg,
			 const struct ros_context *context, int64_t publish_ns)
{
	struct channel *c = &w->channels[r->channel];

	for (size_t i = 0; i < DERIVED_MAX && c->standard[i]; i++) {
		const struct ros_map *map = c->standard[i];
		int err = 0;

		if (!c->derived[i])
			err = write_channel_of(w, r, &c->derived[i], schema_of(map->type_name), "derived", "",
					       map->topic);
		if (!err)
			err = write_encoded(w, c->derived[i], r, map, msg, context, publish_ns);
		if (err)
			return err;
	}
	return 0;
}

/* A message is read as a struct. */
static const void *aligned(struct mcaprec_writer *w, const struct reclog_record *r)
{
	return (uintptr_t)r->body % sizeof(*w->aligned) ? memcpy(w->aligned, r->body, r->len) : r->body;
}

static int write_mapped(struct mcaprec_writer *w, const struct reclog_record *r, const struct msg_type *type)
{
	struct channel *c = &w->channels[r->channel];
	const struct ros_context context = { .device = c->what.name, .wall_ns = (int64_t)w->wall_ns };
	const void *msg = aligned(w, r);
	const struct msg_header *h = msg;
	const int64_t publish_ns = h->t_publish_ns ? h->t_publish_ns : r->t_ns;
	const bool other = c->type != type;
	int err = 0;

	if (other)
		take_type(c, type);
	if (!c->own || other || !follows(c->own_last, r->number)) {
		err = choose_unused(w, c, msg);
		if (!err)
			err = write_channel_of(w, r, &c->own, schema_of(c->map->type_name), "message", "", "");
	}
	c->own_last = r->number;
	if (!err && !ros_own_keeps(type, msg, c->empty))
		err = write_bytes(w, r, &c->exact, "exact");
	if (!err)
		err = write_encoded(w, c->own, r, c->map, msg, &context, publish_ns);
	return err ? err : write_derived(w, r, msg, &context, publish_ns);
}

static int write_frame(struct mcaprec_writer *w, const struct reclog_record *r)
{
	struct channel *c = &w->channels[r->channel];
	uint8_t cdr[ROS_CAN_CDR_MAX], body[RECLOG_CAN_MAX];
	struct ros_can can, back;
	size_t len;
	int err = 0;

	if (reclog_can_read(&can, r))
		return write_bytes(w, r, &c->bytes, "bytes");
	snprintf(can.bus, sizeof(can.bus), "%.*s", (int)sizeof(can.bus) - 1, c->what.name);
	can.t_ns = (int64_t)((uint64_t)r->t_ns + w->wall_ns);
	len = ros_can_encode(&can, cdr);
	if (ros_can_decode(ROS_CAN_TYPE, cdr, len, &back) || reclog_can_write(body, &back) != r->len ||
	    memcmp(body, r->body, r->len) != 0)
		err = write_bytes(w, r, &c->exact, "exact");
	if (!err && (!c->can || !follows(c->own_last, r->number)))
		err = write_channel_of(w, r, &c->can, schema_of(ROS_CAN_TYPE), "frame", "can/", "");
	c->own_last = r->number;
	return err ? err : write_message(w, c->can, r, r->t_ns, cdr, len);
}

/* ---- records ---- */

static int write_start(struct mcaprec_writer *w, const struct reclog_record *r)
{
	struct mcap_map map = { .len = 0 };

	w->started = true;
	w->wall_ns = r->number - (uint64_t)r->t_ns;
	mcap_map_add(&map, "version", "1");
	mcap_map_add(&map, "realtime_minus_monotonic_ns", "%" PRId64, (int64_t)w->wall_ns);
	return mcap_write_metadata(w->mcap, &(struct mcap_metadata){ mcap_text("endplate"), mcap_map_text(&map) });
}

static void take_channel(struct mcaprec_writer *w, const struct reclog_record *r)
{
	struct channel *c = &w->channels[r->channel];
	struct reclog_channel what;

	if (reclog_channel_read(&what, r))
		return;
	if (c->id != r->number || strcmp(c->what.name, what.name) != 0)
		memset(c, 0, sizeof(*c)); /* another one: its messages are counted from the beginning */
	c->what = what;
	c->id = r->number;
}

int mcaprec_put(struct mcaprec_writer *w, const struct reclog_record *r)
{
	const struct msg_type *type;
	int err = 0;

	if (mcap_has_open_chunk(w->mcap) && (int64_t)((uint64_t)r->t_ns - (uint64_t)w->chunk_ns) >= MCAPREC_CHUNK_NS)
		err = mcap_write_chunk(w->mcap);
	if (!mcap_has_open_chunk(w->mcap))
		w->chunk_ns = r->t_ns;
	if (!err && !w->started)
		err = write_start(w, r->kind == RECLOG_START
					     ? r
					     : &(struct reclog_record){ .t_ns = r->t_ns, .number = (uint64_t)r->t_ns });
	if (err)
		return err;
	if (r->kind == RECLOG_CHANNEL)
		take_channel(w, r);
	if (r->kind != RECLOG_MESSAGE)
		return write_event(w, r);
	if (w->channels[r->channel].what.type == RECLOG_CAN)
		return write_frame(w, r);
	if (msg_check(r->body, r->len, NULL, &type) == MSG_FINE)
		return write_mapped(w, r, type);
	return write_bytes(w, r, &w->channels[r->channel].bytes, "bytes");
}

struct mcaprec_writer *mcaprec_writer_new(struct mcap_writer *mcap)
{
	struct mcaprec_writer *w = calloc(1, sizeof(*w));

	if (!w)
		return NULL;
	w->mcap = mcap;
	w->schema_written = calloc(SCHEMA_ROS + ros_types_n, sizeof(*w->schema_written));
	w->empty = calloc(2 * msg_types_n, sizeof(*w->empty));
	if (w->schema_written && w->empty)
		return w;
	mcaprec_writer_free(w);
	return NULL;
}

void mcaprec_writer_free(struct mcaprec_writer *w)
{
	if (!w)
		return;
	free(w->schema_written);
	for (size_t i = 0; w->empty && i < 2 * msg_types_n; i++)
		free(w->empty[i]);
	free(w->empty);
	free(w);
}
