/* estop_lower.h: which lowering of the e-stop drivers obey, by the states they publish; and the label of the last
 * one. */
#pragma once

#include "channels/estop/estop_rule.h"
#include "config/base/base.h"

/* Is it a driver's state of this boot?  A program that publishes a state without reading the e-stop leaves boot 0. */
bool estop_lower_is_driver(const struct msg_common *state, const uint64_t boot[2]);
/* Does the state name this lowering, number base in the channel of that id, and no raise since? */
bool estop_lower_is_taken(const struct msg_common *state, const uint64_t boot[2], uint64_t chan, uint64_t base);
/* Makes *kept, at first all zeroes, what a process inherits that begins to read the channel estop of that id: the
 * newest lowering in it that a driver obeys, and the highest level since. */
void estop_lower_add(struct estop_kept *kept, const struct msg_common *state, const uint64_t boot[2], uint64_t chan);

/* $RUN/epoch: the label of the last lowering, and whether the robot was stopped since then.
 *
 * A line: "7", or "7 ended well" after every daemon was stopped.  It outlives the channels of the e-stop, so that no
 * two lowerings of a robot have the same label, and so that a robot whose processes were killed does not arm itself.
 */
struct epoch {
	uint64_t last;
	bool ended_well; /* also if there is no such file; not if it cannot be read */
};

struct epoch epoch_read(void);
/* Written beside the file, then renamed.  0, or -errno with a line. */
int epoch_write(const struct epoch *epoch, struct error_sink *errors);
/* The label of the next lowering: greater than the last one, and than that of the level now.  Never 0. */
struct epoch epoch_next(const struct epoch *epoch, uint64_t now);
