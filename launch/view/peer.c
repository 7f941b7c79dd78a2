/* peer.c: the user at the other end of a socket, as the kernel says. */
#include <pwd.h>
#include <sys/socket.h>

#include "launch/view/peer.h"

#define GROUPS_USUAL 32

/* The kernel says how much room it needs.  NULL with *n 0: there are none, or no memory for them. */
static gid_t *get_groups(int fd, size_t *n)
{
	socklen_t len = GROUPS_USUAL * sizeof(gid_t);
	gid_t *groups = NULL, *room;

	*n = 0;
	for (;;) {
		room = realloc(groups, len);
		if (!room)
			break;
		groups = room;
		if (!getsockopt(fd, SOL_SOCKET, SO_PEERGROUPS, groups, &len)) {
			*n = len / sizeof(*groups);
			return groups;
		}
		if (errno != ERANGE)
			break;
	}
	free(groups);
	return NULL;
}

unsigned int peer_rights(int fd, const struct rights_robot *robot, uid_t *uid)
{
	struct rights_peer peer = { 0 };
	struct ucred ids;
	socklen_t len = sizeof(ids);
	unsigned int rights;
	gid_t *groups;

	*uid = (uid_t)-1;
	if (getsockopt(fd, SOL_SOCKET, SO_PEERCRED, &ids, &len))
		return 0;
	groups = get_groups(fd, &peer.groups_n);
	*uid = peer.uid = ids.uid;
	peer.gid = ids.gid;
	peer.groups = groups;
	rights = rights_of(robot, &peer);
	free(groups);
	return rights;
}

void peer_name(char name[PEER_NAME_MAX], uid_t uid, const char *passwd)
{
	FILE *from = fopen(passwd, "re");
	const struct passwd *entry = NULL;

	snprintf(name, PEER_NAME_MAX, "uid %u", (unsigned int)uid);
	while (from && (entry = fgetpwent(from)) && entry->pw_uid != uid)
		;
	if (entry && text_is_name(entry->pw_name))
		snprintf(name, PEER_NAME_MAX, "%s", entry->pw_name);
	if (from)
		fclose(from);
}
