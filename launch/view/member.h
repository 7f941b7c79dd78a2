/* member.h: a user's rights by the user database as it is now, not by the groups that a process got when it began.
 *
 * The database may be a directory service that waits for a network.  So a child asks it, and is killed if there is no
 * answer in time.
 */
#pragma once

#include "launch/view/rights.h"

#define MEMBER_WITHIN_NS 500000000

/* A set of RIGHTS_ bits; or -ETIMEDOUT, or -EAGAIN if there can be no child. */
int member_rights(const struct rights_robot *robot, uid_t uid, int64_t within_ns);

/* May the user arm a robot that has this group arming:?  1, 0, or the same. */
int member_may_arm(gid_t arming, uid_t uid);
