/* vt_outside.c: names what came to a process of a virtual clock from outside of it. */
#include "channels/clock/vt_outside.h"

#include <arpa/inet.h>
#include <netinet/in.h>
#include <poll.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#define DEPTH_MAX 3 /* sets in sets */

/* Without its folder: the robot binds its sockets through a descriptor of that (safe_path.h). */
static void local_name(char *text, size_t size, const struct sockaddr_un *a, socklen_t len)
{
	const char *slash = strrchr(a->sun_path, '/');

	if (len <= offsetof(struct sockaddr_un, sun_path))
		snprintf(text, size, "a socket without a name");
	else if (!a->sun_path[0])
		snprintf(text, size, "socket @%.*s", (int)(len - offsetof(struct sockaddr_un, sun_path) - 1),
			 a->sun_path + 1);
	else
		snprintf(text, size, "socket %s", slash ? slash + 1 : a->sun_path);
}

static bool name_socket(char text[VT_OUTSIDE_MAX], int fd)
{
	union {
		struct sockaddr any;
		struct sockaddr_un local;
		struct sockaddr_in in;
		struct sockaddr_in6 in6;
	} a = { .any.sa_family = AF_UNSPEC };
	socklen_t len = sizeof(a), peer_len = sizeof(struct ucred);
	struct ucred peer = { 0 };

	if (getsockname(fd, &a.any, &len))
		return false;
	if (a.any.sa_family == AF_INET || a.any.sa_family == AF_INET6) {
		snprintf(text, VT_OUTSIDE_MAX, "port %u",
			 ntohs(a.any.sa_family == AF_INET ? a.in.sin_port : a.in6.sin6_port));
		return true;
	}
	if (a.any.sa_family != AF_UNIX)
		return false;
	local_name(text, VT_OUTSIDE_MAX, &a.local, len);
	if (!getsockopt(fd, SOL_SOCKET, SO_PEERCRED, &peer, &peer_len) && peer.pid > 0 && peer.pid != getpid())
		snprintf(text + strlen(text), VT_OUTSIDE_MAX - strlen(text), " of process %d", (int)peer.pid);
	return true;
}

/* The first descriptor in a set that is ready; -1: none. */
static int first_ready(int set)
{
	char path[64], line[128];
	int fd, found = -1;
	unsigned int events;
	FILE *from;

	snprintf(path, sizeof(path), "/proc/self/fdinfo/%d", set);
	from = fopen(path, "re");
	while (from && found < 0 && fgets(line, sizeof(line), from))
		if (sscanf(line, "tfd: %d events: %x", &fd, &events) == 2 &&
		    poll(&(struct pollfd){ .fd = fd, .events = (short)events }, 1, 0) > 0)
			found = fd;
	if (from)
		fclose(from);
	return found;
}

void vt_outside_fd(char text[VT_OUTSIDE_MAX], int fd)
{
	char path[64];
	ssize_t n;

	for (int depth = 0; depth < DEPTH_MAX; depth++) {
		int inner;

		if (name_socket(text, fd))
			return;
		snprintf(path, sizeof(path), "/proc/self/fd/%d", fd);
		n = readlink(path, text, VT_OUTSIDE_MAX - 1);
		text[n < 0 ? 0 : n] = 0;
		inner = strstr(text, "[eventpoll]") ? first_ready(fd) : -1;
		if (inner < 0)
			break;
		fd = inner;
	}
	if (!strcmp(text, "anon_inode:[signalfd]"))
		snprintf(text, VT_OUTSIDE_MAX, "a signal");
	else if (!strcmp(text, "anon_inode:inotify"))
		snprintf(text, VT_OUTSIDE_MAX, "a watched file");
	else if (!strcmp(text, "anon_inode:[pidfd]"))
		snprintf(text, VT_OUTSIDE_MAX, "the end of a process");
}
