/* amciod_settings.h: the settings of amciod, which the simulated drives read too. */
#pragma once

#include "config/settings/settings.h"

/* How a drive notices that its driver is gone. */
enum amciod_guard { AMCIOD_GUARD_HEARTBEAT, AMCIOD_GUARD_NODE };
/* What the user-mapped TPDO 26 carries between statusword and current. */
enum amciod_carries { AMCIOD_CARRIES_POSITION, AMCIOD_CARRIES_VELOCITY };
/* Which loop closes the position: that of the drive, or this driver with velocities. */
enum amciod_position { AMCIOD_POSITION_BY_DRIVE, AMCIOD_POSITION_BY_VELOCITY };
enum amciod_action { AMCIOD_ACTION_ZERO, AMCIOD_ACTION_DISABLE };

struct amciod_settings {
	char drives[256]; /* amciod_list.h */
	double gear;
	int64_t counts;
	double kp_a, ks_hz; /* 0: as the drive reports */
	int64_t ki;	    /* 0: as the drive reports */
	double current_max_a;
	bool sync;
	int64_t period_ns; /* without sync */
	enum amciod_carries carries;
	bool second_tpdo;
	int64_t current_object;
	enum amciod_guard guard;
	int64_t guard_ns, heartbeat_ns;
	int64_t host_node;
	int64_t slow_ns;
	int64_t reply_late_ns, silent_after_ns;
	enum amciod_action on_estop;
	int64_t disable_ns;
	enum amciod_position position_by;
	double gain_1_s;
	char eds[128];
};

static const char *const amciod_settings_guards[] = { "heartbeat", "node", NULL };
static const char *const amciod_settings_carries[] = { "position", "velocity", NULL };
static const char *const amciod_settings_positions[] = { "drive", "velocity", NULL };
static const char *const amciod_settings_actions[] = { "zero", "disable", NULL };

static inline const char *amciod_settings_check_drives(const char *text)
{
	return *text ? NULL : "drives such as 0x20 left, 0x21 right -";
}

#define AMCIOD_ROW(TYPE, key, ...) SETTINGS_##TYPE(key, struct amciod_settings, __VA_ARGS__)
static const struct settings_row amciod_settings_rows[] = {
	AMCIOD_ROW(TEXT, "drives", drives, SETTINGS_REQUIRED,
		   "[BUS:]NODE JOINT [-] of each, with - for a drive that counts backwards: 0x20 left, 0x21 right -",
		   .check = amciod_settings_check_drives),
	AMCIOD_ROW(REAL, "gear", gear, "", "15", "0.001", "10000", "turns of the motor for one of the joint"),
	AMCIOD_ROW(INT, "counts", counts, "", "4000", "1", "1000000", "encoder counts for one turn of the motor"),
	AMCIOD_ROW(REAL, "kp", kp_a, "A", "0", "0", "1000", "peak current of the drive; 0: as it reports"),
	AMCIOD_ROW(REAL, "ks", ks_hz, "Hz", "0", "0", "1000000", "switching frequency; 0: as it reports"),
	AMCIOD_ROW(INT, "ki", ki, "", "0", "0", "65535", "feedback interpolation; 0: as it reports"),
	AMCIOD_ROW(REAL, "current_max", current_max_a, "A", "50", "0", "1000", "references above are clamped"),
	AMCIOD_ROW(BOOL, "sync", sync, "yes", "TPDOs answer each SYNC; no: the drive's own timer sends them"),
	AMCIOD_ROW(DURATION, "period", period_ns, "1ms", "1ms", "1s", "of that timer"),
	AMCIOD_ROW(WORD, "tpdo", carries, amciod_settings_carries, "position",
		   "in TPDO 26, between statusword and current"),
	AMCIOD_ROW(BOOL, "second_tpdo", second_tpdo, "no", "TPDO 4 or 3 sends the other of position and velocity"),
	AMCIOD_ROW(INT, "current_object", current_object, "", "0x6077", "0x1000", "0xFFFF",
		   "object of the measured current, 16 bits"),
	AMCIOD_ROW(WORD, "guard", guard, amciod_settings_guards, "heartbeat",
		   "by which a drive notices that its driver is gone: heartbeat of the host, or node guarding"),
	AMCIOD_ROW(DURATION, "guard_time", guard_ns, "200ms", "20ms", "10s",
		   "silence after which a drive takes its current away"),
	AMCIOD_ROW(DURATION, "heartbeat", heartbeat_ns, "20ms", "5ms", "1s",
		   "time between two heartbeats or guard requests of the host, and between those of a drive"),
	AMCIOD_ROW(INT, "host_node", host_node, "", "0x7F", "1", "0x7F", "node number of the host's heartbeat"),
	AMCIOD_ROW(DURATION, "slow", slow_ns, "100ms", "10ms", "10s", "bus voltage and drive status are read so often"),
	AMCIOD_ROW(DURATION, "reply_late", reply_late_ns, "20ms", "1ms", "1s",
		   "an SDO reply that has not come by then is given up"),
	AMCIOD_ROW(DURATION, "silent_after", silent_after_ns, "50ms", "2ms", "10s",
		   "silence of a drive that is a fault"),
	AMCIOD_ROW(WORD, "on_estop", on_estop, amciod_settings_actions, "disable",
		   "at level estop: zero current, then bridge off as well"),
	AMCIOD_ROW(DURATION, "disable_after", disable_ns, "500ms", "0", "10s",
		   "at level estop: time at zero current or velocity before the bridge is off"),
	AMCIOD_ROW(WORD, "position_by", position_by, amciod_settings_positions, "drive",
		   "position references are followed by the drive's own loop, or by velocities"),
	AMCIOD_ROW(REAL, "gain", gain_1_s, "1/s", "10", "0", "200",
		   "by velocities: velocity for each rad that a joint is behind its ramp"),
	AMCIOD_ROW(TEXT, "eds", eds, "", "data sheet of the drive: its objects are checked against this file"),
	SETTINGS_END,
};
