/* odrived_settings.h: the settings of odrived, which the simulated drive reads too. */
#pragma once

#include "config/settings/settings.h"

struct odrived_settings {
	int64_t node, watchdog_endpoint;
	double gear;
};

static const struct settings_row odrived_settings_rows[] = {
	SETTINGS_INT("node", struct odrived_settings, node, "", "0", "0", "62", "the drive's number"),
	SETTINGS_REAL("gear", struct odrived_settings, gear, "", "1", "0.001", "1000", "turns of the motor per turn"),
	SETTINGS_INT("watchdog_endpoint", struct odrived_settings, watchdog_endpoint, "", "0", "0", "65535",
		     "number of axis0.config.enable_watchdog in flat_endpoints.json of its firmware; 0: not known"),
	SETTINGS_END,
};
