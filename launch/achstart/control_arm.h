/* control_arm.h: the level run, for an operator or for arm: auto. */
#ifndef LAUNCH_ACHSTART_CONTROL_ARM_H
#define LAUNCH_ACHSTART_CONTROL_ARM_H

#include "launch/achstart/supervise.h"

/* Lowers the level to run if everything is fit for it, and nothing was raised since whoever asks ("": some operator)
 * had seen that.  0, or -errno with the reason in errors. */
int control_arm(struct supervisor *s, const char *who, const struct arm_seen *seen, struct error_sink *errors);

#endif
