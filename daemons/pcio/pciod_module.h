/* pciod_module.h: one module, from the first question to the last halt.
 *
 *	pciod_module_tick(&m, &input, &output);	once a tick: what to put and what to ask
 *	pciod_module_put(&m, question, now_ns);		of those that were asked
 *	pciod_module_answer(&m, question, ...);	or pciod_module_unanswered
 *	pciod_module_trouble(&m, code, text)	what is wrong with it, in words
 *
 * Its commands follow from its state, pciod_actuator.h.  The verification runs beside it:
 *
 *	asking		state, position, velocity and current: nothing else is known of it
 *	verifying	version, serial, config (written if it differs, and read back), limits
 *	up		it may be driven
 *
 * Pure: times, frames and wishes are arguments.
 */
#pragma once

#include "daemons/drv/drv.h"
#include "daemons/pcio/pciod_actuator.h"
#include "daemons/pcio/pcio.h"
#include "daemons/pcio/pciod_settings.h"

/* ---- questions ---- */

/* Q(NAME, command, parameter or motion): one at a time of each (drv_ask.h); the first four make a sample */
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

struct pciod_question_row {
	uint8_t command;   /* enum pcio_command */
	uint8_t parameter; /* or motion */
};
extern const struct pciod_question_row pciod_questions[PCIOD_Q_N];

/* ---- a module ---- */

enum pciod_phase { PCIOD_ASKING, PCIOD_VERIFYING, PCIOD_UP };

/* What only pciod_module_clear forgets. */
enum pciod_wrong {
	PCIOD_WRONG_CONFIG_STAYS = 1, /* written some times, and read back as it was */
	PCIOD_WRONG_CONFIG_REFUSED = 2,
	PCIOD_WRONG_NO_ACKNOWLEDGE = 4,
	PCIOD_WRONG_LINEAR = 8,
	PCIOD_WRONG_LIMITS = 16, /* the module's own make no sense */
};

struct pciod_module {
	unsigned int number;
	const struct pciod_settings *settings;

	uint32_t asked;	     /* bits of enum pciod_question: the answer is waited for */
	uint32_t unanswered; /* without an answer to the last one, or with an invalid answer */

	/* measured */
	uint32_t known;		     /* bits of enum pciod_question, since the take-over began */
	uint32_t fresh;		     /* in this tick */
	int64_t t_ns[PCIOD_SAMPLES]; /* when each was on the wire; 0: never */
	int64_t paused_ns;	     /* of the time since the oldest of them, at the last tick */
	uint32_t state;
	double position_rad, velocity_rad_s, current_a; /* NaN: never */
	int64_t heard_ns;				/* anything from it; or when it was begun with */
	int64_t waiting_ns; /* since when an answer is waited for, and nothing was heard; 0: it is not */

	/* life */
	struct pciod_actuator a;
	int64_t probe_ns;  /* the last time it was asked while silent */
	int64_t reset_ns;  /* a position asked for before this, and the one after it, may be wrong; 0: none */
	double driven_rad; /* where it was when it was last driven, and when that was measured */
	int64_t driven_ns;
	bool unreported; /* it is up, and its version and limits were not reported yet */

	/* verification */
	enum pciod_phase phase;
	int64_t phase_ns; /* since when */
	uint32_t wrong;	  /* enum pciod_wrong */
	uint32_t config, config_wanted;
	unsigned int config_writes;
	int64_t config_ns; /* when its writing was confirmed; INT64_MAX: not yet; 0: it was not written */
	unsigned int version;
	uint32_t serial;
	double home_offset_rad;	      /* NaN: it did not say */
	struct drv_ref_limits limits; /* its own */
};

/* state: the last state word that the previous driver process published. */
void pciod_module_init(struct pciod_module *m, const struct pciod_settings *settings, unsigned int number,
		       uint32_t state, const struct pciod_actuator_before *before, int64_t now_ns);

struct pciod_tick_input { /* of a tick */
	int64_t now_ns;
	int64_t paused_ns;		       /* of the time since it was asked: nobody's fault, */
	int64_t sample_paused_ns;	       /* and of that since its oldest sample */
	bool halt;			       /* it has to be halted */
	bool resets;			       /* it may be reset if it is halted or explained */
	const struct drv_ref_command *command; /* NULL: left alone if it stands, else velocity 0 */
	bool stand;			       /* velocity to 0, as command->track_rad_s says */
	const struct drv_ref_limits *limits;   /* of its joint */
	double dt_s;
	bool following;
	unsigned int verify_max; /* that many questions of the verification at a time */
};

struct pciod_move {
	enum pcio_motion motion; /* PCIO_VELOCITY_STATE or PCIO_CURRENT_STATE */
	double value;
	bool stops; /* it brakes, or holds */
};

enum pciod_do {
	PCIOD_DO_NOTHING,
	PCIOD_DO_HALT,
	PCIOD_DO_MOVE,
	PCIOD_DO_STAND, /* velocity 0, without state: no answer is expected */
	PCIOD_DO_RESET,
	PCIOD_DO_HOME,
};

struct pciod_tick_output {
	enum pciod_do what;
	struct pciod_move move;
	bool set_config; /* to config_wanted, beside the above */
	uint32_t ask;	 /* bits of enum pciod_question; the answer to a move with state has the position, too */
};

void pciod_module_tick(struct pciod_module *m, const struct pciod_tick_input *input, struct pciod_tick_output *output);

/* Call for each question that was sent; what was not sent is asked again by the next tick. */
void pciod_module_put(struct pciod_module *m, enum pciod_question question, int64_t now_ns);
/* A reset was on the wire, perhaps long after. */
void pciod_module_reset_sent(struct pciod_module *m, int64_t t_ns);

enum pciod_news { PCIOD_NEWS_NONE, PCIOD_NEWS_ODD, PCIOD_NEWS_REFUSED };
enum pciod_news pciod_module_answer(struct pciod_module *m, enum pciod_question question, const struct frame *frame,
				    int64_t asked_ns, int64_t t_ns);
void pciod_module_unanswered(struct pciod_module *m, enum pciod_question question, int64_t now_ns);
/* A frame from it that answers no question, whatever is in it. */
enum pciod_news pciod_module_stray(struct pciod_module *m, const struct frame *frame, int64_t t_ns);
/* From here on nothing is known of it. */
void pciod_module_forget(struct pciod_module *m, int64_t now_ns);
struct pciod_actuator_word pciod_module_word(uint32_t state);
/* Something happened in its life.  The actions that are left to do. */
uint32_t pciod_module_event(struct pciod_module *m, enum pciod_actuator_event event, int64_t t_ns);
/* A reset was carried out at t_ns: does the state word say so, too?  The first position after it is wrong. */
void pciod_module_was_reset(struct pciod_module *m, int64_t t_ns);
/* It was heard: a silent one is back, to be taken over again. */
void pciod_module_heard(struct pciod_module *m, int64_t t_ns);

/* ---- how it is ---- */

bool pciod_module_knows(const struct pciod_module *m); /* state, position, velocity, current */
bool pciod_module_verified(const struct pciod_module *m);
bool pciod_module_stands(const struct pciod_module *m);
uint32_t pciod_module_status(const struct pciod_module *m);   /* enum msg_joint_status */
int64_t pciod_module_oldest_ns(const struct pciod_module *m); /* 0: nothing measured */

#define PCIOD_CODE_MAX 24
#define PCIOD_WORDS_MAX 120
/* Is something wrong with it?  code ("tow-error-15") and text get the words.  Not wrong: what a reset of ours is
 * about to clear, or will when resets are allowed again. */
bool pciod_module_trouble(const struct pciod_module *m, int64_t now_ns, char code[PCIOD_CODE_MAX],
			  char text[PCIOD_WORDS_MAX]);

/* ---- latches ---- */

/* Why it is latched, in words, where pciod_module_trouble has none. */
void pciod_module_latched(const struct pciod_module *m, char code[PCIOD_CODE_MAX], char text[PCIOD_WORDS_MAX]);

/* ---- requests ---- */

/* Is there something to clear?  0; 1: nothing is wrong; or -EPERM with the reason why it cannot be. */
int pciod_module_clearable(const struct pciod_module *m, char text[PCIOD_WORDS_MAX]);
void pciod_module_clear(struct pciod_module *m, int64_t now_ns);
bool pciod_module_clearing(const struct pciod_module *m);

/* NULL, or why it cannot be homed now: "is silent". */
const char *pciod_module_not_homable(const struct pciod_module *m);
