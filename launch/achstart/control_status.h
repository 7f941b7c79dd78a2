/* control_status.h: how the whole robot is, as one line of JSON. */
#ifndef LAUNCH_ACHSTART_CONTROL_STATUS_H
#define LAUNCH_ACHSTART_CONTROL_STATUS_H

#include "launch/achstart/supervise.h"

/* To be freed; NULL: no memory. */
char *control_status(struct supervisor *s, int64_t now_ns);

#endif
