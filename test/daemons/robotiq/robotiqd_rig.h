/* robotiqd_rig.h: robotiqd, a simulated gripper and a controller (test/lib/device_lib.h). */
#pragma once

#include "test/lib/device_lib.h"

#define RIG_STATES_MAX 8000
#define RIG_VALID_MS 150

struct robotiqd_seen {
	struct msg_gripper_state states[RIG_STATES_MAX];
	unsigned int states_n;
	bool referring; /* a controller sends ref, for the incarnation that it last saw */
	struct msg_gripper_ref ref;
};
extern struct robotiqd_seen robotiqd_seen;

void robotiqd_rig_begin(const char *settings, const char *sim);
void robotiqd_rig_end(void);
double robotiqd_rig_number(const char *key); /* in the simulator's report */

void robotiqd_rig_arm(void);
void robotiqd_rig_raise(enum msg_level level);
void robotiqd_rig_grasp(double position);
const struct msg_reply *robotiqd_rig_reply(uint64_t id);			      /* NULL: none yet */
int robotiqd_rig_ask(enum msg_verb verb, const char *key, const char *value, int ms); /* its result; 1: none in time */

const struct msg_gripper_state *robotiqd_rig_state(void);	       /* the newest */
unsigned int robotiqd_rig_writes(unsigned int from, unsigned int reg); /* frames, from that one on; reg 0: all */
unsigned int robotiqd_rig_nmt(void);				       /* commands */
