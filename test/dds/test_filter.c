/* test_filter.c: which packets the BPF program accepts, and which sockets have it. */
#include "test/lib/testcase.h"

#include <arpa/inet.h>
#include <errno.h>
#include <linux/if_packet.h>
#include <unistd.h>

#include "launch/achdds/filter.h"

enum { LO = 1, CABLE = 4, WLAN = 7 }; /* indexes of interfaces */
#define IPV4(a, b, c, d) ((uint32_t)(a) << 24 | (b) << 16 | (c) << 8 | (d))

static char lines[1000];

static void keep(void *to, const char *line)
{
	(void)to;
	snprintf(lines + strlen(lines), sizeof(lines) - strlen(lines), "%s\n", line);
}

static struct error_sink errors = { keep, NULL, 0 };

/* ---- the program ---- */

/* A packet from its IP header on. */
struct packet {
	uint32_t interface;
	uint8_t bytes[60];
	uint32_t type; /* 0: for this host */
};

static struct packet ipv4_packet(uint32_t interface, uint32_t source)
{
	struct packet p = { .interface = interface, .bytes = { 0x45 } };
	const uint32_t order = htonl(source);

	memcpy(p.bytes + 12, &order, sizeof(order));
	return p;
}

/* With the bytes of an IPv4 packet where it has its source. */
static struct packet ipv6_packet(uint32_t interface, uint32_t source)
{
	struct packet p = ipv4_packet(interface, source);

	p.bytes[0] = 0x60;
	return p;
}

static struct packet looped_packet(uint32_t interface, uint32_t source)
{
	struct packet p = ipv4_packet(interface, source);

	p.type = PACKET_LOOPBACK;
	return p;
}

static uint32_t load(const struct sock_filter *f, const struct packet *p)
{
	const uint32_t at = f->k - (uint32_t)SKF_NET_OFF;
	uint32_t word;

	if (f->k == (uint32_t)(SKF_AD_OFF + SKF_AD_IFINDEX))
		return p->interface;
	if (f->k == (uint32_t)(SKF_AD_OFF + SKF_AD_PKTTYPE))
		return p->type;
	TEST_ASSERT_LESS_OR_EQUAL(sizeof(p->bytes) - sizeof(word), at);
	if (BPF_SIZE(f->code) == BPF_B)
		return p->bytes[at];
	memcpy(&word, p->bytes + at, sizeof(word));
	return ntohl(word);
}

/* What the kernel does with it. */
static bool is_accepted(const struct sock_filter *program, size_t n, const struct packet *p)
{
	uint32_t a = 0;

	for (const struct sock_filter *f = program; f < program + n; f++) {
		switch (f->code) {
		case BPF_LD | BPF_W | BPF_ABS:
		case BPF_LD | BPF_B | BPF_ABS:
			a = load(f, p);
			break;
		case BPF_ALU | BPF_RSH | BPF_K:
			a >>= f->k;
			break;
		case BPF_JMP | BPF_JEQ | BPF_K:
			f += a == f->k ? f->jt : f->jf;
			break;
		case BPF_RET | BPF_K:
			return f->k;
		default:
			TEST_FAIL_MESSAGE("an instruction that is not expected");
		}
	}
	TEST_FAIL_MESSAGE("the program has no end");
	return false;
}

/* PEER(0) is the first one. */
#define PEER(i) IPV4(10, 0, 0, 2 + (i))

TEST(packets_of_lo_and_of_peers_on_the_interface_are_accepted_and_no_others)
{
	static const struct {
		const char *what;
		uint32_t interface; /* of the rule */
		size_t peers_n;
		struct packet (*make)(uint32_t interface, uint32_t source);
		uint32_t through, source;
		bool accepted;
	} rows[] = {
		{ "lo", LO, 0, ipv4_packet, LO, IPV4(127, 0, 0, 1), true },
		{ "lo, own address", LO, 1, ipv4_packet, LO, IPV4(10, 0, 0, 1), true },
		{ "lo, IPv6", LO, 0, ipv6_packet, LO, 0, true },
		{ "a neighbour", LO, 0, ipv4_packet, CABLE, PEER(0), false },
		{ "a neighbour who says he is local", LO, 0, ipv4_packet, CABLE, IPV4(127, 0, 0, 1), false },
		{ "a peer, but the plan has lo", LO, 1, ipv4_packet, CABLE, PEER(0), false },
		{ "a neighbour, IPv6", LO, 0, ipv6_packet, CABLE, PEER(0), false },
		{ "no interface", LO, 0, ipv4_packet, 0, IPV4(127, 0, 0, 1), false },
		{ "cable, no list", CABLE, 0, ipv4_packet, CABLE, IPV4(1, 2, 3, 4), true },
		{ "cable, no list, IPv6", CABLE, 0, ipv6_packet, CABLE, IPV4(1, 2, 3, 4), false },
		{ "cable, no list, of lo", CABLE, 0, ipv4_packet, LO, IPV4(10, 0, 0, 1), true },
		{ "cable, no list, other interface", CABLE, 0, ipv4_packet, WLAN, PEER(0), false },
		{ "one peer", CABLE, 1, ipv4_packet, CABLE, PEER(0), true },
		{ "one peer, of lo", CABLE, 1, ipv4_packet, LO, IPV4(127, 0, 0, 1), true },
		{ "one peer, another machine", CABLE, 1, ipv4_packet, CABLE, PEER(1), false },
		{ "one peer, its bytes in IPv6", CABLE, 1, ipv6_packet, CABLE, PEER(0), false },
		{ "one peer, other interface", CABLE, 1, ipv4_packet, WLAN, PEER(0), false },
		{ "one peer, no source", CABLE, 1, ipv4_packet, CABLE, 0, false },
		{ "one peer, own multicast", CABLE, 1, looped_packet, CABLE, IPV4(10, 0, 0, 1), true },
		{ "one peer, multicast of another interface", CABLE, 1, looped_packet, WLAN, PEER(0), false },
		{ "lo, multicast of another interface", LO, 0, looped_packet, CABLE, PEER(0), false },
		{ "32 peers, the first", CABLE, 32, ipv4_packet, CABLE, PEER(0), true },
		{ "32 peers, the last", CABLE, 32, ipv4_packet, CABLE, PEER(31), true },
		{ "32 peers, another machine", CABLE, 32, ipv4_packet, CABLE, PEER(32), false },
		{ "32 peers, of lo", CABLE, 32, ipv4_packet, LO, 0, true },
		{ "32 peers, other interface", CABLE, 32, ipv4_packet, WLAN, PEER(31), false },
	};
	struct sock_filter program[FILTER_PROGRAM_MAX];
	struct in_addr peers[FILTER_PEERS_MAX];

	for (uint32_t i = 0; i < FILTER_PEERS_MAX; i++)
		peers[i].s_addr = htonl(PEER(i));
	for (size_t i = 0; i < sizeof(rows) / sizeof(*rows); i++) {
		const struct filter_rule rule = { LO, rows[i].interface, peers, rows[i].peers_n };
		const size_t n = filter_program(program, &rule);
		const struct packet packet = rows[i].make(rows[i].through, rows[i].source);

		TEST_ASSERT_EQUAL_MESSAGE(rows[i].accepted, is_accepted(program, n, &packet), rows[i].what);
	}
}

TEST(no_jump_grows_with_the_number_of_peers)
{
	struct sock_filter program[FILTER_PROGRAM_MAX];
	struct in_addr peers[FILTER_PEERS_MAX] = { 0 };
	const struct filter_rule rule = { LO, CABLE, peers, FILTER_PEERS_MAX };
	const size_t n = filter_program(program, &rule);

	TEST_ASSERT_EQUAL(FILTER_PROGRAM_MAX, n);
	for (size_t i = 0; i < n; i++)
		if (BPF_CLASS(program[i].code) == BPF_JMP)
			TEST_ASSERT_LESS_OR_EQUAL(1, program[i].jt + program[i].jf);
}

/* ---- sockets ---- */

static int udp_socket(int family)
{
	const int fd = socket(family, SOCK_DGRAM | SOCK_CLOEXEC, 0);

	TEST_ASSERT_GREATER_OR_EQUAL(0, fd);
	return fd;
}

static int bind_any(int fd)
{
	const struct sockaddr_in any = { .sin_family = AF_INET };

	return filter_bind(fd, (const struct sockaddr *)&any, sizeof(any));
}

static void open_lo(void)
{
	*lines = 0;
	TEST_ASSERT_EQUAL_MESSAGE(0, filter_open("lo", NULL, 0, &errors), lines);
}

TEST(no_port_without_a_rule) /* the first of the cases that have sockets */
{
	const int fd = udp_socket(AF_INET);

	TEST_ASSERT_EQUAL(-1, bind_any(fd));
	TEST_ASSERT_EQUAL(EPERM, errno);
	close(fd);
}

TEST(on_lo_a_socket_is_bound_to_127_0_0_1)
{
	struct sockaddr_in bound = { 0 };
	const int fd = udp_socket(AF_INET);

	open_lo();
	TEST_ASSERT_EQUAL(0, bind_any(fd));
	TEST_ASSERT_EQUAL(0, getsockname(fd, (struct sockaddr *)&bound, &(socklen_t){ sizeof(bound) }));
	TEST_ASSERT_EQUAL_HEX32(INADDR_LOOPBACK, ntohl(bound.sin_addr.s_addr));
	TEST_ASSERT_EQUAL_MESSAGE(0, filter_check(&errors), lines);
	close(fd);
}

TEST(the_filter_cannot_be_taken_off_or_replaced)
{
	struct sock_filter all = { BPF_RET | BPF_K, 0, 0, UINT32_MAX };
	const struct sock_fprog program = { 1, &all };
	const int fd = udp_socket(AF_INET);

	open_lo();
	TEST_ASSERT_EQUAL(0, bind_any(fd));
	TEST_ASSERT_EQUAL(-1, setsockopt(fd, SOL_SOCKET, SO_DETACH_FILTER, &(int){ 0 }, sizeof(int)));
	TEST_ASSERT_EQUAL(EPERM, errno);
	TEST_ASSERT_EQUAL(-1, setsockopt(fd, SOL_SOCKET, SO_LOCK_FILTER, &(int){ 0 }, sizeof(int)));
	TEST_ASSERT_EQUAL(-1, setsockopt(fd, SOL_SOCKET, SO_ATTACH_FILTER, &program, sizeof(program)));
	close(fd);
}

TEST(a_socket_of_ipv6_gets_no_port)
{
	const struct sockaddr_in6 any = { .sin6_family = AF_INET6 };
	const int fd = socket(AF_INET6, SOCK_DGRAM | SOCK_CLOEXEC, 0);

	if (fd < 0)
		TEST_IGNORE_MESSAGE("no IPv6 here");
	open_lo();
	TEST_ASSERT_EQUAL(-1, filter_bind(fd, (const struct sockaddr *)&any, sizeof(any)));
	TEST_ASSERT_EQUAL(EAFNOSUPPORT, errno);
	close(fd);
}

TEST(a_process_with_a_bare_udp_socket_fails_the_check)
{
	struct sock_filter all = { BPF_RET | BPF_K, 0, 0, UINT32_MAX };
	const struct sock_fprog program = { 1, &all };
	const int good = udp_socket(AF_INET), bare = udp_socket(AF_INET);

	open_lo();
	TEST_ASSERT_EQUAL(0, bind_any(good));
	TEST_ASSERT_EQUAL(-EPERM, filter_check(&errors));
	TEST_ASSERT_EQUAL_STRING(
		"1 of 2 UDP sockets of the DDS library lack the packet filter; this version of the library "
		"is not supported\n",
		lines);
	/* Nor is a locked filter of another kind enough. */
	TEST_ASSERT_EQUAL(0, setsockopt(bare, SOL_SOCKET, SO_ATTACH_FILTER, &program, sizeof(program)));
	TEST_ASSERT_EQUAL(0, setsockopt(bare, SOL_SOCKET, SO_LOCK_FILTER, &(int){ 1 }, sizeof(int)));
	TEST_ASSERT_EQUAL(-EPERM, filter_check(&errors));
	close(bare);
	TEST_ASSERT_EQUAL(0, filter_check(&errors));
	close(good);
	TEST_ASSERT_EQUAL(-EPERM, filter_check(&errors)); /* the library has sockets that were not found */
}

TEST(other_sockets_are_bound_as_they_are)
{
	const struct sockaddr_in any = { .sin_family = AF_INET };
	struct sockaddr_in bound = { 0 };
	const int fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);

	open_lo();
	TEST_ASSERT_EQUAL(0, filter_bind(fd, (const struct sockaddr *)&any, sizeof(any)));
	TEST_ASSERT_EQUAL(0, getsockname(fd, (struct sockaddr *)&bound, &(socklen_t){ sizeof(bound) }));
	TEST_ASSERT_EQUAL_HEX32(INADDR_ANY, ntohl(bound.sin_addr.s_addr));
	close(fd);
}

TEST(an_interface_that_does_not_exist_is_named)
{
	*lines = 0;
	TEST_ASSERT_EQUAL(-ENODEV, filter_open("nowhere0", NULL, 0, &errors));
	TEST_ASSERT_EQUAL_STRING("interface nowhere0: No such device\n", lines);
	open_lo();
	TEST_ASSERT_FALSE(filter_is_stale());
}
