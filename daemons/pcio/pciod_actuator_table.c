/* pciod_actuator_table.c: the life of an actuator: one table, state x event.  Checked: covered. */
#include "daemons/pcio/pciod_actuator_table.h"

#define STATE_BIT(NAME, name) NAME = 1u << PCIOD_ACTUATOR_##NAME,
enum { PCIOD_ACTUATOR_STATES(STATE_BIT) };
#define EVENT_BIT(NAME, name) ON_##NAME = 1u << PCIOD_ACTUATOR_ON_##NAME,
enum { PCIOD_ACTUATOR_EVENTS(EVENT_BIT) };

#define RESETS (RESET_WANTED | RESET_PUT | RESET_SENT | RESET_CHECK)
#define HOME_BEGUN (HOME_PUT | HOME_BEGINS | HOME_RUNS | HOME_STILL | HOME_DONE)
#define HOME_IDLE (HOME_WANTED | HOME_FAILED)
#define QUIET (UNKNOWN | FREE | STOPPING | BLOCKED | RESETS)
#define COMMANDED (DRIVEN | HOME_WANTED)
#define PLAIN (FREE | STOPPING | DRIVEN | BLOCKED)
#define ON_FREE (ON_REST | ON_BRAKE | ON_DRIVE | ON_DRIVE_MOVING)

#define DO(NAME) PCIOD_ACTUATOR_DO_##NAME
/* clang-format off */
#define ROW(in, on, next, actions) { in, on, PCIOD_ACTUATOR_##next, actions }
const struct pciod_actuator_row pciod_actuator_rows[] = {
	/* silence */
	ROW(QUIET | HOME_FAILED, ON_SILENCE, SILENT, DO(TAKE_OVER)), /* the state of a silent device is unknown */
	ROW(COMMANDED, ON_SILENCE, SILENT_MOVING, DO(TAKE_OVER)), /* it may still follow the last command */
	ROW(QUIET | COMMANDED | HOME_FAILED, ON_SILENCE_MOVING, SILENT_MOVING, DO(TAKE_OVER)), /* it may still move */
	ROW(HOME_BEGUN, ON_SILENCE, SILENT, DO(TAKE_OVER) | DO(LATCH_HOME)), /* homing cannot be watched */
	/* homing cannot be watched, and it may still move */
	ROW(HOME_BEGUN, ON_SILENCE_MOVING, SILENT_MOVING, DO(TAKE_OVER) | DO(LATCH_HOME)),
	ROW(SILENT | SILENT_MOVING, ON_HALT, SAME, DO(HALT)), /* it may hear, even if it does not answer */
	ROW(SILENT_MOVING, ON_WAIT, SAME, DO(STAND)), /* it may hear; as it is fed, it would keep its velocity */
	ROW(SILENT | SILENT_MOVING, ON_HEARD, UNKNOWN, DO(TAKE_OVER)), /* it may have been switched off */

	/* taking over */
	ROW(UNKNOWN, ON_HALT, SAME, DO(HALT)), /* a halt is safe in every state */
	ROW(UNKNOWN, ON_WORD_BLOCKED, BLOCKED, 0), /* found halted, or in fault */
	ROW(UNKNOWN, ON_WORD_FREE | ON_WORD_HOME | ON_WORD_HOME_LONG, FREE, 0), /* found moving or standing */
	/* it lost its zero, and its config with the watchdog */
	ROW(QUIET | DRIVEN, ON_POWER_LOST, UNKNOWN, DO(TAKE_OVER)),
	ROW(DRIVEN, ON_JUMPED, UNKNOWN, DO(TAKE_OVER)), /* it has another zero: commands mean another place */
	/* it has another zero, and follows a command for another place */
	ROW(DRIVEN, ON_JUMPED_MOVING, UNKNOWN, DO(TAKE_OVER) | DO(BRAKE)),

	/* free */
	ROW(FREE | DRIVEN | BLOCKED, ON_REST, FREE, 0), /* a device that stands is left alone */
	ROW(PLAIN, ON_BRAKE, STOPPING, DO(BRAKE)), /* a device that moves, and may not be driven, is stopped */
	ROW(STOPPING, ON_REST, SAME, DO(BRAKE)), /* velocity 0 goes on until it is driven */
	ROW(STOPPING, ON_DRIVE_MOVING, SAME, DO(BRAKE)), /* the loop's ramp would make it faster again */
	ROW(PLAIN, ON_DRIVE, DRIVEN, DO(DRIVE)), /* it stands, or a reference takes it on as it moves */
	ROW(FREE | DRIVEN | BLOCKED, ON_DRIVE_MOVING, DRIVEN, DO(DRIVE)), /* it is not being stopped */

	/* halted, or in fault */
	ROW(PLAIN | HOME_IDLE, ON_HALT, BLOCKED, DO(HALT)), /* the level, a fault, or the end of the driver */
	ROW(PLAIN | HOME_IDLE, ON_KEEP | ON_STAY, BLOCKED, 0), /* it waits for a reset */
	ROW(HOME_BEGUN, ON_HALT, BLOCKED, DO(HALT) | DO(LATCH_HOME)), /* the halt ends its homing */
	ROW(HOME_BEGUN, ON_KEEP | ON_STAY, BLOCKED, DO(LATCH_HOME)), /* a halt, or a fault, has ended its homing */

	/* reset */
	/* halted by this driver, explained, or asked for by a person */
	ROW(PLAIN | HOME_IDLE, ON_RESET, RESET_WANTED, DO(RESET) | DO(EXCUSE)),
	/* the same, and its homing is over */
	ROW(HOME_BEGUN, ON_RESET, RESET_WANTED, DO(RESET) | DO(EXCUSE) | DO(LATCH_HOME)),
	ROW(PLAIN | RESET_WANTED, ON_FREED, FREE, DO(DROP_RESET)), /* an earlier reset has left after all */
	ROW(RESET_WANTED, ON_RESET, SAME, DO(RESET)), /* there was no room for it, or an answer is still owed */
	ROW(RESET_WANTED, ON_RESET_PUT, RESET_PUT, 0), /* handed over */
	ROW(RESET_PUT, ON_RESET_SENT, RESET_SENT, 0), /* on the wire: the time for its answer begins */
	ROW(RESET_PUT | RESET_SENT, ON_RESET_ANSWERED, RESET_CHECK, 0), /* done, if the state word says so, too */
	ROW(RESET_PUT | RESET_SENT, ON_RESET_LOST, BLOCKED, DO(GIVE_BACK)), /* another may be sent, if still needed */
	ROW(RESET_SENT, ON_RESET_UNANSWERED, BLOCKED, DO(FAIL_RESET)), /* resets are not repeated */
	ROW(RESET_CHECK, ON_UNCONFIRMED, BLOCKED, DO(FAIL_RESET)), /* the cause is still there */
	ROW(RESET_CHECK, ON_WORD_FREE | ON_WORD_HOME | ON_WORD_HOME_LONG, FREE, DO(END_RESET)), /* confirmed */
	ROW(RESETS, ON_HALT, BLOCKED, DO(HALT) | DO(GIVE_BACK)), /* a halt goes before a reset */
	ROW(RESETS, ON_KEEP, BLOCKED, DO(GIVE_BACK)), /* it has to stay halted */
	/* not allowed any more, and it moves */
	ROW(RESETS, ON_BRAKE | ON_DRIVE_MOVING, STOPPING, DO(BRAKE) | DO(GIVE_BACK)),
	/* not allowed any more, and it is free without one */
	ROW(RESET_WANTED, ON_REST | ON_DRIVE, FREE, DO(GIVE_BACK)),

	/* homing */
	ROW(PLAIN, ON_HOME, HOME_WANTED, 0), /* a person asks */
	ROW(HOME_WANTED, ON_FREE, SAME, DO(HOME)), /* until there is room for it */
	ROW(HOME_WANTED, ON_HOME_PUT, HOME_PUT, 0), /* from here on it may move */
	ROW(HOME_PUT, ON_HOME_ANSWERED, HOME_BEGINS, 0), /* homed may still mean the old zero */
	ROW(HOME_PUT, ON_HOME_UNANSWERED, HOME_FAILED, DO(LATCH_HOME)), /* it may home, or not */
	ROW(HOME_BEGINS | HOME_RUNS | HOME_STILL, ON_WORD_FREE, HOME_RUNS, 0), /* on its way */
	ROW(HOME_RUNS, ON_WORD_HOME | ON_WORD_HOME_LONG, HOME_STILL, 0), /* it may move once more, to zero */
	ROW(HOME_BEGINS, ON_WORD_HOME_LONG, HOME_STILL, 0), /* it was at home already: it shows no motion */
	ROW(HOME_STILL, ON_WORD_HOME_LONG, HOME_DONE, 0), /* homed and standing for long enough */
	ROW(HOME_DONE, ON_END_HOME, FREE, DO(END_HOME)), /* completed */
	ROW(HOME_BEGUN & ~HOME_DONE, ON_END_HOME, FREE, DO(LATCH_HOME)), /* stopped, or it took too long */
	ROW(HOME_IDLE, ON_END_HOME, FREE, 0), /* not begun, or latched already */
};
/* clang-format on */
#define ROWS_N (sizeof(pciod_actuator_rows) / sizeof(*pciod_actuator_rows))
const unsigned int pciod_actuator_rows_n = ROWS_N;
_Static_assert(ROWS_N <= UINT8_MAX, "the search counts in 8 bits");

const struct pciod_actuator_row *pciod_actuator_row(enum pciod_actuator_state state, enum pciod_actuator_event event)
{
	static uint8_t from[PCIOD_ACTUATOR_N][PCIOD_ACTUATOR_ON_N]; /* where the search begins: most find nothing */
	uint8_t i = from[state][event];

	while (i < ROWS_N && !(pciod_actuator_rows[i].in & 1u << state && pciod_actuator_rows[i].on & 1u << event))
		i++;
	from[state][event] = i;
	return i < ROWS_N ? &pciod_actuator_rows[i] : NULL;
}

const uint32_t pciod_actuator_silent_states = SILENT | SILENT_MOVING;
const uint32_t pciod_actuator_reset_states = RESETS;
const uint32_t pciod_actuator_home_states = HOME_BEGUN | HOME_IDLE;
