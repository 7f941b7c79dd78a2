/* tool.h: what the commands of ach(1) share. */
#ifndef CHANNELS_TOOL_TOOL_H
#define CHANNELS_TOOL_TOOL_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <sys/types.h>

#include "channels/ach.h"
#include "channels/msg/msg.h"
#include "config/options.h"

#define TOOL_VERSION "2.0.0" /* that of libach */

/* A command takes what stands behind its name (argv[0] is the name) and returns the exit status:
 * 0 fine, 1 failed, after one line on stderr, 2 wrong usage. */
struct tool_command {
	const char *name;
	int (*run)(int argc, char **argv);
	const char *line; /* for the list of commands */
};

int tool_mk(int argc, char **argv);
int tool_rm(int argc, char **argv);
int tool_chmod(int argc, char **argv);
int tool_dump(int argc, char **argv);
int tool_file(int argc, char **argv);
int tool_ls(int argc, char **argv);
int tool_info(int argc, char **argv);
int tool_echo(int argc, char **argv);
int tool_hz(int argc, char **argv);
int tool_put(int argc, char **argv);
int tool_plot(int argc, char **argv);
int tool_record(int argc, char **argv);
int tool_play(int argc, char **argv);
int tool_convert(int argc, char **argv);
int tool_types(int argc, char **argv);

#define TOOL_FAILED 1
#define TOOL_USAGE 2

/* "ach COMMAND: what" on stderr, one line, whatever the arguments hold.  Returns status. */
extern const char *tool_name; /* of the command that runs */
int tool_report(int status, const char *fmt, ...) __attribute__((format(printf, 2, 3)));
#define tool_fail(...) tool_report(TOOL_FAILED, __VA_ARGS__)

/* Reads the line of a command; errors go to stderr, --help is answered.  TOOL_GO, or the exit status. */
#define TOOL_GO (-1)
int tool_options(struct options *options, int *argc, char **argv);

/* Opens a channel, or says in one line why not and what to do.  0 or TOOL_FAILED. */
int tool_open(ach_channel_t *chan, const char *name, ach_attr_t *attr);
/* The line alone, for another call on that channel that answered status.  TOOL_FAILED. */
int tool_refused(const char *name, enum ach_status status);

/* The largest message that fits into the channel: count * size. */
size_t tool_room(const ach_channel_t *chan);

/* An octal mode: 0 when it is one, else a line (option, or NULL, in front) and TOOL_USAGE; and its value. */
int tool_mode_refused(const char *option, const char *text);
mode_t tool_mode(const char *text);

/* "joint-state, joint-ref, ..." and "imo is not a type of message; did you mean imu?".  Both return text. */
#define TOOL_TYPES_MAX 256
const char *tool_type_names(char text[TOOL_TYPES_MAX]);
const char *tool_unknown_type(char text[TOOL_TYPES_MAX], const char *name);

/* "root:robot" */
#define TOOL_OWNER_MAX 72
void tool_owner(char text[TOOL_OWNER_MAX], uid_t uid, gid_t gid);

/* Colours and moving pictures only on a terminal, and not if NO_COLOR is set. */
bool tool_is_terminal(FILE *to);
bool tool_colour(FILE *to);

/* A descriptor that is readable after SIGINT or SIGTERM, for clock_wait; made once, the signals are blocked. */
int tool_stop_fd(void);
bool tool_stopped(void); /* has one come? */

#endif
