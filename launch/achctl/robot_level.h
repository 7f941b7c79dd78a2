/* robot_level.h: the level of the e-stop that the drivers of a robot obey.
 *
 * achctl has not read the channels since the robot was armed, so it begins with the lowering that the states of the
 * drivers name.
 */
#ifndef LAUNCH_ACHCTL_ROBOT_LEVEL_H
#define LAUNCH_ACHCTL_ROBOT_LEVEL_H

#include "daemons/estop/estop.h"
#include "launch/achctl/robot_channels.h"

/* Opens the channels of $ENDPLATE_PREFIX, which belong to the owner of $RUN, or to this user if there is none.  0, or
 * -errno with a line for each channel that is not open: robot_level_read tries again. */
int robot_level_open(struct estop *estop, bool make, struct error_sink *errors);
/* The level; estop->epoch is the newest that a driver names if none is obeyed. */
enum msg_level robot_level_read(struct estop *estop, const struct robot_channels *channels, int64_t now_ns);

/* Reads the messages since *seen.  true: these are only copies of estop-b, written by drivers to estop; *seen is then
 * up to date. */
bool robot_level_only_copied(struct estop *estop, struct estop_seen *seen);

/* Is there a driver, or a channel of the e-stop? */
bool robot_level_exists(const struct estop *estop, const struct robot_channels *channels);
/* Is it the state of a driver?  Its name. */
bool robot_level_driver(const struct estop *estop, const struct robot_channel *one, char *name, size_t size);
/* Has its process ended?  A process that is not in $RUN/state counts as ended if it was silent at that time. */
bool robot_level_is_gone(const struct robot_channel *one, const char *name, int64_t now_ns);

#endif
