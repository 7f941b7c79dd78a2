/* lowering.h: which lowering of the e-stop drivers obey, by the states they publish; pure. */
#ifndef LAUNCH_COMMON_LOWERING_H
#define LAUNCH_COMMON_LOWERING_H

#include "daemons/estop/estop_rule.h"

/* Is it a driver's state of this boot?  A program that publishes a state without reading the e-stop leaves boot 0. */
bool lowering_is_driver(const struct msg_common *state, const uint64_t boot[2]);
/* Does the state name this lowering, number base in the channel of that id, and no raise since? */
bool lowering_is_taken(const struct msg_common *state, const uint64_t boot[2], uint64_t chan, uint64_t base);
/* Makes *kept, at first all zeroes, what a process inherits that begins to read the channel estop of that id: the
 * newest lowering in it that a driver obeys, and the highest level since. */
void lowering_add(struct estop_kept *kept, const struct msg_common *state, const uint64_t boot[2], uint64_t chan);

#endif
