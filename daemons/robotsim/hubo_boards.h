/* hubo_boards.h: Hubo's boards as simulated devices.
 *
 *	hubo_boards.c		the boards of the tables that a robot file names
 *	hubo_boards_kind.c	joint boards: faults on command, report
 *	hubo_sensor.c		sensor boards and the power board
 *	jmc_board.h		a joint board
 */
#pragma once

#include "daemons/hubo/hubo_table.h"
#include "daemons/robotsim/sim_base.h"

enum hubo_sensor_kind { HUBO_SENSOR_FORCE, HUBO_SENSOR_FOOT, HUBO_SENSOR_INERTIAL, HUBO_SENSOR_POWER };

#define HUBO_SENSOR_REPLIES_MAX 4

struct hubo_sensor_unit {
	struct sim_base base;

	/* rows */
	int64_t delay_ns;
	double torque_nm[2], force_n;
	size_t torque_n;
	double tilt_rad[2], tilt_z;
	size_t tilt_n;
	double angle_rad[2], rate_rad_s[2];
	size_t angle_n, rate_n;
	double voltage_v, current_a;

	enum hubo_sensor_kind kind;
	unsigned int number; /* 1 to 7 */
	int sign[3];
	double null[5]; /* subtracted: Mx, My, Fz; tilt or angles */
	uint64_t asked, ignored;
};

extern const struct sim_kind hubo_boards_kind, hubo_sensor_kind;
extern const struct settings_row hubo_boards_rows[], hubo_sensor_rows[];
int hubo_boards_load(struct sim *sim, const struct robot_device *device, const void *of_driver,
		     struct error_sink *errors);
/* Adds the sensor boards of the table, and the power board, all with these settings. */
int hubo_sensor_load(struct sim *sim, const struct robot_device *device, const struct hubo_table *table,
		     const struct hubo_sensor_unit *settings, struct error_sink *errors);

/* One more board on this bus of the device; size bytes of zeros are its state.  NULL: a line is in errors. */
struct sim_unit *hubo_boards_add(struct sim *sim, const struct robot_device *device, const char *name, int bus,
				 size_t size, struct error_sink *errors);
