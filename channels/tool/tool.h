/* tool.h: what the commands of ach(1) share.
 *
 * Offered to other folders:
 *	bar.h put.h
 */
#pragma once

#include <sys/types.h>

#include "channels/ach/ach.h"
#include "channels/msg/msg.h"
#include "channels/rec/chan.h"
#include "channels/rec/follow.h"
#include "config/base/base.h"
#include "config/settings/options.h"
#include "config/settings/program.h"

#define TOOL_VERSION "2.0.0" /* that of libach */

/* A command: its line is read into a zeroed struct of that size, then run gets the struct and the arguments, and
 * returns the exit status: 0 fine, EXIT_RETRY or, for a wrong line, EXIT_WRONG, after one line on stderr. */
struct tool_command {
	const char *name;
	const char *about; /* one line, for the list of commands and for its help */
	int (*run)(void *values, int argc, char **argv);
	const struct settings_row *rows;
	size_t size;
	const char *arguments, *notes;	  /* as in struct options */
	int arguments_min, arguments_max; /* the same */
};
#define TOOL_COMMAND(name, run, rows, values, arguments, min, max, about, notes) \
	const struct tool_command tool_##name = { #name, about, run, rows, sizeof(values), arguments, notes, min, max }

extern const struct tool_command tool_ls, tool_info, tool_echo, tool_hz, tool_plot, tool_put, tool_record, tool_play,
	tool_convert, tool_types, tool_mk, tool_rm, tool_chmod, tool_dump, tool_file;

#define tool_fail chan_fail

/* "imo is not a type of message; did you mean imu?".  Returns text. */
#define TOOL_TYPES_MAX 256
const char *tool_unknown_type(char text[TOOL_TYPES_MAX], const char *name);

/* Colours and moving pictures only on a terminal, and not if NO_COLOR is set. */
bool tool_is_terminal(FILE *to);
bool tool_colour(FILE *to);

/* ---- names ----
 *
 * A channel of a robot may be given without the robot's prefix, which achstart has recorded, and may lie in a folder of
 * its own.  Which robot it is, is decided as for achctl (robot_choice.h), except that another ENDPLATE_PREFIX or
 * ACH_DIR in the environment wins over a robot that was not named. */

#define TOOL_ROBOT(type)                                                                                       \
	SETTINGS_STRING("robot", type, robot, NULL, "channels of that robot; default: the only one that runs", \
			.value = "R")

/* Makes each name, or pattern of names, that of a channel there is: of the robot, else exactly that.  From here on
 * $ACH_DIR and the clock are those of the robot.  0, or a status after a line. */
int names_find(const char *robot, char **names, int n, bool patterns);

bool tool_stopped(void); /* has SIGINT or SIGTERM come?  They are blocked (clock_stop_fd) */

/* ---- standard output that SIGINT and SIGTERM can interrupt ----
 *
 * These signals arrive through a descriptor (clock_stop_fd), so they would not end a plain write to a full pipe or to a
 * stopped terminal.  This stream waits with clock_wait for the output and that descriptor. */

FILE *out_file(void);
#define out_text(...) fprintf(out_file(), __VA_ARGS__)

/* Writes all that is buffered.  0; -ECANCELED: a signal came; or -errno, which is reported once. */
int out_flush(void);
/* The same at the end of a command, for its exit status: a signal is not a failure. */
int out_end(void);

/* ---- the messages of some channels as they come ---- */

struct tool_stream {
	void *with;
	struct follow *f;
	size_t n;
	int64_t left;	  /* messages until the end */
	int64_t until_ns; /* the end, also after a jump of the clock */
	/* The next message of f[i].  How many of left it is; negative: failed, after a line. */
	int (*message)(void *with, size_t i);
	/* Called at next_ns, then again and again; true: the end.  NULL: no. */
	bool (*every)(void *with);
	int64_t next_ns, every_ns;
};

/* Until the end, a signal, or an output that fails.  0 or EXIT_RETRY; out_end follows. */
int tool_stream(struct tool_stream *s);
