/* folder.h: what achstart keeps in $RUN, so that another achstart can go on where this one ended.
 *
 *	lock		held with flock as long as it lives: one achstart per robot
 *	robot		the robot's name and what the names of its channels begin with, for achctl
 *	state/NAME	of each daemon's process, the last one after its end: written to the side, then renamed
 *	log/NAME	the FIFO that is its stdout and stderr;  log/NAME.log the text
 *	notify, control	sockets
 */
#ifndef LAUNCH_ACHSTART_FOLDER_H
#define LAUNCH_ACHSTART_FOLDER_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

#include "config/error.h"
#include "config/text.h"
#include "daemons/port.h"

/* Makes the folder, and state in it.  A descriptor to be kept for life; or -EBUSY with a line that names who has it,
 * or -errno with a line.  patient: a lock that will be free in a moment, because its holder was killed, is waited for;
 * else nothing is. */
int folder_lock(bool patient, struct error_sink *errors);
/* Is that descriptor's file still the lock?  Not after somebody removed it, or the folder. */
bool folder_is_locked(int lock);

/* At the end of a robot that was stopped: sockets, states and locks are gone; logs stay.  The lock must be held. */
void folder_sweep(void);

struct folder_robot {
	char name[TEXT_NAME_MAX + 1];
	char prefix[PORT_NAME_MAX];
};

/* With $ENDPLATE_PREFIX, before anything is started; what is there already and says the same is left.  0, or -errno
 * with a line: without it a stop could miss the robot. */
int folder_robot_write(const char *name, struct error_sink *errors);
/* Of that folder; NULL: $RUN.  0; -ENOENT; -EBADMSG and others: to be treated as not there. */
int folder_robot_read(const char *folder, struct folder_robot *robot);

/* How it was left, for another achstart.  Wanted: somebody asked for a new process, which has not begun yet. */
enum folder_left { FOLDER_RUNS, FOLDER_WANTED, FOLDER_STOPPED, FOLDER_DONE, FOLDER_FAILED, FOLDER_LEFTS };

const char *folder_left_name(enum folder_left left); /* of one without a process: "gone", "stopped" ... */

struct folder_state {
	pid_t pid;	      /* 0: it has not had a process */
	uint64_t started;     /* field 22 of /proc/PID/stat: with it a number that was given anew is told apart */
	uint32_t incarnation; /* as achstart counts: processes of this name since the robot came up */
	uint64_t hash;	      /* launch_hash */
	bool ready;	      /* it has said READY=1 */
	int64_t ready_ns, spawned_ns;
	uint64_t restarts;
	enum folder_left left;
};

/* 0 or -errno.  A failure (a full disk) is told by the caller and is no reason to stop anything. */
int folder_state_write(const char *name, const struct folder_state *state);
/* 0; -ENOENT; -EBADMSG: damaged, to be treated as not there. */
int folder_state_read(const char *name, struct folder_state *state);
void folder_state_remove(const char *name);

bool folder_runs(const struct folder_state *state); /* its process, and no other of that number */

/* When the process was started, as in the state; 0: there is no such process, or it is a zombie. */
uint64_t folder_started(pid_t pid);
/* R, S, D, T, t, Z ... of /proc/PID/stat; 0: there is none. */
char folder_run_state(pid_t pid);

#endif
