/* drv_request.c: every request is answered exactly once. */
#include <errno.h>
#include <string.h>

#include "daemons/drv_request.h"

#define NONE DRV_REQUEST_KEPT

static const char no_verb[] = "no such verb: home, reset, clear, bias, activate, set or get";
static const char too_many[] = "too many requests are under way: ask again when one has been answered";

/* Where what is known of this request is kept; NONE: nothing. */
static unsigned int find(const struct drv_request *r, uint32_t client_pid, uint64_t id)
{
	unsigned int at = 0;

	while (at < r->n && (r->kept[at].client_pid != client_pid || r->kept[at].id != id))
		at++;
	return at < r->n ? at : NONE;
}

/* A new place, or the oldest one that does not wait for its answer; NONE: all do. */
static unsigned int place(struct drv_request *r)
{
	unsigned int at;

	for (unsigned int left = DRV_REQUEST_KEPT; left; left--) {
		at = r->next;
		r->next = (at + 1) % DRV_REQUEST_KEPT;
		if (!r->open[at]) {
			if (at == r->n)
				r->n++;
			return at;
		}
	}
	return NONE;
}

static void fill_text(char text[MSG_TEXT_SIZE], const char *from)
{
	size_t len = strnlen(from, MSG_TEXT_SIZE - 1);

	memset(text, 0, MSG_TEXT_SIZE);
	memcpy(text, from, len);
}

static void fill(struct msg_reply *reply, int result, const char *error, const char *value)
{
	if (result && (!error || !*error))
		error = strerror(-result);
	reply->result = result;
	fill_text(reply->error, error ? error : "");
	fill_text(reply->value, value ? value : "");
}

enum drv_request_kind drv_request_take(struct drv_request *r, const struct msg_request *request,
				       struct msg_reply *reply)
{
	unsigned int at = find(r, request->client_pid, request->id);

	if (at != NONE) {
		*reply = r->kept[at];
		return r->open[at] ? DRV_REQUEST_OPEN : DRV_REQUEST_AGAIN;
	}
	msg_init(reply, msg_type_by_number(msg_reply_number));
	reply->id = request->id;
	reply->client_pid = request->client_pid;
	if (request->verb == MSG_VERB_NONE || request->verb > MSG_VERB_GET) {
		fill(reply, -EINVAL, no_verb, NULL);
		return DRV_REQUEST_WRONG;
	}
	at = place(r);
	if (at == NONE) {
		fill(reply, -EBUSY, too_many, NULL);
		return DRV_REQUEST_WRONG;
	}
	r->kept[at] = *reply;
	r->open[at] = true;
	return DRV_REQUEST_NEW;
}

void drv_request_done(struct drv_request *r, struct msg_reply *reply, int result, const char *error, const char *value)
{
	unsigned int at = find(r, reply->client_pid, reply->id);

	fill(reply, result, error, value);
	if (at == NONE)
		return;
	r->kept[at] = *reply;
	r->open[at] = false;
}

bool drv_request_moves(enum msg_verb verb)
{
	return verb == MSG_VERB_HOME || verb == MSG_VERB_ACTIVATE;
}
