/* view.h: how a robot is, as achctl shows it: from achstart's answer, or without achstart from the channels. */
#ifndef LAUNCH_ACHCTL_VIEW_H
#define LAUNCH_ACHCTL_VIEW_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

#include "config/yaml.h"
#include "daemons/estop/estop.h"
#include "launch/achctl/chans.h"

#define VIEW_NAME_MAX 32
#define VIEW_DAEMONS_MAX 64
#define VIEW_BUSES_MAX 32
#define VIEW_TEXT_MAX 200

/* Numbers that are not known are NAN, words "". */
struct view_daemon {
	char name[VIEW_NAME_MAX];
	char state[VIEW_NAME_MAX]; /* policy_state_name; without achstart running, silent, gone */
	char life[VIEW_NAME_MAX];  /* lifecycle */
	char level[VIEW_NAME_MAX]; /* of the e-stop, as obeyed */
	char status[VIEW_TEXT_MAX], last_end[VIEW_TEXT_MAX], why[VIEW_TEXT_MAX];
	bool ready, wanted, adopted, freerun;
	int64_t pid, incarnation, restarts, epoch;
	int64_t refs_taken, refs_refused, ticks, skipped;
	double uptime_s, late_p99_us, late_max_us, age_ms, rate_hz;
	double phase_us; /* publication behind the clock's cycle; achstart does not say: view_fresh does */
};

struct view_bus {
	char name[VIEW_NAME_MAX];
	char interface[VIEW_NAME_MAX];
	char state[VIEW_NAME_MAX];
	double load; /* 1: full */
	int64_t stale, sent, replaced, expired, lost, rx_dropped, errors, resets;
	bool stalled;
};

struct view_clock {
	char name[VIEW_NAME_MAX]; /* of its daemon; "": there is no clock */
	double rate_hz, period_us, late_us;
	int64_t cycle;
};

struct view {
	bool supervised; /* achstart said so */
	char robot[VIEW_NAME_MAX];
	char level[VIEW_NAME_MAX];
	char who[VIEW_NAME_MAX], why[VIEW_TEXT_MAX]; /* of the level; without a level why it is not known */
	int64_t epoch, pid;
	double uptime_s;
	bool stopping;
	struct view_clock clock;
	struct view_daemon daemons[VIEW_DAEMONS_MAX];
	size_t daemons_n;
	struct view_bus buses[VIEW_BUSES_MAX];
	size_t buses_n;
};

/* Takes what achstart answered to "status".  What is missing in it is not known. */
void view_read(struct view *view, const struct yaml_node *answer);
/* The object that status --json prints, without its braces; in the form of achstart's own. */
void view_json(const struct view *view, FILE *to);

/* Of the e-stop channels, the state channels and $RUN/state; needs nobody.  How many daemons it found. */
size_t view_look(struct view *view, const struct chans *chans);
/* Level, epoch, who and why, as judged_look found them. */
void view_level(struct view *view, const struct estop *estop, const struct chans *chans);
/* What the channels tell better than achstart, which looks at them less often: age, rate and phase. */
void view_fresh(struct view *view, const struct chans *chans);

/* Without what a terminal would take for a command, and without tabs. */
void view_clean(char *text);

/* The first driver that publishes another level than the robot's; NULL: none. */
const struct view_daemon *view_apart(const struct view *view);

/* By name, or NULL. */
const struct view_daemon *view_daemon(const struct view *view, const char *name);

/* How bad it is. */
enum view_rank { VIEW_FINE, VIEW_ODD, VIEW_BAD };
bool view_daemon_is_fine(const struct view_daemon *daemon); /* ready, or done with its work */
enum view_rank view_daemon_rank(const struct view_daemon *daemon);
enum view_rank view_bus_rank(const struct view_bus *bus);
/* Is everything as wanted?  The level of the e-stop does not count: to be stopped is no fault. */
bool view_fine(const struct view *view);

#endif
