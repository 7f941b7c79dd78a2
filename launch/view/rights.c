/* rights.c: what a user may ask of achstart.  Checked: covered. */
#include "launch/view/rights.h"

static bool is_member(const struct rights_peer *peer, gid_t group)
{
	if (group == (gid_t)-1)
		return false;
	for (size_t i = 0; i < peer->groups_n; i++)
		if (peer->groups[i] == group)
			return true;
	return peer->gid == group;
}

unsigned int rights_of(const struct rights_robot *robot, const struct rights_peer *peer)
{
	if (!peer->uid || peer->uid == robot->owner || is_member(peer, robot->arming))
		return RIGHTS_LOOK | RIGHTS_RAISE | RIGHTS_ARM;
	if (is_member(peer, robot->operators) || is_member(peer, robot->moving))
		return RIGHTS_LOOK | RIGHTS_RAISE;
	return 0;
}

unsigned int rights_needed(const char *command)
{
	static const struct {
		const char *command;
		unsigned int right;
	} table[] = {
		{ "status", RIGHTS_LOOK }, { "get", RIGHTS_LOOK },  { "raise", RIGHTS_RAISE },
		{ "arm", RIGHTS_ARM },	   { "start", RIGHTS_ARM }, { "restart", RIGHTS_ARM },
		{ "stop", RIGHTS_ARM },	   { "clear", RIGHTS_ARM }, { "request", RIGHTS_ARM },
	};

	for (size_t i = 0; i < sizeof(table) / sizeof(*table); i++)
		if (!strcmp(table[i].command, command))
			return table[i].right;
	return 0;
}

const char *rights_holders(unsigned int right)
{
	return right == RIGHTS_ARM ? "the robot's user, root and the group arming: of its launch file"
				   : "the robot's user, root and the groups of its launch file";
}
