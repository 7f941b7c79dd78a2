/* rundir.h: what achstart needs in $RUN while it runs: the socket notify, and everything else, created again if it was
 * removed.
 *
 * The folder of an ordinary user is removed with the last session of that user ($XDG_RUNTIME_DIR), and people tidy up.
 * The daemons run on; but without notify a daemon that is started again would never be ready, and without control there
 * would be no commands.
 */
#pragma once

#include <sys/types.h>

#include "channels/port/notify.h"
#include "config/base/base.h"

#define NOTICE_STATUS_MAX 200

struct launch;
struct supervisor;

/* What a daemon sent to $RUN/notify: READY=1, WATCHDOG=1, STATUS=..., FDSTORE=1 (sd_notify). */
struct notice {
	pid_t pid; /* of the sender, as the kernel says */
	bool ready, watchdog;
	bool has_status;
	char status[NOTICE_STATUS_MAX];
	int fds[NOTIFY_FDS]; /* that it sent; to be closed by rundir_drop, or set to -1 */
	size_t fds_n;
};

/* Creates the socket, mode 0600, in place of an old one.  Its descriptor, or -errno with a line. */
int rundir_notify(struct error_sink *errors);
/* 1: *notice was received; 0: none is left now. */
int rundir_notice(int fd, struct notice *notice);
void rundir_drop(struct notice *notice); /* closes the descriptors in it */

/* Does a daemon of the robot run? */
bool rundir_has_daemon(const struct launch *launch);

/* Twice a second, however often it is called: creates again what is missing. */
void rundir_check(struct supervisor *s, int64_t now_ns);
/* If daemons cannot reach notify now, s->deaf_ns is now: their silence is not their fault. */
void rundir_listen(struct supervisor *s, int64_t now_ns);
