/* pciod_life.h: the life of a module: one table, state x event.
 *
 *	const struct pciod_row *row = pciod_life_row(state, event);	NULL: nothing changes
 *	state = row->next;
 *
 * With no trouble and no request:
 *
 *	unknown --WORD_FREE--> free --DRIVE--> driven
 *
 * A module that moves when it is found is told velocity 0 (stopping); one that stands is left alone.  A module that is
 * halted, or has a fault, is blocked: it is reset if this driver halted it, if this driver's absence explains the
 * fault, or if a person asks.
 *
 * The table holds what was done and what is waited for.  Measured values, times, and how far the verification got are
 * in struct pciod_module; pciod_module.c makes events of them and carries out the actions.  Pure.
 */
#ifndef PCIOD_LIFE_H
#define PCIOD_LIFE_H

#include <stdbool.h>
#include <stdint.h>

/* S(NAME, "name"), E(NAME, "name") */
#define PCIOD_LIVES(S)                                                                             \
	S(SILENT, "silent")		  /* does not answer */                                    \
	S(SILENT_MOVING, "silent-moving") /* and was driven, or moved, when it was last heard */   \
	S(UNKNOWN, "unknown")		  /* answers; its state word has not come */               \
	S(FREE, "free")			  /* left alone */                                         \
	S(STOPPING, "stopping")		  /* told velocity 0, until it may be driven */            \
	S(DRIVEN, "driven")		  /* follows what the loop commands */                     \
	S(BLOCKED, "blocked")		  /* told to halt, halted, or in fault */                  \
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

#define PCIOD_EVENTS(E)                                                                                \
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

#define PCIOD_LIFE_INDEX(NAME, name) PCIOD_LIFE_##NAME,
enum pciod_life { PCIOD_LIVES(PCIOD_LIFE_INDEX) PCIOD_LIFE_N };
#define PCIOD_EVENT_INDEX(NAME, name) PCIOD_EVENT_##NAME,
enum pciod_event { PCIOD_EVENTS(PCIOD_EVENT_INDEX) PCIOD_EVENT_N };

/* What to do, as a set. */
enum pciod_act {
	PCIOD_ACT_HALT = 0x001,
	PCIOD_ACT_STAND = 0x002, /* velocity 0, without waiting for an answer */
	PCIOD_ACT_BRAKE = 0x004, /* velocity 0 */
	PCIOD_ACT_DRIVE = 0x008, /* what the loop commands */
	PCIOD_ACT_RESET = 0x010, /* unless an answer to the last one is still owed; so for home */
	PCIOD_ACT_HOME = 0x020,
	PCIOD_ACT_TAKE_OVER = 0x040,   /* forget what is known of it, and ask again */
	PCIOD_ACT_EXCUSE = 0x080,      /* a comm-error that is explained is being reset: that excuse is used */
	PCIOD_ACT_GIVE_BACK = 0x100,   /* it was not used after all */
	PCIOD_ACT_FAIL_RESET = 0x200,  /* the reset did not help; only a person may ask for another */
	PCIOD_ACT_END_RESET = 0x400,   /* the reset helped: it is not halted by this driver any more */
	PCIOD_ACT_DROP_RESET = 0x800,  /* it was not needed */
	PCIOD_ACT_LATCH_HOME = 0x1000, /* homing was begun, and not completed */
	PCIOD_ACT_END_HOME = 0x2000,   /* it has a zero again */
};

struct pciod_row {
	uint32_t in; /* bits of enum pciod_life */
	uint32_t on; /* bits of enum pciod_event */
	enum pciod_life next;
	uint32_t actions; /* enum pciod_act */
	const char *why;
};
#define PCIOD_LIFE_SAME PCIOD_LIFE_N

extern const struct pciod_row pciod_life_rows[];
extern const unsigned int pciod_life_rows_n;

const struct pciod_row *pciod_life_row(enum pciod_life life, enum pciod_event event); /* NULL: there is none */

bool pciod_life_silent(enum pciod_life life);
bool pciod_life_resets(enum pciod_life life);
bool pciod_life_homes(enum pciod_life life);

const char *pciod_life_name(enum pciod_life life);
const char *pciod_event_name(enum pciod_event event);

#endif
