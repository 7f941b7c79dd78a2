/* ctl_daemon.h: asks achstart for something about one daemon, and waits until it is so. */
#ifndef LAUNCH_ACHCTL_CTL_DAEMON_H
#define LAUNCH_ACHCTL_CTL_DAEMON_H

#include "launch/achctl/ctl.h"

/* verb: start, restart or clear; until it is ready, in another process if it was to restart.  The exit status. */
int ctl_daemon_start(const struct ctl_line *line, const char *verb, const char *name);
int ctl_daemon_stop(const struct ctl_line *line, const char *name);

#endif
