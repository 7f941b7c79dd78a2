/* supervised.h: one daemon under supervision: policy.h decides, this carries it out and reports it. */
#pragma once

#include "channels/client/daemon_state.h"
#include "launch/achstart/events.h"
#include "launch/achstart/hung.h"
#include "launch/achstart/policy.h"
#include "launch/achstart/rundir.h"
#include "launch/achstart/spare.h"

struct supervisor;

struct supervised {
	const struct launch_daemon *daemon;
	char path[LAUNCH_FIND_MAX];
	struct policy policy;
	struct child child;
	struct spare spare;
	struct kept_sockets sockets; /* of listen: */
	struct logs log;
	struct daemon_state published; /* if it publishes a state */
	struct port event_port;	       /* its events */
	struct events_fault fault;     /* the errors in them that are not over */
	struct folder_state saved;     /* as in $RUN/state/NAME */
	int64_t watchdog_ns;	       /* when it last sent WATCHDOG=1 */
	struct hung hung;	       /* why it is late */
	int64_t adopted_ns;	       /* publications count from then on, at the earliest */
	char status[NOTICE_STATUS_MAX];
	char last_end[CHILD_END_MAX]; /* how its last process ended */
	char taken[MSG_TEXT_SIZE];    /* who holds what it claims, as reported; "": it is not taken */
	bool killed_at_end;	      /* while the robot was stopped */
	bool stuck;		      /* it was killed and is still there */
};

void supervised_open(struct supervisor *s, struct supervised *d, const struct launch_daemon *daemon, int64_t now_ns);
void supervised_close(struct supervised *d, bool stopped);

/* If its process runs: takes it over as it is. */
bool supervised_adopt(struct supervisor *s, struct supervised *d, int64_t now_ns);
/* Takes over a daemon without a process while others run on: if it was stopped, done or given up when the last achstart
 * ended, or is never to be restarted, it stays so; what died since is started.  false: it is to be started as the first
 * time. */
bool supervised_left(struct supervisor *s, struct supervised *d, int64_t now_ns);
void supervised_first_time(struct supervised *d); /* nothing of the robot runs: how it was left does not count */

/* Something happened: asks the policy, and does what it says. */
void supervised_event(struct supervisor *s, struct supervised *d, enum policy_event event, int64_t now_ns);
void supervised_hear(struct supervisor *s, struct supervised *d, struct notice *notice, int64_t now_ns);
void supervised_reap(struct supervisor *s, struct supervised *d, int64_t now_ns);   /* if its process has ended */
void supervised_update(struct supervisor *s, struct supervised *d, int64_t now_ns); /* what it publishes */
/* Starts or ends its spare; true: one was started. */
bool supervised_keep_spare(const struct supervisor *s, struct supervised *d, int64_t now_ns);
void supervised_check_alive(struct supervisor *s, struct supervised *d, int64_t now_ns); /* is it stopped, or silent? */
void supervised_freeze(struct supervisor *s, struct supervised *d, int64_t now_ns); /* the same, for stopped alone */

/* Why it has failed, or is in fault, as far as is known; else "". */
const char *supervised_why(const struct supervised *d);
bool supervised_has_spoken(const struct supervised *d); /* its process, which runs, has published a state */
bool supervised_in_fault(const struct supervised *d);	/* its lifecycle, by what it published last */

/* Which one it is: as it says itself, or as achstart counts. */
int64_t supervised_dead_after_ns(const struct supervised *d); /* a daemon that has not published for longer is dead */
uint32_t supervised_incarnation(const struct supervised *d);

/* ---- between supervised.c and supervised_open.c ---- */

void supervised_follow(int all, int fd); /* one of s->ends or s->fifos; fd -1: nothing */
