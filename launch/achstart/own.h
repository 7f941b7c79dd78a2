/* own.h: what achstart asks of the system for itself. */
#ifndef LAUNCH_ACHSTART_OWN_H
#define LAUNCH_ACHSTART_OWN_H

#include <stdint.h>
#include <sys/types.h>

#include "config/error.h"

/* What capabilities an ordinary user's achstart has stay its own: no daemon gets them.  root's daemons are root's. */
void own_capabilities(void);

/* Channels that its daemons make are for this group to read; (gid_t)-1: for their user alone. */
void own_group(gid_t operators);

/* Just above the highest of its daemons, so that it can end one that spins; 0: the ordinary scheduler, as
 * they.  Daemons do not inherit it.  What is in memory now stays there.  A refusal is a line in warnings. */
void own_priority(int64_t highest, struct error_sink *warnings);

#endif
