/* drv_request.h: every request is answered exactly once, and a repeated one is answered again, not done again.
 *
 * Pure.  A request is known by its client and its id.  Answers are kept for the last DRV_REQUEST_KEPT of them.
 */
#ifndef DRV_REQUEST_H
#define DRV_REQUEST_H

#include <stdbool.h>
#include <stdint.h>

#include "channels/msg/msg.h"

#define DRV_REQUEST_KEPT 64 /* as many as their channel holds, so that none of those is done twice */

struct drv_request {
	struct msg_reply kept[DRV_REQUEST_KEPT]; /* a ring; client_pid and id say of what */
	bool open[DRV_REQUEST_KEPT];		 /* under way: no answer yet */
	unsigned int n, next;
};

enum drv_request_kind {
	DRV_REQUEST_NEW,   /* do it; *reply is begun with its id */
	DRV_REQUEST_AGAIN, /* done before: *reply is the answer, to be put again */
	DRV_REQUEST_OPEN,  /* the same is under way: nothing to say yet */
	DRV_REQUEST_WRONG, /* no such verb, or all that can be kept are under way: *reply says so, to be put */
};
enum drv_request_kind drv_request_take(struct drv_request *r, const struct msg_request *request,
				       struct msg_reply *reply);

/* Keeps the answer: result 0 or -errno, error the reason in words ("" or NULL: errno's), value what was asked for. */
void drv_request_done(struct drv_request *r, struct msg_reply *reply, int result, const char *error, const char *value);

/* Does it move something, so that it is refused unless armed? */
bool drv_request_moves(enum msg_verb verb);

#endif
