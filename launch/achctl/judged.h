/* judged.h: the level of the e-stop, as the drivers of the robot judge it.
 *
 * achctl has not read the channels since the robot was armed, so it begins where the drivers are: with the lowering
 * that their states say they obey.
 */
#ifndef LAUNCH_ACHCTL_JUDGED_H
#define LAUNCH_ACHCTL_JUDGED_H

#include "daemons/estop/estop.h"
#include "launch/achctl/chans.h"

/* Opens the channels of $ENDPLATE_PREFIX, which belong to the owner of $RUN, or to this user if there is none.  0, or
 * -errno with a line for each channel that is not open: judged_look tries again. */
int judged_open(struct estop *estop, bool make, struct error_sink *errors);
/* The level; estop->epoch is the newest that a driver names if none is obeyed. */
enum msg_level judged_look(struct estop *estop, const struct chans *chans, int64_t now_ns);

/* Reads what was written behind *seen.  true: nothing but copies, by drivers in estop, of what lies in estop-b up to
 * *seen, which is then up to date. */
bool judged_only_copied(struct estop *estop, struct estop_seen *seen);

/* Is there a driver, or a channel of the e-stop? */
bool judged_is_there(const struct estop *estop, const struct chans *chans);
/* Is it the state of a driver?  Its name. */
bool judged_driver(const struct estop *estop, const struct chans_one *one, char *name, size_t size);
/* Has its process ended?  One that $RUN/state does not know of counts as ended if it was silent at that time. */
bool judged_is_gone(const struct chans_one *one, const char *name, int64_t now_ns);

#endif
