/* control_arm.h: an operator asks for the level run. */
#ifndef LAUNCH_ACHSTART_CONTROL_ARM_H
#define LAUNCH_ACHSTART_CONTROL_ARM_H

#include "launch/achstart/supervise.h"

/* Lowers the level to run if everything is fit for it, and nothing was raised since the operator, who may be "", had
 * seen that.  0, or -errno with the reason in errors. */
int control_arm(struct supervisor *s, const char *who, const struct arm_seen *seen, struct error_sink *errors);

#endif
