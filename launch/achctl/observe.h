/* observe.h: the status of a robot without achstart: what its channels say, and what achstart left in $RUN/state. */
#ifndef LAUNCH_ACHCTL_OBSERVE_H
#define LAUNCH_ACHCTL_OBSERVE_H

#include "daemons/estop/estop.h"
#include "launch/achctl/chans.h"
#include "launch/common/status.h"

/* How many daemons it found. */
size_t observe_robot(struct status *status, const struct chans *chans);
/* Level, epoch, who and why, as judged_look found them. */
void observe_level(struct status *status, const struct estop *estop, const struct chans *chans);
/* Age, rate and phase of each daemon, of which the channels are newer than achstart's answer. */
void observe_ages(struct status *status, const struct chans *chans);

#endif
