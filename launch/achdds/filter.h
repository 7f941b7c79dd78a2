/* filter.h: the packets that the sockets of the DDS library receive.
 *
 * Cyclone DDS binds its receiving sockets to every address of this machine, whatever interface it was given.  So achdds
 * has a bind() of its own, which the library calls in place of the one of libc.  It attaches a classic BPF program to
 * each UDP socket, and locks it, before the socket has a port: no packet can come in earlier.
 *
 *	filter_open("eth0", peers, peers_n, errors);	before the library opens a socket
 *	filter_check(errors);				after it has
 *
 * The program goes by the input interface, which cannot be forged from outside, unlike any address in a packet.
 */
#pragma once

#include <linux/filter.h>
#include <netinet/in.h>
#include <sys/socket.h>

#include "config/base/base.h"

#define FILTER_PEERS_MAX 32
#define FILTER_PROGRAM_MAX (14 + 2 * FILTER_PEERS_MAX)

struct filter_rule {
	unsigned int lo, interface; /* indexes of interfaces; the same: lo alone */
	const struct in_addr *peers;
	size_t peers_n; /* 0: all */
};

/* Accepts all packets of lo, multicast of this machine that the interface loops back, and IPv4 packets of the interface
 * whose source is a peer; returns the length. */
size_t filter_program(struct sock_filter program[FILTER_PROGRAM_MAX], const struct filter_rule *rule);

/* The rule of all UDP sockets of this process from now on.  0, or -errno with a line in errors. */
int filter_open(const char *interface, const struct in_addr *peers, size_t peers_n, struct error_sink *errors);
/* In place of bind(); a UDP socket gets the filter first, and 127.0.0.1 in place of 0.0.0.0 if the interface is lo. */
int filter_bind(int fd, const struct sockaddr *address, socklen_t len);
/* 0 if this process has UDP sockets, and each has the filter, locked; or -errno with a line in errors. */
int filter_check(struct error_sink *errors);
/* Does the interface have another index now, because it was removed and came back? */
bool filter_is_stale(void);
