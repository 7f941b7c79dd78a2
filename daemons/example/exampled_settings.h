/* exampled_settings.h: the settings of exampled, which the simulated turntable reads too. */
#ifndef EXAMPLED_SETTINGS_H
#define EXAMPLED_SETTINGS_H

#include "config/settings/settings.h"

struct exampled_settings {
	int64_t node;
};

static const struct settings_row exampled_settings_rows[] = {
	SETTINGS_INT("node", struct exampled_settings, node, "", "1", "1", "15", "the turntable's number"),
	SETTINGS_END,
};

#endif
