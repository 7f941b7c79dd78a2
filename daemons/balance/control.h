/* control.h: the commands of controld, and the motion that follows from one.
 *
 *	move [JOINT] ANGLE [SPEED]		goes there, and ends
 *	swing [JOINT] ANGLE ANGLE [SPEED]	between the two, until another command
 *	stop
 * Angles in rad, speeds in rad/s, positive.  Without a name the device has to have one joint.
 *
 * Pure: times and measurements are arguments.
 */
#pragma once

#include "channels/msg/types.h"
#include "config/base/base.h"

enum control_verb { CONTROL_STOP, CONTROL_MOVE, CONTROL_SWING };
extern const char *const control_words[]; /* "stop", "move", "swing", NULL */

struct control_command {
	enum control_verb verb;
	msg_name joint;	     /* "": the only one */
	double angle_rad[2]; /* the second of a swing */
	double speed_rad_s;  /* NaN: as fast as allowed */
};

/* "1.2 0.3", the values behind the verb.  NULL, or the form that they should have. */
const char *control_parse(struct control_command *command, enum control_verb verb, const char *values);
