/* setup_rows.c: the settings that all drivers have. */
#include "daemons/drv/setup_rows.h"

#include "daemons/drv/setup.h"

const size_t setup_rows_size = sizeof(struct setup);

static const char *tick_wrong(const char *text)
{
	return drv_tick_parse(NULL, text);
}

#define ROW(TYPE, key, ...) SETTINGS_##TYPE(key, struct setup, __VA_ARGS__)
const struct settings_row setup_loop_rows[] = {
	ROW(TEXT, "tick", tick, "5ms", "when it ticks: 5ms, clock/5+1ms, frame BUS ID 10ms, ref 2ms",
	    .check = tick_wrong),
	ROW(INT, "priority", realtime.priority, "", "0", "0", "99", "SCHED_FIFO priority; 0: none"),
	ROW(INT, "core", realtime.core, "", "-1", "-1", "1023", "the one it runs on; -1: any"),
	ROW(BOOL, "lock_memory", realtime.lock, "yes", "keep its memory from being paged out"),
	SETTINGS_END,
};

const struct settings_row setup_actuated_rows[] = {
	ROW(DURATION, "ref_max", ref_max_ns, "0", "0", "200ms",
	    "longest validity of a reference; 0: 5 ticks, at most 200 ms"),
	ROW(BOOL, "any_incarnation", any_incarnation, "no", "take references for incarnation 0; yes with balance"),
	ROW(BOOL, "balance", balance, "no", "the robot stands by it: goes on at level hold"),
	ROW(BOOL, "joint_independent", joint_independent, "no", "a joint that fails does not stop its group",
	    .was = "joint_fault_alone"),
	ROW(WORD, "safe", safe, drv_ref_safe_words, "hold", "what it does without a reference"),
	SETTINGS_END,
};
_Static_assert(sizeof(setup_loop_rows) <= sizeof(((struct setup *)NULL)->loop_rows), "there is room for a copy");
