/* ach_client.c: a client as it was written for hubo-ach: its structs, one channel in, one out, no header of ours but
 * ach.h.  It moves RSP to -0.3 rad, keeps all else where it was, and ends when RSP is there.
 */
#include <math.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "channels/ach/ach.h"

#define JOINTS 42
#define RSP 11
#define STATES 3000

struct hubo_ref {
	double ref[JOINTS];
	int16_t mode[JOINTS];
	int8_t comply[JOINTS];
} __attribute__((packed));

struct hubo_joint_state {
	double ref;
	uint8_t comply;
	double pos, cur, vel, duty, heat, tmp;
	uint8_t active, zeroed;
} __attribute__((packed));

struct hubo_state {
	double imu[3][6], ft[4][3];
	struct hubo_joint_state joint[JOINTS];
	uint8_t status[JOINTS][17];
	double driver[54], power[3], time;
	int16_t ref_wait;
} __attribute__((packed));

static void open_channel(ach_channel_t *chan, const char *name)
{
	const char *prefix = getenv("ENDPLATE_PREFIX");
	char full[64];

	snprintf(full, sizeof(full), "%s%s", prefix ? prefix : "", name);
	if (ach_open(chan, full, NULL) != ACH_OK) {
		fprintf(stderr, "ach_client: %s: %s\n", full, ach_errstr());
		exit(111);
	}
}

int main(void)
{
	ach_channel_t refs, states;
	struct hubo_state state;
	struct hubo_ref ref;
	size_t len;

	open_channel(&refs, "hubo-ref");
	open_channel(&states, "hubo-state");
	memset(&ref, 0, sizeof(ref));
	for (int n = 0; n < STATES; n++) {
		const int status = ach_get(&states, &state, sizeof(state), &len, NULL, ACH_O_WAIT | ACH_O_LAST);

		if ((status != ACH_OK && status != ACH_MISSED_FRAME) || len != sizeof(state)) {
			fprintf(stderr, "ach_client: state of %zu bytes, status %d\n", len, status);
			return 111;
		}
		for (int i = 0; i < JOINTS && state.ref_wait; i++) {
			ref.ref[i] = i < 32 ? state.joint[i].pos : 0; /* fingers: no duty */
			ref.mode[i] = 1;
		}
		ref.ref[RSP] = -0.3;
		ref.mode[RSP] = 0;
		if (!state.ref_wait && ach_put(&refs, &ref, sizeof(ref)) != ACH_OK)
			return 111;
		if (!state.ref_wait && fabs(state.joint[RSP].pos + 0.3) < 0.003) {
			printf("RSP at %.4f rad, RHY at %.4f, active %d, tilt %.3f, %.1f V\n", state.joint[RSP].pos,
			       state.joint[26].pos, state.joint[RSP].active, state.imu[0][0], state.power[0]);
			return 0;
		}
	}
	fprintf(stderr, "ach_client: RSP is at %.4f rad\n", state.joint[RSP].pos);
	return 1;
}
