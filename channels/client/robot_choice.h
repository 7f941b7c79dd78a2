/* robot_choice.h: finds the robot that a command is for: its folder and its channels.
 *
 * The folder is that of --robot (/run/endplate/ROBOT, else that of a robot of the user), $ENDPLATE_RUN, or the only
 * robot that runs on this machine.  It belongs to the user, to root, or to a user whom root has given it
 * (config/base/safe_path.h).  In it achstart has recorded the folder and the prefix of the robot's channels
 * (config/base/run_record.h); without that record they are $ACH_DIR and $ENDPLATE_PREFIX.  So arming and stopping reach
 * the same robot.
 *
 * If the two contradict each other, or --robot and $ENDPLATE_RUN, the command is refused; hold and estop go to
 * all candidates instead, which is safe.
 */
#pragma once

#include "channels/port/port.h"
#include "config/base/base.h"

struct robot_choice_asked {
	const char *robot; /* NULL: no name was given */
	bool run_given;	   /* $ENDPLATE_RUN was set before */
};

/* Takes the name of the robot, or NULL.  0, or -EINVAL if it is not a valid name. */
int robot_choice_begin(struct robot_choice_asked *asked, const char *robot);

/* From here on $ENDPLATE_RUN, $ENDPLATE_PREFIX and $ACH_DIR are those of the robot.  0; 1: its folder has no robot
 * file, and the environment is as it was; with a line in errors: -EINVAL if they contradict each other, another
 * -errno if the folder cannot be trusted. */
int robot_choice_use(const struct robot_choice_asked *asked, struct error_sink *errors);
void robot_choice_clock(void); /* from here on on its virtual clock, if it has one (vt_observe) */

#define ROBOT_CHOICE_MAX 16
struct robot_choice {
	struct robot_choice_one {
		char robot[TEXT_NAME_MAX + 1]; /* "": not known */
		char prefix[PORT_NAME_MAX];
		char channels[RUN_PATH_MAX]; /* ACH_DIR; "": not set */
		char run[RUN_PATH_MAX];	     /* "": not known */
	} one[ROBOT_CHOICE_MAX];
	size_t n;	  /* at least one */
	char others[128]; /* all that run, where "robot" was taken from several; else "" */
	char doubt[256];  /* why there is more than one, or another than was named; "": there is no doubt */
};
void robot_choice_all(const struct robot_choice_asked *asked, struct robot_choice *which);
/* Sets $ENDPLATE_PREFIX and $ACH_DIR, which is unset if channels is "". */
void robot_choice_export(const char *prefix, const char *channels);
