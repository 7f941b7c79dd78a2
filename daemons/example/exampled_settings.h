/* exampled_settings.h: the settings of exampled, which the simulated turntable reads too. */
#pragma once

#include "config/settings/settings.h"

struct exampled_settings {
	int64_t node;
};

static const struct settings_row exampled_settings_rows[] = {
	SETTINGS_INT("node", struct exampled_settings, node, "", "1", "1", "15", "the turntable's number"),
	SETTINGS_END,
};
