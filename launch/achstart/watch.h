/* watch.h: one daemon under supervision: policy.h decides, this carries it out and reports it. */
#ifndef LAUNCH_ACHSTART_WATCH_H
#define LAUNCH_ACHSTART_WATCH_H

#include "launch/achstart/child.h"
#include "launch/file/launch_file.h"
#include "launch/common/logs.h"
#include "launch/achstart/rundir.h"
#include "launch/achstart/hung.h"
#include "launch/achstart/policy.h"
#include "launch/achstart/spare.h"
#include "launch/common/pulse.h"
#include "launch/achstart/watch_why.h"

struct supervisor;

struct watch {
	const struct launch_daemon *daemon;
	char path[LAUNCH_FIND_MAX];
	struct policy policy;
	struct child child;
	struct spare spare;
	struct logs log;
	struct pulse pulse;	  /* if it publishes a state */
	struct port event_port;	  /* its events */
	struct watch_why trouble; /* of that, what is not over */
	struct folder_state kept; /* as in $RUN/state/NAME */
	int64_t watchdog_ns;	  /* when it last sent WATCHDOG=1 */
	struct hung hung;	  /* why it is late */
	int64_t adopted_ns;	  /* publications count from then on, at the earliest */
	char status[NOTICE_STATUS_MAX];
	char last_end[CHILD_END_MAX]; /* how its last process ended */
	bool killed_at_end;	      /* while the robot was stopped */
	bool stuck;		      /* it was killed and is still there */
};

void watch_open(struct supervisor *s, struct watch *w, const struct launch_daemon *daemon, int64_t now_ns);
void watch_close(struct watch *w, bool stopped);

/* If its process runs: takes it over as it is. */
bool watch_adopt(struct supervisor *s, struct watch *w, int64_t now_ns);
/* Of one without a process, while others run on: if it was stopped, done or given up when the last achstart ended, or
 * is never to be restarted, it stays so; what died since is started.  false: it is to be started as the first time. */
bool watch_left(struct supervisor *s, struct watch *w, int64_t now_ns);
void watch_first_time(struct watch *w); /* nothing of the robot runs: how it was left does not count */

/* Something happened: asks the policy, and does what it says. */
void watch_event(struct supervisor *s, struct watch *w, enum policy_event event, int64_t now_ns);
void watch_hear(struct supervisor *s, struct watch *w, const struct notice *notice, int64_t now_ns);
void watch_reap(struct supervisor *s, struct watch *w, int64_t now_ns);	  /* if its process has ended */
void watch_update(struct supervisor *s, struct watch *w, int64_t now_ns); /* what it publishes */
/* Starts or ends its spare; true: one was started. */
bool watch_keep_spare(const struct supervisor *s, struct watch *w, int64_t now_ns);
void watch_check_alive(struct supervisor *s, struct watch *w, int64_t now_ns); /* is it stopped, or silent? */
void watch_freeze(struct supervisor *s, struct watch *w, int64_t now_ns);      /* the same, for stopped alone */

/* Why it has failed, or is in fault, as far as is known; else "". */
const char *watch_why(const struct watch *w);
bool watch_has_spoken(const struct watch *w); /* its process, which runs, has published a state */
bool watch_in_fault(const struct watch *w);   /* its lifecycle, by what it published last */

/* Which one it is: as it says itself, or as achstart counts. */
int64_t watch_dead_after_ns(const struct watch *w); /* it has not published for so long: it is dead */
uint32_t watch_incarnation(const struct watch *w);

#endif
