/* golden_imu.c: plays a log to the real imud; see README.
 *
 *	golden_imu KIND LOG SENT STATES
 */
#include "test/daemons/golden/golden_lib.h"

#define main imud_main
int imud_main(int argc, char **argv);
#include "daemons/imu/imud.c"
#undef main

static void write_state(const void *state)
{
	const struct msg_imu *s = state;
	FILE *to = golden_lib_states;

	golden_lib_word(msg_imu_number, "header.flags", &s->header.flags);
	fprintf(to, "  acceleration %.4f %.4f %.4f  rate %.5f %.5f %.5f  orientation %.4f %.4f %.4f %.4f",
		s->acceleration[0], s->acceleration[1], s->acceleration[2], s->rate[0], s->rate[1], s->rate[2],
		s->orientation[0], s->orientation[1], s->orientation[2], s->orientation[3]);
	fprintf(to, "  temperature %.2f  status %08x  samples %u  age %.3f ms  missing %lu\n", s->temperature,
		s->status, s->samples, golden_lib_ms(s->age_ns), (unsigned long)s->common.frames_missing);
}

int main(int argc, char **argv)
{
	char kind[16];
	struct golden_lib_what what = {
		.main = imud_main,
		.driver = "imud",
		.device = "imu",
		.bus = "base",
		.settings = { kind, "mounting=[0, 0, 135]" },
		.state = msg_imu_number,
		.write = write_state,
	};

	if (argc != 5) {
		fprintf(stderr, "usage: golden_imu KIND LOG SENT STATES\n");
		return 100;
	}
	snprintf(kind, sizeof(kind), "kind=%s", argv[1]);
	return golden_lib_play(&what, argv[2], argv[3], argv[4]);
}
