/* run.h: the folder in which the parts of one robot meet: sockets, locks, logs, state.
 *
 * $ENDPLATE_RUN if it is set; else /run/endplate/ROBOT for root and $XDG_RUNTIME_DIR/endplate/ROBOT for other users.
 * ROBOT is "robot" unless --robot gives another name.  Two robots, or two test runs, have two folders.
 */
#pragma once

#include <glob.h>
#include <stdbool.h>
#include <sys/types.h>

#include "config/base/error.h"

#define RUN_PATH_MAX 512
#define RUN_SYSTEM "/run/endplate" /* folders that root has made, or given to their users */

/* For --robot: from now on, and in every program started from here, the folder is that robot's.  0, or -EINVAL if it
 * is not a valid name.  $ENDPLATE_RUN, when it is set, wins. */
int run_robot(const char *robot);

/* "RUN/rest" into path.  0, or -ENAMETOOLONG, or -ENOENT when there is no $XDG_RUNTIME_DIR, with a line in errors. */
int run_path(char path[RUN_PATH_MAX], const char *rest, struct error_sink *errors);

/* The folders of all robots of this machine, and with users those of $XDG_RUNTIME_DIR, that have an entry of that name;
 * globfree. */
void run_list(glob_t *folders, const char *what, bool users);

/* RUN, or the folder of that name in it, made if need be, for its owner alone (log: for the group, too).  It belongs to
 * us, and no other user may write it (safe_path.h).  A descriptor of it, or -errno with a line in errors. */
int run_folder(const char *name, struct error_sink *errors);

/* RUN of a robot to talk to, which may be another user's (safe_path_open).  A descriptor, or -errno; no line if -ENOENT
 * or -EACCES. */
int run_open(struct error_sink *errors);

/* The robot's user: the owner of RUN, or this process's if there is none. */
uid_t run_owner(void);
