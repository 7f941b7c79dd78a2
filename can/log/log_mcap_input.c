/* log_mcap_input.c: MCAP files, unpacked: the frames in them, whoever wrote them. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "can/log/log_input.h"
#include "can/log/log_mcap.h"
#include "channels/rec/mcap.h"
#include "channels/ros/ros_can.h"
#include "config/base/text.h"

#define IDS 65536
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
	struct log_mcap_item item;
	size_t given; /* bytes of it */
	int end;      /* what next_item returned last */
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

/* true: the item is a frame, or damaged; false: the message is not one. */
static bool take_message(struct mcap_input *s, const struct mcap_message *m)
{
	const struct channel *c = &s->channels[m->channel];
	const char *schema = s->schemas[c->schema];
	struct log_mcap_item *item = &s->item;
	struct ros_can can;

	if (!c->cdr || !*schema)
		return false;
	*item = (struct log_mcap_item){ .t_ns = (int64_t)m->log_ns };
	item->damaged = ros_can_decode(schema, m->data, m->len, &can) != 0;
	if (item->damaged)
		return true;
	if (can.t_ns)
		item->t_ns = can.t_ns;
	memcpy(item->bus, text_is_name(can.bus) ? can.bus : c->bus, sizeof(item->bus));
	item->direction = can.direction;
	memcpy(&item->frame, &can.frame, sizeof(item->frame));
	return true;
}

/* The next item.  1; 0: the end; or as in struct log_input. */
static int next_item(struct mcap_input *s)
{
	struct mcap_record m;

	for (;;) {
		switch (mcap_read(s->reader, &m)) {
		case MCAP_FOUND_RECORD:
			if (m.op == MCAP_SCHEMA)
				take_schema(s, &m.schema);
			if (m.op == MCAP_CHANNEL)
				take_channel(s, &m.channel);
			if (m.op == MCAP_MESSAGE && take_message(s, &m.message))
				return 1;
			break;
		case MCAP_FOUND_DAMAGE:
			s->item = (struct log_mcap_item){ .damaged = true };
			return 1;
		case MCAP_FOUND_END:
			return 0;
		case MCAP_FOUND_ERROR:
			return mcap_error(s->reader);
		default:
			return log_input_wrong(&s->in, "the MCAP file is cut off: what follows is lost");
		}
	}
}

/* ---- the input ---- */

static ssize_t mcap_input_read(struct log_input *in, unsigned char *to, size_t room)
{
	struct mcap_input *s = (struct mcap_input *)in;
	size_t n = 0;

	while (n < room) {
		size_t part;

		if (s->given == sizeof(s->item)) {
			const int more = s->end <= 0 ? s->end : next_item(s);

			s->end = more;
			if (more <= 0)
				return n ? (ssize_t)n : more;
			s->given = 0;
		}
		part = sizeof(s->item) - s->given < room - n ? sizeof(s->item) - s->given : room - n;
		memcpy(to + n, (const char *)&s->item + s->given, part);
		s->given += part;
		n += part;
	}
	return (ssize_t)n;
}

static void mcap_input_close(struct log_input *in)
{
	struct mcap_input *s = (struct mcap_input *)in;

	mcap_reader_free(s->reader);
	free(s->schemas);
	free(s->channels);
}

struct log_input *log_mcap_input(void)
{
	struct mcap_input *s = calloc(1, sizeof(*s));

	if (!s)
		return NULL;
	s->in.read = mcap_input_read;
	s->in.close = mcap_input_close;
	s->given = sizeof(s->item);
	s->end = 1;
	s->reader = mcap_reader_new(read_below, &s->in);
	s->schemas = calloc(IDS, sizeof(*s->schemas));
	s->channels = calloc(IDS, sizeof(*s->channels));
	if (s->reader && s->schemas && s->channels)
		return &s->in;
	mcap_input_close(&s->in);
	free(s);
	return NULL;
}
