/* test_drv_lib.h: the whole loop in one process, on the virtual clock, with a driver of the test's own.
 *
 *	drv_lib_frame(12, "181#0102");				a device says something 12 ms after the start
 *	drv_lib_at(3, arm);					in the third tick
 *	TEST_ASSERT_EQUAL(0, drv_lib_run(50, "--set safe=hold"));	50 ms, then its log is over
 *	drv_lib.states[...], fake.ticks[...]
 *
 * The driver ("faked", device "arm") plays a log; it has one joint, sends 201 (2 bytes) and 202 (8 bytes, keyed),
 * takes 181 (2 bytes, every 10 ms) and 182 (0 to 8 bytes).  What it does is said in fake; what was asked of it is
 * noted there.  With drv_lib_driver.no_bus it has neither joint nor frames: drv_lib_main runs it without a log.
 */
#pragma once

#include "daemons/drv/drv.h"

#define DRV_LIB_MS 1000000 /* ns */
#define DRV_LIB_TICK_NS 5000000
#define DRV_LIB_START_NS 1000000000000 /* when the virtual clock starts */

/* ---- the driver ---- */

enum { FAKE_LATEST, FAKE_QUEUE }; /* its rows */

struct fake_tick {
	struct drv_orders orders;
	struct drv_ref_command joint;
	int64_t ns;	  /* when */
	double ref_rad_s; /* of orders.ref, which is gone after the run; 0: there is none */
};

struct fake {
	/* what it does */
	unsigned int starts_wanted; /* so many calls of start; 1: the first is enough */
	bool completes;		    /* drv_complete in every start and tick */
	bool sends;		    /* a frame in every tick */
	uint32_t completing;	    /* rx of this identifier completes the sample */
	double position_rad, velocity_rad_s, current_a;
	int64_t sample_ns; /* what fill answers; 0: that of the last frame, and no age */
	int answer;	   /* to requests */
	const char *why;   /* with drv_why; NULL: none */
	unsigned int stops_wanted;
	int (*declare)(struct drv *drv, struct error_sink *errors); /* more to declare */

	/* what happened */
	struct drv *drv;
	unsigned int plans, starts, stops;
	struct fake_tick ticks[512]; /* of start, tick and stop */
	unsigned int ticks_n;
	struct bus_frame got[128];
	unsigned int rows[128]; /* that took them */
	unsigned int got_n;
	struct frame sent[128], lost[128];
	unsigned int sent_n, lost_n, sent_row, lost_row;
	struct msg_request requests[80];
	uint32_t handles[80]; /* theirs */
	unsigned int requests_n;
	unsigned int fills;
};
extern struct fake fake; /* as in setUp: up at the first start, completes */
extern struct drv_driver drv_lib_driver;

/* ---- a run ---- */

/* For setUp and tearDown: a prefix, a folder and a clock of one's own; everything as at first. */
void drv_lib_begin(void);
void drv_lib_end(void);

/* A frame of the log, as text: 123#0102.  In the order of time. */
void drv_lib_frame(double ms, const char *frame);
/* A function of one statement, for drv_lib_at and drv_lib_always. */
#define DRV_LIB_HOOK(name, ...) \
	static void name(void)  \
	{                       \
		__VA_ARGS__;    \
	}                       \
	_Static_assert(1, "takes the semicolon")
/* Called in the n-th tick (from 1), before the driver does anything else in it. */
void drv_lib_at(unsigned int tick, void (*what)(void));
/* In every tick. */
void drv_lib_always(void (*what)(void));
void drv_lib_forget(void); /* none of that any more, for a second run */

/* The driver's whole life on the log, which ends ms after its start (0: not before it is asked to): the exit status.
 * Arguments are words, ~ is a blank in one; --name arm, --bus log:FILE and lock_memory=no are added. */
int drv_lib_run(double ms, const char *arguments);
int drv_lib_main(const char *arguments); /* with nothing added but the program's name */
void drv_lib_stop(void);		 /* asks it to end */
/* For other command lines: the log, or another file in the folder; its path. */
const char *drv_lib_log(double ms);
const char *drv_lib_file(const char *name, const char *text);

struct drv_lib {
	char folder[64], prefix[32];
	char said[8192], printed[16384]; /* stderr and stdout of the last run */
	/* what was published, in order; of the last run and those before it */
	struct msg_joint_state states[600];
	unsigned int states_n;
	struct msg_joint_state first; /* that of tick 0, before them */
	unsigned int firsts_n;
	struct msg_event events[300];
	unsigned int events_n;
	struct msg_reply replies[200];
	unsigned int replies_n;
};
extern struct drv_lib drv_lib;

const struct msg_joint_state *drv_lib_last(void); /* but one: the last is that of the end */
bool drv_lib_reported(const char *code);	  /* is there such an event? */
const struct msg_event *drv_lib_event(const char *code);
unsigned int drv_lib_events(const char *code); /* how many */

/* ---- channels ---- */

const char *drv_lib_channel(const char *name); /* with the prefix */
/* Puts, making the channel if need be. */
void drv_lib_put(const char *name, const void *msg, size_t len);
/* The oldest message in it, which has to be a valid one of that type. */
void drv_lib_get(const char *name, void *msg, enum msg_number type);
void drv_lib_make(const char *name, size_t count, size_t size);
void drv_lib_remove(const char *name);
uint64_t drv_lib_seq(const char *name); /* of its newest message */
/* Makes nonsense of its index and its counters. */
void drv_lib_scribble(const char *name);

/* The e-stop. */
void drv_lib_raise(unsigned int channel, enum msg_level level); /* on one of them, 0 or 1 */
void drv_lib_arm(void);						/* a new epoch */
void drv_lib_estop(void);					/* on both */
void drv_lib_hold(void);

/* A reference for this incarnation, valid for ms. */
struct msg_joint_ref drv_lib_ref(enum msg_mode mode, double value, double ms);
void drv_lib_put_ref(enum msg_mode mode, double value, double ms);

void drv_lib_request(uint64_t id, enum msg_verb verb, const char *key, const char *value);
/* Its answers so far: how many. */
unsigned int drv_lib_answers(uint64_t id);
const struct msg_reply *drv_lib_answer(uint64_t id); /* the last of them */
