/* ctl_alone.h: achctl arm --alone: does what achstart would, for drivers that were started by hand. */
#ifndef LAUNCH_ACHCTL_CTL_ALONE_H
#define LAUNCH_ACHCTL_CTL_ALONE_H

#include "launch/achctl/ctl.h"

int ctl_alone(const struct ctl_line *line);
/* What both ways of arming say at their end. */
int ctl_armed(const struct ctl_line *line, const char *who, uint64_t epoch, uint64_t taken);

#endif
