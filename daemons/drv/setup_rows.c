/* setup_rows.c: the settings that all drivers have. */
#include "daemons/drv/setup_rows.h"

#include "daemons/drv/setup.h"

const size_t setup_rows_size = sizeof(struct setup);

static const char *tick_wrong(const char *text)
{
	return drv_tick_parse(NULL, text);
}

const struct settings_row setup_loop_rows[] = {
	SETTINGS_TEXT("tick", struct setup, tick, "5ms", "when it ticks: 5ms, clock/5+1ms, frame BUS ID 10ms, ref 2ms",
		      .check = tick_wrong),
	SETTINGS_INT("priority", struct setup, realtime.priority, "", "0", "0", "99", "of SCHED_FIFO; 0: none"),
	SETTINGS_INT("core", struct setup, realtime.core, "", "-1", "-1", "1023", "the one it runs on; -1: any"),
	SETTINGS_BOOL("lock_memory", struct setup, realtime.lock, "yes", "keep its memory from being paged out"),
	SETTINGS_END,
};

const struct settings_row setup_actuated_rows[] = {
	SETTINGS_DURATION("ref_max", struct setup, ref_max_ns, "0", "0", "200ms",
			  "a reference may be valid for so long; 0: 5 ticks, at most 200 ms"),
	SETTINGS_BOOL("any_incarnation", struct setup, any_incarnation, "no",
		      "take references for incarnation 0; yes with balance"),
	SETTINGS_BOOL("balance", struct setup, balance, "no", "the robot stands by it: goes on at level hold"),
	SETTINGS_BOOL("joint_fault_alone", struct setup, alone, "no", "a joint that fails does not stop its group"),
	SETTINGS_WORD("safe", struct setup, safe, drv_ref_safe_words, "hold", "what it does without a reference"),
	SETTINGS_END,
};
_Static_assert(sizeof(setup_loop_rows) <= sizeof(((struct setup *)NULL)->loop_rows), "there is room for a copy");
