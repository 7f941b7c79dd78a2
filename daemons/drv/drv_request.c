/* drv_request.c: every request is answered exactly once.  Checked: covered. */
#include "config/base/base.h"
#include "daemons/drv/drv_request.h"

#define NONE DRV_REQUEST_KEPT

/* Where what is known of this request is kept; NONE: nothing. */
static unsigned int find(const struct drv_request *r, uint32_t client_pid, uint64_t id)
{
	unsigned int at = 0;

	while (at < r->n && (r->kept[at].client_pid != client_pid || r->kept[at].id != id))
		at++;
	return at < r->n ? at : NONE;
}

/* A free entry, or the oldest that does not wait for its answer; NONE: all wait. */
static unsigned int place(struct drv_request *r)
{
	unsigned int at;

	for (unsigned int left = DRV_REQUEST_KEPT; left; left--) {
		at = r->next;
		r->next = (at + 1) % DRV_REQUEST_KEPT;
		if (!r->way[at].open) {
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

static enum drv_request_kind refuse(struct msg_reply *reply, int result, const char *error)
{
	fill(reply, result, error, NULL);
	return DRV_REQUEST_WRONG;
}

/* It was asked before: again, or to be cancelled. */
static enum drv_request_kind take_known(struct drv_request *r, const struct msg_request *request, unsigned int at,
					struct msg_reply *reply)
{
	*reply = r->kept[at];
	if (!r->way[at].open)
		return DRV_REQUEST_AGAIN;
	if (request->verb != MSG_VERB_CANCEL || r->way[at].cancelled)
		return DRV_REQUEST_OPEN;
	r->way[at].cancelled = true;
	return DRV_REQUEST_CANCEL;
}

enum drv_request_kind drv_request_take(struct drv_request *r, const struct msg_request *request,
				       struct msg_reply *reply)
{
	unsigned int at = find(r, request->client_pid, request->id);

	if (at != NONE)
		return take_known(r, request, at, reply);
	msg_init(reply, msg_type_by_number(msg_reply_number));
	reply->id = request->id;
	reply->client_pid = request->client_pid;
	if (request->verb == MSG_VERB_NONE || request->verb > MSG_VERB_CANCEL)
		return refuse(reply, -EINVAL, "no such verb: home, reset, clear, bias, activate, set, get or cancel");
	if (request->verb == MSG_VERB_CANCEL)
		return refuse(reply, -ENOENT, "no request of this client and id is under way");
	at = place(r);
	if (at == NONE)
		return refuse(reply, -EBUSY, "too many requests are under way: ask again when one has been answered");
	r->kept[at] = *reply;
	r->last_handle += r->last_handle < UINT32_MAX ? 1 : 2;
	r->way[at] = (struct drv_request_way){
		.open = true,
		.handle = r->last_handle,
		.until_ns = request->header.valid_until_ns,
	};
	return DRV_REQUEST_NEW;
}

uint32_t drv_request_handle(const struct drv_request *r, const struct msg_reply *reply)
{
	const unsigned int at = find(r, reply->client_pid, reply->id);

	return at != NONE && r->way[at].open ? r->way[at].handle : 0;
}

static unsigned int find_open(const struct drv_request *r, uint32_t handle)
{
	unsigned int at = 0;

	while (at < r->n && (!r->way[at].open || r->way[at].handle != handle))
		at++;
	return at < r->n ? at : NONE;
}

bool drv_request_find(const struct drv_request *r, uint32_t handle, struct msg_reply *reply)
{
	const unsigned int at = find_open(r, handle);

	if (at != NONE)
		*reply = r->kept[at];
	return at != NONE;
}

void drv_request_set_exclusive(struct drv_request *r, uint32_t handle)
{
	const unsigned int at = find_open(r, handle);

	if (at != NONE)
		r->way[at].exclusive = true;
}

bool drv_request_exclusive(const struct drv_request *r)
{
	for (unsigned int at = 0; at < r->n; at++)
		if (r->way[at].open && r->way[at].exclusive)
			return true;
	return false;
}

uint32_t drv_request_expired(struct drv_request *r, int64_t now_ns)
{
	for (struct drv_request_way *w = r->way; w < r->way + r->n; w++) {
		if (!w->open || w->cancelled || !w->until_ns || now_ns <= w->until_ns)
			continue;
		w->cancelled = true;
		return w->handle;
	}
	return 0;
}

bool drv_request_done(struct drv_request *r, struct msg_reply *reply, int result, const char *error, const char *value)
{
	unsigned int at = find(r, reply->client_pid, reply->id);

	fill(reply, result, error, value);
	if (at == NONE || !r->way[at].open)
		return false;
	r->kept[at] = *reply;
	r->way[at].open = false;
	return true;
}
