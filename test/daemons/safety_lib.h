/* safety_lib.h: a waist on a soft wire, with everything real but the hardware, for tests that look at the frames and
 * at the published state.
 *
 *	static void some_case(void)
 *	{
 *		safety_start(NULL, NULL);			canwire, robotsim, pciod; up, and disarmed
 *		safety_arm();
 *		safety_velocity(-0.3);				a controller that says so from now on
 *		SAFETY_UNTIL(safety_life() == MSG_LIFE_ACTIVE);
 *		...
 *	}
 *	int main(void)	{ ... SAFETY_TEST(some_case); ... }
 *
 * Each case has channels and processes of its own.  While it waits (SAFETY_UNTIL, safety_turn) everything is
 * recorded: what is on the wire with its wire time, every state, event and reply.  Waiting ends with what is waited
 * for; the time limit is there for what hangs.  Nothing is asserted on how long something took but in wire time and
 * ticks.
 *
 * The frames are decoded here by hand, from the page of the hardware, so that driver and test can disagree.
 *
 * A machine that holds somebody up for long makes a test wrong, not the driver.  So a case that failed, and in which
 * this process was held up, or the driver, or the wire, without the case's doing, is run again, twice at most.
 */
#ifndef TEST_SAFETY_LIB_H
#define TEST_SAFETY_LIB_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

#include "can/bus.h"
#include "channels/ach.h"
#include "channels/msg/msg.h"

#define SAFETY_MS ((int64_t)1000000)
#define SAFETY_TICK_S 0.005
#define SAFETY_VELOCITY 0.43	 /* rad/s, of the robot file */
#define SAFETY_ACCELERATION 1.74 /* rad/s^2 */
#define SAFETY_STEP (SAFETY_ACCELERATION * SAFETY_TICK_S)
#define SAFETY_MIN (-2.88) /* rad */
#define SAFETY_MAX 0.0
#define SAFETY_MARGIN (0.02 * (SAFETY_MAX - SAFETY_MIN))
#define SAFETY_START_RAD (-1.44) /* where the joint stands at first */
#define SAFETY_VALID_NS (180 * SAFETY_MS)
#define SAFETY_ROUNDING 1e-6 /* singles on the wire */
#define SAFETY_MEASURED 5e-4 /* rad/s: a ramp in another mode begins at what is measured, not at what was told */

/* ---- the record ---- */

#define SAFETY_FRAMES_MAX 60000
#define SAFETY_STATES_MAX 6000
#define SAFETY_EVENTS_MAX 300
#define SAFETY_REPLIES_MAX 50

struct safety {
	char prefix[32], file[512];
	pid_t wire, sim, clock, driver;
	char driver_said[2048]; /* by one that ended */
	int driver_status;	/* as of waitpid */

	struct bus *ear; /* a controller of its own */
	struct bus_frame frames[SAFETY_FRAMES_MAX];
	unsigned int frames_n;
	struct msg_joint_state states[SAFETY_STATES_MAX];
	unsigned int states_n;
	struct msg_event events[SAFETY_EVENTS_MAX];
	unsigned int events_n;
	struct msg_reply replies[SAFETY_REPLIES_MAX];
	unsigned int replies_n;

	ach_channel_t state_channel, event_channel, reply_channel, ref_channel;

	/* the controller */
	bool referring;
	struct msg_joint_ref ref; /* what it says, but for the times */
	int64_t ref_ns;		  /* when it last did */

	uint64_t epoch; /* of the last arming */
	char said[8192];
	bool bus_breaks; /* the case breaks the bus: no sign of a machine that holds everybody up */
	bool held_up;
};
extern struct safety safety;

/* ---- cases ---- */

#define SAFETY_TEST(body) safety_test(body, #body, __LINE__)
void safety_test(void (*body)(void), const char *name, int line);
void safety_clean(void); /* at the end of main */

/* ---- processes ---- */

#define SAFETY_SETTINGS "module_watchdog: 10s, silent_after: 2s, tick: 5ms"
#define SAFETY_SIM "watchdog: 10s"
/* Settings of pciod and of the simulator, as in a robot file; NULL: those above, with which nothing happens by itself
 * however slow the machine is.  With clock/ in the settings hubo-daemon runs, too. */
void safety_bench(const char *settings, const char *sim); /* all but the driver */
void safety_driver(void);				  /* until it has published */
void safety_start(const char *settings, const char *sim); /* both, until it is disarmed */
/* Starts a second one with these arguments and waits for its end: its exit status; what it said is in safety.said. */
int safety_second(const char *arguments);
/* And waits until it is gone, and what it had handed over was on the wire: safety.driver_status. */
void safety_end_driver(int signal);
void safety_stop_driver(void); /* SIGSTOP, and waits until it has stopped */
void safety_go_on(void);       /* SIGCONT */
bool safety_driver_lives(void);
void safety_kill_wire(void);
void safety_start_wire(void);

/* ---- waiting ---- */

/* Records, and lets the controller speak, for a millisecond at most. */
void safety_turn(void);
#define SAFETY_UNTIL(condition)                                                              \
	do {                                                                                 \
		for (safety_wait_begin(); !(condition); safety_wait(#condition, __LINE__)) { \
		}                                                                            \
	} while (0)
void safety_wait_begin(void);
void safety_wait(const char *condition, int line);
void safety_ticks(unsigned int n); /* that many more of the driver */

/* ---- state, as published ---- */

const struct msg_joint_state *safety_state(void); /* the newest; fails when there is none */
enum msg_life safety_life(void);
double safety_position(void);
bool safety_told(const char *code, const char *words); /* an event, with these words in it */
/* A tick that publishes later than this was decided after t_ns: the time at which a state was published that is
 * complete, and so has everything of its own tick on the wire.  Waits for it. */
int64_t safety_decided_after(int64_t t_ns);
/* One state per tick from the first one on, and one tick for each number. */
void safety_check_rate(unsigned int first_state);

/* ---- channels ---- */

const char *safety_channel(const char *name);
void safety_put(const char *name, const void *msg, size_t len);
uint64_t safety_seq(const char *name); /* of its newest message */

void safety_raise(enum msg_level level); /* on both */
void safety_arm(void);			 /* a new epoch, and waits until it is obeyed and no longer disarmed */
void safety_lower(void);		 /* without the waiting */

void safety_velocity(double rad_s);
void safety_position_to(double rad);
void safety_quiet(void); /* the controller says nothing more */
struct msg_joint_ref safety_ref(void);
void safety_put_ref(struct msg_joint_ref *ref); /* once, valid for SAFETY_VALID_NS */

uint64_t safety_request(enum msg_verb verb, const char *key);
void safety_clear(void); /* the request clear, and waits until it is done and nothing is latched */
const struct msg_reply *safety_reply(uint64_t id); /* NULL: not yet */

/* ---- robotsim, canwire ---- */

void safety_sim(const char *question); /* "fault waist.15 silent" */
double safety_sim_number(const char *key);
bool safety_sim_has(const char *word);	       /* a bit of the state word */
const char *safety_wire(const char *question); /* "fault stuck 1s", "link down host": its answer */

/* ---- frames ---- */

enum safety_kind { SAFETY_OTHER, SAFETY_MOVE, SAFETY_HALT, SAFETY_RESET, SAFETY_HOME, SAFETY_SET, SAFETY_FEED };
enum safety_kind safety_kind(const struct frame *frame);
double safety_value(const struct frame *move); /* its velocity */
/* Frames of a kind, later than from_ns. */
unsigned int safety_count(enum safety_kind kind, int64_t from_ns);
const struct bus_frame *safety_first(enum safety_kind kind, int64_t from_ns); /* NULL: none */
const struct bus_frame *safety_last(enum safety_kind kind);
/* Velocities of the moves later than from_ns, until to_ns: how many. */
unsigned int safety_moves(int64_t from_ns, int64_t to_ns, double *velocity, unsigned int max);
/* All moves of that time keep the velocity limit, and from one to the next (the first one from before) the
 * acceleration limit; they may become slower by braking, rad/s. */
void safety_check_ramp(int64_t from_ns, int64_t to_ns, double before, double braking);
/* The moves later than from_ns: each is slower than the one before, until 0, and it stays there. */
void safety_check_braking(int64_t from_ns, double before);
double safety_velocity_at(int64_t t_ns);  /* the last one on the wire until then; NaN: there was none */
double safety_commanded(int64_t from_ns); /* the last one, if it is later than that; else NaN */

#endif
