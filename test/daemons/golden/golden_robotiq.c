/* golden_robotiq.c: plays a log to the real robotiqd; see README.
 *
 *	golden_robotiq LOG SENT STATES
 */
#include "test/daemons/golden/golden_lib.h"

#define main robotiqd_main
int robotiqd_main(int argc, char **argv);
#include "daemons/robotiq/robotiqd.c"
#undef main

static void write_state(const void *state)
{
	const struct msg_gripper_state *s = state;
	FILE *to = golden_lib_states;

	golden_lib_word(msg_gripper_state_number, "common.latches", &s->common.latches);
	golden_lib_word(msg_gripper_state_number, "header.flags", &s->header.flags);
	golden_lib_word(msg_gripper_state_number, "grip", &s->grip);
	fprintf(to, "  activated %u  status %06x ", s->activated, s->status);
	for (unsigned int i = 0; i < s->count; i++) {
		fprintf(to, "  %.4f %.1f A", s->position[i], s->current[i]);
		golden_lib_word(msg_gripper_state_number, "finger", &s->finger[i]);
	}
	fprintf(to, "  age %.3f ms\n", golden_lib_ms(s->age_ns));
}

int main(int argc, char **argv)
{
	const struct golden_lib_what what = {
		.main = robotiqd_main,
		.driver = "robotiqd",
		.device = "grip",
		.bus = "hand",
		.settings = { NULL },
		.state = msg_gripper_state_number,
		.write = write_state,
	};

	if (argc != 4) {
		fprintf(stderr, "usage: golden_robotiq LOG SENT STATES\n");
		return 100;
	}
	return golden_lib_play(&what, argv[1], argv[2], argv[3]);
}
