/* listener.c: sockets that listen on a TCP port. */
#include <arpa/inet.h>
#include <net/if.h>
#include <unistd.h>

#include "launch/view/listener.h"
#include "launch/view/peer.h"

#define QUEUE 64       /* connections that wait until they are accepted, also while the process is restarted */
#define ANY_PORTS 4    /* tries to find a port that is free on both addresses */
#define LINES_MAX 4096 /* of /proc/net/tcp: a user can fill it */
#define LISTENS 0x0A   /* TCP_LISTEN */

static const char *const pair[LISTENER_PAIR] = { "127.0.0.1", "::1" };

socklen_t listener_parse(union listener_address *a, const char *text, int port)
{
	memset(a, 0, sizeof(*a));
	if (inet_pton(AF_INET, text, &a->in.sin_addr) == 1) {
		a->in.sin_family = AF_INET;
		a->in.sin_port = htons((uint16_t)port);
		return sizeof(a->in);
	}
	if (inet_pton(AF_INET6, text, &a->in6.sin6_addr) == 1) {
		a->in6.sin6_family = AF_INET6;
		a->in6.sin6_port = htons((uint16_t)port);
		return sizeof(a->in6);
	}
	return 0;
}

int listener_open(const char *text, int port)
{
	union listener_address a;
	const socklen_t len = listener_parse(&a, text, port);
	int fd, status;

	if (!len)
		return -EINVAL;
	fd = socket(a.any.sa_family, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
	if (fd < 0)
		return -errno;
	/* Connections that ended a moment ago do not count.  A socket that listens does, whatever its options. */
	setsockopt(fd, SOL_SOCKET, SO_REUSEADDR, &(int){ 1 }, sizeof(int));
	if (a.any.sa_family == AF_INET6)
		setsockopt(fd, IPPROTO_IPV6, IPV6_V6ONLY, &(int){ 1 }, sizeof(int));
	if (!bind(fd, &a.any, len) && !listen(fd, QUEUE))
		return fd;
	status = -errno;
	close(fd);
	return status;
}

bool listener_is_forbidden(void)
{
	const int fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);

	if (fd >= 0)
		close(fd);
	return fd < 0 && errno == EAFNOSUPPORT;
}

static int open_pair(int fds[LISTENER_PAIR], int port, const char **where)
{
	*where = pair[0];
	fds[0] = listener_open(pair[0], port);
	if (fds[0] < 0)
		return fds[0];
	*where = pair[1];
	fds[1] = listener_open(pair[1], port ? port : listener_port(fds[0]));
	if (fds[1] >= 0)
		return LISTENER_PAIR;
	if (fds[1] == -EAFNOSUPPORT || fds[1] == -EADDRNOTAVAIL)
		return 1; /* a machine without IPv6 */
	close(fds[0]);
	return fds[1];
}

int listener_open_pair(int fds[LISTENER_PAIR], int port, const char **where)
{
	int n = open_pair(fds, port, where);

	for (int i = 1; !port && n == -EADDRINUSE && i < ANY_PORTS; i++)
		n = open_pair(fds, port, where);
	return n;
}

int listener_port(int fd)
{
	union listener_address a;
	socklen_t len = sizeof(a);

	if (getsockname(fd, &a.any, &len))
		return 0;
	return a.any.sa_family == AF_INET    ? ntohs(a.in.sin_port)
	       : a.any.sa_family == AF_INET6 ? ntohs(a.in6.sin6_port)
					     : 0;
}

static bool listens(int fd)
{
	int yes = 0;

	return !getsockopt(fd, SOL_SOCKET, SO_ACCEPTCONN, &yes, &(socklen_t){ sizeof(yes) }) && yes;
}

int listener_place(int fd, int port)
{
	union listener_address is, wanted;
	socklen_t len = sizeof(is);

	memset(&is, 0, sizeof(is));
	if (!listens(fd) || getsockname(fd, &is.any, &len))
		return -1;
	for (int i = 0; i < LISTENER_PAIR; i++)
		if (listener_parse(&wanted, pair[i], port) == len && !memcmp(&is, &wanted, len))
			return i;
	return -1;
}

/* ---- what browsers reach ---- */

unsigned int listener_covers(int fd, int port)
{
	const int place = listener_place(fd, port);
	union listener_address a;
	char interface[IFNAMSIZ] = "";
	socklen_t len = sizeof(a), interface_len = sizeof(interface);
	int only_ipv6 = 1;

	if (!listens(fd) || listener_port(fd) != port || getsockname(fd, &a.any, &len) ||
	    getsockopt(fd, SOL_SOCKET, SO_BINDTODEVICE, interface, &interface_len) || interface_len)
		return 0;
	if (place >= 0)
		return 1u << place;
	if (a.any.sa_family == AF_INET)
		return a.in.sin_addr.s_addr == htonl(INADDR_ANY) ? 1 : 0;
	if (!IN6_IS_ADDR_UNSPECIFIED(&a.in6.sin6_addr))
		return 0;
	getsockopt(fd, IPPROTO_IPV6, IPV6_V6ONLY, &only_ipv6, &(socklen_t){ sizeof(only_ipv6) });
	return only_ipv6 ? 2 : LISTENER_BOTH;
}

unsigned int listener_absent(void)
{
	unsigned int absent = 0;

	for (int i = 0; i < LISTENER_PAIR; i++) {
		const int fd = listener_open(pair[i], 0);

		if (fd >= 0)
			close(fd);
		else if (fd == -EAFNOSUPPORT || fd == -EADDRNOTAVAIL)
			absent |= 1u << i;
	}
	return absent;
}

void listener_text(char text[LISTENER_TEXT_MAX], int fd)
{
	char address[INET6_ADDRSTRLEN];
	union listener_address a;
	socklen_t len = sizeof(a);

	*text = 0;
	if (getsockname(fd, &a.any, &len))
		return;
	if (a.any.sa_family == AF_INET && inet_ntop(AF_INET, &a.in.sin_addr, address, sizeof(address)))
		snprintf(text, LISTENER_TEXT_MAX, "%s:%d", address, ntohs(a.in.sin_port));
	if (a.any.sa_family == AF_INET6 && inet_ntop(AF_INET6, &a.in6.sin6_addr, address, sizeof(address)))
		snprintf(text, LISTENER_TEXT_MAX, "[%s]:%d", address, ntohs(a.in6.sin6_port));
}

/* ---- which user has it ---- */

/* As the kernel prints it: words of 32 bits as this machine has them. */
static void print_address(char text[33], const union listener_address *a)
{
	const bool four = a->any.sa_family == AF_INET;
	uint32_t words[4];

	memcpy(words, four ? (const void *)&a->in.sin_addr : &a->in6.sin6_addr, four ? 4 : 16);
	for (int i = 0; i < (four ? 1 : 4); i++)
		snprintf(text + 8 * i, 9, "%08X", (unsigned int)words[i]);
}

/* Sockets that listen come first in these files. */
static bool find_user(const char *path, const char *address, int port, uid_t *uid)
{
	FILE *from = fopen(path, "re");
	char line[512], at[33];
	unsigned int at_port, state, user;
	bool found = false;

	for (int i = 0; from && !found && i < LINES_MAX && fgets(line, sizeof(line), from); i++) {
		if (sscanf(line, " %*u: %32[0-9A-F]:%x %*[0-9A-F]:%*x %x %*x:%*x %*x:%*x %*x %u", at, &at_port, &state,
			   &user) != 4)
			continue; /* the heading */
		if (state != LISTENS)
			break;
		found = at_port == (unsigned int)port && (strspn(at, "0") == strlen(at) || !strcmp(at, address));
		*uid = found ? (uid_t)user : *uid;
	}
	if (from)
		fclose(from);
	return found;
}

bool listener_user(const char *text, int port, uid_t *uid)
{
	union listener_address a;
	char address[33];

	if (!listener_parse(&a, text, port))
		return false;
	print_address(address, &a);
	/* A socket for all addresses of IPv6 may be one for those of IPv4, too. */
	return (a.any.sa_family == AF_INET && find_user("/proc/net/tcp", address, port, uid)) ||
	       find_user("/proc/net/tcp6", address, port, uid);
}

void listener_taken(char line[LISTENER_TAKEN_MAX], const char *text, int port)
{
	char name[PEER_NAME_MAX];
	uid_t uid;

	if (listener_user(text, port, &uid)) {
		peer_name(name, uid, "/etc/passwd");
		snprintf(line, LISTENER_TAKEN_MAX, "%s port %d is held by user %s", text, port, name);
	} else {
		snprintf(line, LISTENER_TAKEN_MAX, "%s port %d is taken by a program that does not listen there", text,
			 port);
	}
}
