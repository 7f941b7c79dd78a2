/* which.h: which robot is meant: its folder, and its channels.
 *
 * The folder is that of --robot, $ENDPLATE_RUN, or the only robot that runs here.  In it achstart left what the names
 * of the robot's channels begin with (launch/achstart/folder.h); where nobody did it is $ENDPLATE_PREFIX.  So what
 * arms a robot and what stops it go to the same one.
 *
 * If the two contradict each other, or --robot and $ENDPLATE_RUN, nothing is done but hold and estop, which go to all
 * that may have been meant: to raise too much is safe.
 */
#ifndef LAUNCH_ACHCTL_WHICH_H
#define LAUNCH_ACHCTL_WHICH_H

#include <stdbool.h>
#include <stddef.h>

#include "config/text.h"
#include "daemons/port.h"
#include "launch/achctl/ctl.h"

/* Before --robot is obeyed. */
void which_begin(struct ctl_line *line);

/* From here on $ENDPLATE_RUN and $ENDPLATE_PREFIX are those of the robot.  0, or CTL_WRONG after a line. */
int which_robot(const struct ctl_line *line);

#define WHICH_MAX 16
struct which {
	struct which_one {
		char robot[TEXT_NAME_MAX + 1]; /* "": not known */
		char prefix[PORT_NAME_MAX];
		char run[RUN_PATH_MAX]; /* "": not known */
	} one[WHICH_MAX];
	size_t n;	 /* at least one */
	char doubt[256]; /* why there is more than one, or another than was named; "": there is no doubt */
};
void which_all(const struct ctl_line *line, struct which *which);

#endif
