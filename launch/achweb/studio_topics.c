/* studio_topics.c: channels as topics, and their schemas. */
#include <stdio.h>
#include <string.h>

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
	snprintf(one->topic, sizeof(one->topic), "%s", topic);
	snprintf(one->channel, sizeof(one->channel), "%s", channel);
	one->map = map;
}

/* The names are those of a recording as MCAP: /waist-state, /waist-state/joint_states. */
void studio_find_topics(struct studio_topics *t, const struct view *v)
{
	add(t, "/rosout", "", ros_map_for(msg_event_number, ROS_STANDARD));
	add(t, "/diagnostics", "", ros_map_for(msg_clock_number, ROS_DIAGNOSTICS));
	for (size_t i = 0; i < v->devices_n; i++) {
		const struct view_device *d = v->devices[i];

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

struct blob *studio_advertise(const struct studio_topics *t, size_t from, size_t *to)
{
	static char schema[ROS_SCHEMA_MAX]; /* of one thread */
	struct blob_text text;
	struct json *j = &text.j;

	*to = from + AT_ONCE < t->n ? from + AT_ONCE : t->n;
	if (!blob_begin(&text))
		return NULL;
	json_object(j, NULL);
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
	json_end(j);
	return blob_end(&text);
}
