/* own.h: what achstart asks of the system for itself. */
#ifndef LAUNCH_ACHSTART_OWN_H
#define LAUNCH_ACHSTART_OWN_H

#include <stdint.h>
#include <sys/types.h>

#include "config/error.h"
#include "launch/achstart/rights.h"

/* What capabilities an ordinary user's achstart has stay its own: no daemon gets them.  root's daemons are root's. */
void own_capabilities(void);

/* Before anything is made: what is for operators: belongs to that group, and what is for moving: to that one, and to no
 * other group.  As root, or with CAP_SETGID, the process takes the group operators:.  Otherwise it has to be a member
 * of both groups.  Its own group keeps rights to the channels that it makes (ach(7)), so no other user may be in that
 * one.  0, or -EPERM with a line. */
int own_groups(const struct rights_robot *robot, struct error_sink *errors);

/* Gives a file, a folder or a socket in that folder ("": the folder itself) to the operators, if there are any. */
void own_share(int folder, const char *name);

/* Channels that its daemons make are for this group to read; (gid_t)-1: for their user alone. */
void own_group(gid_t operators);

/* Just above the highest of its daemons, so that it can end one that spins; 0: the ordinary scheduler, as
 * they.  Daemons do not inherit it.  What is in memory now stays there.  A refusal is a line in warnings. */
void own_priority(int64_t highest, struct error_sink *warnings);

#endif
