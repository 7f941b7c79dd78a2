/* act.h: stops and actions that clients have asked for; nothing waits.
 *
 * A stop is raised on the channels and through achstart (raising.h), and confirmed when every driver shows it.  All
 * other actions go through achstart, which checks the right of this process's user, and are answered with its words.
 * So each of them takes a user who may arm now, whatever his session was given (member.h).
 */
#ifndef LAUNCH_ACHWEB_ACT_H
#define LAUNCH_ACHWEB_ACT_H

#include "launch/achweb/order.h"
#include "launch/achweb/rate.h"
#include "launch/achweb/view.h"
#include "launch/view/raising.h"

#define ACT_SLOTS 8
#define ACT_WAITERS 32
#define ACT_TEXT_MAX 512
#define ACT_EVERY_NS 200000000 /* between two actions, on average, */
#define ACT_BURST 10	       /* and so many at once */

struct act_stop {
	bool under_way;
	int64_t until_ns;
	struct raising raise;
	char who[MSG_NAME_SIZE], why[MSG_TEXT_SIZE];
	uint64_t waiters[ACT_WAITERS]; /* clients */
	size_t waiters_n;
};

struct act {
	uint64_t client; /* 0: unused */
	struct order order;
	char who[MSG_NAME_SIZE];
	struct ask ask;
	bool asking;	  /* achstart; else it waits for the daemon */
	bool driver;	  /* the answer holds a reply of the driver */
	int64_t until_ns; /* give up then */
	int64_t before;	  /* process of the daemon */
	uint64_t answers; /* of the view, when it was asked */
};

/* Begins with zeroes, and view. */
struct acts {
	struct view *view;
	/* Sends the result to a client. */
	void (*done)(void *to, uint64_t client, bool ok, const char *text);
	void *to;
	gid_t arming; /* (gid_t)-1: no group */

	struct act_stop stops[2]; /* hold, estop */
	struct act acts[ACT_SLOTS];
	struct rate rate;   /* of arm, home, clear and restart */
	int64_t unknown_ns; /* until then a user database that gave no answer is not asked: stops would wait */
};

#define ACT_TOO_MANY "too many actions: wait a second"
/* May another action begin now?  Pages and studios share the rate; a stop is not asked about. */
static inline bool act_may_begin(struct acts *acts, int64_t now_ns)
{
	return rate_take(&acts->rate, now_ns, ACT_EVERY_NS, ACT_BURST);
}

/* The person who asks. */
struct act_person {
	uid_t uid;
	const char *who;
};

/* Begins; done is called for the client, now or later. */
void act_begin(struct acts *acts, const struct order *order, uint64_t client, struct act_person person, int64_t now_ns);
/* Goes on with all of them; when to call it again, or CLOCK_NEVER. */
int64_t act_step(struct acts *acts, int64_t now_ns);
void act_close(struct acts *acts);

/* ---- between act.c and act_stop.c ---- */

void act_finish(struct acts *acts, struct act *a, bool ok, const char *fmt, ...) __attribute__((format(printf, 4, 5)));

void act_stop_begin(struct acts *acts, enum msg_level level, uint64_t client, const char *who, int64_t now_ns);
int64_t act_stop_step(struct acts *acts, int64_t now_ns);
void act_stop_close(struct acts *acts);
/* Without an answer the robot may be armed, now or in a moment: raises the level, and reports that to the client. */
void act_stop_arming(struct acts *acts, struct act *a, const char *why, int64_t now_ns);

#endif
