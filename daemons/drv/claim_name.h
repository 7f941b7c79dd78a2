/* claim_name.h: claims as listening abstract sockets, which any user of the network namespace can bind. */
#pragma once

#include "daemons/drv/claim_holder.h"

/* A descriptor to be kept for life; -EBUSY, and who holds it; or another -errno. */
int claim_name_take(const char *name, struct claim_holder *holder);
