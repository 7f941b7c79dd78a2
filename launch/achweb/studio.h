/* studio.h: a live server for Foxglove and Lichtblick, on the same port as the page.
 *
 * Subprotocols foxglove.sdk.v1 and foxglove.websocket.v1, which are the same for all that is served here: channels in
 * CDR with ros2msg schemas (channels/ros/ros_map.h), the time, and services in JSON: stop, and for those who may act
 * arm, home, clear and restart.  Nothing can be published.
 *
 * Each subscription has one message at most waiting for it, the newest; at most 30 in a second.  A message of a channel
 * is encoded once for all studios.
 */
#pragma once

#include "channels/ros/ros_map.h"
#include "launch/achweb/client.h"
#include "launch/achweb/web_action.h"

#define STUDIO_EVERY_NS 33333333
#define STUDIO_TOPICS 256
#define STUDIO_SUBSCRIPTIONS 128
#define STUDIO_CALLS 4
#define STUDIO_STOPS 2 /* beside them: a stop never waits for other calls */
#define STUDIO_TOPIC_MAX 128

/* Number i is the id of the channel, for ever. */
struct studio_topic {
	char topic[STUDIO_TOPIC_MAX], channel[ACH_CHAN_NAME_MAX];
	const struct ros_map *map;
	struct blob *cdr; /* of the newest message that a studio asked for; NULL: it cannot be encoded */
	uint64_t number;  /* of that message */
};

/* Shared by all studios; the first two topics are /rosout and /diagnostics, of all devices. */
struct studio_topics {
	struct studio_topic at[STUDIO_TOPICS];
	size_t n;
};
enum { STUDIO_ROSOUT, STUDIO_DIAGNOSTICS, STUDIO_OWN_TOPICS };

struct studio {
	struct studio_subscription {
		bool used;
		uint32_t id, topic;
		uint64_t number; /* of the message that was sent last */
	} subscriptions[STUDIO_SUBSCRIPTIONS];
	size_t next;	   /* subscription whose turn it is */
	size_t left;	   /* of this round */
	size_t advertised; /* topics */
	uint64_t events_seen;
	size_t device; /* whose diagnostics are next */
	int64_t diagnostics_ns;
	struct studio_call {
		bool used;
		uint32_t service, call;
	} calls[STUDIO_CALLS + STUDIO_STOPS];
};

/* The subprotocol of the client's list; NULL: none is known. */
const char *studio_protocol(const char *list);

/* Adds a topic for each mapping of each channel that there is. */
void studio_find_topics(struct studio_topics *topics, const struct robot_view *view);
void studio_close_topics(struct studio_topics *topics);
/* The message "advertise" for topics from number from on, up to *to. */
struct blob *studio_advertise(const struct studio_topics *topics, size_t from, size_t *to);

/* A message as CDR; NULL: it cannot be encoded. */
struct blob *studio_encode(const struct ros_map *map, const void *msg, size_t len, const char *device,
			   const struct robot_view *view);
/* The message of a device as CDR, encoded once for all studios; it stays the topic's. */
struct blob *studio_newest(struct studio_topic *topic, const struct robot_view_device *device,
			   const struct robot_view *view);

/* false: no memory. */
bool studio_begin(struct client *client, const struct robot_view *view);
/* A new round: each subscription may get its newest message. */
void studio_round(struct client *client);
/* Sends the next message to a client that is free; false: there is none. */
bool studio_send(struct client *client, struct studio_topics *topics, const struct robot_view *view, int64_t now_ns);
/* The message in client->ws. */
void studio_take(struct client *client, const struct studio_topics *topics, struct web_actions *acts, bool binary,
		 int64_t now_ns);
/* The result of a service. */
void studio_result(struct client *client, unsigned int which, bool ok, const char *text);

/* Results of actions are for a connection, or for a call of one. */
#define STUDIO_CALL_SHIFT 56

/* ---- studio_services.c: the same actions as on the page, in JSON ---- */

/* The message "advertiseServices" for a session with these rights. */
struct blob *studio_services(unsigned int rights);

/* A call: what the client has sent behind the opcode.  It is answered with studio_result, or a failure. */
void studio_services_call(struct client *client, struct web_actions *acts, const uint8_t *bytes, size_t len,
			  int64_t now_ns);

/* An answer to the call. */
struct blob *studio_services_answer(uint32_t service, uint32_t call, bool ok, const char *text);
