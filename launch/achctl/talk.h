/* talk.h: one request to a driver, and its answer: through achstart, which asks for the right; or, where none runs, by
 * the driver's channels (launch/common/request.h).
 * A motion does not end because nobody waits for its answer any more: who gives up, or is interrupted, is told.
 */
#ifndef LAUNCH_ACHCTL_TALK_H
#define LAUNCH_ACHCTL_TALK_H

#include "channels/msg/msg.h"
#include "launch/achctl/ctl.h"

#define TALK_USUAL_NS 10000000000  /* to wait for an answer, */
#define TALK_MOTION_NS 60000000000 /* and for that of a verb that moves */

/* Asks, waits (within_ns, if it is not negative), and shows the answer.  The exit status. */
int talk(const struct ctl_line *line, const char *name, enum msg_verb verb, const char *key, const char *value);

#endif
