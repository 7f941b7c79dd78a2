/* imud_rig.h: imud and a simulated sensor (test/can/device_lib.h). */
#ifndef TEST_DAEMONS_IMU_IMUD_RIG_H
#define TEST_DAEMONS_IMU_IMUD_RIG_H

#include "test/can/device_lib.h"

#define RIG_STATES_MAX 8000

struct imud_rig {
	struct msg_imu states[RIG_STATES_MAX];
	unsigned int states_n;
};
extern struct imud_rig rig;

void imud_rig_begin(const char *settings, const char *sim);
unsigned int imud_rig_new(unsigned int from); /* states with a new sample, from that one on */
unsigned int imud_rig_toggles(void);

#endif
