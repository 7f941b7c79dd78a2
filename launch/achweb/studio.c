/* studio.c: one studio: what it subscribes to, and its messages. */
#include <unistd.h>

#include "can/bus/frame.h"
#include "channels/clock/clock.h"
#include "launch/achweb/studio.h"

#define DIAGNOSTICS_NS 1000000000
#define MESSAGE_HEAD 13

const char *studio_protocol(const char *list)
{
	static const char *const known[] = { "foxglove.sdk.v1", "foxglove.websocket.v1" };

	for (size_t i = 0; i < sizeof(known) / sizeof(*known); i++)
		if (http_lists(list, known[i]))
			return known[i];
	return NULL;
}

static struct blob *time_frame(void)
{
	uint8_t bytes[9] = { 2 };

	frame_put_le(bytes + 1, (uint64_t)clock_real_ns(), 8);
	return blob_make(bytes, sizeof(bytes));
}

bool studio_begin(struct client *c, const struct robot_view *v)
{
	struct json *j;

	c->studio = calloc(1, sizeof(*c->studio));
	j = c->studio ? blob_begin() : NULL;
	if (!j)
		return false;
	c->studio->events_seen = v->events_n > ROBOT_VIEW_EVENTS ? v->events_n - ROBOT_VIEW_EVENTS : 0;
	json_text(j, "op", "serverInfo");
	json_text(j, "name", *v->status.robot ? v->status.robot : "Endplate");
	json_raw(j, "capabilities", "[\"time\",\"services\"]");
	json_raw(j, "supportedEncodings", "[\"json\"]");
	json_raw(j, "metadata", "{}");
	json_textf(j, "sessionId", "%d", (int)getpid());
	client_queue(c, WSOCK_OP_TEXT, blob_end());
	/* Before the first channel: else a studio begins its time with 1970. */
	client_queue(c, WSOCK_OP_BINARY, time_frame());
	client_queue(c, WSOCK_OP_TEXT, studio_services(c->rights));
	return true;
}

/* ---- what it says ---- */

static void subscribe(struct studio *s, const struct studio_topics *topics, const struct yaml_node *list)
{
	for (const struct yaml_node *one = yaml_first(list); one; one = one->next) {
		const struct yaml_node *id = yaml_find(one, "id"), *channel = yaml_find(one, "channelId");
		int64_t number, topic;
		size_t place = 0;

		if (!id || !channel || yaml_int(id, &number) || yaml_int(channel, &topic) || number < 0 ||
		    number > UINT32_MAX || topic < 0 || (size_t)topic >= topics->n)
			continue;
		while (place < STUDIO_SUBSCRIPTIONS && s->subscriptions[place].used)
			place++;
		if (place == STUDIO_SUBSCRIPTIONS)
			return;
		s->subscriptions[place] = (struct studio_subscription){ true, (uint32_t)number, (uint32_t)topic, 0 };
	}
}

static void unsubscribe(struct studio *s, const struct yaml_node *list)
{
	for (const struct yaml_node *one = yaml_first(list); one; one = one->next) {
		int64_t number;

		if (yaml_int(one, &number))
			continue;
		for (size_t i = 0; i < STUDIO_SUBSCRIPTIONS; i++)
			if (s->subscriptions[i].used && s->subscriptions[i].id == number)
				s->subscriptions[i].used = false;
	}
}

static void say(struct client *c, const char *message)
{
	struct json *j = blob_begin();

	json_text(j, "op", "status");
	json_int(j, "level", 1);
	json_text(j, "message", message);
	json_text(j, "id", "achweb");
	client_queue(c, WSOCK_OP_TEXT, blob_end());
}

static void take_text(struct client *c, const struct studio_topics *topics)
{
	struct yaml *doc;
	const char *op;

	if (yaml_open_text(&doc, "the message", c->ws.text, c->ws.len, &(struct error_sink){ 0 })) {
		client_end(c, 1007, "not JSON");
		return;
	}
	op = yaml_text(yaml_root(doc), "op", "");
	if (!strcmp(op, "subscribe"))
		subscribe(c->studio, topics, yaml_find(yaml_root(doc), "subscriptions"));
	else if (!strcmp(op, "unsubscribe"))
		unsubscribe(c->studio, yaml_find(yaml_root(doc), "subscriptionIds"));
	else
		say(c, "achweb serves channels, time and services only; nothing can be published");
	yaml_close(doc);
}

void studio_take(struct client *c, const struct studio_topics *topics, struct web_actions *acts, bool binary,
		 int64_t now_ns)
{
	const uint8_t *bytes = (const uint8_t *)c->ws.text;

	if (!binary)
		take_text(c, topics);
	else if (c->ws.len && bytes[0] == 2)
		studio_services_call(c, acts, bytes + 1, c->ws.len - 1, now_ns);
	else
		say(c, "achweb serves channels, time and services only; nothing can be published");
}

void studio_result(struct client *c, unsigned int which, bool ok, const char *text)
{
	if (which >= STUDIO_CALLS + STUDIO_STOPS || !c->studio->calls[which].used)
		return;
	c->studio->calls[which].used = false;
	client_queue(c, WSOCK_OP_BINARY,
		     studio_services_answer(c->studio->calls[which].service, c->studio->calls[which].call, ok, text));
}

/* ---- what it gets ---- */

/* false: it cannot be encoded. */
static bool send_message(struct client *c, uint32_t subscription, const struct msg_header *msg, struct blob *cdr)
{
	uint8_t head[MESSAGE_HEAD] = { 1 };

	if (!cdr)
		return false;
	frame_put_le(head + 1, subscription, 4);
	frame_put_le(head + 5, (uint64_t)(msg->t_publish_ns + clock_real_ns() - clock_now_ns()), 8);
	client_message_behind(c, WSOCK_OP_BINARY, head, sizeof(head), cdr);
	return true;
}

/* Sends a message that only this studio gets. */
static bool send_own(struct client *c, uint32_t subscription, const struct ros_map *map, const void *msg, size_t len,
		     const char *device, const struct robot_view *v)
{
	struct blob *cdr = studio_encode(map, msg, len, device, v);
	const bool sent = send_message(c, subscription, msg, cdr);

	blob_drop(cdr);
	return sent;
}

/* Events go one by one; those that were overwritten meanwhile are lost. */
static bool send_event(struct client *c, uint32_t subscription, const struct robot_view *v, const struct ros_map *map)
{
	struct studio *s = c->studio;

	if (v->events_n - s->events_seen > ROBOT_VIEW_EVENTS)
		s->events_seen = v->events_n - ROBOT_VIEW_EVENTS;
	while (s->events_seen != v->events_n) {
		const struct msg_event *e = &v->events[s->events_seen++ % ROBOT_VIEW_EVENTS].msg;

		if (send_own(c, subscription, map, e, sizeof(*e), e->source, v))
			return true;
	}
	return false;
}

/* One device after another, once a second. */
static bool send_diagnostics(struct client *c, uint32_t subscription, const struct robot_view *v, int64_t now_ns)
{
	struct studio *s = c->studio;

	if (s->device >= v->devices_n) {
		if (now_ns < s->diagnostics_ns)
			return false;
		s->diagnostics_ns = now_ns + DIAGNOSTICS_NS;
		s->device = 0;
	}
	while (s->device < v->devices_n) {
		const struct robot_view_device *d = v->devices[s->device++];
		const struct ros_map *map = ros_map_for(d->type->number, ROS_DIAGNOSTICS);

		if (map && send_own(c, subscription, map, d->msg.bytes, d->type->body->size,
				    *d->name ? d->name : d->channel, v))
			return true;
	}
	return false;
}

static bool send_newest(struct client *c, struct studio_subscription *one, struct studio_topic *topic,
			const struct robot_view *v)
{
	for (size_t n = 0; n < v->devices_n; n++) {
		const struct robot_view_device *d = v->devices[n];

		if (strcmp(d->channel, topic->channel) != 0 || d->number == one->number ||
		    d->type->number != topic->map->msg)
			continue;
		one->number = d->number;
		return send_message(c, one->id, &d->msg.header, studio_newest(topic, d, v));
	}
	return false;
}

void studio_round(struct client *c)
{
	struct blob *time;

	if (c->studio->left || !client_is_free(c) || !c->studio->advertised)
		return; /* it is still busy with the last one */
	c->studio->left = STUDIO_SUBSCRIPTIONS;
	time = time_frame();
	if (time)
		client_message(c, WSOCK_OP_BINARY, time);
	blob_drop(time);
}

bool studio_send(struct client *c, struct studio_topics *topics, const struct robot_view *v, int64_t now_ns)
{
	struct studio *s = c->studio;

	if (s->advertised < topics->n) {
		struct blob *blob = studio_advertise(topics, s->advertised, &s->advertised);

		if (blob)
			client_message(c, WSOCK_OP_TEXT, blob);
		blob_drop(blob);
		return blob;
	}
	while (s->left) {
		struct studio_subscription *one = &s->subscriptions[s->next];
		bool sent = false;

		if (one->used && one->topic == STUDIO_ROSOUT)
			sent = send_event(c, one->id, v, topics->at[one->topic].map);
		else if (one->used && one->topic == STUDIO_DIAGNOSTICS)
			sent = send_diagnostics(c, one->id, v, now_ns);
		else if (one->used)
			sent = send_newest(c, one, &topics->at[one->topic], v);
		/* The first two have several messages in a round. */
		if (!sent || one->topic >= STUDIO_OWN_TOPICS) {
			s->next = (s->next + 1) % STUDIO_SUBSCRIPTIONS;
			s->left--;
		}
		if (sent)
			return true;
	}
	return false;
}
