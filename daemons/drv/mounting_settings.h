/* mounting_settings.h: the setting mounting of a sensor, which drivers and simulated sensors read.
 *
 *	double mounting_deg[3];
 *
 *	MOUNTING_SETTINGS_ROW(struct imud_settings, "the robot"),
 */
#pragma once

#include "config/settings/settings.h"

#define MOUNTING_SETTINGS_ROW(type, where)                                                 \
	SETTINGS_VECTOR("mounting", type, mounting_deg, "deg", "[0, 0, 0]", "-360", "360", \
			"roll, pitch and yaw of the sensor in " where)
