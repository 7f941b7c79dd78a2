/* control_request.h: requests to drivers that came through $RUN/control, until they are answered. */
#ifndef LAUNCH_ACHSTART_CONTROL_REQUEST_H
#define LAUNCH_ACHSTART_CONTROL_REQUEST_H

#include "config/json.h"
#include "launch/common/request.h"
#include "launch/achstart/supervise.h"

/* Words NAME VERB KEY VALUE, for the user of that name.  To be freed with control_request_close; NULL with a line. */
struct request *control_request_open(struct supervisor *s, const char *const *words, const char *user, int64_t now_ns,
				     struct error_sink *errors);
void control_request_close(struct request *r);
/* The members "result", "value" and "error" of the driver's reply. */
void control_request_reply(struct json *j, struct msg_reply *reply);

#endif
