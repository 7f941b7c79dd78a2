/* prearm.h: the checks of achdoctor(1) that take no time and write nothing, before a robot on a real bus is armed.
 *
 * Limits are those of achstart, and an interface that this process does not see may be in the network namespace of the
 * robot: drivers use it, and achstart checks its state.
 */
#pragma once

#include "launch/achdoctor/doctor.h"
#include "launch/view/status.h"

/* Is one of its buses real?  On others nothing is examined. */
bool prearm_is_needed(const struct status *robot);
/* Adds what it finds; the robot is not to be armed if something fails. */
void prearm_examine(const struct status *robot, struct doctor_report *report);
