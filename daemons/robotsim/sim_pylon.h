/* sim_pylon.h: a simulated battery.
 *
 *	sim_pylon.c		the kind: the pack and its telegram as a Pylontech pack sends it
 *	sim_orion.c		the broadcast of its cells as an Orion BMS sends it
 */
#pragma once

#include "daemons/bms/bmsd_settings.h"
#include "daemons/robotsim/sim_base.h"

struct pylon_unit {
	struct sim_base base;

	/* rows */
	double charge, capacity_ah, load_a, ambient_c, heat_k_a2;
	double spread_v, diverge_v_h;
	int64_t warms_in_ns, series, period_ns, cell_period_ns, deaf_after_ns;
	double limit_a;
	bool shorter, permits, begins_with_alarms, fine;

	struct bmsd_settings settings;
	int64_t t_ns; /* everything up to here has happened */
	double temperature_c;
	double drift_v; /* of the cells since the start, in addition to spread */

	bool no_alarms, wrong_checksum;
	uint16_t protections, warnings; /* bits of 0x359 */
	bool refuses_charge, refuses_discharge, wants_charge;
	int64_t heard_ns; /* the last keep-alive, or power-on */
	uint64_t keep_alives, telegrams;

	int64_t telegram_ns, cell_ns; /* the next ones */
	unsigned int cell;
};

double pylon_cell_v(const struct pylon_unit *unit, unsigned int cell); /* with its load */
struct frame orion_cell_frame(const struct pylon_unit *unit, unsigned int cell);
