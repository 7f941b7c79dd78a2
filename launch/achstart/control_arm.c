/* control_arm.c: the level run, for an operator or for arm: auto. */
#include "channels/clock.h"
#include "launch/achstart/control_arm.h"
#include "launch/achstart/fit.h"

int control_arm(struct supervisor *s, const char *who, const struct arm_seen *seen, struct error_sink *errors)
{
	int status = arm_read(&s->arm, errors);

	if (!status)
		status = arm_raised_since(&s->arm, seen, errors);
	if (!status)
		status = fit_to_arm(s, who, clock_now_ns(), errors);
	/* A raise from here on is behind what the operator had seen, too, and the drivers take no lowering then. */
	if (!status)
		status = arm_lower(&s->arm, seen, MSG_LEVEL_RUN, *who ? who : "operator", "armed", errors);
	if (!status)
		status = arm_read(&s->arm, errors);
	return status ? status : arm_raised_since(&s->arm, seen, errors);
}
