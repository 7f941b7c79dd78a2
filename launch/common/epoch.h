/* epoch.h: $RUN/epoch: the label of the last lowering of the e-stop, and whether the robot was stopped since then.
 *
 * A line: "7", or "7 ended well" after every daemon was stopped.  It outlives the channels of the e-stop, so that no
 * two lowerings of a robot have the same label, and so that a robot whose processes were killed does not arm itself.
 */
#ifndef LAUNCH_COMMON_EPOCH_H
#define LAUNCH_COMMON_EPOCH_H

#include <stdbool.h>
#include <stdint.h>

#include "config/error.h"

struct epoch {
	uint64_t last;
	bool ended_well; /* also if there is no such file; not if it cannot be read */
};

struct epoch epoch_read(void);
/* Written beside the file, then renamed.  0, or -errno with a line. */
int epoch_write(const struct epoch *epoch, struct error_sink *errors);

#endif
