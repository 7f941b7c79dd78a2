/* sample.h: a driver's settings as a driver would have them, for tests. */
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include "config/settings/settings.h"

enum sample_safe { SAMPLE_HOLD, SAMPLE_ZERO_VELOCITY, SAMPLE_ZERO_CURRENT };

/* The loop's part and the driver's part of one mapping. */
struct sample_loop {
	int64_t tick_ns;
	enum sample_safe on_estop;
	bool balance;
};
struct sample {
	char modules[24];
	double torque_limit;
	double current_a;
	int64_t retries;
	double gains[4];
	size_t gains_n;
	int64_t ids[4];
	size_t ids_n;
};

/* Both, linked, with defaults in them. */
struct settings *sample_start(void);
extern struct sample sample;
extern struct sample_loop sample_loop;
