/* deadman.h: holds a robot whose achstart has died, if no other achstart comes.
 *
 * The daemons run on when achstart dies, and the next achstart adopts them.  If it was killed where nothing starts
 * another one, for example by the kernel for memory, a process that achstart left behind raises the e-stop to hold
 * after the time unsupervised: of the launch file.
 */
#pragma once

#include "daemons/drv/claim.h"
#include "launch/file/launch_file.h"

/* Starts that process, which keeps neither the lock nor the claims: they end with achstart.  0 or -errno. */
int deadman_begin(const struct launch *launch, int lock, struct claim_set *claims);
/* The robot is stopped: ends it, and waits for that. */
void deadman_end(void);
