/* pciod_module.h: the life of one module, from the first question to the last halt.
 *
 *	pciod_module_tick(&m, &rules, &wish, &deed);	once a tick: what to put and what to ask
 *	pciod_module_reply(&m, &rules, &reply);		each frame from it
 *	pciod_module_trouble(&m, &rules, code, text)	what is wrong with it, in words
 *
 * Take-over	asking		state, position, velocity and current: nothing else is known of it
 *		verifying	version, serial, config (written if it differs, and read back), limits
 *		up		it may be driven
 * Meanwhile a module that moves is told velocity 0, and one that stands is left alone.  A module that was silent
 * begins again.  Faults that its driver's absence explains are reset once, others wait for a person
 * (pciod_module_clear).
 *
 * Pure: times, frames and wishes are arguments.
 */
#ifndef PCIOD_MODULE_H
#define PCIOD_MODULE_H

#include <stdbool.h>
#include <stdint.h>

#include "daemons/drv.h"
#include "daemons/pcio/pcio.h"
#include "daemons/pcio/pciod_ask.h"
#include "daemons/pcio/pciod_drive.h"

/* ---- what is asked ---- */

/* Q(NAME, command, parameter or motion): one at a time of each; the first four make a sample */
#define PCIOD_QUESTIONS(Q)                              \
	Q(STATE, GET, PCIO_STATE)                       \
	Q(POSITION, GET, PCIO_ACTUAL_POSITION)          \
	Q(VELOCITY, GET, PCIO_ACTUAL_VELOCITY)          \
	Q(CURRENT, GET, PCIO_ACTUAL_CURRENT)            \
	Q(CONFIG, GET, PCIO_CONFIG)                     \
	Q(VERSION, GET, PCIO_VERSION)                   \
	Q(SERIAL, GET, PCIO_SERIAL)                     \
	Q(MIN_POSITION, GET, PCIO_MIN_POSITION)         \
	Q(MAX_POSITION, GET, PCIO_MAX_POSITION)         \
	Q(MAX_VELOCITY, GET, PCIO_MAX_VELOCITY)         \
	Q(MAX_ACCELERATION, GET, PCIO_MAX_ACCELERATION) \
	Q(MAX_CURRENT, GET, PCIO_MAX_CURRENT)           \
	Q(HOME_OFFSET, GET, PCIO_HOME_OFFSET)           \
	Q(HOME_OFFSET_89, GET, PCIO_HOME_OFFSET_89)     \
	Q(SET_CONFIG, SET, PCIO_CONFIG)                 \
	Q(RESET, RESET, 0)                              \
	Q(HOME, HOME, 0)                                \
	Q(MOVE_VELOCITY, MOVE, PCIO_VELOCITY_STATE)     \
	Q(MOVE_CURRENT, MOVE, PCIO_CURRENT_STATE)

#define PCIOD_QUESTION_INDEX(NAME, command, parameter) PCIOD_Q_##NAME,
enum pciod_question { PCIOD_QUESTIONS(PCIOD_QUESTION_INDEX) PCIOD_Q_N };
#define PCIOD_QUESTION_BIT(NAME, command, parameter) PCIOD_Q_BIT_##NAME = 1u << PCIOD_Q_##NAME,
enum { PCIOD_QUESTIONS(PCIOD_QUESTION_BIT) };

#define PCIOD_SAMPLE (PCIOD_Q_BIT_STATE | PCIOD_Q_BIT_POSITION | PCIOD_Q_BIT_VELOCITY | PCIOD_Q_BIT_CURRENT)
#define PCIOD_SAMPLES 4
#define PCIOD_HALT_DEADLINE_NS 20000000 /* what has not left by then leaves no more */
#define PCIOD_GETS (PCIOD_Q_BIT_SET_CONFIG - 1)

struct pciod_question_row {
	uint8_t command;   /* enum pcio_command */
	uint8_t parameter; /* or motion */
};
extern const struct pciod_question_row pciod_questions[PCIOD_Q_N];
/* Which of them a frame to or from a module is about; PCIOD_Q_N: none, its replies are not waited for. */
enum pciod_question pciod_question(const struct frame *frame);

/* ---- rules, the same for all modules of a driver ---- */

struct pciod_rules {
	struct pciod_ask_times times;
	int64_t silent_after_ns;
	int64_t watchdog_ns; /* the module's */
	int64_t ack_ok;
	int64_t home_offset_id;
	bool sync_motion, full_current;
	double margin; /* share of the position range kept away from either end */
	double gain_s;
};

/* ---- a module ---- */

enum pciod_phase { PCIOD_ASKING, PCIOD_VERIFYING, PCIOD_UP };

enum pciod_reset {
	PCIOD_RESET_NONE,
	PCIOD_RESET_WANTED,
	PCIOD_RESET_SENT,  /* its answer is waited for */
	PCIOD_RESET_CHECK, /* answered: does the state word say so, too? */
};

enum pciod_home {
	PCIOD_HOME_NONE,
	PCIOD_HOME_WANTED,
	PCIOD_HOME_SENT, /* its answer is waited for */
	PCIOD_HOME_RUNS,
	PCIOD_HOME_DONE,
	PCIOD_HOME_FAILED, /* pciod_module_trouble says why; or it did not answer */
};

/* What only pciod_module_clear forgets. */
enum pciod_wrong {
	PCIOD_WRONG_NOT_RESET = 1,    /* the reset did not help, or was not answered */
	PCIOD_WRONG_CONFIG_STAYS = 2, /* written some times, and read back as it was */
	PCIOD_WRONG_CONFIG_REFUSED = 4,
	PCIOD_WRONG_NO_ACKNOWLEDGE = 8,
	PCIOD_WRONG_LINEAR = 16,
	PCIOD_WRONG_LIMITS = 32, /* the module's own make no sense */
};

struct pciod_module {
	unsigned int number;

	struct pciod_ask asks[PCIOD_Q_N];

	/* measured */
	uint32_t known;		     /* bits of enum pciod_question, since the take-over began */
	uint32_t fresh;		     /* in this tick */
	int64_t t_ns[PCIOD_SAMPLES]; /* when each was on the wire; 0: never */
	uint32_t state;
	double position_rad, velocity_rad_s, current_a; /* NaN: never */
	int64_t heard_ns;				/* anything from it; or when it was begun with */
	int64_t waiting_ns; /* since when an answer is waited for, and nothing was heard; 0: it is not */
	uint64_t odd;	    /* values that were none, replies that made no sense */
	uint64_t dropped;   /* replies that belonged to no request */
	uint64_t refused;   /* moves */

	/* life */
	enum pciod_phase phase;
	bool silent;
	int64_t probe_ns;		 /* the last time it was asked while silent */
	int64_t phase_ns;		 /* since when it is in its phase */
	uint32_t wrong;			 /* enum pciod_wrong */
	bool found_moving, found_halted; /* when it was taken over */
	bool taken;			 /* for the driver: what it said of itself has been told */
	bool take_over_drive;		 /* it was told velocity 0, and is told so until it may be driven */
	bool stop_unheard;		 /* it was driven, or moved, when it fell silent */
	bool was_homed;			 /* since it is known, or a person has asked for something else */
	bool lost_home;			 /* and is no more: it lost its power, and where it is */
	bool presumed;			 /* nothing is known of before: its first state word decides */
	uint32_t latches;		 /* enum msg_latch: what only a person ends */
	bool clear_open;		 /* one has asked for it at clear_ns, and no state word confirms it yet */
	int64_t clear_ns;
	int64_t state_asked_ns; /* when the last state word was asked for */
	bool forgive;		/* a comm-error is explained by our absence, */
	int64_t forgive_ns;	/* which ended then */
	bool may_unhalt;	/* it was halted by us, or by the driver before */
	bool found_ours;	/* and was so when it was taken over */
	bool halt_open;		/* it was told to halt, and no state word tells yet whether it did */
	int64_t halted_ns;	/* the first halt since it was taken over; 0: none */
	int64_t halt_ns;	/* when; or by when at the latest, if it is not confirmed */
	enum pciod_reset reset;
	bool reset_asked;   /* by a person */
	bool reset_left;    /* it was on the wire */
	bool reset_comm;    /* for the comm-error: told once it is done */
	int64_t reset_ns;   /* when it was answered */
	bool drop_position; /* the first one after a reset may be wrong */
	enum pciod_home home;
	bool home_put; /* the command may have left */
	bool home_begun;
	int64_t home_ns, home_still_ns;
	struct pciod_drive drive;
	double driven_rad; /* where it was when it was last driven, and when that was measured */
	int64_t driven_ns;

	/* verification */
	uint32_t config, config_wanted;
	bool config_written;
	unsigned int config_writes;
	int64_t config_ns; /* when it was written */
	unsigned int version;
	uint32_t serial;
	double home_offset_rad;	      /* NaN: it did not say */
	struct drv_ref_limits limits; /* its own */
};

/* Asks it everything anew, and drives it when it is verified. */
void pciod_module_take_over(struct pciod_module *m, int64_t now_ns);

struct pciod_before {	/* what the driver before has left */
	bool known;	/* its last state word is */
	uint32_t state; /* that one */
	bool halted_by_us;
	uint32_t latches; /* of all its modules */
};
void pciod_module_init(struct pciod_module *m, unsigned int number, const struct pciod_before *before, int64_t now_ns);

struct pciod_wish { /* what the driver wants of it in this tick */
	int64_t now_ns;
	bool halt;			       /* it has to be halted */
	bool resets;			       /* it may be reset if it is halted or explained */
	const struct drv_ref_command *command; /* NULL: left alone if it stands, else velocity 0 */
	bool stand;			       /* velocity to 0, as command->track_rad_s says */
	const struct drv_ref_limits *limits;   /* of its joint */
	double dt_s;
	bool following;
	unsigned int verify_max; /* that many questions of the verification at a time */
};

enum pciod_what {
	PCIOD_DO_NOTHING,
	PCIOD_DO_HALT,
	PCIOD_DO_MOVE,
	PCIOD_DO_MOVE_PLAIN, /* without state, because the answer to the one before is not there yet */
	PCIOD_DO_RESET,
	PCIOD_DO_HOME,
};

struct pciod_deed {
	enum pciod_what what;
	struct pciod_move move;
	bool set_config; /* to config_wanted, beside the above */
	uint32_t ask;	 /* bits of enum pciod_question */
};

void pciod_module_tick(struct pciod_module *m, const struct pciod_rules *rules, const struct pciod_wish *wish,
		       struct pciod_deed *deed);

/* It was put: a frame of a deed that was not stays to be done. */
void pciod_module_put(struct pciod_module *m, enum pciod_question question, int64_t now_ns);
/* It was on the wire, perhaps long after. */
void pciod_module_sent(struct pciod_module *m, enum pciod_question question, int64_t t_ns);
/* A halt was on the wire. */
void pciod_module_halted(struct pciod_module *m, int64_t t_ns);
/* It did not leave, or nobody knows: if it was a reset, the state word says whether it is still in order. */
void pciod_module_lost(struct pciod_module *m, enum pciod_question question);

enum pciod_news { PCIOD_NEWS_NONE, PCIOD_NEWS_ODD, PCIOD_NEWS_REFUSED };
/* A frame from it, whatever is in it. */
enum pciod_news pciod_module_reply(struct pciod_module *m, const struct pciod_rules *rules, const struct frame *frame,
				   int64_t t_ns);
/* A reset was carried out at t_ns: does the state word say so, too?  The first position after it is none. */
void pciod_module_was_reset(struct pciod_module *m, int64_t t_ns);
/* It was heard: a silent one is back, to be taken over again. */
void pciod_module_heard(struct pciod_module *m, const struct pciod_rules *rules, int64_t t_ns);
/* Our watchdog frames were missing for so long that a comm-error is our own doing. */
void pciod_module_forgive(struct pciod_module *m, int64_t t_ns);

/* ---- how it is ---- */

bool pciod_module_knows(const struct pciod_module *m); /* state, position, velocity, current */
bool pciod_module_verified(const struct pciod_module *m, const struct pciod_rules *rules);
bool pciod_module_up(const struct pciod_module *m); /* verified, not silent; not homed and halted are all the same */
bool pciod_module_stands(const struct pciod_module *m);
uint32_t pciod_module_status(const struct pciod_module *m);   /* enum msg_joint_status */
int64_t pciod_module_oldest_ns(const struct pciod_module *m); /* 0: nothing measured */

#define PCIOD_CODE_MAX 24
#define PCIOD_WORDS_MAX 120
/* Is something wrong with it?  code ("tow-error-15") and text get the words.  Not wrong: what a reset of ours is
 * about to clear, or will when resets are allowed again. */
bool pciod_module_trouble(const struct pciod_module *m, const struct pciod_rules *rules, int64_t now_ns,
			  char code[PCIOD_CODE_MAX], char text[PCIOD_WORDS_MAX]);

/* ---- latches ---- */

/* Once a tick, after everything of it was heard: sets and ends m->latches. */
void pciod_module_latch(struct pciod_module *m);
/* Why it is latched, in words, where pciod_module_trouble has none. */
void pciod_module_latched(const struct pciod_module *m, char code[PCIOD_CODE_MAX], char text[PCIOD_WORDS_MAX]);

/* ---- requests ---- */

/* Is there something to clear?  0; 1: nothing is wrong; or -EPERM with the reason why it cannot be. */
int pciod_module_clearable(const struct pciod_module *m, char text[PCIOD_WORDS_MAX]);
void pciod_module_clear(struct pciod_module *m, int64_t now_ns);
bool pciod_module_clearing(const struct pciod_module *m);
void pciod_module_clear_end(struct pciod_module *m); /* it counts no longer, confirmed or not */

/* NULL, or why it cannot be homed now: "is silent". */
const char *pciod_module_not_homable(const struct pciod_module *m);
void pciod_module_home(struct pciod_module *m);
void pciod_module_home_end(struct pciod_module *m); /* one that did not end well is latched */

#endif
