/* child.h: one process of the robot: started by us, or adopted.
 *
 * stdin is /dev/null, stdout and stderr are the FIFO of its log, opened for reading and writing so that it never sees
 * SIGPIPE or a closed end, and non-blocking so that it never waits for us.  It is in a session of its own: it gets no
 * signal of the terminal, and lives on when we die.  Signals are at their defaults and not blocked.  The daemon is the
 * process group of that session: signals go to all of it, and it is killed when its leader has ended; see supervise.c.
 */
#pragma once

#include <sys/types.h>

#include "channels/client/folder.h"
#include "launch/achstart/kept_sockets.h"
#include "launch/file/launch_file.h"

struct child {
	pid_t pid; /* 0: none */
	int pidfd; /* readable when it has ended; -1 */
	bool ours; /* else adopted: its exit status will not be known */
};

/* Starts argv of the daemon (argv[0] resolved: path), with its environment, $NOTIFY_SOCKET, $ENDPLATE_RUN, priority
 * and core.  A priority or core that the system refuses is a line in warnings, and it is started without.  0, or
 * -errno with a line in errors, also when exec fails.  It does not wait for anything that the new process does after
 * exec.
 *
 * kept, if not NULL, gets pid and start time, and is written to $RUN/state/NAME by the new process before exec: even if
 * we are killed, the next achstart, which cannot have our lock before that, finds the process.
 *
 * It gets the sockets as descriptors 3 and 4, with $LISTEN_FDS and $LISTEN_PID (sd_listen_fds(3)). */
int child_start(struct child *child, const struct launch_daemon *daemon, const char *path, int log_fd,
		const struct kept_sockets *sockets, struct folder_state *saved, struct error_sink *errors,
		struct error_sink *warnings);

/* Starts a spare of a driver (daemons/drv/standby.h): *go is for child_use_spare, and to be closed.
 * 0 or -errno. */
int child_start_spare(struct child *child, const struct launch_daemon *daemon, const char *path, int log_fd, int *go);
/* Makes it the process of the daemon, which kept names from then on, as child_start does.  0; or -errno: it has ended,
 * or its state cannot be kept. */
int child_use_spare(const struct child *child, const struct launch_daemon *daemon, int go, struct folder_state *saved);

/* achstart takes this real-time priority.  Daemons are started with it, so that achstart does not wait for the turn of
 * an ordinary process; they get their own just before exec, or without one just after.  0 or -errno. */
int child_take_priority(int priority);

/* Takes over a process that is not our child, if that state still is its own.  0 or -ESRCH. */
int child_adopt(struct child *child, const struct folder_state *saved);

int child_signal(const struct child *child, int signal); /* to its group, by pidfd: never to another process */

/* Has it ended?  true, with *status as waitpid gives it, or *status -1 for an adopted one.  The rest of its
 * group is killed, and the child is closed. */
bool child_ended(struct child *child, int *status);

/* "exit status 111", "signal 11 (Segmentation fault), core dumped", "status unknown" */
#define CHILD_END_MAX 80
void child_end_text(char text[CHILD_END_MAX], int status);
