/* listener.h: sockets that listen on a TCP port, and which user has the port if it is not free. */
#pragma once

#include <netinet/in.h>
#include <sys/socket.h>
#include <sys/types.h>

#include "config/base/base.h"

#define LISTENER_PAIR 2 /* 127.0.0.1 and ::1: "localhost" may be either */

union listener_address {
	struct sockaddr any;
	struct sockaddr_in in;
	struct sockaddr_in6 in6;
};

/* A numeric address.  Its length; 0: not valid. */
socklen_t listener_parse(union listener_address *address, const char *text, int port);

/* Listens at a numeric address; port 0: any.  The descriptor, which does not block and is closed by exec, or -errno. */
int listener_open(const char *text, int port);
/* The same on both loopback addresses, with one port.  How many sockets: 1 on a machine without IPv6; or -errno, with
 * the address in *where. */
int listener_open_pair(int fds[LISTENER_PAIR], int port, const char **where);

/* May this process open no network socket at all, as by RestrictAddressFamilies= of its unit? */
bool listener_is_forbidden(void);
#define LISTENER_FORBIDDEN "may open no network socket here (RestrictAddressFamilies= of its unit)"

/* The port that the socket is bound to; 0: it is not of TCP. */
int listener_port(int fd);
/* Does it listen, at one of the loopback addresses, with that port?  The place of the address in a pair, or -1. */
int listener_place(int fd, int port);

/* The addresses of a pair at which connections to that port reach this socket, as bits 1 << place; no other user can
 * listen there.  0.0.0.0 has 127.0.0.1 alone, and :: has both unless it is for IPv6 only.  A socket of one
 * interface has none. */
unsigned int listener_covers(int fd, int port);
/* Addresses that this machine does not have: ::1 without IPv6. */
unsigned int listener_absent(void);
#define LISTENER_BOTH ((1u << LISTENER_PAIR) - 1)

/* "10.0.0.5:8765" or "[fd00::5]:8765" as a socket is bound; "": it is not of TCP. */
#define LISTENER_TEXT_MAX 64
void listener_text(char text[LISTENER_TEXT_MAX], int fd);

/* The user whose socket listens at that address, or at all addresses, with that port.  false: the kernel does not
 * say. */
bool listener_user(const char *text, int port, uid_t *uid);

/* "127.0.0.1 port 8765 is held by user mallory"; the kernel names users of sockets that listen, and no others. */
#define LISTENER_TAKEN_MAX 128
void listener_taken(char line[LISTENER_TAKEN_MAX], const char *text, int port);
