/* realtime.h: what a process with a fixed rate asks of the system, and what it says when the system refuses. */
#pragma once

#include <sys/types.h>

#include "config/base/base.h"

struct realtime {
	int64_t priority; /* SCHED_FIFO 1 to 99; 0: as it is */
	int64_t core;	  /* -1: any */
	bool lock;	  /* memory stays where it is */
};

/* sched_setscheduler(2); the process 0 is this one.  0 or -errno. */
int realtime_schedule(pid_t pid, int policy, int priority);

/* Before the loop.  How many things were refused, with a line each that says what it takes. */
int realtime_enter(const struct realtime *want, struct error_sink *errors);
