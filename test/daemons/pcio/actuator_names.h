/* actuator_names.h: the states and events of an actuator in words, for messages of tests. */
#pragma once

#include "daemons/pcio/pciod_actuator_table.h"

#define ACTUATOR_NAME(NAME, name) name,
static const char *const actuator_states[] = { PCIOD_ACTUATOR_STATES(ACTUATOR_NAME) };
static const char *const actuator_events[] __attribute__((unused)) = { PCIOD_ACTUATOR_EVENTS(ACTUATOR_NAME) };
