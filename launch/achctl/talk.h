/* talk.h: one request to a driver, and its answer; needs no achstart.
 *
 * NAME-req gets {id, pid, verb, key, value}, NAME-rep the one answer of that id.  An answer that was overwritten
 * before it was read is asked for again with the same id, which is answered again and not done again.
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
