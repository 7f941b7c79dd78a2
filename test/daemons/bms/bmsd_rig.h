/* bmsd_rig.h: bmsd and a simulated battery (test/can/device_lib.h). */
#ifndef TEST_DAEMONS_BMS_BMSD_RIG_H
#define TEST_DAEMONS_BMS_BMSD_RIG_H

#include "test/can/device_lib.h"

#define RIG_STATES_MAX 400

struct bmsd_rig {
	struct msg_battery states[RIG_STATES_MAX];
	unsigned int states_n;
};
extern struct bmsd_rig bmsd_rig;

void bmsd_rig_begin(const char *settings, const char *sim);
unsigned int bmsd_rig_complete(unsigned int from); /* states that are not partial, from that one on */
unsigned int bmsd_rig_keep_alives(void);

#endif
