/* pciod_actuator.h: the life of a module: taking it over, halts, resets, homing, latches.
 *
 *	pciod_actuator_init(&a, &before, confirm_ns, now_ns);
 *	actions = pciod_actuator_word(&a, &word, asked_ns, t_ns);	the device says how it is
 *	actions = pciod_actuator_tick(&a, &goal);			once a tick: what to command
 *	if (actions & PCIOD_ACTUATOR_DO_HALT)
 *		...
 *	pciod_actuator_event(&a, PCIOD_ACTUATOR_ON_RESET_PUT, now_ns);	what became of it
 *
 * The states, and what follows from which event, are in pciod_actuator_table.c.  Here are the questions that the events
 * depend on: is it halted by this driver, or by another program; does our absence explain its fault; has it lost its
 * zero; has it confirmed what a person asked for.
 *
 * The driver knows the device: how a word is read, how a halt is sent, when a joint is verified.  A word counts for
 * what was done before it was asked for; of a device that reports by itself, asked_ns is when the frame was on the
 * wire.  After PCIOD_ACTUATOR_DO_TAKE_OVER, whichever function returns it, nothing that was known of the device holds.
 *
 * Pure.  Times are nanoseconds of CLOCK_MONOTONIC, and greater than 0.
 */
#pragma once

#include "daemons/pcio/pciod_actuator_table.h"

#define PCIOD_ACTUATOR_HALT_DEADLINE_NS 20000000 /* a halt that has not left by then is dropped */

/* How the device says it is. */
struct pciod_actuator_word {
	bool halted;	/* it does not move before a reset */
	bool fault;	/* of any kind */
	bool unfed;	/* among them: it was not fed, or heard nothing, for too long */
	bool excusable; /* unfed, and no other fault */
	bool homed;	/* it knows where it is */
	bool moving;
};

enum pciod_actuator_zero {
	PCIOD_ACTUATOR_ZERO_UNKNOWN,   /* no driver before has left a state: the first word decides */
	PCIOD_ACTUATOR_ZERO_NOT_HOMED, /* and need not be: it never was, or a person has asked for something else */
	PCIOD_ACTUATOR_ZERO_HOMED,
	PCIOD_ACTUATOR_ZERO_LOST, /* it was homed, and is not: it lost its power, and where it is */
};

struct pciod_actuator {
	enum pciod_actuator_state state;
	int64_t state_ns; /* since when */
	struct pciod_actuator_word word;
	int64_t asked_ns;		  /* when it was asked for */
	struct pciod_actuator_word found; /* the first one since it was taken over */
	int64_t confirm_ns;		  /* as given to pciod_actuator_init */

	enum pciod_actuator_zero zero;
	uint32_t latches;  /* enum msg_latch: what only a person ends */
	int64_t clear_ns;  /* when a person asked to end them; 0: none did, or a word has confirmed it */
	bool reset_asked;  /* by a person, and not done yet */
	bool reset_failed; /* the last one did not help, or was not answered */
	bool was_excused;  /* a fault that our absence explains was reset; the driver reports it, and sets this back */
	int64_t excuse_ns, excused_ns; /* our absence, which ended then; and that which the reset under way is for */
	int64_t ours_ns; /* a word that was asked for from then on and says halted is of our halt; 0: of another's */
	int64_t halt_ns; /* the last halt: when it was on the wire, as the driver says; until then at the latest */
	bool from_rest;	 /* commanded to stop, and not driven since: its ramp begins at velocity 0 */
	/* A joint that a new process found moving is braked while the process starts.  A reference that comes before
	 * this time takes it on with the velocity that it still has; 0: that is over. */
	int64_t take_on_ns;
};

struct pciod_actuator_before { /* state left by the previous driver process */
	bool known;	       /* the last word is */
	bool homed, halted_by_us;
	uint32_t latches; /* of all its joints */
};
/* confirm_ns: a reset that no word has confirmed for longer did not help. */
void pciod_actuator_init(struct pciod_actuator *a, const struct pciod_actuator_before *before, int64_t confirm_ns,
			 int64_t now_ns);

/* Something of the table happened.  Returns the actions, PCIOD_ACTUATOR_DO_. */
uint32_t pciod_actuator_event(struct pciod_actuator *a, enum pciod_actuator_event event, int64_t t_ns);
/* A word came. */
uint32_t pciod_actuator_word(struct pciod_actuator *a, const struct pciod_actuator_word *word, int64_t asked_ns,
			     int64_t t_ns);
/* It has not answered for too long. */
uint32_t pciod_actuator_silence(struct pciod_actuator *a, int64_t now_ns);
/* This driver was away long enough that an excusable fault is its own doing. */
void pciod_actuator_excuse(struct pciod_actuator *a, int64_t t_ns);

struct pciod_actuator_goal { /* of a tick */
	int64_t now_ns;
	bool halt;	 /* it has to be halted */
	bool resets;	 /* it may be reset if this driver halted it, or a fault is excused */
	bool resettable; /* the device is known well enough for that */
	bool stands;	 /* as measured */
	bool jumped;	 /* it is where it cannot have got to since it was last driven */
	bool drive;	 /* there is a command, and it may be driven */
	bool following;	 /* the command follows a reference */
};
/* from_rest is for drv_not_driven, as long as it is not driven. */
uint32_t pciod_actuator_tick(struct pciod_actuator *a, const struct pciod_actuator_goal *goal);

/* ---- how it is ---- */

bool pciod_actuator_silent(const struct pciod_actuator *a);
bool pciod_actuator_resetting(const struct pciod_actuator *a); /* or about to be, as a person has asked */
bool pciod_actuator_homing(const struct pciod_actuator *a);
bool pciod_actuator_lost(const struct pciod_actuator *a); /* where it is */
/* A reset is under way, or due as soon as one is allowed: its fault, or its halt, is not worth a word. */
bool pciod_actuator_explained(const struct pciod_actuator *a);

/* ---- latches ---- */

/* Once a tick, after everything was heard.  well: verified, and nothing is wrong that the table does not know of;
 * wrong: something is that a person has to look at. */
void pciod_actuator_latch(struct pciod_actuator *a, bool well, bool wrong);
/* A person asks to end what is latched: it ends when a word confirms it.  wrong: as above, cleared with it. */
void pciod_actuator_clear(struct pciod_actuator *a, bool wrong, int64_t now_ns);
bool pciod_actuator_clearable(const struct pciod_actuator *a); /* is there anything to clear? */
