/* robotiqd_settings.h: the settings of robotiqd, which the simulated gripper reads too. */
#pragma once

#include "config/settings/settings.h"

/* Without a reference: a grip that has been made is kept, or the fingers are stopped in any case. */
enum robotiqd_expiry { ROBOTIQD_KEEP, ROBOTIQD_HOLD };
enum robotiqd_estop { ROBOTIQD_ESTOP_HOLD, ROBOTIQD_ESTOP_RELEASE };

struct robotiqd_settings {
	int64_t node, upload;
	bool pdo, scissor;
	int64_t refresh_ns;
	double position_min, position_max, speed_max, force_max;
	enum robotiqd_expiry on_expiry;
	enum robotiqd_estop on_estop;
	int64_t activate_ns, reply_late_ns, silent_after_ns;
};

static const char *const robotiqd_settings_expiries[] = { "keep", "hold", NULL };
static const char *const robotiqd_settings_estops[] = { "hold", "release", NULL };

#define ROBOTIQD_ROW(TYPE, key, ...) SETTINGS_##TYPE(key, struct robotiqd_settings, __VA_ARGS__)
static const struct settings_row robotiqd_settings_rows[] = {
	ROBOTIQD_ROW(INT, "node", node, "", "11", "1", "0x7F", "node number of the gripper"),
	ROBOTIQD_ROW(INT, "upload", upload, "", "0x40", "0x40", "0x4F", "command byte of a read: 0x40 or 0x4F"),
	ROBOTIQD_ROW(BOOL, "pdo", pdo, "no", "the gripper sends its registers in TPDO 1 and 2, and takes RPDO 1"),
	ROBOTIQD_ROW(BOOL, "scissor", scissor, "no", "references have a fourth finger, the scissor axis"),
	ROBOTIQD_ROW(DURATION, "refresh", refresh_ns, "5ms", "5ms", "1s",
		     "least time from the begin of one read of all registers to that of the next"),
	ROBOTIQD_ROW(REAL, "position_min", position_min, "", "0", "0", "1", "references below are clamped; 0: open"),
	ROBOTIQD_ROW(REAL, "position_max", position_max, "", "1", "0", "1", "references above are clamped; 1: closed"),
	ROBOTIQD_ROW(REAL, "speed_max", speed_max, "", "1", "0", "1", "references above are clamped"),
	ROBOTIQD_ROW(REAL, "force_max", force_max, "", "1", "0", "1", "references above are clamped"),
	ROBOTIQD_ROW(WORD, "on_expiry", on_expiry, robotiqd_settings_expiries, "keep",
		     "without a reference: keep a grip that has been made, or stop the fingers in any case"),
	ROBOTIQD_ROW(WORD, "on_estop", on_estop, robotiqd_settings_estops, "hold",
		     "at level estop: stop the fingers, or open them (automatic release)"),
	ROBOTIQD_ROW(DURATION, "activate_within", activate_ns, "30s", "1s", "5min",
		     "longest time of an activation, or of a change of mode"),
	ROBOTIQD_ROW(DURATION, "reply_late", reply_late_ns, "20ms", "1ms", "1s",
		     "an SDO reply that has not come by then is given up"),
	ROBOTIQD_ROW(DURATION, "silent_after", silent_after_ns, "300ms", "20ms", "10s",
		     "time without a complete read of the registers after which the gripper is in fault", .ticks = 2,
		     .twice = true, .of = "reply_late"),
	SETTINGS_END,
};
