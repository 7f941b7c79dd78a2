/* control_status.h: how the whole robot is, as achctl status gets it. */
#ifndef LAUNCH_ACHSTART_CONTROL_STATUS_H
#define LAUNCH_ACHSTART_CONTROL_STATUS_H

#include "config/json.h"
#include "launch/achstart/supervise.h"

/* The members of status.h. */
void control_status(struct supervisor *s, struct json *j, int64_t now_ns);

#endif
