/* setup.h: the input of a driver: command line, robot file, settings.
 *
 *	pciod --name waist --config config/robots/waist.yaml --set tick=2ms
 *	pciod --name waist --bus wire:torso --set modules=15		(without a file)
 */
#pragma once

#include "daemons/drv/drv.h"
#include "daemons/drv/drv_tick.h"
#include "daemons/drv/realtime.h"

struct setup_bus {
	char role[TEXT_NAME_MAX + 1]; /* "" when none was named */
	char name[TEXT_NAME_MAX + 1];
	char interface[ROBOT_INTERFACE_MAX];
	int64_t bitrate;
	int64_t in_flight;	       /* 0: the usual */
	const struct robot_bus *robot; /* NULL: not from the file */
};

struct setup {
	const struct drv_driver *driver;
	void *self; /* the driver's own struct, with its settings */

	/* the command line */
	const char *name;
	bool frames, check;

	/* settings that all drivers have */
	char tick[64];
	struct drv_tick_rule rule;
	struct realtime realtime;
	/* those with references */
	int64_t ref_max_ns;
	bool any_incarnation, balance;
	bool joint_independent; /* a joint that fails does not stop its group */
	enum drv_ref_safe safe;

	struct setup_bus buses[MSG_BUSES];
	unsigned int buses_n;

	struct robot robot;
	const struct robot_device *device; /* NULL: no file */

	struct settings loop, actuated, own; /* linked: the whole table */
	struct settings_row loop_rows[8];
};

#define SETUP_GO (-1)
/* SETUP_GO, or the exit status; what is wrong has been said on stderr. */
int setup_read(struct setup *setup, const struct drv_driver *driver, int argc, char **argv);
void setup_close(struct setup *setup);
