/* kinds.h: the kinds of devices that there are, one file or more each. */
#ifndef DAEMONS_ROBOTSIM_KINDS_H
#define DAEMONS_ROBOTSIM_KINDS_H

#include "daemons/robotsim/sim.h"

extern const struct sim_kind pcube_kind;       /* pciod: PowerCube modules */
extern const struct sim_kind turntable_kind;   /* exampled: the example turntable */
extern const struct sim_kind force_gauge_kind; /* gauged: the example force gauge */

#endif
