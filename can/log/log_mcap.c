/* log_mcap.c: frames in MCAP files: read, whoever wrote them, and written: a channel for each bus. */
#include "can/log/log_formats.h"
#include "can/log/log_input.h"
#include "channels/rec/mcap.h"
#include "channels/ros/ros_can.h"
#include "channels/ros/ros_map.h"

#define SCHEMA_ID 1
#define LEFT_OUT "a chunk or a record is damaged and left out"
#define NAME_MAX_ 32 /* of a schema that has frames */

_Static_assert(sizeof(struct frame) == sizeof(struct canfd_frame), "a frame is the kernel's");

struct channel {
	uint16_t schema;
	bool cdr;
	char bus[LOG_BUS_MAX]; /* from its topic */
};

struct mcap_input {
	struct log_input in;
	struct mcap_reader *reader;
	char (*schemas)[NAME_MAX_]; /* by id: the name, if it is one of frames */
	struct channel *channels;
};

/* ---- the file below ---- */

static ssize_t read_below(void *from, void *bytes, size_t room)
{
	struct log_input *in = from;
	const int more = log_input_more(in);
	size_t n;

	if (more <= 0)
		return more;
	n = in->n - in->at < room ? in->n - in->at : room;
	memcpy(bytes, in->bytes + in->at, n);
	in->at += n;
	return (ssize_t)n;
}

/* ---- frames ---- */

/* "/can0/rx" is of can0. */
static void bus_of_topic(char bus[LOG_BUS_MAX], struct mcap_text topic)
{
	size_t n = 0;

	for (; topic.len && n < LOG_BUS_MAX - 1 && (*topic.at != '/' || !n); topic.at++, topic.len--)
		if (*topic.at != '/')
			bus[n++] = *topic.at;
	bus[n] = '\0';
	if (!text_is_name(bus))
		strcpy(bus, "can0");
}

static void take_schema(struct mcap_input *s, const struct mcap_schema *schema)
{
	char name[NAME_MAX_];

	mcap_copy(schema->name, name, sizeof(name));
	if (ros_can_known(name))
		memcpy(s->schemas[schema->id], name, sizeof(name));
}

static void take_channel(struct mcap_input *s, const struct mcap_channel *channel)
{
	struct channel *c = &s->channels[channel->id];

	c->schema = channel->schema;
	c->cdr = mcap_is(channel->encoding, "cdr");
	bus_of_topic(c->bus, channel->topic);
}

/* log_nothing: the message is not a frame. */
static const char *take_message(const struct mcap_input *s, const struct mcap_message *m, struct log_record *r)
{
	const struct channel *c = &s->channels[m->channel];
	const char *schema = s->schemas[c->schema];
	struct ros_can can;

	if (!c->cdr || !*schema)
		return log_nothing;
	if (ros_can_decode(schema, m->data, m->len, &can))
		return LEFT_OUT;
	memcpy(&r->frame, &can.frame, sizeof(r->frame));
	r->t_ns = can.t_ns ? can.t_ns : (int64_t)m->log_ns;
	r->direction = can.direction;
	memcpy(r->bus, text_is_name(can.bus) ? can.bus : c->bus, sizeof(r->bus));
	if (log_known_frame(&r->frame))
		return log_known_frame(&r->frame);
	return r->t_ns < 0 ? "the time is out of range" : NULL;
}

/* ---- the input: only mcap_record reads it ---- */

static void mcap_close(struct log_input *in)
{
	struct mcap_input *s = (struct mcap_input *)in;

	mcap_reader_free(s->reader);
	free(s->schemas);
	free(s->channels);
}

static struct log_input *mcap_input(void)
{
	struct mcap_input *s = calloc(1, sizeof(*s));

	if (!s)
		return NULL;
	s->in.close = mcap_close;
	s->reader = mcap_reader_new(read_below, &s->in);
	s->schemas = calloc(MCAP_IDS, sizeof(*s->schemas));
	s->channels = calloc(MCAP_IDS, sizeof(*s->channels));
	if (s->reader && s->schemas && s->channels)
		return &s->in;
	mcap_close(&s->in);
	free(s);
	return NULL;
}

/* The end, or why the file ends here. */
static const char *stop(struct log *log, const char *cut)
{
	log->at_end = true;
	log->cut = cut;
	return log_end;
}

static const char *mcap_record(struct log *log, struct log_record *r)
{
	struct mcap_input *s = (struct mcap_input *)log->input;
	const char *wrong = log_nothing;
	struct mcap_record m;

	while (wrong == log_nothing) {
		switch (log->at_end ? MCAP_FOUND_END : mcap_read(s->reader, &m)) {
		case MCAP_FOUND_RECORD:
			if (m.op == MCAP_SCHEMA)
				take_schema(s, &m.schema);
			else if (m.op == MCAP_CHANNEL)
				take_channel(s, &m.channel);
			else if (m.op == MCAP_MESSAGE)
				wrong = take_message(s, &m.message, r);
			break;
		case MCAP_FOUND_DAMAGE:
			return LEFT_OUT;
		case MCAP_FOUND_END:
			return stop(log, NULL);
		case MCAP_FOUND_ERROR:
			if (mcap_error(s->reader) == -EBADMSG)
				return stop(log, s->in.wrong);
			log->broken = mcap_error(s->reader);
			return log_end;
		default:
			return stop(log, "the MCAP file is cut off: what follows is lost");
		}
	}
	return wrong;
}

/* ---- writing ---- */

static int add_bytes(void *to, const void *bytes, size_t len)
{
	log_put(to, bytes, len);
	return 0;
}

static void mcap_begin(struct log_writer *w)
{
	static char text[ROS_SCHEMA_MAX];
	const struct ros_type *type = ros_type_by_name(ROS_CAN_TYPE);
	const struct mcap_options options = { MCAP_ZSTD, "endplate canconvert", add_bytes, w };

	w->mcap = mcap_writer_new(&options);
	if (!w->mcap) {
		w->failed = -ENOMEM;
		return;
	}
	mcap_write_schema(w->mcap, &(struct mcap_schema){ .id = SCHEMA_ID,
							  .name = mcap_text(type->name),
							  .encoding = mcap_text(ROS_SCHEMA_ENCODING),
							  .data = { text, ros_schema(type, text) } });
}

static void add_channel(struct log_writer *w, const char *bus)
{
	struct mcap_map map = { .len = 0 };
	char topic[LOG_BUS_MAX + 8];

	snprintf(topic, sizeof(topic), "/can/%s", bus);
	mcap_map_add(&map, "channel", "%s", bus);
	mcap_map_add(&map, "channel_number", "%u", w->channel);
	mcap_map_add(&map, "kind", "frame");
	mcap_map_add(&map, "first", "1");
	mcap_write_channel(w->mcap, &(struct mcap_channel){ .id = (uint16_t)w->channel,
							    .schema = SCHEMA_ID,
							    .topic = mcap_text(topic),
							    .encoding = mcap_text(ROS_MESSAGE_ENCODING),
							    .metadata = mcap_map_text(&map) });
}

static void mcap_put(struct log_writer *w, const struct log_record *r)
{
	struct ros_can can = { .t_ns = r->t_ns, .direction = r->direction };
	uint8_t cdr[ROS_CAN_CDR_MAX];
	int err;

	if (w->failed)
		return;
	memcpy(can.bus, r->bus, sizeof(can.bus));
	memcpy(&can.frame, &r->frame, sizeof(can.frame));
	if (w->interfaces_n < w->buses_n) { /* the record is the first of its bus */
		add_channel(w, r->bus);
		w->interfaces_n = w->buses_n;
	}
	err = mcap_write_message(w->mcap, &(struct mcap_message){ .channel = (uint16_t)w->channel,
								  .sequence = (uint32_t)(w->records + 1),
								  .log_ns = (uint64_t)r->t_ns,
								  .publish_ns = (uint64_t)r->t_ns,
								  .data = cdr,
								  .len = ros_can_encode(&can, cdr) });
	if (err)
		w->failed = err;
}

static void mcap_end(struct log_writer *w)
{
	const int err = w->mcap ? mcap_write_end(w->mcap) : 0;

	if (err)
		w->failed = err;
	mcap_writer_free(w->mcap);
	w->mcap = NULL;
}

const struct log_format log_mcap_format = {
	.name = "MCAP",
	.suffix = ".mcap",
	.probe_bytes = log_mcap_probe,
	.input = mcap_input,
	.read_record = mcap_record,
	.begin = mcap_begin,
	.put = mcap_put,
	.end = mcap_end,
};
