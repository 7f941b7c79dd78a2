/* ftd_settings.h: the settings of ftd, which the simulated sensor reads too. */
#pragma once

#include "config/settings/settings.h"
#include "daemons/drv/mounting_settings.h"

struct ftd_settings {
	int64_t base, calibration;
	int force_unit, torque_unit; /* 0: as the sensor says; else its code */
	int64_t saturation_counts, status_ignored;
	double mounting_deg[3]; /* roll, pitch, yaw */
	double tool_kg;
	double tool_center_m[3];
	double gravity[3];
	int64_t bias_samples;
	int64_t reply_late_ns, reply_lost_ns, silent_after_ns, reset_wait_ns;
};

/* In the order of the sensor's codes. */
static const char *const ftd_settings_forces[] = { "device", "lbf", "N", "klbf", "kN", "kgf", "gf", NULL };
static const char *const ftd_settings_torques[] = { "device", "lbf-in", "lbf-ft", "Nm", "Nmm", "kgf-cm", "kNm", NULL };

#define FTD_ROW(TYPE, key, ...) SETTINGS_##TYPE(key, struct ftd_settings, __VA_ARGS__)
static const struct settings_row ftd_settings_rows[] = {
	FTD_ROW(INT, "base", base, "", "0x20", "0", "0x7F", "identifiers are 16 times this, and the opcode"),
	FTD_ROW(INT, "calibration", calibration, "", "0", "0", "15", "the sensor's calibration to be used"),
	FTD_ROW(WORD, "force_unit", force_unit, ftd_settings_forces, "device",
		"unit of the calibrated force; device: as its unit code says"),
	FTD_ROW(WORD, "torque_unit", torque_unit, ftd_settings_torques, "device",
		"unit of the calibrated torque; device: as its unit code says"),
	FTD_ROW(INT, "saturation_counts", saturation_counts, "", "32000", "1", "32768",
		"counts of a gauge, either way, from which it is saturated"),
	FTD_ROW(INT, "status_ignored", status_ignored, "", "0", "0", "0xFFFF",
		"bits of the sensor's status that are not a fault"),
	MOUNTING_SETTINGS_ROW(struct ftd_settings, "the axes of the wrist"),
	FTD_ROW(REAL, "tool_mass", tool_kg, "kg", "0", "0", "100", "of what hangs on the sensor"),
	FTD_ROW(VECTOR, "tool_center", tool_center_m, "m", "[0, 0, 0]", "-10", "10",
		"its centre of mass, in the axes of the wrist"),
	FTD_ROW(VECTOR, "gravity", gravity, "1", "[0, 0, -1]", "-1", "1",
		"direction of gravity in the axes of the wrist, for the weight of the tool"),
	FTD_ROW(INT, "bias_samples", bias_samples, "", "100", "1", "10000", "that a bias averages"),
	FTD_ROW(DURATION, "reply_late", reply_late_ns, "4ms", "500us", "1s",
		"a sample that is not complete by then is lost"),
	FTD_ROW(DURATION, "reply_lost", reply_lost_ns, "8ms", "1ms", "10s", "after this, stop waiting for late frames",
		.of = "reply_late"),
	FTD_ROW(DURATION, "silent_after", silent_after_ns, "50ms", "2ms", "10s",
		"time without a sample after which the sensor is in fault", .ticks = 3),
	FTD_ROW(DURATION, "reset_wait", reset_wait_ns, "10ms", "10ms", "10s",
		"from a reset until something is sent to the sensor"),
	SETTINGS_END,
};
