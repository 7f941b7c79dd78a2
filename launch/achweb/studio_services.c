/* studio_services.c: services of a studio. */
#include "can/bus/frame.h"
#include "launch/achweb/studio.h"

/* Studios want properties, also if there are none. */
#define NOTHING "{\"type\":\"object\",\"properties\":{}}"
#define NAMED "{\"type\":\"object\",\"properties\":{\"name\":{\"type\":\"string\"}},\"required\":[\"name\"]}"
#define SEEN                                                                                                   \
	"{\"type\":\"object\",\"properties\":{\"seen\":{\"type\":\"array\",\"description\":"                   \
	"\"what a call without it shows: the state of the e-stop that is to be lowered\",\"items\":{\"type\":" \
	"\"string\"}}}}"
#define ANSWER "{\"type\":\"object\",\"properties\":{\"ok\":{\"type\":\"boolean\"},\"text\":{\"type\":\"string\"}}}"

/* The place is the id. */
static const struct {
	const char *name, *type, *request;
	enum post_body_kind kind;
	enum msg_level level;
	unsigned int rights;
} services[] = {
	{ "/stop", "Stop", NOTHING, POST_BODY_STOP, MSG_LEVEL_ESTOP, TOKEN_LOOK },
	{ "/hold", "Stop", NOTHING, POST_BODY_STOP, MSG_LEVEL_HOLD, TOKEN_LOOK },
	{ "/arm", "Arm", SEEN, POST_BODY_ARM, MSG_LEVEL_RUN, TOKEN_ACT },
	{ "/home", "Device", NAMED, POST_BODY_HOME, MSG_LEVEL_RUN, TOKEN_ACT },
	{ "/clear", "Device", NAMED, POST_BODY_CLEAR, MSG_LEVEL_RUN, TOKEN_ACT },
	{ "/restart", "Device", NAMED, POST_BODY_RESTART, MSG_LEVEL_RUN, TOKEN_ACT },
};
#define SERVICES (sizeof(services) / sizeof(*services))

static void write_schema(struct json *j, const char *key, const char *type, const char *suffix, const char *schema)
{
	json_object(j, key);
	json_text(j, "encoding", "json");
	json_textf(j, "schemaName", "endplate/%s_%s", type, suffix);
	json_text(j, "schemaEncoding", "jsonschema");
	json_text(j, "schema", schema);
	json_end(j);
}

struct blob *studio_services(unsigned int rights)
{
	struct json *j = blob_begin();

	json_text(j, "op", "advertiseServices");
	json_array(j, "services");
	for (size_t i = 0; i < SERVICES; i++) {
		if (services[i].rights & ~rights)
			continue;
		json_object(j, NULL);
		json_uint(j, "id", i);
		json_text(j, "name", services[i].name);
		json_textf(j, "type", "endplate/%s", services[i].type);
		write_schema(j, "request", services[i].type, "Request", services[i].request);
		write_schema(j, "response", services[i].type, "Response", ANSWER);
		json_end(j);
	}
	json_end(j);
	return blob_end();
}

/* ---- answers ---- */

struct blob *studio_services_answer(uint32_t service, uint32_t call, bool ok, const char *text)
{
	uint8_t head[17] = { 3, [9] = 4, [13] = 'j', 's', 'o', 'n' };

	frame_put_le(head + 1, service, 4);
	frame_put_le(head + 5, call, 4);
	return blob_join(head, sizeof(head), blob_result(ok, "text", text));
}

static void fail(struct client *c, uint32_t service, uint32_t call, const char *why)
{
	struct json *j = blob_begin();

	json_text(j, "op", "serviceCallFailure");
	json_uint(j, "serviceId", service);
	json_uint(j, "callId", call);
	json_text(j, "message", why);
	client_queue(c, WSOCK_OP_TEXT, blob_end());
}

/* ---- calls ---- */

/* What a person has to name to arm: a raise that came later makes the robot refuse it. */
static const char *shown(const struct robot_view *v)
{
	const struct estop_seen seen = estop_seen(&v->estop);
	static char text[WEB_ACTION_TEXT_MAX];

	snprintf(text, sizeof(text),
		 "not armed yet: level %s, by %.40s: %.120s; to arm, call again with "
		 "{\"seen\":[\"%" PRIu64 "\",\"%" PRIu64 "\",\"%" PRIu64 "\",\"%" PRIu64 "\"]}",
		 v->status.level, v->status.who, v->status.why, seen.id[0], seen.seq[0], seen.id[1], seen.seq[1]);
	utf8_clean(text);
	return text;
}

/* Why not, or NULL. */
static const char *read_order(struct post_body *o, const struct web_actions *acts, uint32_t service, const char *json,
			      size_t len)
{
	const char *why = NULL;
	struct yaml *doc;

	*o = (struct post_body){ .kind = services[service].kind, .level = services[service].level };
	if (o->kind == POST_BODY_STOP)
		return NULL;
	if (yaml_open_text(&doc, "the request", json, len, &(struct error_sink){ 0 }))
		return "the request is not JSON";
	if (o->kind == POST_BODY_ARM && !yaml_find(yaml_root(doc), "seen"))
		why = shown(acts->view);
	else if (post_body_read_what(o, yaml_root(doc), &(struct error_sink){ 0 }))
		why = o->kind == POST_BODY_ARM ? "seen: not four whole numbers" : "name: not the name of a daemon";
	yaml_close(doc);
	return why;
}

/* A place for the answer to the call; the last ones are for stops. */
static size_t free_call(const struct studio *s, bool stop)
{
	const size_t n = STUDIO_CALLS + (stop ? STUDIO_STOPS : 0);
	size_t slot = 0;

	while (slot < n && s->calls[slot].used)
		slot++;
	return slot < n ? slot : STUDIO_CALLS + STUDIO_STOPS;
}

void studio_services_call(struct client *c, struct web_actions *acts, const uint8_t *bytes, size_t len, int64_t now_ns)
{
	const uint32_t service = len < 12 ? 0 : frame_le32(bytes), call = len < 12 ? 0 : frame_le32(bytes + 4);
	const uint32_t encoding = len < 12 ? 0 : frame_le32(bytes + 8);
	struct post_body order;
	const char *why;
	bool stop;
	size_t slot;

	if (len < 12 || encoding > len - 12) {
		client_end(c, 1002, "");
		return;
	}
	stop = service < SERVICES && services[service].kind == POST_BODY_STOP;
	slot = free_call(c->studio, stop);
	if (service >= SERVICES || services[service].rights & ~c->rights)
		why = "there is no such service";
	else if (slot == STUDIO_CALLS + STUDIO_STOPS && !stop)
		why = "too many calls are under way";
	else
		why = read_order(&order, acts, service, (const char *)bytes + 12 + encoding, len - 12 - encoding);
	if (!why && !stop && !web_action_may_begin(acts, now_ns))
		why = WEB_ACTION_TOO_MANY;
	if (why) {
		fail(c, service, call, why);
		return;
	}
	if (slot == STUDIO_CALLS + STUDIO_STOPS) {
		web_action_begin(acts, &order, 0, (struct web_action_person){ c->uid, c->who }, now_ns);
		fail(c, service, call, "the stop has begun; too many calls wait for its confirmation");
		return;
	}
	c->studio->calls[slot] = (struct studio_call){ true, service, call };
	web_action_begin(acts, &order, c->serial | (uint64_t)(slot + 1) << STUDIO_CALL_SHIFT,
			 (struct web_action_person){ c->uid, c->who }, now_ns);
}
