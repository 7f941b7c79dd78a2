/* ftd_rig.h: ftd and a simulated sensor (test/can/device_lib.h). */
#ifndef TEST_DAEMONS_FT_FTD_RIG_H
#define TEST_DAEMONS_FT_FTD_RIG_H

#include "test/can/device_lib.h"

#define RIG_STATES_MAX 8000

struct ftd_rig {
	struct msg_ft states[RIG_STATES_MAX];
	unsigned int states_n;
};
extern struct ftd_rig ftd_rig;

void ftd_rig_begin(const char *settings, const char *sim, const char *devices);
unsigned int ftd_rig_new(unsigned int from); /* states with a new sample, from that one on */
const struct msg_ft *ftd_rig_newest(void);   /* state with a new sample */
/* Frames on the wire of this identifier and length, from that one on. */
unsigned int ftd_rig_frames(unsigned int from, uint32_t id, unsigned int len);

#endif
