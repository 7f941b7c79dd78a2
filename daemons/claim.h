/* claim.h: one driver per device.
 *
 * A claim is a lock on a file in /run/endplate/dev (for users without root in $XDG_RUNTIME_DIR/endplate/dev), named
 * after the interface, or the path of the wire, and what is claimed: can0.0EF, !run!endplate!bench!wire!torso.clock.
 * The kernel gives it up when its holder ends, however it ends.  The file stays, and says who has or had it.
 */
#ifndef DAEMONS_CLAIM_H
#define DAEMONS_CLAIM_H

#include "config/error.h"

/* An open descriptor to be kept for life; or -errno with a line in errors, -EBUSY: somebody has it, named with pid
 * and program. */
int claim(const char *interface, const char *what, const char *program, struct error_sink *errors);

#endif
