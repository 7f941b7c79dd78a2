/* pciod_actuator.c: the life of a module.  Checked: covered. */
#include "daemons/pcio/pciod_actuator.h"

#include "channels/msg/types.h"

#define REST_NS 1000000000	 /* longest wait for a halted device to come to rest before its reset */
#define TAKE_ON_NS 100000000	 /* from the start of a process: the time in which a reference finds the joint moving */
#define HOME_STILL_NS 100000000	 /* homed and standing for this long is at home: it may move once more, to zero */
#define HOME_BEGIN_NS 1000000000 /* without motion until then the device was at its home position */

/* ---- how it is ---- */

bool pciod_actuator_silent(const struct pciod_actuator *a)
{
	return 1u << a->state & pciod_actuator_silent_states;
}

/* Neither silent nor unknown. */
static bool is_known(const struct pciod_actuator *a)
{
	return a->state != PCIOD_ACTUATOR_UNKNOWN && !pciod_actuator_silent(a);
}

static bool is_blocked(const struct pciod_actuator *a)
{
	return a->word.halted || a->word.fault;
}

bool pciod_actuator_resetting(const struct pciod_actuator *a)
{
	return 1u << a->state & pciod_actuator_reset_states || a->reset_asked;
}

bool pciod_actuator_homing(const struct pciod_actuator *a)
{
	return 1u << a->state & pciod_actuator_home_states;
}

bool pciod_actuator_lost(const struct pciod_actuator *a)
{
	return a->zero == PCIOD_ACTUATOR_ZERO_LOST;
}

bool pciod_actuator_explained(const struct pciod_actuator *a)
{
	return pciod_actuator_resetting(a) || (a->excuse_ns && a->word.excusable);
}

/* A halt was sent, and no state word has confirmed it yet. */
static bool halt_open(const struct pciod_actuator *a)
{
	return a->halt_ns && a->asked_ns <= a->halt_ns;
}

/* ---- what happens ---- */

static void take_over(struct pciod_actuator *a)
{
	a->reset_failed = false;
	memset(&a->found, 0, sizeof(a->found));
	a->ours_ns = a->ours_ns ? 1 : 0; /* a halt from before the take-over */
	a->clear_ns = 0;
	a->reset_asked = false;
	a->excused_ns = 0;
	a->from_rest = false;
	a->take_on_ns = 0;
	a->was_excused = false;
}

void pciod_actuator_init(struct pciod_actuator *a, const struct pciod_actuator_before *before, int64_t confirm_ns,
			 int64_t now_ns)
{
	memset(a, 0, sizeof(*a));
	a->state = PCIOD_ACTUATOR_UNKNOWN;
	if (before->known)
		a->zero = before->homed ? PCIOD_ACTUATOR_ZERO_HOMED : PCIOD_ACTUATOR_ZERO_NOT_HOMED;
	a->ours_ns = before->halted_by_us;
	a->latches = before->latches;
	a->state_ns = now_ns;
	a->confirm_ns = confirm_ns;
	a->take_on_ns = now_ns + TAKE_ON_NS;
	pciod_actuator_excuse(a, now_ns); /* no driver was there before */
}

void pciod_actuator_excuse(struct pciod_actuator *a, int64_t t_ns)
{
	a->excuse_ns = t_ns;
}

static void keep_books(struct pciod_actuator *a, uint32_t actions)
{
	if (actions & PCIOD_ACTUATOR_DO_TAKE_OVER)
		take_over(a);
	if (actions & PCIOD_ACTUATOR_DO_EXCUSE && !a->reset_asked && a->word.excusable) {
		a->excused_ns = a->excuse_ns;
		a->excuse_ns = 0;
	}
	if (actions & PCIOD_ACTUATOR_DO_GIVE_BACK && a->excused_ns && !a->excuse_ns)
		a->excuse_ns = a->excused_ns;
	if (actions & PCIOD_ACTUATOR_DO_FAIL_RESET)
		a->reset_failed = true;
	if (actions & PCIOD_ACTUATOR_DO_END_RESET) {
		a->ours_ns = 0;
		a->was_excused |= a->excused_ns != 0;
	}
	if (actions & (PCIOD_ACTUATOR_DO_GIVE_BACK | PCIOD_ACTUATOR_DO_FAIL_RESET | PCIOD_ACTUATOR_DO_END_RESET |
		       PCIOD_ACTUATOR_DO_DROP_RESET))
		a->excused_ns = 0;
	if (actions & (PCIOD_ACTUATOR_DO_FAIL_RESET | PCIOD_ACTUATOR_DO_END_RESET | PCIOD_ACTUATOR_DO_DROP_RESET))
		a->reset_asked = false;
	if (actions & PCIOD_ACTUATOR_DO_LATCH_HOME)
		a->latches |= MSG_LATCH_HOMING_ABORTED;
	if (actions & PCIOD_ACTUATOR_DO_END_HOME)
		a->latches &= ~(uint32_t)(MSG_LATCH_POSITION_UNKNOWN | MSG_LATCH_HOMING_ABORTED);
}

uint32_t pciod_actuator_event(struct pciod_actuator *a, enum pciod_actuator_event event, int64_t t_ns)
{
	const struct pciod_actuator_row *row = pciod_actuator_row(a->state, event);

	if (!row)
		return 0;
	if (row->next != PCIOD_ACTUATOR_SAME && row->next != a->state) {
		a->state = row->next;
		a->state_ns = t_ns;
	}
	keep_books(a, row->actions);
	if (event == PCIOD_ACTUATOR_ON_HOME_PUT)
		a->zero = PCIOD_ACTUATOR_ZERO_NOT_HOMED;
	return row->actions;
}

uint32_t pciod_actuator_silence(struct pciod_actuator *a, int64_t now_ns)
{
	const bool moves = is_known(a) && a->word.moving;

	return pciod_actuator_event(a, moves ? PCIOD_ACTUATOR_ON_SILENCE_MOVING : PCIOD_ACTUATOR_ON_SILENCE, now_ns);
}

/* ---- a word ---- */

/* It was halted before any halt of ours can have reached it, and not by the driver before. */
static bool halted_by_other(const struct pciod_actuator *a)
{
	return a->word.halted && !(a->ours_ns && a->asked_ns >= a->ours_ns);
}

/* The first word since it was taken over; of a device of which nothing is known, what the word does not disprove is
 * latched. */
static void find(struct pciod_actuator *a)
{
	const bool nothing_known = a->zero == PCIOD_ACTUATOR_ZERO_UNKNOWN;

	a->found = a->word;
	if ((!a->word.fault || nothing_known) && halted_by_other(a)) /* a fault halts, too */
		a->latches |= MSG_LATCH_HALTED_BY_OTHER;
	if (!nothing_known)
		return;
	if (!a->word.homed)
		a->latches |= MSG_LATCH_POSITION_UNKNOWN | MSG_LATCH_HOMING_ABORTED;
	if (a->word.fault)
		a->latches |= MSG_LATCH_WAITS_FOR_PERSON;
	a->zero = PCIOD_ACTUATOR_ZERO_NOT_HOMED;
}

static enum pciod_actuator_event word_event(const struct pciod_actuator *a, int64_t t_ns)
{
	const int64_t in_state_ns = t_ns - a->state_ns;

	if (is_blocked(a))
		return PCIOD_ACTUATOR_ON_WORD_BLOCKED;
	if (!a->word.homed || a->word.moving)
		return PCIOD_ACTUATOR_ON_WORD_FREE;
	if (a->state == PCIOD_ACTUATOR_HOME_STILL ? in_state_ns >= HOME_STILL_NS : in_state_ns > HOME_BEGIN_NS)
		return PCIOD_ACTUATOR_ON_WORD_HOME_LONG;
	return PCIOD_ACTUATOR_ON_WORD_HOME;
}

uint32_t pciod_actuator_word(struct pciod_actuator *a, const struct pciod_actuator_word *word, int64_t asked_ns,
			     int64_t t_ns)
{
	uint32_t actions = 0;

	if (a->zero == PCIOD_ACTUATOR_ZERO_HOMED && !word->homed && !pciod_actuator_homing(a)) {
		a->zero = PCIOD_ACTUATOR_ZERO_LOST;
		actions = pciod_actuator_event(a, PCIOD_ACTUATOR_ON_POWER_LOST, t_ns);
	}
	a->word = *word;
	a->asked_ns = asked_ns;
	if (a->state == PCIOD_ACTUATOR_UNKNOWN)
		find(a);
	/* A halt from now on is not ours, which it did not obey or has been reset from. */
	if (asked_ns > a->halt_ns && !word->halted && !pciod_actuator_resetting(a))
		a->ours_ns = 0;
	/* While it homes, a late answer may still be from before. */
	if (word->homed && !pciod_actuator_homing(a))
		a->zero = PCIOD_ACTUATOR_ZERO_HOMED;
	/* Faults of our absence show at once; later ones have another cause. */
	if (!word->unfed && asked_ns - a->excuse_ns > a->confirm_ns)
		a->excuse_ns = 0;
	/* A reset whose answer did not come in time has done its work all the same. */
	if (!is_blocked(a))
		a->reset_failed = false;
	else if (a->reset_failed && asked_ns > a->state_ns)
		a->latches |= MSG_LATCH_WAITS_FOR_PERSON;
	/* An answer from before it entered its state says nothing about that state. */
	if (a->state == PCIOD_ACTUATOR_UNKNOWN || asked_ns > a->state_ns)
		actions |= pciod_actuator_event(a, word_event(a, t_ns), t_ns);
	return actions;
}

/* ---- a tick ---- */

/* May this driver reset it by itself? */
static bool resettable(const struct pciod_actuator *a, const struct pciod_actuator_goal *goal)
{
	if (!goal->resets || !goal->resettable || a->reset_failed)
		return false;
	if (a->excuse_ns && a->word.excusable)
		return true;
	return a->word.halted && !a->word.fault && a->ours_ns && (goal->stands || goal->now_ns - a->halt_ns > REST_NS);
}

/* May its reset begin, or go on?  A halt ends a reset that no person has asked for. */
static bool may_reset(const struct pciod_actuator *a, const struct pciod_actuator_goal *goal)
{
	if (!pciod_actuator_resetting(a))
		return resettable(a, goal);
	if (a->reset_asked || goal->resets)
		return true;
	/* A reset that was put goes on, but not while the device moves. */
	return a->state != PCIOD_ACTUATOR_RESET_WANTED && !goal->halt && (is_blocked(a) || goal->stands);
}

static enum pciod_actuator_event reset_event(const struct pciod_actuator *a, int64_t now_ns)
{
	if (a->state == PCIOD_ACTUATOR_RESET_CHECK && now_ns - a->state_ns > a->confirm_ns)
		return PCIOD_ACTUATOR_ON_UNCONFIRMED;
	return is_blocked(a) ? PCIOD_ACTUATOR_ON_RESET : PCIOD_ACTUATOR_ON_FREED;
}

static enum pciod_actuator_event free_event(const struct pciod_actuator *a, const struct pciod_actuator_goal *goal)
{
	if (goal->jumped && a->state == PCIOD_ACTUATOR_DRIVEN)
		return goal->stands ? PCIOD_ACTUATOR_ON_JUMPED : PCIOD_ACTUATOR_ON_JUMPED_MOVING;
	if (!goal->drive)
		return goal->stands ? PCIOD_ACTUATOR_ON_REST : PCIOD_ACTUATOR_ON_BRAKE;
	return goal->stands || goal->following ? PCIOD_ACTUATOR_ON_DRIVE : PCIOD_ACTUATOR_ON_DRIVE_MOVING;
}

static enum pciod_actuator_event tick_event(const struct pciod_actuator *a, const struct pciod_actuator_goal *goal)
{
	/* To a device that answers, the first frames are questions. */
	if (!is_known(a))
		return goal->halt && (pciod_actuator_silent(a) || goal->now_ns > a->state_ns) ? PCIOD_ACTUATOR_ON_HALT
											      : PCIOD_ACTUATOR_ON_WAIT;
	if (may_reset(a, goal))
		return reset_event(a, goal->now_ns);
	if (goal->halt)
		return a->word.halted ? PCIOD_ACTUATOR_ON_KEEP : PCIOD_ACTUATOR_ON_HALT;
	if (halt_open(a) || is_blocked(a))
		return PCIOD_ACTUATOR_ON_STAY;
	return free_event(a, goal);
}

/* Halted by us, as far as is known, and not yet free again. */
static bool stopped(const struct pciod_actuator *a)
{
	return halt_open(a) || (a->ours_ns && (a->word.halted || pciod_actuator_resetting(a)));
}

static bool from_rest(const struct pciod_actuator *a, enum pciod_actuator_state before, enum pciod_actuator_event event,
		      uint32_t actions, int64_t now_ns)
{
	if (actions & PCIOD_ACTUATOR_DO_BRAKE)
		return now_ns >= a->take_on_ns;
	if (a->state == PCIOD_ACTUATOR_FREE && event == PCIOD_ACTUATOR_ON_REST)
		return a->from_rest && before != PCIOD_ACTUATOR_DRIVEN;
	return a->state != PCIOD_ACTUATOR_DRIVEN && !pciod_actuator_silent(a) && stopped(a);
}

uint32_t pciod_actuator_tick(struct pciod_actuator *a, const struct pciod_actuator_goal *goal)
{
	const enum pciod_actuator_state before = a->state;
	const enum pciod_actuator_event event = tick_event(a, goal);
	const uint32_t actions = pciod_actuator_event(a, event, goal->now_ns);

	if (actions & PCIOD_ACTUATOR_DO_HALT) {
		a->ours_ns = a->ours_ns ? a->ours_ns : goal->now_ns;
		a->halt_ns = goal->now_ns + PCIOD_ACTUATOR_HALT_DEADLINE_NS;
	}
	if (goal->halt || a->state == PCIOD_ACTUATOR_DRIVEN)
		a->take_on_ns = 0;
	a->from_rest = from_rest(a, before, event, actions, goal->now_ns);
	return actions;
}

/* ---- latches ---- */

void pciod_actuator_latch(struct pciod_actuator *a, bool well, bool wrong)
{
	if (!is_known(a))
		return;
	if (a->clear_ns && a->asked_ns > a->clear_ns && !pciod_actuator_resetting(a) && !a->reset_failed && well) {
		a->clear_ns = 0;
		a->latches = 0;
	}
	if (wrong)
		a->latches |= MSG_LATCH_WAITS_FOR_PERSON;
	if (pciod_actuator_lost(a))
		a->latches |= MSG_LATCH_POSITION_UNKNOWN;
	if (pciod_actuator_explained(a))
		return;
	if (a->word.fault)
		a->latches |= MSG_LATCH_WAITS_FOR_PERSON;
	else if (a->word.halted && !a->ours_ns)
		a->latches |= MSG_LATCH_HALTED_BY_OTHER;
}

bool pciod_actuator_clearable(const struct pciod_actuator *a)
{
	return a->word.fault || a->reset_failed || pciod_actuator_lost(a) || a->latches ||
	       (a->word.halted && !a->ours_ns);
}

void pciod_actuator_clear(struct pciod_actuator *a, bool wrong, int64_t now_ns)
{
	/* A device that this driver halted is reset when the level allows it. */
	const bool halted = a->word.halted && (!a->ours_ns || wrong || a->reset_failed);

	a->reset_failed = false;
	a->zero = PCIOD_ACTUATOR_ZERO_NOT_HOMED;
	a->clear_ns = now_ns;
	a->reset_asked = pciod_actuator_resetting(a) || a->word.fault || halted;
}
