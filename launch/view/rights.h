/* rights.h: what a user may ask of achstart; one table, pure.
 *
 *	                        look    raise   arm
 *	robot's user, root      yes     yes     yes
 *	operators:, moving:     yes     yes     no
 *	arming:                 yes     yes     yes
 *	any other user          no      no      no
 *
 * moving: writes references, which are channels; nothing of that passes through achstart.
 */
#pragma once

#include <sys/types.h>

#include "config/base/base.h"

#define RIGHTS_LOOK 1u	/* status, request NAME get */
#define RIGHTS_RAISE 2u /* raise the e-stop */
#define RIGHTS_ARM 4u	/* arm, start, stop, restart, clear, and every other request to a driver */

struct rights_robot {
	uid_t owner;
	gid_t operators, arming, moving; /* (gid_t)-1: no group */
};

struct rights_peer {
	uid_t uid;
	gid_t gid;
	const gid_t *groups; /* the supplementary ones */
	size_t groups_n;
};

/* A set of RIGHTS_ bits. */
unsigned int rights_of(const struct rights_robot *robot, const struct rights_peer *peer);

/* The right that a command takes; 0: there is no such command. */
unsigned int rights_needed(const char *command);

/* For refusals: the users and groups that have the right. */
const char *rights_holders(unsigned int right);
