/* supervise.h: the supervisor: one loop over processes, what they publish, links and commands.
 *
 * policy.h decides what is done about a daemon, and supervised.h carries it out.  Nothing in the loop waits for one:
 * starting one waits for exec alone.
 */
#pragma once

#include "daemons/drv/claim.h"
#include "launch/achstart/channel_guard.h"
#include "launch/achstart/level.h"
#include "launch/achstart/links.h"
#include "launch/achstart/supervised.h"

#define SUPERVISE_LOOK_NS \
	20000000 /* how often publications are looked at: a stalled link is to be reset within 50 ms */

struct supervisor {
	struct launch *launch;
	struct supervised *supervised; /* of launch.daemons, in their order */
	size_t n;
	struct estop estop;
	struct level level;   /* of the e-stop */
	struct arming arming; /* the arm request under way, or the last one */
	struct events events;
	struct links links;
	struct channel_guard guard;
	struct notify notify; /* systemd, if that has started us */
	int signals, notify_fd;
	int fifos, ends; /* one descriptor for all logs, one for all processes */
	struct control *control;
	int lock; /* of the folder */
	struct claim_set *claims;
	int64_t rundir_ns;    /* when to look at the folder next */
	int64_t deaf_ns;      /* when notify was last found missing: no watchdog message can have come until then */
	int64_t late_ns;      /* when it was last held up itself, and daemons perhaps, too */
	bool reported_folder; /* that the folder cannot be created again */
	int64_t begun_ns;
	int64_t look_ns; /* when to look at publications next */
	uint64_t looks;
	int64_t stop_ns; /* when it was asked to stop; 0: it was not */
	bool flooded;	 /* a log has taken all it may until the next look */
	bool reported_ready;
	const struct supervised *reported_failed; /* the daemon that keeps arm: auto from arming */
};

/* An event about achstart itself, and one about a daemon. */
#define supervise_say(s, now_ns, severity, ...) \
	events_say(&(s)->events, now_ns, MSG_SEVERITY_##severity, "achstart", __VA_ARGS__)
#define supervised_say(s, d, now_ns, severity, ...) \
	events_say(&(s)->events, now_ns, MSG_SEVERITY_##severity, (d)->daemon->name, __VA_ARGS__)

/* As early as possible: a signal during the start stops the robot, too. */
void supervise_hold_signals(void);
/* Adopts running daemons, starts the others, and runs until all of them have been stopped on request.  Returns the exit
 * status.  Closes the lock of the folder at the end. */
int supervise(struct launch *launch, int lock, struct claim_set *claims, struct error_sink *errors);

/* A program of which another process holds the port, or a claim, and that neither the robot nor another daemon needs:
 * a second robot on this machine has that page. */
bool supervise_goes_without(const struct supervisor *s, const struct supervised *d);
struct supervised *supervise_find(struct supervisor *s, const char *name);
/* Starts a daemon, and what it needs. */
void supervise_start(struct supervisor *s, struct supervised *d, int64_t now_ns);
void supervise_stop(struct supervisor *s, int64_t now_ns);
void supervise_channel_removed(struct supervisor *s, const char *channel,
			       int64_t now_ns); /* reports a channel that was removed */
