/* golden_hubo.c: plays logs of two buses to the real hubod; see README.
 *
 *	golden_hubo LOG SENT STATES
 */
#include "test/daemons/golden/golden_lib.h"

#define main hubod_main
int hubod_main(int argc, char **argv);
#include "daemons/hubo/hubod.c"
#undef main

static void write_state(const void *state)
{
	const struct msg_joint_state *s = state;
	FILE *to = golden_lib_states;

	golden_lib_word(msg_joint_state_number, "header.flags", &s->header.flags);
	for (unsigned int i = 0; i < s->count; i++) {
		if (s->lifecycle[i] == MSG_LIFE_DOWN)
			continue;
		fprintf(to, "  %s %.5f %.2f rad/s %.3f A %06x", s->joint[i], s->position[i], s->velocity[i],
			s->current[i], s->state_word[i]);
		golden_lib_word(msg_joint_state_number, "status", &s->status[i]);
	}
	fputc('\n', to);
}

int main(int argc, char **argv)
{
	static const char *const further[] = { "clock",		 "bus-lower",  "bus-upper",	   "hubo-rleg-state",
					       "hubo-rleg-ref",	 "hubo-power", "hubo-board-param", "hubo-rhand-state",
					       "hubo-rhand-ref", NULL };
	const struct golden_lib_what what = {
		.main = hubod_main,
		.driver = "hubod",
		.device = "hubo",
		.bus = "lower",
		.bus2 = "upper",
		.settings = { "joints=test/daemons/golden/hubo.joints", "quiet_start=20ms", NULL },
		.further = further,
		.state = msg_joint_state_number,
		.write = write_state,
	};

	if (argc != 4) {
		fprintf(stderr, "usage: golden_hubo LOG SENT STATES\n");
		return 100;
	}
	return golden_lib_play(&what, argv[1], argv[2], argv[3]);
}
