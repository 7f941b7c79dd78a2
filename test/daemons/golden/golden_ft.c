/* golden_ft.c: plays a log to the real ftd; see README.
 *
 *	golden_ft LOG SENT STATES
 */
#include "test/daemons/golden/golden_lib.h"

#define main ftd_main
int ftd_main(int argc, char **argv);
#include "daemons/ft/ftd.c"
#undef main

static void write_state(const void *state)
{
	const struct msg_ft *s = state;
	FILE *to = golden_lib_states;

	golden_lib_word(msg_ft_number, "header.flags", &s->header.flags);
	fprintf(to, "  force %.3f %.3f %.3f  torque %.4f %.4f %.4f  bias %.3f %.3f %.3f", s->force[0], s->force[1],
		s->force[2], s->torque[0], s->torque[1], s->torque[2], s->bias_force[0], s->bias_force[1],
		s->bias_force[2]);
	fprintf(to, "  status %04x  saturated %02x  age %.3f ms  odd %lu\n", s->status, s->saturated,
		golden_lib_ms(s->age_ns), (unsigned long)s->common.frames_odd);
}

int main(int argc, char **argv)
{
	const struct golden_lib_what what = {
		.main = ftd_main,
		.driver = "ftd",
		.device = "ft",
		.bus = "wrist",
		.settings = { "mounting=[0, 0, 90]", "tool_mass=0.5" },
		.state = msg_ft_number,
		.write = write_state,
	};

	if (argc != 4) {
		fprintf(stderr, "usage: golden_ft LOG SENT STATES\n");
		return 100;
	}
	return golden_lib_play(&what, argv[1], argv[2], argv[3]);
}
