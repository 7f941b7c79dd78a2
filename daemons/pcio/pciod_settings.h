/* pciod_settings.h: the settings of pciod, which the simulated modules read too. */
#pragma once

#include "config/settings/settings.h"

enum pciod_action { PCIOD_ACTION_HALT, PCIOD_ACTION_HOLD };

struct pciod_settings {
	char modules[256];   /* pciod_list.h */
	int64_t watchdog_ns; /* the module's */
	int64_t ack_ok;
	int home_offset; /* which of the two identifiers */
	int64_t reply_late_ns, reply_lost_ns, silent_after_ns;
	bool sync_motion, full_current;
	double margin; /* share of the position range kept away from either end */
	double gain_s;
	enum pciod_action on_estop, on_fault;
};

static const char *const pciod_settings_actions[] = { "halt", "hold", NULL };

static inline const char *pciod_settings_check_modules(const char *text)
{
	return *text ? NULL : "modules such as 15, 4-7 or larm0:4-7,larm1:8-10";
}

static const char *const pciod_settings_home_offsets[] = { "0x59", "0x89", NULL };

#define PCIOD_ROW(TYPE, key, ...) SETTINGS_##TYPE(key, struct pciod_settings, __VA_ARGS__)
static const struct settings_row pciod_settings_rows[] = {
	PCIOD_ROW(TEXT, "modules", modules, SETTINGS_REQUIRED, "modules: 15, 13,15, 4-7, larm0:4-7,larm1:8-10",
		  .check = pciod_settings_check_modules),
	PCIOD_ROW(DURATION, "module_watchdog", watchdog_ns, "50ms", "20ms", "10s",
		  "time without feeding after which a module stops by itself"),
	PCIOD_ROW(INT, "ack_ok", ack_ok, "", "0x64", "0", "255", "status of a set or move that was done"),
	PCIOD_ROW(WORD, "home_offset_id", home_offset, pciod_settings_home_offsets, "0x59",
		  "parameter of the home offset, which is read and reported"),
	PCIOD_ROW(DURATION, "reply_late", reply_late_ns, "20ms", "1ms", "1s",
		  "a reply that has not come by then is given up"),
	PCIOD_ROW(DURATION, "reply_lost", reply_lost_ns, "100ms", "1ms", "10s", "and will not come any more after this",
		  .of = "reply_late"),
	PCIOD_ROW(DURATION, "silent_after", silent_after_ns, "50ms", "2ms", "10s",
		  "silence of a module that is a fault", .ticks = 2),
	PCIOD_ROW(BOOL, "sync_motion", sync_motion, "no",
		  "moves begin with the clock's frame 100#0F, on all modules of the bus at once"),
	PCIOD_ROW(BOOL, "full_current", full_current, "no", "currents up to max-current, not only the nominal one"),
	PCIOD_ROW(REAL, "margin", margin, "1", "0.02", "0", "0.4",
		  "share of the position range kept away from either end"),
	PCIOD_ROW(REAL, "gain", gain_s, "1/s", "10", "0", "200",
		  "velocity for each rad that a joint is behind its ramp"),
	PCIOD_ROW(WORD, "on_estop", on_estop, pciod_settings_actions, "halt",
		  "at level estop: halt, or stand with servo on"),
	PCIOD_ROW(WORD, "on_fault", on_fault, pciod_settings_actions, "hold",
		  "what the others do when a module has a fault: halt, or stand with servo on"),
	SETTINGS_END,
};
