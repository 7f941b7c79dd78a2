/* claim.h: one driver per device, and one writer per channel.
 *
 * A claim is a listening abstract socket: endplate/dev/can0.0EF; for a wire with its real path
 * (endplate/dev//run/endplate/bench/wire/torso.clock), for a channel with its folder if ACH_DIR is set.  It holds
 * against all users of the network namespace, as the interface does; no file exists that could be removed; the kernel
 * releases it when its holder ends, however it ends.
 */
#ifndef DAEMONS_DRV_CLAIM_H
#define DAEMONS_DRV_CLAIM_H

#include "config/error.h"

/* A descriptor to be kept for life; or -errno with a line in errors.  -EBUSY: another process holds the claim; the line
 * names its pid, uid and program. */
int claim(const char *interface, const char *what, struct error_sink *errors);
int claim_channel(const char *name, struct error_sink *errors); /* name with its prefix */

#endif
