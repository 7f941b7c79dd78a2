/* web_action.h: stops and actions that clients have asked for; nothing waits.
 *
 * A stop is raised on the channels and through achstart (estop_raise.h), and confirmed when every driver shows it.  All
 * other actions go through achstart, which checks the right of this process's user, and are answered with its words.
 * So each of them takes a user who may arm now, whatever his session was given (member.h).
 */
#pragma once

#include "launch/achweb/post_body.h"
#include "launch/achweb/rate.h"
#include "launch/achweb/robot_view.h"
#include "launch/view/estop_raise.h"

#define WEB_ACTION_SLOTS 8
#define WEB_ACTION_WAITERS 32
#define WEB_ACTION_TEXT_MAX 512
#define WEB_ACTION_EVERY_NS 200000000 /* between two actions, on average, */
#define WEB_ACTION_BURST 10	      /* and at once */

struct web_action_stop {
	bool under_way;
	int64_t until_ns;
	struct estop_raise raise;
	char who[MSG_NAME_SIZE], why[MSG_TEXT_SIZE];
	uint64_t waiters[WEB_ACTION_WAITERS]; /* clients */
	size_t waiters_n;
};

struct web_action {
	uint64_t client; /* 0: unused */
	struct post_body order;
	char who[MSG_NAME_SIZE];
	struct control_call ask;
	bool asking;	  /* achstart; else it waits for the daemon */
	bool driver;	  /* the answer holds a reply of the driver */
	int64_t until_ns; /* give up then */
	int64_t before;	  /* process of the daemon */
	uint64_t answers; /* of the view, when it was asked */
};

/* Begins with zeroes, and view. */
struct web_actions {
	struct robot_view *view;
	/* Sends the result to a client. */
	void (*done)(void *to, uint64_t client, bool ok, const char *text);
	void *to;
	gid_t arming; /* (gid_t)-1: no group */

	struct web_action_stop stops[2]; /* hold, estop */
	struct web_action acts[WEB_ACTION_SLOTS];
	struct rate rate;   /* of arm, home, clear and restart */
	int64_t unknown_ns; /* until then a user database that gave no answer is not asked: stops would wait */
};

#define WEB_ACTION_TOO_MANY "too many actions: wait a second"
/* May another action begin now?  Pages and studios share the rate; a stop is not asked about. */
static inline bool web_action_may_begin(struct web_actions *acts, int64_t now_ns)
{
	return rate_take(&acts->rate, now_ns, WEB_ACTION_EVERY_NS, WEB_ACTION_BURST);
}

/* The person who asks. */
struct web_action_person {
	uid_t uid;
	const char *who;
};

/* Begins; done is called for the client, now or later. */
void web_action_begin(struct web_actions *acts, const struct post_body *order, uint64_t client,
		      struct web_action_person person, int64_t now_ns);
/* Goes on with all of them; when to call it again, or CLOCK_NEVER. */
int64_t web_action_step(struct web_actions *acts, int64_t now_ns);
void web_action_close(struct web_actions *acts);

/* ---- between web_action.c and web_action_stop.c ---- */

void web_action_finish(struct web_actions *acts, struct web_action *a, bool ok, const char *fmt, ...)
	__attribute__((format(printf, 4, 5)));

void web_action_stop_begin(struct web_actions *acts, enum msg_level level, uint64_t client, const char *who,
			   int64_t now_ns);
int64_t web_action_stop_step(struct web_actions *acts, int64_t now_ns);
void web_action_stop_close(struct web_actions *acts);
/* Without an answer the robot may be armed, now or in a moment: raises the level, and reports that to the client. */
void web_action_stop_arming(struct web_actions *acts, struct web_action *a, const char *why, int64_t now_ns);
