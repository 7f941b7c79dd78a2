/* request.c: one request to a driver and its reply. */
#include <unistd.h>

#include "channels/clock/clock.h"
#include "channels/port/request.h"

#define LOOK_NS 500000000 /* how often to look whether the channels were replaced */

bool request_is_possible(const char *name)
{
	char channel[PORT_NAME_MAX], full[PORT_NAME_MAX];
	enum ach_status status;
	ach_channel_t chan;

	snprintf(channel, sizeof(channel), "%s-req", name);
	status = port_name(full, channel) ? ACH_ENOENT : ach_open(&chan, full, NULL);
	if (status == ACH_OK)
		ach_close(&chan);
	return status != ACH_ENOENT;
}

int request_open(struct request *r, const char *name, enum msg_verb verb, const char *key, const char *value,
		 struct error_sink *errors)
{
	static uint64_t last_id;
	int status;

	memset(r, 0, sizeof(*r));
	msg_init(&r->msg, msg_type_by_number(msg_request_number));
	r->msg.client_pid = (uint32_t)getpid();
	r->msg.id = (uint64_t)clock_real_ns() ^ (uint64_t)getpid() << 44;
	r->msg.id += r->msg.id == last_id;
	last_id = r->msg.id;
	r->msg.verb = verb;
	snprintf(r->msg.key, sizeof(r->msg.key), "%s", key);
	snprintf(r->msg.value, sizeof(r->msg.value), "%s", value);
	status = port_open_of(&r->rep, name, "rep", msg_reply_number, 0640, errors);
	if (!status)
		status = port_open_of(&r->req, name, "req", msg_request_number, 0600, errors);
	if (status)
		request_close(r);
	return status;
}

void request_close(struct request *r)
{
	port_close(&r->req);
	port_close(&r->rep);
}

static bool is_ours(const struct request *r, const struct msg_reply *reply, size_t len)
{
	return msg_check(reply, len, r->rep.type, NULL) == MSG_FINE && reply->id == r->msg.id &&
	       reply->client_pid == r->msg.client_pid;
}

bool request_step(struct request *r, int64_t now_ns, struct msg_reply *reply)
{
	enum port_got got;
	size_t len;

	if (port_reopen(&r->rep, now_ns, LOOK_NS))
		r->put = false;
	if (port_reopen(&r->req, now_ns, LOOK_NS))
		r->put = false;
	do {
		got = port_next(&r->rep, reply, sizeof(*reply), &len);
		if (got == PORT_MISSED)
			r->put = false;
		if ((got == PORT_ONE || got == PORT_MISSED) && is_ours(r, reply, len)) {
			reply->value[MSG_TEXT_SIZE - 1] = reply->error[MSG_TEXT_SIZE - 1] = 0;
			return true;
		}
	} while (got == PORT_ONE || got == PORT_MISSED);
	if (!r->put) {
		r->msg.header.t_sample_ns = r->msg.header.t_publish_ns = clock_now_ns();
		r->put = port_put(&r->req, &r->msg);
	}
	return false;
}

void request_cancel(struct request *r)
{
	r->msg.verb = MSG_VERB_CANCEL;
	r->put = false;
}

int request_fd(struct request *r)
{
	int fd = -1;

	if (r->rep.open)
		ach_channel_fd(&r->rep.chan, &fd);
	return fd;
}

const char *const request_verbs[] = { "none", "home", "reset", "clear", "bias", "activate", "set", "get", NULL };

bool request_verb(const char *word, enum msg_verb *verb)
{
	for (size_t i = MSG_VERB_HOME; request_verbs[i]; i++)
		if (!strcmp(word, request_verbs[i])) {
			*verb = (enum msg_verb)i;
			return true;
		}
	return false;
}

bool request_moves(enum msg_verb verb)
{
	return verb == MSG_VERB_HOME || verb == MSG_VERB_ACTIVATE;
}
