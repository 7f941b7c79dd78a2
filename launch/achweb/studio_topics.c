/* studio_topics.c: channels as topics, their messages and schemas. */
#include "channels/clock/clock.h"
#include "launch/achweb/studio.h"

#define AT_ONCE 8 /* schemas in a message */

static void add(struct studio_topics *t, const char *topic, const char *channel, const struct ros_map *map)
{
	struct studio_topic *one = &t->at[t->n];

	for (size_t i = 0; i < t->n; i++)
		if (!strcmp(t->at[i].topic, topic))
			return;
	if (t->n == STUDIO_TOPICS)
		return;
	t->n++;
	*one = (struct studio_topic){ .map = map };
	snprintf(one->topic, sizeof(one->topic), "%s", topic);
	snprintf(one->channel, sizeof(one->channel), "%s", channel);
}

/* The names are those of a recording as MCAP: /waist-state, /waist-state/joint_states. */
void studio_find_topics(struct studio_topics *t, const struct robot_view *v)
{
	add(t, "/rosout", "", ros_map_for(msg_event_number, ROS_STANDARD));
	add(t, "/diagnostics", "", ros_map_for(msg_clock_number, ROS_DIAGNOSTICS));
	for (size_t i = 0; i < v->devices_n; i++) {
		const struct robot_view_device *d = v->devices[i];

		for (const struct ros_map *map = ros_map_of(d->type->number, NULL); map;
		     map = ros_map_of(d->type->number, map)) {
			char topic[STUDIO_TOPIC_MAX];

			if (map->use == ROS_DIAGNOSTICS)
				continue;
			snprintf(topic, sizeof(topic), "/%s%s%s", d->channel, map->use == ROS_OWN ? "" : "/",
				 map->use == ROS_OWN ? "" : map->topic);
			add(t, topic, d->channel, map);
		}
	}
}

void studio_close_topics(struct studio_topics *t)
{
	while (t->n)
		blob_drop(t->at[--t->n].cdr);
}

/* ---- messages ---- */

/* The arms of the robot, for its picture; NULL: there is none of that name. */
static const struct msg_joint_state *arm(const struct robot_view *v, const char *name)
{
	for (size_t i = 0; i < v->devices_n; i++) {
		const struct robot_view_device *d = v->devices[i];

		if (d->type->number == msg_joint_state_number && !strcmp(d->name, name))
			return (const void *)d->msg.bytes;
	}
	return NULL;
}

struct blob *studio_encode(const struct ros_map *map, const void *msg, size_t len, const char *device,
			   const struct robot_view *v)
{
	static uint8_t bytes[ROS_CDR_MAX]; /* of one thread */
	struct ros_context context = { .device = device, .wall_ns = clock_real_ns() - clock_now_ns() };
	size_t n;

	if (map->use == ROS_PICTURE) {
		context.arms[0] = arm(v, "larm");
		context.arms[1] = arm(v, "rarm");
	}
	n = ros_encode(map, msg, len, &context, bytes, sizeof(bytes));
	return n ? blob_make(bytes, n) : NULL;
}

struct blob *studio_newest(struct studio_topic *topic, const struct robot_view_device *d, const struct robot_view *v)
{
	if (topic->number == d->number)
		return topic->cdr;
	blob_drop(topic->cdr);
	topic->cdr = studio_encode(topic->map, d->msg.bytes, d->type->body->size, *d->name ? d->name : d->channel, v);
	topic->number = d->number;
	return topic->cdr;
}

/* ---- schemas ---- */

struct blob *studio_advertise(const struct studio_topics *t, size_t from, size_t *to)
{
	static char schema[ROS_SCHEMA_MAX]; /* of one thread */
	struct json *j = blob_begin();

	*to = from + AT_ONCE < t->n ? from + AT_ONCE : t->n;
	json_text(j, "op", "advertise");
	json_array(j, "channels");
	for (size_t i = from; i < *to; i++) {
		const struct ros_type *type = ros_map_type(t->at[i].map);

		ros_schema(type, schema);
		json_object(j, NULL);
		json_uint(j, "id", i);
		json_text(j, "topic", t->at[i].topic);
		json_text(j, "encoding", ROS_MESSAGE_ENCODING);
		json_text(j, "schemaName", type->name);
		json_text(j, "schemaEncoding", ROS_SCHEMA_ENCODING);
		json_text(j, "schema", schema);
		json_end(j);
	}
	json_end(j);
	return blob_end();
}
