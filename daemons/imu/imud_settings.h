/* imud_settings.h: the settings of imud, which the simulated sensors read too. */
#pragma once

#include "config/settings/settings.h"
#include "daemons/drv/mounting_settings.h"

enum imud_kind { IMUD_DMU, IMUD_MTI };

struct imud_settings {
	enum imud_kind kind;
	double rate_hz;
	double mounting_deg[3]; /* roll, pitch, yaw */
	int64_t silent_after_ns, frozen_after_ns;
	int64_t listen_ns, retry_ns;	  /* dmu */
	int64_t rate_id, acceleration_id; /* mti */
	bool orientation;		  /* mti */
};

static const char *const imud_settings_kinds[] = { "dmu", "mti", NULL };

#define IMUD_ROW(TYPE, key, ...) SETTINGS_##TYPE(key, struct imud_settings, __VA_ARGS__)
static const struct settings_row imud_settings_rows[] = {
	IMUD_ROW(WORD, "kind", kind, imud_settings_kinds, SETTINGS_REQUIRED,
		 "dmu, a Silicon Sensing DMU, or mti, an Xsens MTi"),
	IMUD_ROW(REAL, "rate", rate_hz, "Hz", "200", "1", "2000", "samples in a second, as the sensor is set up"),
	MOUNTING_SETTINGS_ROW(struct imud_settings, "the robot"),
	IMUD_ROW(DURATION, "silent_after", silent_after_ns, "50ms", "2ms", "10s",
		 "time without a new sample after which the sensor is in fault"),
	IMUD_ROW(DURATION, "frozen_after", frozen_after_ns, "100ms", "0s", "10s",
		 "time with the same values after which it is in fault; 0s: never"),
	IMUD_ROW(DURATION, "listen", listen_ns, "50ms", "10ms", "10s",
		 "dmu: silence before its stream is toggled for the first time"),
	IMUD_ROW(DURATION, "retry", retry_ns, "1s", "10ms", "60s", "dmu: longest silence before another toggle",
		 .of = "listen"),
	IMUD_ROW(INT, "rate_id", rate_id, "", "0x32", "0x03", "0x7FF", "mti: identifier of the rate of turn"),
	IMUD_ROW(INT, "acceleration_id", acceleration_id, "", "0x34", "0x03", "0x7FF",
		 "mti: identifier of the acceleration"),
	IMUD_ROW(BOOL, "orientation", orientation, "no", "mti: a sample waits for its quaternion"),
	SETTINGS_END,
};
