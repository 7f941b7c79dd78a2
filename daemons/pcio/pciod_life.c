/* pciod_life.c: the life of a module: the table. */
#include <stddef.h>

#include "daemons/pcio/pciod_life.h"

#define LIFE_BIT(NAME, name) NAME = 1u << PCIOD_LIFE_##NAME,
enum { PCIOD_LIVES(LIFE_BIT) };
#define EVENT_BIT(NAME, name) ON_##NAME = 1u << PCIOD_EVENT_##NAME,
enum { PCIOD_EVENTS(EVENT_BIT) };

#define RESETS (RESET_WANTED | RESET_PUT | RESET_SENT | RESET_CHECK)
#define HOME_BEGUN (HOME_PUT | HOME_BEGINS | HOME_RUNS | HOME_STILL | HOME_DONE)
#define HOME_IDLE (HOME_WANTED | HOME_FAILED)
#define QUIET (UNKNOWN | FREE | STOPPING | BLOCKED | RESETS)
#define COMMANDED (DRIVEN | HOME_WANTED)
#define PLAIN (FREE | STOPPING | DRIVEN | BLOCKED)
#define ON_FREE (ON_REST | ON_BRAKE | ON_DRIVE | ON_DRIVE_MOVING)

#define ROW(in, on, next, actions, why)                 \
	{                                               \
		in, on, PCIOD_LIFE_##next, actions, why \
	}

/* clang-format off */
const struct pciod_row pciod_life_rows[] = {
	/* silence */
	ROW(QUIET | HOME_FAILED, ON_SILENCE, SILENT, PCIOD_ACT_TAKE_OVER, "nothing is known of a module that does not answer"),
	ROW(COMMANDED, ON_SILENCE, SILENT_MOVING, PCIOD_ACT_TAKE_OVER, "it may still follow the last command"),
	ROW(QUIET | COMMANDED | HOME_FAILED, ON_SILENCE_MOVING, SILENT_MOVING, PCIOD_ACT_TAKE_OVER, "it may still move"),
	ROW(HOME_BEGUN, ON_SILENCE, SILENT, PCIOD_ACT_TAKE_OVER | PCIOD_ACT_LATCH_HOME, "homing cannot be watched"),
	ROW(HOME_BEGUN, ON_SILENCE_MOVING, SILENT_MOVING, PCIOD_ACT_TAKE_OVER | PCIOD_ACT_LATCH_HOME,
	    "homing cannot be watched, and it may still move"),
	ROW(SILENT | SILENT_MOVING, ON_HALT, SAME, PCIOD_ACT_HALT, "it may hear, even if it does not answer"),
	ROW(SILENT_MOVING, ON_WAIT, SAME, PCIOD_ACT_STAND, "it may hear; as it is fed, it would keep its velocity"),
	ROW(SILENT | SILENT_MOVING, ON_HEARD, UNKNOWN, PCIOD_ACT_TAKE_OVER, "it may have been switched off"),

	/* taking over */
	ROW(UNKNOWN, ON_HALT, SAME, PCIOD_ACT_HALT, "a halt is safe in every state"),
	ROW(UNKNOWN, ON_WORD_BLOCKED, BLOCKED, 0, "found halted, or in fault"),
	ROW(UNKNOWN, ON_WORD_FREE | ON_WORD_HOME | ON_WORD_HOME_LONG, FREE, 0, "found moving or standing"),
	ROW(QUIET | DRIVEN, ON_POWER_LOST, UNKNOWN, PCIOD_ACT_TAKE_OVER,
	    "it lost its zero, and its config with the watchdog"),
	ROW(DRIVEN, ON_JUMPED, UNKNOWN, PCIOD_ACT_TAKE_OVER, "it has another zero: commands mean another place"),
	ROW(DRIVEN, ON_JUMPED_MOVING, UNKNOWN, PCIOD_ACT_TAKE_OVER | PCIOD_ACT_BRAKE,
	    "it has another zero, and follows a command for another place"),

	/* free */
	ROW(FREE | DRIVEN | BLOCKED, ON_REST, FREE, 0, "a module that stands is left alone"),
	ROW(PLAIN, ON_BRAKE, STOPPING, PCIOD_ACT_BRAKE, "a module that moves, and may not be driven, is stopped"),
	ROW(STOPPING, ON_REST, SAME, PCIOD_ACT_BRAKE, "velocity 0 goes on until it is driven"),
	ROW(STOPPING, ON_DRIVE_MOVING, SAME, PCIOD_ACT_BRAKE, "the loop's ramp would make it faster again"),
	ROW(PLAIN, ON_DRIVE, DRIVEN, PCIOD_ACT_DRIVE, "it stands, or a reference takes it on as it moves"),
	ROW(FREE | DRIVEN | BLOCKED, ON_DRIVE_MOVING, DRIVEN, PCIOD_ACT_DRIVE, "it is not being stopped"),

	/* halted, or in fault */
	ROW(PLAIN | HOME_IDLE, ON_HALT, BLOCKED, PCIOD_ACT_HALT, "the level, a fault, or the end of the driver"),
	ROW(PLAIN | HOME_IDLE, ON_KEEP | ON_STAY, BLOCKED, 0, "it waits for a reset"),
	ROW(HOME_BEGUN, ON_HALT, BLOCKED, PCIOD_ACT_HALT | PCIOD_ACT_LATCH_HOME, "the halt ends its homing"),
	ROW(HOME_BEGUN, ON_KEEP | ON_STAY, BLOCKED, PCIOD_ACT_LATCH_HOME, "a halt, or a fault, has ended its homing"),

	/* reset */
	ROW(PLAIN | HOME_IDLE, ON_RESET, RESET_WANTED, PCIOD_ACT_RESET | PCIOD_ACT_EXCUSE,
	    "halted by this driver, explained, or asked for by a person"),
	ROW(HOME_BEGUN, ON_RESET, RESET_WANTED, PCIOD_ACT_RESET | PCIOD_ACT_EXCUSE | PCIOD_ACT_LATCH_HOME,
	    "the same, and its homing is over"),
	ROW(PLAIN | RESET_WANTED, ON_FREED, FREE, PCIOD_ACT_DROP_RESET, "an earlier reset has left after all"),
	ROW(RESET_WANTED, ON_RESET, SAME, PCIOD_ACT_RESET, "there was no room for it, or an answer is still owed"),
	ROW(RESET_WANTED, ON_RESET_PUT, RESET_PUT, 0, "handed over"),
	ROW(RESET_PUT, ON_RESET_SENT, RESET_SENT, 0, "on the wire: the time for its answer begins"),
	ROW(RESET_PUT | RESET_SENT, ON_RESET_ANSWERED, RESET_CHECK, 0, "done, if the state word says so, too"),
	ROW(RESET_PUT | RESET_SENT, ON_RESET_LOST, BLOCKED, PCIOD_ACT_GIVE_BACK, "another may be sent, if still needed"),
	ROW(RESET_SENT, ON_RESET_UNANSWERED, BLOCKED, PCIOD_ACT_FAIL_RESET, "resets are not repeated"),
	ROW(RESET_CHECK, ON_UNCONFIRMED, BLOCKED, PCIOD_ACT_FAIL_RESET, "the cause is still there"),
	ROW(RESET_CHECK, ON_WORD_FREE | ON_WORD_HOME | ON_WORD_HOME_LONG, FREE, PCIOD_ACT_END_RESET, "confirmed"),
	ROW(RESETS, ON_HALT, BLOCKED, PCIOD_ACT_HALT | PCIOD_ACT_GIVE_BACK, "a halt goes before a reset"),
	ROW(RESETS, ON_KEEP, BLOCKED, PCIOD_ACT_GIVE_BACK, "it has to stay halted"),
	ROW(RESETS, ON_BRAKE | ON_DRIVE_MOVING, STOPPING, PCIOD_ACT_BRAKE | PCIOD_ACT_GIVE_BACK,
	    "not allowed any more, and it moves"),
	ROW(RESET_WANTED, ON_REST | ON_DRIVE, FREE, PCIOD_ACT_GIVE_BACK,
	    "not allowed any more, and it is free without one"),

	/* homing */
	ROW(PLAIN, ON_HOME, HOME_WANTED, 0, "a person asks"),
	ROW(HOME_WANTED, ON_FREE, SAME, PCIOD_ACT_HOME, "until there is room for it"),
	ROW(HOME_WANTED, ON_HOME_PUT, HOME_PUT, 0, "from here on it may move"),
	ROW(HOME_PUT, ON_HOME_ANSWERED, HOME_BEGINS, 0, "homed may still mean the old zero"),
	ROW(HOME_PUT, ON_HOME_UNANSWERED, HOME_FAILED, PCIOD_ACT_LATCH_HOME, "it may home, or not"),
	ROW(HOME_BEGINS | HOME_RUNS | HOME_STILL, ON_WORD_FREE, HOME_RUNS, 0, "on its way"),
	ROW(HOME_RUNS, ON_WORD_HOME | ON_WORD_HOME_LONG, HOME_STILL, 0, "it may move once more, to zero"),
	ROW(HOME_BEGINS, ON_WORD_HOME_LONG, HOME_STILL, 0, "it was at home already: it shows no motion"),
	ROW(HOME_STILL, ON_WORD_HOME_LONG, HOME_DONE, 0, "homed and standing for long enough"),
	ROW(HOME_DONE, ON_END_HOME, FREE, PCIOD_ACT_END_HOME, "completed"),
	ROW(HOME_BEGUN & ~HOME_DONE, ON_END_HOME, FREE, PCIOD_ACT_LATCH_HOME, "stopped, or it took too long"),
	ROW(HOME_IDLE, ON_END_HOME, FREE, 0, "not begun, or latched already"),
};
/* clang-format on */
const unsigned int pciod_life_rows_n = sizeof(pciod_life_rows) / sizeof(*pciod_life_rows);

const struct pciod_row *pciod_life_row(enum pciod_life life, enum pciod_event event)
{
	for (const struct pciod_row *row = pciod_life_rows; row < pciod_life_rows + pciod_life_rows_n; row++)
		if (row->in & 1u << life && row->on & 1u << event)
			return row;
	return NULL;
}

bool pciod_life_silent(enum pciod_life life)
{
	return 1u << life & (SILENT | SILENT_MOVING);
}

bool pciod_life_resets(enum pciod_life life)
{
	return 1u << life & RESETS;
}

bool pciod_life_homes(enum pciod_life life)
{
	return 1u << life & (HOME_BEGUN | HOME_IDLE);
}

const char *pciod_life_name(enum pciod_life life)
{
#define LIFE_NAME(NAME, name) name,
	static const char *const names[PCIOD_LIFE_N] = { PCIOD_LIVES(LIFE_NAME) };

	return names[life];
}

const char *pciod_event_name(enum pciod_event event)
{
#define EVENT_NAME(NAME, name) name,
	static const char *const names[PCIOD_EVENT_N] = { PCIOD_EVENTS(EVENT_NAME) };

	return names[event];
}
