/* rig.h: a whole robot for a test: achstart with a launch file, in a folder and with channels of its own.
 *
 *	void setUp(void)	{ rig_open(NULL); }		launch/waist.launch; or the text of another one
 *	void tearDown(void)	{ rig_close(); }		whatever still runs is killed, and nothing is left
 *
 *	rig_start();
 *	RIG_UNTIL(rig_all_ready());
 *	rig_signal("waist", SIGKILL);
 *	RIG_UNTIL(rig_events("waist", "ready") == 2);
 *	TEST_ASSERT_EQUAL(0, rig_stop());
 *
 * What happened is checked by $RUN/state, by events.log and by channels, never by the clock: waiting ends with what is
 * waited for, and the limit of a minute and a half is there for what hangs.  Should the test itself die, a guard
 * cleans up after it.
 */
#pragma once

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

#include "channels/client/daemon_state.h"
#include "channels/client/folder.h"
#include "channels/estop/estop.h"

enum rig_name { RIG_CANWIRE, RIG_ROBOTSIM, RIG_CLOCK, RIG_WAIST, RIG_NAMES }; /* of launch/waist.launch */
extern const char *const rig_names[RIG_NAMES];
#define RIG_CHILDREN_MAX 32

struct rig {
	char folder[512], run[520], prefix[32], launch[520];
	pid_t achstart;
	uint32_t seed;
};
extern struct rig rig;
extern bool rig_in_real_time; /* before rig_open: not on a virtual clock */

/* ---- achstart ---- */

/* How a launch file begins that has the daemons of launch/waist.launch and others behind them. */
#define RIG_BENCH "include: @BENCH@\narm: auto\ndaemons:\n  canwire:\n  robotsim:\n  clock:\n  waist:\n"

void rig_open(
	const char *launch_text); /* "@BENCH@" in it becomes the path of config/robots/waist.yaml, "@FAKE@" fake's */
void rig_close(void);
void rig_start(void);			   /* and does not wait */
void rig_start_as(char *const *argv);	   /* the same with other arguments */
void rig_kill(void);			   /* SIGKILL, and waits for its end; nothing if none runs */
int rig_stop(void);			   /* SIGTERM, and waits: its exit status */
int rig_wait(void);			   /* for its end by itself: its exit status */
const char *rig_said(void);		   /* on stderr, by all of them so far */
const char *rig_program(const char *name); /* path of what was built */

/* ---- waiting ---- */

void rig_turn(void); /* a millisecond; the controller speaks and frames are heard meanwhile */
/* Processes with a sanitizer take long to start: cases that start hundreds of them do with a tenth. */
#ifdef __SANITIZE_ADDRESS__
#define RIG_MANY(n) ((n) / 10)
#else
#define RIG_MANY(n) (n)
#endif

#define RIG_UNTIL(condition)                                                              \
	do {                                                                              \
		for (rig_wait_begin(); !(condition); rig_wait_on(#condition, __LINE__)) { \
		}                                                                         \
	} while (0)
void rig_wait_begin(void);
void rig_wait_on(const char *condition, int line);
uint32_t rig_random(uint32_t below); /* from rig.seed, which a failure prints */

/* ---- daemons ---- */

bool rig_state(const char *name, struct folder_state *state); /* as achstart keeps it; false: none */
pid_t rig_pid(const char *name);			      /* 0: none runs */
unsigned int rig_children(int pids[RIG_CHILDREN_MAX]);	      /* of achstart */
pid_t rig_spare(const char *name);			      /* the process that waits to take over; 0: none */
void rig_signal(const char *name, int number);		      /* to its process, if there is one */
bool rig_ready(const char *name);
bool rig_all_ready(void); /* the four of waist.launch */
uint32_t rig_incarnation(const char *name);

/* ---- events ---- */

unsigned int rig_events(const char *source, const char *code);
bool rig_reported(const char *source, const char *code, const char *words);
void rig_fail(int line, const char *fmt, ...) __attribute__((format(printf, 2, 3))); /* with all events and lines */
#define RIG_ASSERT(condition)                                 \
	do {                                                  \
		if (!(condition))                             \
			rig_fail(__LINE__, "%s", #condition); \
	} while (0)

/* ---- asking ---- */

bool rig_status_has(const char *name, const char *words); /* what achstart's status says of a daemon */
void rig_shell(const char *fmt, ...) __attribute__((format(printf, 1, 2))); /* a line that ends with 0 */
int rig_try(const char *program, const char *arguments);		    /* of ours, by a shell: its exit status */
const char *rig_output(void);						    /* what that printed */
void rig_run(const char *program, const char *arguments);		    /* the same; it does what it should */
void rig_run_on(const char *program, const char *arguments);		    /* and does not wait for it */

/* ---- level and waist ---- */

enum msg_level rig_level(uint64_t *epoch); /* as drivers evaluate it */
bool rig_armed(void);			   /* all are ready, and achstart has said that the robot is armed */
struct msg_joint_state rig_waist(void);	   /* its newest state */
void rig_drive(double rad_s); /* a controller that moves the waist to and fro from now on; 0: it is silent */

/* From now on what is on the wire is heard. */
void rig_listen(void);
struct rig_heard {
	unsigned int homes, resets;
	unsigned int
		undue; /* resets that nothing on the wire explains: no halt, and no gap in what feeds the watchdog */
};
extern struct rig_heard rig_heard;
void rig_excuse(void); /* the wire or the simulator was killed: a reset is due */

/* ---- what is left ---- */

/* What is left of a robot that was stopped, a line each: processes, sockets, FIFOs, locks, states, shared memory. */
unsigned int rig_left(char *text, size_t size);
