/* peer.h: the user at the other end of a socket, as the kernel says. */
#pragma once

#include "launch/view/rights.h"

#define PEER_NAME_MAX 24 /* as in a message */

/* The rights of the user who connected, by SO_PEERCRED and SO_PEERGROUPS, and the user id.  Without an
 * answer of the kernel there are no rights. */
unsigned int peer_rights(int fd, const struct rights_robot *robot, uid_t *uid);

/* The user's name in passwd, "/etc/passwd", or "uid 1007".  Only that file is read: a directory service may wait for a
 * network. */
void peer_name(char name[PEER_NAME_MAX], uid_t uid, const char *passwd);
