/* pciod_actuator_table.h: the life of an actuator: one table, state x event.
 *
 *	const struct pciod_actuator_row *row = pciod_actuator_row(state, event);	NULL: nothing changes
 *	state = row->next;
 *
 * With no trouble and no request:
 *
 *	unknown --WORD_FREE--> free --DRIVE--> driven
 *
 * A joint found moving is commanded to velocity 0 (stopping); a standing joint is left alone.  A reference that a new
 * process finds soon enough (take_on_ns) takes the joint on with the velocity that is measured then.  A joint that is
 * halted, or has a fault, is blocked: it is reset if this driver halted it, if the absence of this driver explains the
 * fault, or if a person asks.
 *
 * The table holds what was done and what is waited for; pciod_actuator.c makes events of measurements, times and the
 * driver's goals.  Pure.
 */
#pragma once

#include "config/base/base.h"

/* S(NAME, "name"), E(NAME, "name") */
#define PCIOD_ACTUATOR_STATES(S)                                                                   \
	S(SILENT, "silent")		  /* does not answer */                                    \
	S(SILENT_MOVING, "silent-moving") /* and was driven, or moved, when it was last heard */   \
	S(UNKNOWN, "unknown")		  /* answers; its state word has not come */               \
	S(FREE, "free")			  /* left alone */                                         \
	S(STOPPING, "stopping")		  /* velocity 0 until it may be driven */                  \
	S(DRIVEN, "driven")		  /* follows what the loop commands */                     \
	S(BLOCKED, "blocked")		  /* halt sent, halted, or in fault */                     \
	S(RESET_WANTED, "reset-wanted")	  /* the reset has not found room yet */                   \
	S(RESET_PUT, "reset-put")	  /* it waits for the bus */                               \
	S(RESET_SENT, "reset-sent")	  /* it was on the wire; the answer is waited for */       \
	S(RESET_CHECK, "reset-check")	  /* answered; the state word has to confirm it */         \
	S(HOME_WANTED, "home-wanted")	  /* the home command has not found room yet */            \
	S(HOME_PUT, "home-put")		  /* it may have left; the answer is waited for */         \
	S(HOME_BEGINS, "home-begins")	  /* answered; no motion seen yet */                       \
	S(HOME_RUNS, "home-runs")	  /* it moves, or is not homed */                          \
	S(HOME_STILL, "home-still")	  /* homed and standing; it may move once more, to zero */ \
	S(HOME_DONE, "home-done")	  /* until END_HOME */                                     \
	S(HOME_FAILED, "home-failed")	  /* no answer to the home command; until END_HOME */

#define PCIOD_ACTUATOR_EVENTS(E)                                                                       \
	/* in a tick, one of: */                                                                       \
	E(WAIT, "wait")			    /* silent or unknown, and need not be halted */            \
	E(HALT, "halt")			    /* it has to be halted, and is not, as far as known */     \
	E(KEEP, "keep")			    /* it has to be halted, and is */                          \
	E(RESET, "reset")		    /* it is halted or in fault, and a reset is allowed */     \
	E(FREED, "freed")		    /* a reset is allowed, but the state word says free */     \
	E(STAY, "stay")			    /* halted or in fault, and to be left so */                \
	E(REST, "rest")			    /* free and standing; there is nothing to drive it with */ \
	E(BRAKE, "brake")		    /* the same, but it moves */                               \
	E(DRIVE, "drive")		    /* free, verified and commanded */                         \
	E(DRIVE_MOVING, "drive-moving")	    /* the same, but it moves, and no reference is followed */ \
	E(JUMPED, "jumped")		    /* driven, it is where it cannot have got to */            \
	E(JUMPED_MOVING, "jumped-moving")   /* and moves */                                            \
	E(SILENCE, "silence")		    /* asked, and not heard for silent_after */                \
	E(SILENCE_MOVING, "silence-moving") /* and it moved */                                         \
	E(UNCONFIRMED, "unconfirmed")	    /* the state word does not confirm the reset in time */    \
	/* when something was put, sent, lost or heard: */                                             \
	E(HEARD, "heard")                                                                              \
	E(RESET_PUT, "reset-put")                                                                      \
	E(RESET_SENT, "reset-sent")                                                                    \
	E(RESET_ANSWERED, "reset-answered") /* or sent so late that the answer does not count */       \
	E(RESET_LOST, "reset-lost")	    /* it did not leave, as far as known */                    \
	E(RESET_UNANSWERED, "reset-unanswered")                                                        \
	E(HOME_PUT, "home-put")                                                                        \
	E(HOME_ANSWERED, "home-answered")                                                              \
	E(HOME_UNANSWERED, "home-unanswered")                                                          \
	E(POWER_LOST, "power-lost")	    /* the state word: it was homed, and is not any more */    \
	E(WORD_BLOCKED, "word-blocked")	    /* the state word: halted, or a fault */                   \
	E(WORD_FREE, "word-free")	    /* neither; it moves, or is not homed */                   \
	E(WORD_HOME, "word-home")	    /* neither; homed and standing */                          \
	E(WORD_HOME_LONG, "word-home-long") /* the same, and long enough in its state to count */      \
	/* asked for: */                                                                               \
	E(HOME, "home")                                                                                \
	E(END_HOME, "end-home")

#define PCIOD_ACTUATOR_STATE_INDEX(NAME, name) PCIOD_ACTUATOR_##NAME,
enum pciod_actuator_state { PCIOD_ACTUATOR_STATES(PCIOD_ACTUATOR_STATE_INDEX) PCIOD_ACTUATOR_N };
#define PCIOD_ACTUATOR_EVENT_INDEX(NAME, name) PCIOD_ACTUATOR_ON_##NAME,
enum pciod_actuator_event { PCIOD_ACTUATOR_EVENTS(PCIOD_ACTUATOR_EVENT_INDEX) PCIOD_ACTUATOR_ON_N };

/* What to do, as a set. */
enum pciod_actuator_action {
	PCIOD_ACTUATOR_DO_HALT = 0x001,
	PCIOD_ACTUATOR_DO_STAND = 0x002, /* velocity 0, without waiting for an answer */
	PCIOD_ACTUATOR_DO_BRAKE = 0x004, /* velocity 0 */
	PCIOD_ACTUATOR_DO_DRIVE = 0x008, /* what the loop commands */
	PCIOD_ACTUATOR_DO_RESET = 0x010, /* unless an answer to the last one is still owed; so for home */
	PCIOD_ACTUATOR_DO_HOME = 0x020,
	PCIOD_ACTUATOR_DO_TAKE_OVER = 0x040,   /* forget what is known of it, and ask again */
	PCIOD_ACTUATOR_DO_EXCUSE = 0x080,      /* a fault that is explained is being reset: the excuse is used */
	PCIOD_ACTUATOR_DO_GIVE_BACK = 0x100,   /* it was not used after all */
	PCIOD_ACTUATOR_DO_FAIL_RESET = 0x200,  /* the reset did not help; only a person may ask for another */
	PCIOD_ACTUATOR_DO_END_RESET = 0x400,   /* the reset helped: it is not halted by this driver any more */
	PCIOD_ACTUATOR_DO_DROP_RESET = 0x800,  /* it was not needed */
	PCIOD_ACTUATOR_DO_LATCH_HOME = 0x1000, /* homing was begun, and not completed */
	PCIOD_ACTUATOR_DO_END_HOME = 0x2000,   /* it has a zero again */
};

struct pciod_actuator_row {
	uint32_t in; /* bits of enum pciod_actuator_state */
	uint32_t on; /* bits of enum pciod_actuator_event */
	enum pciod_actuator_state next;
	uint32_t actions; /* enum pciod_actuator_action */
};
#define PCIOD_ACTUATOR_SAME PCIOD_ACTUATOR_N

extern const struct pciod_actuator_row pciod_actuator_rows[];
extern const unsigned int pciod_actuator_rows_n;

const struct pciod_actuator_row *pciod_actuator_row(enum pciod_actuator_state state,
						    enum pciod_actuator_event event); /* NULL: there is none */

/* Bits of enum pciod_actuator_state. */
extern const uint32_t pciod_actuator_silent_states, pciod_actuator_reset_states, pciod_actuator_home_states;
