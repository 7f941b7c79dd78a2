/* safety_lib.h: cases that hold for every actuator.  Driver, simulator and wire are the real programs; the cases look
 * at the frames on the wire and at the published state.
 *
 *	TEST_NEEDS(some_case, SAFETY_HOMES)			for actuators that home
 *	{
 *		safety_start(NULL);				canwire, robotsim, driver; up, and disarmed
 *		safety_arm();
 *		safety_velocity(-SAFETY_CRUISE);		a controller sends this reference from now on
 *		SAFETY_UNTIL(safety_life() == MSG_LIFE_ACTIVE);
 *		...
 *	}
 *	int main(int argc, char **argv)	{ return safety_main(argc, argv); }
 *
 * An actuator is one struct safety_actuator in a file of its own, safety_PROGRAM.c.  Each test program runs its cases
 * for all actuators, one process for each, at the same time; test_safety_estop exampled [CASE] runs one of them.  A
 * case that needs something that an actuator lacks is skipped for it, and the output says why.
 *
 * Each case has channels and processes of its own.  While it waits (SAFETY_UNTIL, safety_turn) everything is
 * recorded: what is on the wire with its wire time, every state, event and reply.  Waiting ends with what is waited
 * for; the time limit is there for what hangs.  Nothing is asserted on how long something took but in wire time and
 * ticks.
 *
 * The frames are decoded here by hand, from the page of the hardware, so that driver and test can disagree.
 *
 * They run on a virtual clock (virtual_lib.h), so that a busy machine changes nothing; a case that stops a process
 * between two of its instructions runs in real time (SAFETY_REAL_TIME).
 *
 *	safety_suite.c	runs cases
 *	safety_lib.c	processes, the record, waiting
 *	safety_talk.c	what a case says to driver, simulator and wire
 *	safety_seen.c	what the frames and the states tell
 */
#pragma once

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

#include "can/bus/bus.h"
#include "channels/ach/ach.h"
#include "channels/msg/msg.h"
#include "test/lib/testcase.h"

#define SAFETY_MS ((int64_t)1000000)
#define SAFETY_TICK_S 0.005
#define SAFETY_VALID_NS (180 * SAFETY_MS)
#define SAFETY_DEVICE "waist" /* the name of any actuator in the robot file */

/* ---- actuators ---- */

enum safety_kind { SAFETY_OTHER, SAFETY_MOVE, SAFETY_HALT, SAFETY_RESET, SAFETY_HOME, SAFETY_SET, SAFETY_FEED };

/* What an actuator has, and a case needs. */
enum safety_has {
	SAFETY_VELOCITIES = 1 << 0, /* it takes references of velocity */
	SAFETY_POSITIONS = 1 << 1,  /* and of position */
	SAFETY_HALTS = 1 << 2,	    /* it is stopped by a halt frame, and reset before it moves again */
	SAFETY_TRIPS = 1 << 3,	    /* when its watchdog expires it halts with a fault */
	SAFETY_HOMES = 1 << 4,
	SAFETY_LOSES_POWER = 1 << 5,	  /* and with it its position, which the driver latches */
	SAFETY_HALTED_BY_OTHERS = 1 << 6, /* it reports a halt that the driver did not send */
	SAFETY_FAULTS = 1 << 7,		  /* it has faults that wait for a person */
	SAFETY_ON_ESTOP = 1 << 8,	  /* the driver has the setting on_estop */
	SAFETY_CARELESS = 1 << 9,	  /* there is a variant of the driver that ignores its orders */

	SAFETY_REAL_TIME = 1 << 10, /* not of an actuator: the case does not run on the virtual clock */
};

struct safety_event {
	const char *code, *words;
};

/* What the device itself says on the wire, and when. */
struct safety_reading {
	int64_t t_ns;
	double position_rad, velocity_rad_s;
};

struct safety_actuator {
	const char *program;  /* the driver; with $SAFETY_DRVHOST drvhost runs its shared object */
	const char *careless; /* the variant of it, below $BUILD */
	unsigned int has;     /* set of enum safety_has */

	/* Its device in the robot file.  The joint can go 1.4 rad from where it starts in both directions. */
	const char *settings;	       /* of the driver, in every case */
	const char *watchdog, *silent; /* settings of the driver, with %d for ms; NULL: they cannot be set */
	const char *sim, *sim_watchdog, *sim_absent;
	const char *limits; /* beside those of position, velocity and acceleration */
	double min_rad, max_rad, velocity_rad_s, acceleration_rad_s2, start_rad, margin_rad;
	const char *second[3]; /* command lines of other drivers that would send the same identifiers */

	/* The simulated device: its name, and the words of robotsim for what happens to it. */
	const char *unit;
	const char *fault_silent, *fault_waits, *fault_watchdog, *fault_needs_power, *fault_halted;
	const char *word_halted, *word_brake, *word_tripped; /* bits of its state word */
	const char *forgets[4];		 /* questions after which it looks as if it never had a fault */
	const char *sim_homes_elsewhere; /* homing gives it another position */
	const char *sim_boots_fast, *sim_not_homed;
	struct safety_event event_silent, event_waits, event_watchdog, event_power, event_absent, event_found_moving,
		event_reset;
	void (*check_set_up)(void); /* after its power came back; NULL: it has no set-up */

	/* Frames. */
	struct bus_filter filters[2]; /* that it is commanded with */
	size_t filters_n;
	enum safety_kind (*kind)(const struct frame *frame);
	double (*value)(const struct frame *move); /* rad/s */
	double resolution_rad_s;		   /* of a move */

	/* Without a driver: it stands within this time and way, as its page says with this watchdog. */
	struct bus_filter answers;
	void (*observe)(struct bus *probe, struct safety_reading *seen);
	int watchdog_ms;
	int64_t rests_ns;
	double rests_rad, brakes_rad_s2;
};

extern const struct safety_actuator *const safety_actuators[]; /* all, as make finds them; end with NULL */
extern const struct safety_actuator *safety_on;		       /* the one that the cases run for */
static inline bool safety_has(unsigned int what)
{
	return (safety_on->has & what) == what;
}

#define SAFETY_VELOCITY (safety_on->velocity_rad_s)
#define SAFETY_ACCELERATION (safety_on->acceleration_rad_s2)
#define SAFETY_STEP (SAFETY_ACCELERATION * SAFETY_TICK_S)
#define SAFETY_MIN (safety_on->min_rad)
#define SAFETY_MAX (safety_on->max_rad)
#define SAFETY_MARGIN (safety_on->margin_rad)	/* within the limits of position */
#define SAFETY_START_RAD (safety_on->start_rad) /* where the joint stands at first */
#define SAFETY_CRUISE (0.5 * SAFETY_VELOCITY)
#define SAFETY_FAST (0.9 * SAFETY_VELOCITY)
#define SAFETY_ROUNDING (safety_on->resolution_rad_s)
/* A ramp in another mode begins at the measured value, not at the commanded one. */
#define SAFETY_MEASURED (5e-4 + SAFETY_ROUNDING)

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
	int64_t ref_every_ns;
};
extern struct safety safety;

/* ---- cases ---- */

extern const struct testcase *safety_case; /* that runs */

/* Runs the cases and returns the exit status of the program. */
int safety_main(int argc, char **argv);
void safety_begin(void); /* a case with nothing recorded yet */
void safety_end(void);	 /* its processes and channels */

/* ---- processes ---- */

/* Beside what its table says.  With a time of 0 nothing happens by itself however slow the machine is, if the actuator
 * can be set so. */
struct safety_set {
	int watchdog_ms, silent_ms;
	const char *tick; /* NULL: 5ms; with clock/ hubo-daemon runs, too */
	const char *settings, *sim;
	double at_rad; /* 0: where it starts */
};
void safety_bench(const struct safety_set *set); /* all but the driver */
void safety_driver(void);			 /* until it has published */
void safety_careless_driver(void);		 /* the same of the variant that ignores its orders */
void safety_start(const struct safety_set *set); /* both, until it is disarmed */
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
bool safety_reported(const char *code, const char *words); /* an event, with these words in it */
bool safety_said(struct safety_event event);		   /* the same; true if the actuator has no such event */
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

void safety_sim(const char *question); /* "set waist.15 boot=5ms" */
void safety_fault(const char *words);  /* "silent", "silent clear" */
double safety_sim_number(const char *key);
bool safety_sim_has(const char *word);	       /* a bit of the state word; NULL: true, it has none */
double safety_sim_speed(void);		       /* rad/s, without its sign */
double safety_trips(void);		       /* of its watchdog; 0 for one that does not count them */
const char *safety_wire(const char *question); /* "fault stuck 1s", "link down host": its answer */

/* ---- frames ---- */

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
double safety_velocity_at(int64_t t_ns);	    /* the last one on the wire until then; NaN: there was none */
double safety_commanded(int64_t from_ns);	    /* the last one, if it is later than that; else NaN */
bool safety_reached(double rad_s, int64_t from_ns); /* is the last one this, and later than that? */
/* Moves later than from_ns that set a device in motion: other than 0, and all if it is stopped by a halt. */
unsigned int safety_motions(int64_t from_ns);
/* The first frame later than from_ns that stops the device: a halt, or for one without it velocity 0.  NULL: none. */
const struct bus_frame *safety_stop_frame(int64_t from_ns);
/* It was reset so often, if it is one that needs a reset to go on; and else never. */
void safety_check_resets(unsigned int n, int64_t from_ns);
/* No move later than from_ns is faster than this. */
void safety_check_still(int64_t from_ns, double rad_s);
