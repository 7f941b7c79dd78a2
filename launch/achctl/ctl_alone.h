/* ctl_alone.h: achctl arm --alone: arms without achstart, for drivers that were started by hand. */
#ifndef LAUNCH_ACHCTL_CTL_ALONE_H
#define LAUNCH_ACHCTL_CTL_ALONE_H

#include "launch/achctl/ctl.h"

int ctl_alone(const struct ctl_line *line);
/* Prints the answer of both ways of arming; returns 0. */
int ctl_armed(const struct ctl_line *line, const char *who, uint64_t epoch, uint64_t taken);

#endif
