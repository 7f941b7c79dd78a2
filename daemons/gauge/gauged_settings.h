/* gauged_settings.h: the settings of gauged, which the simulated gauge reads too. */
#pragma once

#include "config/settings/settings.h"

struct gauged_settings {
	int64_t node;
};

static const struct settings_row gauged_settings_rows[] = {
	SETTINGS_INT("node", struct gauged_settings, node, "", "1", "1", "15", "the gauge's number"),
	SETTINGS_END,
};
