/* spare.h: a second process of a daemon, which waits until it is needed (daemons/drv/standby.h).
 *
 * It is started once the daemon has been ready for half a second, and ended when the daemon is not to run.  When the
 * daemon dies it takes over, if it is there; else a process is started as ever. */
#pragma once

#include "launch/achstart/child.h"

struct spare {
	struct child child; /* pid 0: there is none */
	int go;		    /* to it; -1: it is to end */
	int64_t next_ns;    /* none is started before, */
	int64_t pause_ns;   /* because one ended by itself; 0: none has since the daemon was started */
};

void spare_init(struct spare *spare);

/* Once in a look.  settled_ns: since when the daemon has been ready; CLOCK_NEVER: it is not.  wanted: it runs, or will
 * again by itself.  true: one was started, which took a millisecond. */
bool spare_keep(struct spare *spare, const struct launch_daemon *daemon, const char *path, int log_fd,
		int64_t settled_ns, bool wanted, int64_t now_ns);
/* If it has ended.  true: by itself, with that status, and another one is started at next_ns. */
bool spare_reap(struct spare *spare, int *status, int64_t now_ns);

/* When the daemon is started: it takes over, and *child is the daemon's process, as after child_start.  false: there is
 * none. */
bool spare_use(struct spare *spare, struct child *child, const struct launch_daemon *daemon,
	       struct folder_state *saved);
