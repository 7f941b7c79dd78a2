/* stall_lib.h: two drivers at 1 kHz on one controller, a bus that stops and comes back, and what the other side of the
 * wire saw of it.
 *
 *	stall_begin(&bus, STALL_RESETS);	(both run, and have been heard)
 *	...					(stop the bus)
 *	stall_broke();
 *	stall_for(1000000000);
 *	stall_until_reset();
 *	stall_back();
 *	...					(let it go on)
 *	stall_until_heard(20);
 *	stall_end();				(both have ended, with nothing left under way)
 *	stall_check(0, 0);
 *
 * A driver is a process (stall_driver.c) that puts a reference each millisecond and, while the bus is not proven, now
 * and then a question that is harmless.  Each frame carries the time at which it was put, so that the trace, a listener
 * on the other side of the wire (stall_trace.c), knows how old it was.  The owner of the link reads the states that the
 * drivers publish, resets the link when it is stalled and restarts it from bus-off.
 *
 * A reference is stale if it was on the wire later than its deadline allows.  It is the wire's time that counts, never
 * ours: a driver that is late puts a late reference, which is as fresh as any.
 */
#pragma once

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

#include "can/bus/bus.h"
#include "can/slots/slots.h"
#include "test/lib/lib.h"

#define STALL_DRIVERS 2
#define STALL_PERIOD_NS 1000000
#define STALL_QUESTION_NS 10000000 /* between two of them, and their deadline */

struct stall_bus {
	const char *near;     /* what the drivers open and the owner resets: wire:torso, can0 */
	const char *far;      /* what the trace opens: wire:torso@device, can1 */
	int64_t deadline_ns;  /* of a reference */
	bool exact;	      /* stamps are of the wire itself, or of a clock that stands while the machine is late */
	bool (*purged)(void); /* did the bus drop what it held, without a reset?  NULL: it never does */
};

/* ---- what a driver publishes, in memory that all share ---- */

enum stall_row { STALL_REFERENCE, STALL_QUESTION, STALL_ROWS };

struct stall_said {
	int64_t turn_ns;
	enum slots_state state;
	int64_t since_ns; /* of the state */
	enum bus_state link;
	int64_t confirmed_ns, received_ns; /* on the bus */
	unsigned int waiting, in_flight;
	struct slots_counts counts;
	uint64_t put[STALL_ROWS], reported[STALL_ROWS]; /* reported: by slots_lost */
};

#define STALL_REFERENCES_MAX 100000

struct stall_driver {
	unsigned int index;
	const struct stall_bus *bus;
	int64_t start_ns; /* of which the times in frames count */
	struct lib_gate go;
	pid_t pid;
	bool dead;	   /* killed by stall_kill */
	_Atomic bool stop; /* put no more, and end when nothing is left under way */
	_Atomic bool done;
	_Atomic uint32_t said_n; /* the newest is said[said_n % 2]: after a kill one of them is whole */
	struct stall_said said[2];
	struct {
		int64_t put_ns;
		int64_t turn_ns; /* its longest turn: for that time the machine had the frame, not the slots */
	} references[STALL_REFERENCES_MAX + 1];
};

int stall_driver(void *driver); /* the process; lib_child */
void stall_driver_said(const struct stall_driver *driver, struct stall_said *said);

/* The data of a frame. */
struct stall_frame {
	unsigned int driver;
	enum stall_row row;
	uint32_t number; /* of the reference; of a question that of the reference before it */
	int64_t put_ns;
	int64_t t_ns; /* on the bus */
};
bool stall_frame_read(struct stall_frame *f, const struct bus_frame *got, int64_t start_ns);

/* ---- the run ---- */

#define STALL_RESETS 0x1     /* the owner resets a link that stands */
#define STALL_RESTARTS 0x2   /* restarts the link once every driver reports bus-off */
#define STALL_RESETS_OFF 0x4 /* or resets it */

void stall_begin(const struct stall_bus *bus, unsigned int owner);
void stall_end(void);
void stall_clean(void); /* in tearDown: whatever has become of the case */

void stall_broke(void);	  /* right after the bus was stopped */
void stall_unheard(void); /* by taking the far side its power: a frame that it has acknowledged it may not have heard */
void stall_back(void);	  /* right before it goes on */

/* All of these go on tracing and owning the link meanwhile, and fail the case when it does not happen. */
void stall_for(int64_t ns);
void stall_until(bool (*happened)(void), const char *what);
void stall_until_reset(void);			/* at least once since it broke, and all drivers know */
void stall_until_full(void);			/* every driver has two frames in flight */
void stall_until_state(enum slots_state state); /* every driver is in it, and the bus broken */
void stall_until_heard(unsigned int n); /* so many references of every driver since it is back, none of them stale */

void stall_kill(unsigned int driver); /* -9 */

unsigned int stall_resets(void), stall_restarts(void);
unsigned int stall_stale(unsigned int driver); /* references on the wire, of that driver */

/* Once it has ended: so many stale references of each driver were on the wire; each frame put was seen, replaced,
 * expired or lost, and what was seen late is what the driver counted late; references came in order, each the newest
 * of its time; the first after the stall, stale ones apart, was fresh. */
void stall_check(unsigned int stale_min, unsigned int stale_max);

/* ---- between stall_lib.c and stall_trace.c ---- */

extern struct stall_run {
	struct stall_bus bus;
	struct stall_driver *drivers;
	struct bus *far;
	int64_t start_ns, broke_ns, back_ns, end_ns;
	unsigned int resets, restarts;
	uint64_t unheard; /* at most */
} stall_run;

unsigned int stall_living(struct stall_said said[STALL_DRIVERS]); /* what they say, and how many they are */

void stall_trace_begin(void);
void stall_trace_listen(int64_t until_ns);	     /* for what comes next */
void stall_trace_mark(void);			     /* the bus is back */
unsigned int stall_trace_fresh(unsigned int driver); /* references put since */
bool stall_trace_whole(void);			     /* all that was on the wire is in it */
void stall_trace_show(void);
