/* bmsd_settings.h: the settings of bmsd, which the simulated pack reads too. */
#pragma once

#include "config/settings/settings.h"

struct bmsd_settings {
	int64_t period_ns, keep_alive_ns;
	int64_t cells, cell_id, cell_silent_ns;
	double charge_low, charge_critical;
	double temperature_high_c, temperature_low_c;
	double imbalance_v;
	double current_max_a;
	double voltage_high_v, voltage_low_v;
};

#define BMSD_ROW(TYPE, key, ...) SETTINGS_##TYPE(key, struct bmsd_settings, __VA_ARGS__)
static const struct settings_row bmsd_settings_rows[] = {
	BMSD_ROW(DURATION, "period", period_ns, "1s", "20ms", "60s",
		 "from one telegram to the next; without one for three it is in fault"),
	BMSD_ROW(DURATION, "keep_alive", keep_alive_ns, "1s", "0s", "60s", "from one keep-alive to the next; 0s: none",
		 .ticks = 1),
	BMSD_ROW(INT, "cells", cells, "", "0", "0", "128", "cells that an Orion BMS broadcasts; 0: there is none"),
	BMSD_ROW(INT, "cell_id", cell_id, "", "0x036", "0x001", "0x7FF", "identifier of that broadcast"),
	BMSD_ROW(DURATION, "cell_silent", cell_silent_ns, "10s", "100ms", "10min",
		 "time after which the voltage of a cell counts as unknown"),
	BMSD_ROW(REAL, "charge_low", charge_low, "1", "0.2", "0", "1", "event charge-low below it"),
	BMSD_ROW(REAL, "charge_critical", charge_critical, "1", "0.1", "0", "1", "event charge-critical below it"),
	BMSD_ROW(REAL, "temperature_high", temperature_high_c, "degC", "50", "-50", "150",
		 "event over-temperature above it"),
	BMSD_ROW(REAL, "temperature_low", temperature_low_c, "degC", "0", "-100", "100",
		 "event under-temperature below it"),
	BMSD_ROW(REAL, "imbalance", imbalance_v, "V", "0.1", "0.001", "5",
		 "event imbalance if cells differ by more than that"),
	BMSD_ROW(REAL, "current_max", current_max_a, "A", "0", "0", "1000",
		 "event over-current if it discharges with more; 0: the pack's own limit"),
	BMSD_ROW(REAL, "voltage_high", voltage_high_v, "V", "0", "0", "1000", "event over-voltage above it; 0: none"),
	BMSD_ROW(REAL, "voltage_low", voltage_low_v, "V", "0", "0", "1000", "event under-voltage below it; 0: none"),
	SETTINGS_END,
};
