/* filter.c: the packets that the sockets of the DDS library receive. */
#include <dirent.h>
#include <linux/if_packet.h>
#include <net/if.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "launch/achdds/filter.h"

#define LOAD(size, k) ((struct sock_filter){ BPF_LD | (size) | BPF_ABS, 0, 0, (uint32_t)(k) })
#define SKIP_IF(value) ((struct sock_filter){ BPF_JMP | BPF_JEQ | BPF_K, 1, 0, (value) })
#define SKIP_UNLESS(value) ((struct sock_filter){ BPF_JMP | BPF_JEQ | BPF_K, 0, 1, (value) })
#define SHIFT_RIGHT(bits) ((struct sock_filter){ BPF_ALU | BPF_RSH | BPF_K, 0, 0, (bits) })
#define ACCEPT ((struct sock_filter){ BPF_RET | BPF_K, 0, 0, UINT32_MAX })
#define DROP ((struct sock_filter){ BPF_RET | BPF_K, 0, 0, 0 })

#define IP_VERSION (SKF_NET_OFF + 0)
#define IP_SOURCE (SKF_NET_OFF + 12)

static struct {
	char name[IF_NAMESIZE];
	unsigned int interface;
	bool loopback; /* the interface is lo */
	struct sock_filter program[FILTER_PROGRAM_MAX];
	size_t program_n; /* 0: there is no rule yet */
} filter;

/* ---- the program ---- */

/* No jump is longer than one instruction, so their 8 bits are enough for any number of peers. */
size_t filter_program(struct sock_filter program[FILTER_PROGRAM_MAX], const struct filter_rule *rule)
{
	struct sock_filter *to = program;

	*to++ = LOAD(BPF_W, SKF_AD_OFF + SKF_AD_IFINDEX);
	*to++ = SKIP_UNLESS(rule->lo);
	*to++ = ACCEPT;
	if (rule->interface != rule->lo) {
		*to++ = SKIP_IF(rule->interface);
		*to++ = DROP;
		*to++ = LOAD(BPF_W, SKF_AD_OFF + SKF_AD_PKTTYPE);
		*to++ = SKIP_UNLESS(PACKET_LOOPBACK); /* the library ends its receiving thread by one, too */
		*to++ = ACCEPT;
		*to++ = LOAD(BPF_B, IP_VERSION);
		*to++ = SHIFT_RIGHT(4);
		*to++ = SKIP_IF(4);
		*to++ = DROP;
		*to++ = rule->peers_n ? LOAD(BPF_W, IP_SOURCE) : ACCEPT;
		for (size_t i = 0; i < rule->peers_n && i < FILTER_PEERS_MAX; i++) {
			*to++ = SKIP_UNLESS(ntohl(rule->peers[i].s_addr));
			*to++ = ACCEPT;
		}
	}
	*to++ = DROP;
	return (size_t)(to - program);
}

int filter_open(const char *interface, const struct in_addr *peers, size_t peers_n, struct error_sink *errors)
{
	const struct filter_rule rule = { if_nametoindex("lo"), if_nametoindex(interface), peers, peers_n };

	if (!rule.lo || !rule.interface)
		return error_refuse(errors, -ENODEV, "interface %s: %s", rule.lo ? interface : "lo", strerror(ENODEV));
	if (peers_n > FILTER_PEERS_MAX)
		return error_refuse(errors, -E2BIG, "at most %d peers", FILTER_PEERS_MAX);
	snprintf(filter.name, sizeof(filter.name), "%s", interface);
	filter.interface = rule.interface;
	filter.loopback = rule.interface == rule.lo;
	filter.program_n = filter_program(filter.program, &rule);
	return 0;
}

bool filter_is_stale(void)
{
	const unsigned int now = if_nametoindex(filter.name);

	return now && now != filter.interface; /* while it is away there is nothing to open again */
}

/* ---- sockets ---- */

static bool is_udp(int fd)
{
	int domain = 0, protocol = 0;

	if (getsockopt(fd, SOL_SOCKET, SO_DOMAIN, &domain, &(socklen_t){ sizeof(domain) }) ||
	    getsockopt(fd, SOL_SOCKET, SO_PROTOCOL, &protocol, &(socklen_t){ sizeof(protocol) }))
		return false;
	return (domain == AF_INET || domain == AF_INET6) && protocol == IPPROTO_UDP;
}

static int attach(int fd)
{
	const struct sock_fprog program = { (unsigned short)filter.program_n, filter.program };

	if (!filter.program_n)
		return -EPERM;
	if (setsockopt(fd, SOL_SOCKET, SO_ATTACH_FILTER, &program, sizeof(program)) ||
	    setsockopt(fd, SOL_SOCKET, SO_LOCK_FILTER, &(int){ 1 }, sizeof(int)))
		return -errno;
	return 0;
}

static int bind_udp(int fd, const struct sockaddr *address, socklen_t len)
{
	struct sockaddr_in ipv4;
	int r;

	if (address->sa_family != AF_INET || len < sizeof(ipv4))
		return -EAFNOSUPPORT;
	r = attach(fd);
	if (r)
		return r;
	memcpy(&ipv4, address, sizeof(ipv4));
	if (filter.loopback && ipv4.sin_addr.s_addr == htonl(INADDR_ANY))
		ipv4.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
	return syscall(SYS_bind, fd, &ipv4, sizeof(ipv4)) ? -errno : 0;
}

int filter_bind(int fd, const struct sockaddr *address, socklen_t len)
{
	int r;

	if (!is_udp(fd))
		return (int)syscall(SYS_bind, fd, address, len);
	r = bind_udp(fd, address, len);
	if (r)
		errno = -r;
	return r ? -1 : 0;
}

static bool is_filtered(int fd)
{
	struct sock_filter program[FILTER_PROGRAM_MAX];
	socklen_t n = FILTER_PROGRAM_MAX; /* instructions */
	int locked = 0;

	return filter.program_n && !getsockopt(fd, SOL_SOCKET, SO_GET_FILTER, program, &n) && n == filter.program_n &&
	       !memcmp(program, filter.program, n * sizeof(*program)) &&
	       !getsockopt(fd, SOL_SOCKET, SO_LOCK_FILTER, &locked, &(socklen_t){ sizeof(locked) }) && locked;
}

int filter_check(struct error_sink *errors)
{
	DIR *dir = opendir("/proc/self/fd");
	const struct dirent *entry;
	int sockets = 0, bare = 0;

	if (!dir)
		return error_refuse(errors, -errno, "/proc/self/fd: %s", strerror(errno));
	while ((entry = readdir(dir))) {
		const int fd = atoi(entry->d_name);

		if (*entry->d_name == '.' || !is_udp(fd))
			continue;
		sockets++;
		bare += !is_filtered(fd);
	}
	closedir(dir);
	if (sockets && !bare)
		return 0;
	return error_refuse(errors, -EPERM,
			    "%d of %d UDP sockets of the DDS library lack the packet filter; this version of the "
			    "library is not supported",
			    bare, sockets);
}
