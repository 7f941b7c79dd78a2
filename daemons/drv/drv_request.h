/* drv_request.h: every request is answered exactly once, and a repeated one is answered again, not done again.
 *
 * Pure.  A client knows a request by its own pid and an id, the driver by a handle, which is never used again.  Answers
 * are kept for the last DRV_REQUEST_KEPT of them.  Several may be under way; one of those may be of a verb that is done
 * alone.
 */
#pragma once

#include "channels/msg/msg.h"

#define DRV_REQUEST_KEPT 64 /* as many as their channel holds, so that none of those is done twice */

struct drv_request {
	struct msg_reply kept[DRV_REQUEST_KEPT]; /* a ring; client_pid and id say of what */
	struct drv_request_way {
		bool open; /* under way: no answer yet */
		bool exclusive, cancelled;
		uint32_t handle;
		int64_t until_ns; /* its deadline; 0: none */
	} way[DRV_REQUEST_KEPT];
	unsigned int n, next;
	uint32_t last_handle;
};

enum drv_request_kind {
	DRV_REQUEST_NEW,    /* do it; *reply is begun with its id */
	DRV_REQUEST_AGAIN,  /* done before: *reply is the answer, to be put again */
	DRV_REQUEST_OPEN,   /* the same is under way: nothing to say yet */
	DRV_REQUEST_CANCEL, /* verb cancel with the id of one under way, for the first time */
	DRV_REQUEST_WRONG,  /* no such verb, nothing to cancel, or all that can be kept are under way: *reply says so */
};
enum drv_request_kind drv_request_take(struct drv_request *r, const struct msg_request *request,
				       struct msg_reply *reply);

/* The handle of the request under way with the client and id of *reply; 0: there is none. */
uint32_t drv_request_handle(const struct drv_request *r, const struct msg_reply *reply);
/* The other way round; false: it is not under way. */
bool drv_request_find(const struct drv_request *r, uint32_t handle, struct msg_reply *reply);

/* It is put off, and is of a verb that is done alone; is there one? */
void drv_request_set_exclusive(struct drv_request *r, uint32_t handle);
bool drv_request_exclusive(const struct drv_request *r);

/* The next one whose deadline has passed, each once and none that was cancelled before; 0: none is left. */
uint32_t drv_request_expired(struct drv_request *r, int64_t now_ns);

/* Keeps the answer: result 0 or -errno, error the reason in words ("" or NULL: errno's), value what was asked for.
 * false: it was not under way, and nothing is to be put. */
bool drv_request_done(struct drv_request *r, struct msg_reply *reply, int result, const char *error, const char *value);
