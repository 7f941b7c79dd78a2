/* bus_socketcan.h: the parts of a bus that is a SocketCAN interface.  For bus_socketcan*.c only.
 *
 * One CAN_RAW socket from the opening to the end.  An interface that goes down leaves the socket bound; one that goes
 * away unbinds it and takes its filters, and when one of the name is back the same socket is bound to that.  So the
 * descriptor stays the same, which matters because an epoll set follows the open file and not the number.  Nobody
 * tells a CAN_RAW socket that a link is up again: it is looked for, at bus_next_ns.
 *
 * A kernel that cannot make the socket at all is waited for (bus_options.later) behind an epoll set, which the
 * socket joins when it can be made; that costs 0.9 us more for each wake-up.
 */
#ifndef CAN_BUS_SOCKETCAN_H
#define CAN_BUS_SOCKETCAN_H

#include <net/if.h>
#include <sys/socket.h>
#include <time.h>
#include <linux/errqueue.h> /* wants the two before it */

#include "can/bus_backend.h"
#include "can/bus_filters.h"
#include "can/bus_stamp.h"

#define BUS_SOCKETCAN_BATCH 32 /* frames in one call, at most */

struct bus_socketcan_control { /* what comes beside a frame: its stamps, and how many were lost before it */
	_Alignas(struct cmsghdr) char bytes[CMSG_SPACE(sizeof(struct scm_timestamping)) + CMSG_SPACE(sizeof(uint32_t))];
};

struct bus_socketcan {
	struct bus bus;
	char interface[IFNAMSIZ];
	int socket; /* -1: the kernel makes none yet, and bus.fd is an epoll set */
	bool errors, echo, hardware_stamps;
	int receive_buffer;
	struct bus_filters filters;
	struct bus_stamp stamp;
	uint32_t lost;	   /* the kernel's counter of frames lost, last seen */
	int untold;	   /* an error that bus_receive has yet to answer */
	int64_t since_ns;  /* it went */
	size_t batch;	   /* frames to ask for: more each time they were all there */
	bool carrier_gone; /* seen so while bus-off */
	struct mmsghdr messages[BUS_SOCKETCAN_BATCH];
	struct iovec parts[BUS_SOCKETCAN_BATCH];
	struct bus_socketcan_control control[BUS_SOCKETCAN_BATCH];
};

/* ---- bus_socketcan_link.c: the socket, and a link that comes and goes ---- */

int bus_socketcan_make(struct bus_socketcan *s);	/* the socket; -EAFNOSUPPORT: this kernel has none */
int bus_socketcan_attach_now(struct bus_socketcan *s);	/* at the opening; 0: attached, and up */
int bus_socketcan_set_filters(struct bus_socketcan *s); /* tells the kernel s->filters */
void bus_socketcan_enter(struct bus_socketcan *s, enum bus_state state);
bool bus_socketcan_well(const struct bus_socketcan *s); /* nothing to look for */

/* Looks for what is missing: the kernel's CAN, the interface, the link.  And says in bus.next_ns when to look again. */
void bus_socketcan_look(struct bus_socketcan *s);

/* Takes an error of the socket: the link is down or gone (0), or it is something else (-errno).  It may be over
 * already, and is told nevertheless: what was queued in the controller is gone. */
int bus_socketcan_take_error(struct bus_socketcan *s, int error);

/* ---- bus_socketcan_receive.c ---- */

void bus_socketcan_receive_start(struct bus_socketcan *s);
int bus_socketcan_receive(struct bus *bus, struct bus_frame *frames, size_t n);

#endif
