/* hubod_settings.h: the settings of hubod, some of which the simulated boards read too. */
#pragma once

#include "config/settings/settings.h"

/* What a board with one motor gets in the second slot of its reference. */
enum hubod_second { HUBOD_SECOND_REPEAT, HUBOD_SECOND_ZERO };

struct hubod_settings {
	char joints[256], sensors[256], home[256];
	enum hubod_second second_slot;
	int64_t reply_late_ns, silent_after_ns;
	int64_t quiet_start_ns, quiet_home_ns;
	int64_t home_time_ns, home_wait_ns;
	int64_t home_flags[4];
	size_t home_flags_n;
	bool enable, hung, power, limbs;
	int64_t slow_every;
	double comply_kp_max, comply_kd_max, comply_pwm_max;
	int clockwise_down;
	bool comply_freewheel;
	bool read_parameters;
};

static const char *const hubod_settings_seconds[] = { "repeat", "zero", NULL };
static const char *const hubod_settings_ways[] = { "up", "down", NULL };

#define HUBOD_ROW(TYPE, key, ...) SETTINGS_##TYPE(key, struct hubod_settings, __VA_ARGS__)
static const struct settings_row hubod_settings_rows[] = {
	HUBOD_ROW(TEXT, "joints", joints, SETTINGS_REQUIRED, "joint table, beside the robot file: hubo2plus.joints"),
	HUBOD_ROW(TEXT, "sensors", sensors, "", "sensor table; none: no sensors"),
	HUBOD_ROW(TEXT, "home", home, "", "home file; none: the boards' own settings stay"),
	HUBOD_ROW(WORD, "second_slot", second_slot, hubod_settings_seconds, "repeat",
		  "second half of the reference to a board with one motor"),
	HUBOD_ROW(DURATION, "reply_late", reply_late_ns, "8ms", "200us", "40ms",
		  "a request for a current or parameter is lost after"),
	HUBOD_ROW(DURATION, "silent_after", silent_after_ns, "25ms", "10ms", "35ms",
		  "silence of the encoders of a board that is a fault"),
	HUBOD_ROW(DURATION, "quiet_start", quiet_start_ns, "800ms", "0", "10s",
		  "time without references after the start"),
	HUBOD_ROW(DURATION, "quiet_home", quiet_home_ns, "3s", "0", "60s",
		  "time without references after a home command"),
	HUBOD_ROW(DURATION, "home_time", home_time_ns, "30s", "1s", "10min",
		  "a joint that is not home by then has failed"),
	HUBOD_ROW(DURATION, "home_wait", home_wait_ns, "2s", "0", "30s",
		  "how long homing waits for a board that falls silent before it fails"),
	HUBOD_ROW(INTS, "home_flags", home_flags, home_flags_n, "", "6,2", "1", "15",
		  "home flags of a joint that is home; the second one counts for wrist rolls only"),
	HUBOD_ROW(BOOL, "enable", enable, "no",
		  "switch bridges and control on while the robot is armed; no: the request activate does"),
	HUBOD_ROW(BOOL, "hung", hung, "no", "the robot hangs, so its legs may be homed"),
	HUBOD_ROW(BOOL, "power", power, "yes", "ask the power board, on the upper bus"),
	HUBOD_ROW(BOOL, "limbs", limbs, "yes", "a state and a reference channel for each limb"),
	HUBOD_ROW(INT, "slow_every", slow_every, "cycles", "1", "1", "1000",
		  "cycles between two questions for a status and a current on each bus, and for power"),
	HUBOD_ROW(REAL, "comply_kp_max", comply_kp_max, "%/rad", "100", "0", "10000",
		  "most of comply-kp, in the joint table and by request"),
	HUBOD_ROW(REAL, "comply_kd_max", comply_kd_max, "% s/rad", "20", "0", "10000", "most of comply-kd"),
	HUBOD_ROW(REAL, "comply_pwm_max", comply_pwm_max, "%", "10", "0", "100", "most of comply-pwm and comply-grav"),
	HUBOD_ROW(WORD, "clockwise", clockwise_down, hubod_settings_ways, "up",
		  "where counts go when a motor turns clockwise"),
	HUBOD_ROW(BOOL, "comply_freewheel", comply_freewheel, "no",
		  "free-wheel switching of the bridges of boards that are compliant"),
	HUBOD_ROW(BOOL, "read_parameters", read_parameters, "no",
		  "read what boards have stored, for NAME-board-param, while no references are sent"),
	SETTINGS_END,
};
#undef HUBOD_ROW
