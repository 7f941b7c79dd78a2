/* safety_actuators.h: the actuators that the safety cases run for, each in the file of its name. */
#ifndef TEST_SAFETY_ACTUATORS_H
#define TEST_SAFETY_ACTUATORS_H

#include "test/daemons/safety/safety_lib.h"

extern const struct safety_actuator safety_pciod;
extern const struct safety_actuator safety_exampled;
extern const struct safety_actuator safety_amciod;

#endif
