/* mounting_settings.h: the setting mounting of a sensor, which drivers and simulated sensors read.
 *
 *	double mounting_deg[3];
 *	size_t mounting_n;
 *
 *	MOUNTING_SETTINGS_ROW(struct imud_settings, "the robot"),
 */
#ifndef MOUNTING_SETTINGS_H
#define MOUNTING_SETTINGS_H

#include "config/settings/settings.h"

#define MOUNTING_SETTINGS_ROW(type, where)                                                            \
	SETTINGS_REALS("mounting", type, mounting_deg, mounting_n, "deg", "[0, 0, 0]", "-360", "360", \
		       "roll, pitch and yaw of the sensor in " where)

/* The error if mounting_n is not 3. */
#define MOUNTING_SETTINGS_WRONG "mounting: three angles are needed, such as [0, 0, -45]: roll, pitch, yaw"

#endif
