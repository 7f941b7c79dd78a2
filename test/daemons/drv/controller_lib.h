/* controller_lib.h: a controller as a process, on the virtual clock, with a device that the test plays.
 *
 *	controller_lib_begin();
 *	controller_lib_start("refmuxd", "--name waist-mux --set output=waist ...");
 *	controller_lib_ms(20);			the device, "waist", publishes every 5 ms
 *	controller_lib_arm();
 *	controller_lib_put("waist.joy-ref", 1, 20);
 *	controller_lib_ref(&ref)		the newest on waist-ref that is valid; false: none
 */
#pragma once

#include "channels/msg/msg.h"

#define CONTROLLER_LIB_MS INT64_C(1000000)

/* What the device publishes; the position is that of its newest valid reference, if it follows. */
struct controller_lib {
	struct msg_joint_state waist;
	bool silent;  /* it publishes nothing */
	bool follows; /* its position and velocity are those of its references */
};
extern struct controller_lib controller_lib;

void controller_lib_begin(void);
void controller_lib_end(void);
void controller_lib_start(const char *program, const char *arguments);
/* Ends it, and returns its exit status. */
int controller_lib_stop(int signal);
void controller_lib_ms(int ms);
void controller_lib_arm(void);
void controller_lib_restart(void); /* the device: another incarnation, starting, for 20 ms */

const char *controller_lib_channel(const char *name); /* with the prefix */
/* A position for both joints, valid for ms. */
void controller_lib_put(const char *channel, double position_rad, double ms);
bool controller_lib_ref(struct msg_joint_ref *ref);
/* The newest message of a channel; it has to be there. */
void controller_lib_newest(const char *channel, void *msg, size_t size);
/* Asks the controller NAME; its result, and its words in controller_lib_said. */
int controller_lib_request(const char *name, enum msg_verb verb, const char *key, const char *value);
extern char controller_lib_said[MSG_TEXT_SIZE];
