/* notice.h: $RUN/notify, where daemons say READY=1, WATCHDOG=1, STATUS=..., STOPPING=1 (sd_notify).
 *
 * Who says it is known by the credentials that the kernel attaches, not by what is said.
 */
#ifndef LAUNCH_ACHSTART_NOTICE_H
#define LAUNCH_ACHSTART_NOTICE_H

#include <stdbool.h>
#include <sys/types.h>

#include "config/error.h"

#define NOTICE_STATUS_MAX 200

struct notice {
	pid_t pid;
	bool ready, watchdog, stopping;
	bool has_status;
	char status[NOTICE_STATUS_MAX];
};

/* The socket, made anew under its name, mode 0600; or -errno with a line. */
int notice_open(struct error_sink *errors);
/* 1: *notice is one; 0: no more now. */
int notice_read(int fd, struct notice *notice);

#endif
