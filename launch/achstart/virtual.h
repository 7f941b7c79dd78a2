/* virtual.h: the robot on a virtual clock: its page, its coordinator (achtime), and the slots of its daemons.
 *
 * Slot 1 is achstart's; the daemons follow in the order of the launch file, so that canwire precedes the programs on
 * its buses.  A program that does not know the clock runs beside it, in real time. */
#pragma once

#include "config/base/base.h"
#include "config/settings/settings.h"
#include "launch/file/launch_file.h"

#define VIRTUAL_PLACE_MAX 640

struct virtual_line {
	bool on;
	bool in_step;			  /* with life, unless rate says otherwise */
	int64_t seed, for_ns, startup_ns; /* seed -1: not given; startup_ns 0: drawn from the seed */
	const char *rate;		  /* a number, or "max"; NULL: max, or 1 beside programs in real time */
	double charge;			  /* 0: computing takes no time */
	bool uncorrected;
	bool strict; /* all processes look outside at every instant */
	bool leave;  /* stopped processes behind */
	struct settings_strings kills, stops;
};

/* A robot on soft wires alone is on a virtual clock in step with life, unless real says otherwise. */
void virtual_choose(struct virtual_line *line, bool real, const struct launch *launch);
const char *virtual_name(const struct virtual_line *line); /* of the clock, in words */

/* Before anything is started.  0, or -EINVAL with a line in errors. */
int virtual_check(const struct virtual_line *line, const struct launch *launch, struct error_sink *errors);

/* The clock of another process that has started achstart, "SLOT PATH"; that process keeps achtime. */
#define VIRTUAL_GIVEN "ENDPLATE_CLOCK_GIVEN"

/* Creates the clock and starts achtime, unless a clock is given, and joins: from here on this process is on virtual
 * time.  Without line->on and VIRTUAL_GIVEN it does nothing.  Daemons that run already stay on the clock that they are
 * on, whatever line says.  0, or -errno with a line in errors. */
int virtual_begin(const struct virtual_line *line, const struct launch *launch, struct error_sink *errors);
/* Leaves the clock; if it is its own, prints overruns and the hash of the run.  The exit status: 1 if a daemon with
 * over: fail was over its budget, else 0. */
int virtual_end(void);

double virtual_pace(void);     /* times life, lately; NAN: real time */
double virtual_behind_s(void); /* by which it has fallen behind the rate that it is held to; NAN: it is not */

/* How often it was over its budget, as text; "": never, or nothing is charged. */
void virtual_over(const struct launch_daemon *daemon, char *text, size_t size);

/* Before a daemon is started: its slot, and in place the assignment for its environment.  0: it runs in real time. */
int virtual_expect(const struct launch_daemon *daemon, const char *path, char place[VIRTUAL_PLACE_MAX]);
/* In the new process, if it is not on the clock: all processors, and an ordinary priority. */
void virtual_beside(void);
/* The same for a spare, before it gets to know: that assignment's value is its word to go.  0: it runs in real time. */
int virtual_expect_spare(const struct launch_daemon *daemon, pid_t pid, char place[VIRTUAL_PLACE_MAX]);
void virtual_started(int slot);	    /* in the new process, before exec */
void virtual_not_started(int slot); /* in achstart */
/* Does the clock stand still while that process is stopped?  Then it has missed nothing. */
bool virtual_waits_for(pid_t pid);
/* Does the process end by this signal, without a turn of its own? */
bool virtual_dies(pid_t pid, int signal);
/* After such a signal: waits until the clock has taken note of its death, so that it happens now. */
void virtual_killed(pid_t pid);
