/* control_request.h: requests to drivers that came through $RUN/control, until they are answered. */
#ifndef LAUNCH_ACHSTART_CONTROL_REQUEST_H
#define LAUNCH_ACHSTART_CONTROL_REQUEST_H

#include "launch/common/request.h"
#include "launch/achstart/supervise.h"

/* Words NAME VERB KEY VALUE, for the user of that name.  To be freed with control_request_close; NULL with a line. */
struct request *control_request_open(struct supervisor *s, const char *const *words, const char *user, int64_t now_ns,
				     struct error_sink *errors);
void control_request_close(struct request *r);
/* The answer as a line of JSON, {"ok":true,"result":0,"value":"...","error":"..."}, to be freed; NULL: not yet. */
char *control_request_step(struct request *r, int64_t now_ns);

#endif
