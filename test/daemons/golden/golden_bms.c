/* golden_bms.c: plays a log to the real bmsd; see README.
 *
 *	golden_bms LOG SENT STATES
 */
#include "test/daemons/golden/golden_lib.h"

#define main bmsd_main
int bmsd_main(int argc, char **argv);
#include "daemons/bms/bmsd.c"
#undef main

static void write_state(const void *state)
{
	const struct msg_battery *s = state;
	FILE *to = golden_lib_states;

	golden_lib_word(msg_battery_number, "header.flags", &s->header.flags);
	fprintf(to, "  voltage %.2f current %.1f charge %.2f health %.2f temperature %.2f limit %.1f", s->voltage,
		s->current, s->charge, s->health, s->temperature, s->current_limit);
	golden_lib_word(msg_battery_number, "alarms", &s->alarms);
	for (unsigned int i = 0; i < s->cell_count; i++)
		fprintf(to, "%s%.4f", i ? " " : "  cells ", s->cell[i]);
	fprintf(to, "  age %.3f ms  missing %lu odd %lu\n", golden_lib_ms(s->age_ns),
		(unsigned long)s->common.frames_missing, (unsigned long)s->common.frames_odd);
}

int main(int argc, char **argv)
{
	const struct golden_lib_what what = {
		.main = bmsd_main,
		.driver = "bmsd",
		.device = "battery",
		.bus = "torso",
		.settings = { "cells=3" },
		.state = msg_battery_number,
		.write = write_state,
	};

	if (argc != 4) {
		fprintf(stderr, "usage: golden_bms LOG SENT STATES\n");
		return 100;
	}
	return golden_lib_play(&what, argv[1], argv[2], argv[3]);
}
