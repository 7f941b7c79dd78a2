/* virtual_lib.h: a virtual clock for a test and the programs that it starts: what the machine does beside them has no
 * part in what they see, and waiting takes no time.
 *
 *	virtual_lib_begin(folder);		from here on clock_wait and clock_now_ns are those of the virtual clock
 *	pid = virtual_lib_fork("driver");	as fork(2); the child executes a program of ours
 *	virtual_lib_signal(pid, SIGKILL);	it is dead when this returns
 *	virtual_lib_end();
 *
 * The test has the first rank.  While it computes, or blocks in another call than clock_wait, time stands still. */
#pragma once

#include <sys/types.h>

void virtual_lib_begin(const char *folder);
void virtual_lib_end(void);
pid_t virtual_lib_fork(const char *name); /* as fork(2) while no clock was begun */
void virtual_lib_signal(pid_t pid, int signal);
/* It is killed at its so-manieth message, or write to a bus or socket, from now on. */
void virtual_lib_kill_at(pid_t pid, unsigned int action);

/* With an achstart on the same clock, which has the first rank and then its daemons: the test has the last one. */
void virtual_lib_begin_last(const char *folder);
pid_t virtual_lib_fork_achstart(void); /* while one runs, another one is in real time */
