/* fit.h: whether the robot may be armed: every actuated driver is fresh, and disarmed or holding; on a real bus it
 * also has its real-time priority, its memory locked and its link well, and the operator has a name. */
#ifndef LAUNCH_ACHSTART_FIT_H
#define LAUNCH_ACHSTART_FIT_H

#include "launch/achstart/supervise.h"

bool fit_is_actuated(const struct watch *w); /* the driver of a device that moves something, and wanted */
/* 0, or -EPERM with everything that is in the way in errors. */
int fit_to_arm(struct supervisor *s, const char *who, int64_t now_ns, struct error_sink *errors);

#endif
