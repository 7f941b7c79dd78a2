/* setup_rows.h: the settings that all drivers have, for the loop and for the simulator.
 *
 * A device's settings in the robot file are these and those of its driver, daemons/X/Xd_settings.h.  The simulator
 * reads them with the same tables, so it refuses what the driver refuses, and has the same defaults.
 */
#pragma once

#include "config/settings/settings.h"

extern const struct settings_row setup_loop_rows[];
extern const struct settings_row setup_actuated_rows[]; /* of drivers that take references */
extern const size_t setup_rows_size;			/* of the struct that both fill */
