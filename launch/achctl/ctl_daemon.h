/* ctl_daemon.h: starts or stops one daemon through achstart, and waits until it is done. */
#ifndef LAUNCH_ACHCTL_CTL_DAEMON_H
#define LAUNCH_ACHCTL_CTL_DAEMON_H

#include "launch/achctl/ctl.h"
#include "launch/common/status.h"

/* Asks achstart for the status.  0, or -errno with why. */
int ctl_daemon_status(struct status *robot, struct ctl_lines *why);
/* verb: start, restart or clear.  Waits until it is ready, after restart in a new process.  The exit status. */
int ctl_daemon_start(const struct ctl_line *line, const char *verb, const char *name);
/* Lists the daemons when no name was given.  CTL_WRONG. */
int ctl_daemon_missing(const struct ctl_line *line);
int ctl_daemon_stop(const struct ctl_line *line, const char *name);

#endif
