/* pcube_load.h: which modules a device of the robot file is made of. */
#ifndef DAEMONS_ROBOTSIM_PCUBE_LOAD_H
#define DAEMONS_ROBOTSIM_PCUBE_LOAD_H

#include "daemons/robotsim/pcube.h"
#include "daemons/robotsim/sim.h"

/* The state of a unit. */
struct pcube_unit {
	struct pcube module;
	struct pcube_settings settings; /* as it was read */
	unsigned int address;
};

int pcube_load(struct sim *sim, const struct robot_device *device, const void *settings, struct error_sink *errors);

#endif
