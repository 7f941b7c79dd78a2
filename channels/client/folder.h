/* folder.h: the files of achstart in $RUN, by which another achstart can continue where this one ended.
 *
 *	lock		held with flock as long as it lives: one achstart per robot; 0600
 *	robot		the robot's name, and where its channels are, for achctl; 0640
 *	state/NAME	of each daemon's process, the last one after its end: written aside, then renamed; 0700
 *	log/NAME	the FIFO that is its stdout and stderr;  log/NAME.log the text
 *	room		room for the states of the daemons, also when something else has filled the file system
 *	notify, control	sockets
 *
 * Offered to other folders:
 *	control_call.h daemon_state.h endplate.h robot_choice.h
 */
#pragma once

#include <sys/types.h>

#include "channels/port/port.h"
#include "config/base/base.h"

/* Makes the folder, and state in it, and keeps both open: from here on everything is done by their descriptors.  The
 * lock's descriptor, to be kept for life; or -EBUSY with a line that names its holder, or -errno with a line: the
 * folder belongs to another user, a link leads to it ... (safe_path.h).  patient: waits for a lock
 * that will be free in a moment because its holder was killed. */
int folder_lock(bool patient, struct error_sink *errors);
/* Is that descriptor's file still the lock, in the folder that others find?  Not after one of them was removed. */
bool folder_is_locked(int lock);
bool folder_has(const char *name, mode_t kind); /* an entry of ours of that name: S_IFSOCK, S_IFREG or S_IFDIR */

/* $ACH_DIR, if that is set, is made if need be, for its owner alone.  0, or -errno with a line. */
int folder_make_channels(struct error_sink *errors);
/* $RUN, and $ACH_DIR, are for that group to read and to enter; (gid_t)-1: for their owner alone.  0, or -errno with a
 * line. */
int folder_share(gid_t group, struct error_sink *errors);
/* Gives a file, a folder or a socket in that folder ("": the folder itself) to the operators, if there are any. */
void folder_give(int folder, const char *name);
int folder_make_states(struct error_sink *errors); /* the folder state, again: 0, or -errno with a line */

/* A folder in $RUN, opened for reading, or with O_PATH for its files; or -errno. */
int folder_enter(const char *name, int flags);

/* At the end of a robot that was stopped: states, then sockets and locks go; logs stay.  The lock must be held. */
void folder_sweep_states(void);
void folder_sweep(void);

/* The record of this robot (run_record.h), before anything is started.  0, or -errno with a line:
 * without it a stop could miss the robot. */
int folder_robot_write(const char *name, struct error_sink *errors);
/* How a daemon was left, for another achstart.  Wanted: a new process was asked for, which has not begun yet. */
enum folder_left { FOLDER_RUNS, FOLDER_RESTART, FOLDER_STOPPED, FOLDER_DONE, FOLDER_FAILED, FOLDER_LEFTS };

const char *folder_left_name(enum folder_left left); /* of one without a process: "gone", "stopped" ... */

struct folder_state {
	pid_t pid;	      /* 0: it has not had a process */
	uint64_t started;     /* field 22 of /proc/PID/stat: distinguishes a reused number from the process */
	uint64_t boot[2];     /* in which that was */
	uint32_t incarnation; /* as achstart counts: processes of this name since the robot came up */
	uint64_t hash;	      /* launch_hash */
	bool ready;	      /* it has said READY=1 */
	int64_t ready_ns, spawned_ns;
	uint64_t restarts;
	enum folder_left left_as;
	int64_t latches; /* of the last state it published; -1: none.  Its successor reads it */
};

/* 0 or -errno.  The caller reports a failure (a full disk); the daemon runs on. */
int folder_state_write(const char *name, const struct folder_state *state);
/* Reserves space for the states of that many daemons: a file, removed when a state does not fit otherwise.  Does
 * nothing if it is there.  0 or -errno. */
int folder_reserve(size_t daemons);
/* 0; -ENOENT; -EBADMSG: damaged, treat it as missing. */
int folder_state_read(const char *name, struct folder_state *state);
void folder_state_remove(const char *name);

void folder_begin(struct folder_state *state, pid_t pid); /* of that process: pid, start time, boot */

bool folder_runs(const struct folder_state *state); /* its process, not another of the same number */
/* A descriptor of that process, for signals, if the number is still its own and it is a process of ours; else -ESRCH: a
 * state that is old, or was written by another user, never gets another process signalled. */
int folder_pidfd(const struct folder_state *state);

/* Reads /proc/PID/FILE, as much as there is room for, and adds a zero: how many bytes, or -errno. */
int folder_proc_read(pid_t pid, const char *file, char *text, size_t size);
/* When the process was started, as in the state; 0: it does not exist, or is a zombie. */
uint64_t folder_started(pid_t pid);
/* R, S, D, T, t, Z ... of /proc/PID/stat; 0: there is none. */
char folder_run_state(pid_t pid);
