/* bridge_out.c: channels to topics. */
#include <fnmatch.h>

#include "channels/ach/ach_file.h"
#include "launch/achdds/bridge_out.h"

#define BATCH 64	  /* messages of a link before the others have their turn */
#define LOOK_NS 500000000 /* between two looks whether a channel was removed */
#define AGAIN_NS 10000000 /* a limited link without news looks again after this, or a quarter of its period */
struct link {
	char name[ACH_CHAN_NAME_MAX], device[ACH_CHAN_NAME_MAX];
	const struct bridge_file_topic *topic;
	struct dds_node_writer *writer;
	const struct ros_map *map; /* of the message before */
	struct channel_reader reader;
	bool unmapped_said, fresh;
	int64_t look_ns, next_ns;
	int64_t newest_ns; /* when the newest message was written */
	/* Messages published; left out by the rate; overwritten unread; not taken by the library; of no such type. */
	uint64_t published, limited, missed, dropped, unmapped;
};

struct bridge_out {
	struct bridge *b;
	struct dds_node_writer **writers; /* of each topic */
	struct link links[BRIDGE_OUT_LINKS_MAX];
	size_t n;
	bool crowded, begun;
	uint8_t msg[MSG_SIZE_MAX], cdr[ROS_CDR_MAX];
};

int bridge_out_open(struct bridge_out **publish, struct bridge *b, struct error_sink *errors)
{
	struct bridge_out *p = calloc(1, sizeof(*p));

	*publish = p;
	if (!p)
		return -ENOMEM;
	p->b = b;
	p->writers = calloc(b->file.topics_n + 1, sizeof(struct dds_node_writer *));
	if (!p->writers)
		return -ENOMEM;
	for (size_t i = 0; i < b->file.topics_n; i++) {
		const struct bridge_file_topic *topic = &b->file.topics[i];
		char name[BRIDGE_FILE_TOPIC_MAX + 2];

		snprintf(name, sizeof(name), "rt%s", topic->topic);
		p->writers[i] = dds_node_write(
			b->node, &(struct dds_node_topic){ name, topic->type->dds_name, topic->type->hash, topic->qos },
			errors);
		if (!p->writers[i])
			return -EIO;
	}
	return 0;
}

void bridge_out_close(struct bridge_out *p)
{
	if (!p)
		return;
	for (size_t i = 0; i < p->n; i++)
		channel_reader_close(&p->b->readers, &p->links[i].reader);
	free(p->writers);
	free(p);
}

/* ---- channels ---- */

static bool has(const struct bridge_out *p, const struct bridge_file_topic *topic, const char *name)
{
	for (size_t i = 0; i < p->n; i++)
		if (p->links[i].topic == topic && !strcmp(p->links[i].name, name))
			return true;
	return false;
}

static void open_link(struct bridge_out *p, struct link *l)
{
	const int r = l->topic->rate > 0
			      ? channel_reader_open_quiet(&p->b->readers, &l->reader, l->name)
			      : channel_reader_open(&p->b->readers, &l->reader, l->name, (uint32_t)(l - p->links));

	if (r || !l->fresh)
		return;
	/* A channel is older than this process: its newest state is of use, what happened before is not news. */
	ach_flush(&l->reader.chan);
	if (l->topic->qos != DDS_NODE_LOG && l->reader.chan.seq_num)
		l->reader.chan.seq_num--; /* the cursor is the program's to move */
}

static void add(struct bridge_out *p, size_t topic, const char *name)
{
	const char *channel = name + strlen(p->b->prefix), *dash;
	struct link *l = &p->links[p->n];

	if (p->n == BRIDGE_OUT_LINKS_MAX) {
		if (!p->crowded)
			bridge_say(p->b, MSG_SEVERITY_WARNING, "channels", "more than %d channels: %s is not published",
				   BRIDGE_OUT_LINKS_MAX, name);
		p->crowded = true;
		return;
	}
	*l = (struct link){ .topic = &p->b->file.topics[topic], .writer = p->writers[topic], .fresh = !p->begun };
	snprintf(l->name, sizeof(l->name), "%s", name);
	/* "waist" of "waist-state" */
	dash = strrchr(channel, '-');
	snprintf(l->device, sizeof(l->device), "%.*s", dash ? (int)(dash - channel) : (int)strlen(channel), channel);
	p->n++;
}

void bridge_out_scan(struct bridge_out *p)
{
	const size_t len = strlen(p->b->prefix);
	DIR *folder = ach_file_list();
	const char *name;

	while (folder && (name = ach_file_next(folder))) {
		if (strncmp(name, p->b->prefix, len) != 0)
			continue;
		for (size_t i = 0; i < p->b->file.topics_n; i++)
			if (!fnmatch(p->b->file.topics[i].channel, name + len, 0) &&
			    !has(p, &p->b->file.topics[i], name))
				add(p, i, name);
	}
	if (folder)
		closedir(folder);
	p->begun = true;
}

/* ---- messages ---- */

/* How this message becomes the type of the topic; NULL: it does not. */
static const struct ros_map *map_of(const struct link *l, uint32_t number)
{
	if (l->map && l->map->msg == number)
		return l->map;
	for (const struct ros_map *map = ros_map_of(number, NULL); map; map = ros_map_of(number, map))
		if (ros_map_type(map) == l->topic->type)
			return map;
	return NULL;
}

static void say_unmapped(struct bridge_out *p, struct link *l, const struct msg_type *type)
{
	l->unmapped++;
	if (l->unmapped_said)
		return;
	l->unmapped_said = true;
	bridge_say(p->b, MSG_SEVERITY_WARNING, "unmapped", "%s: %s does not become %s", l->name,
		   type ? type->name : "a message of unknown type", l->topic->type->name);
}

static void put(struct bridge_out *p, struct link *l, size_t len)
{
	const struct ros_context context = { .device = l->device,
					     .frame_id = *l->topic->frame ? l->topic->frame : NULL,
					     .wall_ns = bridge_wall_ns() };
	const struct msg_type *type = NULL;
	struct msg_header header;
	size_t cdr = 0;

	if (msg_check(p->msg, len, NULL, &type) == MSG_FINE && (l->map = map_of(l, type->number)))
		cdr = ros_encode(l->map, p->msg, len, &context, p->cdr, sizeof(p->cdr));
	if (!cdr) {
		say_unmapped(p, l, type);
		return;
	}
	memcpy(&header, p->msg, sizeof(header));
	l->newest_ns = header.t_publish_ns;
	if (dds_node_put(l->writer, p->cdr, cdr))
		l->dropped++;
	else
		l->published++;
}

/* true: a message was read. */
static bool take(struct bridge_out *p, struct link *l, int options)
{
	ach_channel_t *chan = &l->reader.chan;
	const uint64_t before = chan->seq_num;
	size_t len = 0;
	const enum ach_status status = ach_get(chan, p->msg, sizeof(p->msg), &len, NULL, options);
	const uint64_t skipped = chan->seq_num - before - 1;

	switch (status) {
	case ACH_OK:
	case ACH_MISSED_FRAME:
		if (!l->fresh && options & ACH_O_LAST)
			l->limited += skipped;
		else if (!l->fresh)
			l->missed += skipped;
		l->fresh = false;
		put(p, l, len);
		return true;
	case ACH_OVERFLOW: /* not a message of ours */
		ach_flush(chan);
		say_unmapped(p, l, NULL);
		return true;
	case ACH_EAGAIN:
		return false;
	default:
		channel_reader_close(&p->b->readers, &l->reader);
		return false;
	}
}

static void take_all(struct bridge_out *p, struct link *l, int64_t now_ns)
{
	int n = 0;

	while (n < BATCH && take(p, l, 0))
		n++;
	channel_reader_read(&p->b->readers, &l->reader, now_ns, n, n == BATCH);
}

void bridge_out_read(struct bridge_out *p, uint32_t tag, int64_t now_ns)
{
	struct link *l = &p->links[tag];

	if (tag >= p->n || !l->reader.open)
		return;
	channel_reader_seen(&p->b->readers, &l->reader, now_ns);
	take_all(p, l, now_ns);
}

/* A link with a rate: its newest message, if it is time. */
static void take_limited(struct bridge_out *p, struct link *l, int64_t now_ns)
{
	const int64_t period_ns = (int64_t)(NS_PER_S / l->topic->rate);
	const int64_t again_ns = period_ns / 4 < AGAIN_NS ? period_ns / 4 : AGAIN_NS;

	if (now_ns < l->next_ns)
		return;
	if (!take(p, l, ACH_O_LAST))
		l->next_ns = now_ns + again_ns;
	else if (l->next_ns < now_ns - period_ns)
		l->next_ns = now_ns + period_ns;
	else
		l->next_ns += period_ns; /* in phase, so that the rate is that of the plan */
}

int64_t bridge_out_due(struct bridge_out *p, int64_t now_ns)
{
	int64_t next_ns = CLOCK_NEVER;

	for (size_t i = 0; i < p->n; i++) {
		struct link *l = &p->links[i];

		if (now_ns >= l->look_ns) {
			l->look_ns = now_ns + LOOK_NS;
			channel_reader_check(&p->b->readers, &l->reader);
			if (!l->reader.open)
				open_link(p, l);
		}
		if (l->reader.polled)
			take_all(p, l, now_ns);
		if (l->reader.open && l->topic->rate > 0)
			take_limited(p, l, now_ns);
		if (l->look_ns < next_ns)
			next_ns = l->look_ns;
		if (l->reader.open && l->topic->rate > 0 && l->next_ns < next_ns)
			next_ns = l->next_ns;
	}
	return next_ns;
}

/* ---- the state ---- */

void bridge_out_state(const struct bridge_out *p, struct json *j, int64_t now_ns)
{
	json_array(j, "publish");
	for (size_t i = 0; i < p->n; i++) {
		const struct link *l = &p->links[i];

		json_line(j);
		json_object(j, NULL);
		json_text(j, "topic", l->topic->topic);
		json_text(j, "channel", l->name);
		json_bool(j, "open", l->reader.open);
		json_uint(j, "readers", dds_node_readers(l->writer));
		json_uint(j, "published", l->published);
		json_uint(j, "limited", l->limited);
		json_uint(j, "missed", l->missed);
		json_uint(j, "dropped", l->dropped);
		json_uint(j, "unmapped", l->unmapped);
		bridge_age(j, now_ns, l->newest_ns);
		json_end(j);
	}
	json_end(j);
}
