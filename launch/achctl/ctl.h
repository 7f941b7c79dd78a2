/* ctl.h: parts that the commands of achctl(1) share: options, output, exit statuses. */
#pragma once

#include "channels/client/control_call.h"
#include "channels/client/robot_choice.h"
#include "config/base/base.h"
#include "launch/view/status.h"

/* An exit status beside those of config/base/exit.h. */
#define CTL_NO 1 /* refused, not ready, not armed; for status: a daemon or bus has a problem */

/* All options; each command has some of them. */
struct ctl_line {
	const char *command; /* "restart"; NULL: no command was found */
	const char *robot;
	struct robot_choice_asked asked; /* the same, after robot_choice_begin */
	bool json;
	int64_t within_ns;
	const char *why;
	const char *who;
	bool unsupervised;
	bool follow;
	bool act, studio;
	const char *folder; /* of incidents */
	int64_t lines;
	int64_t every_ns;
	char **argv; /* arguments; the first, if there is one, is a valid name of a daemon */
	int argc;
};

/* A command returns the exit status.  The environment is that of the robot (ctl_robot), except for ctl_level. */
int ctl_status(const struct ctl_line *line);
int ctl_top(const struct ctl_line *line);
int ctl_show(const struct ctl_line *line);
int ctl_start(const struct ctl_line *line); /* and restart */
int ctl_stop(const struct ctl_line *line);
int ctl_log(const struct ctl_line *line);
int ctl_events(const struct ctl_line *line);
int ctl_level(const struct ctl_line *line); /* hold and estop */
int ctl_arm(const struct ctl_line *line);
int ctl_clear(const struct ctl_line *line);
int ctl_env(const struct ctl_line *line);
int ctl_request(const struct ctl_line *line);
int ctl_web(const struct ctl_line *line);
int ctl_incident(const struct ctl_line *line);

/* ---- answers: for people, or with --json one object in one line on stdout ---- */

/* It is done: a line for people, or {"ok":true}.  Returns 0. */
int ctl_done(const struct ctl_line *line, const char *fmt, ...) __attribute__((format(printf, 2, 3)));
/* The same with members: true with --json, and the object is begun with "ok".  ctl_json_end returns 0. */
bool ctl_json(const struct ctl_line *line, struct json *j);
int ctl_json_end(struct json *j);
/* It failed: one line on stderr, or {"ok":false,"error":"..."} on stdout.  Returns status. */
int ctl_fail(const struct ctl_line *line, int status, const char *fmt, ...) __attribute__((format(printf, 3, 4)));
/* A warning beside the answer, on stderr; nothing with --json. */
void ctl_warn(const struct ctl_line *line, const char *fmt, ...) __attribute__((format(printf, 2, 3)));

/* ---- achstart ---- */

/* Asks it.  0, or the exit status after a line: there is no answer, or it refuses; nothing to end then. */
int ctl_ask(const struct ctl_line *line, struct control_call *ask, const char *const *words);
/* Asks it for the status.  0, or -errno with why. */
int ctl_ask_status(struct status *robot, struct lines *why);
/* Its process, by a connection that asks nothing of it; or -errno with a line: -ENOENT if it does not run. */
pid_t ctl_achstart(struct error_sink *errors);
/* verb: start, restart or clear.  Waits until the daemon is ready, after restart in a new process.  The exit status. */
int ctl_daemon_start(const struct ctl_line *line, const char *verb);
/* Lists the daemons when no name was given.  EXIT_WRONG. */
int ctl_daemon_missing(const struct ctl_line *line);

/* arm --unsupervised: arms without achstart, for drivers that were started by hand. */
int ctl_unsupervised(const struct ctl_line *line);
/* Prints the answer of both ways of arming; returns 0. */
int ctl_armed(const struct ctl_line *line, const char *who, uint64_t epoch, uint64_t taken);

/* ---- the line ---- */

/* Sets the environment to that of the robot (robot_choice_use).  0, or EXIT_WRONG or EXIT_RETRY after a line. */
int ctl_robot(const struct ctl_line *line);

/* The user who commands, without a lookup that a dead network could delay. */
#define CTL_WHO_MAX 24
void ctl_who(const struct ctl_line *line, char who[CTL_WHO_MAX]);

/* ---- the terminal ---- */

bool ctl_colour(FILE *to);
