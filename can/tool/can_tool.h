/* can_tool.h: what the CAN tools share. */
#pragma once

#include "can/bus/frame.h"
#include "config/base/base.h"

/* A line of candump -L on stdout.  0, or -1: it cannot be written. */
int can_tool_frame(int64_t t_ns, const char *bus, const struct frame *f);

/* --robot: the folder from now on is that robot's; NULL leaves it.  Observes the robot's virtual clock, with later also
 * one that begins afterwards.  0, or EXIT_WRONG after a line. */
int can_tool_robot(const char *robot, bool later);
