/* bus_socketcan.h: the parts of a bus that is a SocketCAN interface.  For bus_socketcan*.c only.
 *
 * One CAN_RAW socket from bus_open to bus_close.  If the interface goes down the socket stays bound.  If the interface
 * disappears the kernel unbinds the socket and drops its filters; once there is an interface of that name again, the
 * same socket is bound to it.  So the descriptor stays the same, which matters because an epoll set follows the open
 * file and not the number.  The kernel does not report to a CAN_RAW socket that a link is up again; so it is polled, at
 * bus_next_ns.
 *
 * If the kernel cannot create the socket yet (bus_options.later), bus.fd is an epoll set, which the socket joins later.
 * That costs 0.9 us more for each wake-up.
 */
#pragma once

#include <net/if.h>
#include <sys/socket.h>
#include <time.h>
#include <linux/errqueue.h> /* wants the two before it */

#include "can/bus/bus_backend.h"
#include "can/bus/bus_filters.h"
#include "can/bus/bus_stamp.h"

#define BUS_SOCKETCAN_BATCH 32 /* frames in one call, at most */

struct bus_socketcan_control { /* beside a frame: its stamps, and the number of frames lost before it */
	_Alignas(struct cmsghdr) char bytes[CMSG_SPACE(sizeof(struct scm_timestamping)) + CMSG_SPACE(sizeof(uint32_t))];
};

struct bus_socketcan {
	struct bus bus;
	char interface[IFNAMSIZ];
	int socket; /* -1: none yet, and bus.fd is an epoll set */
	int index;  /* of the interface that it was bound to last */
	bool errors, echo;
	int receive_buffer;
	struct bus_filters filters;
	struct bus_stamp stamp;
	uint32_t lost;	   /* the kernel's counter of frames lost, last seen */
	int unreported;	   /* an error that bus_receive has not returned yet */
	int64_t since_ns;  /* when the link went down */
	size_t batch;	   /* frames to ask for: more each time they were all there */
	bool carrier_gone; /* IFF_RUNNING was clear during bus-off */
	struct mmsghdr messages[BUS_SOCKETCAN_BATCH];
	struct iovec parts[BUS_SOCKETCAN_BATCH];
	struct bus_socketcan_control control[BUS_SOCKETCAN_BATCH];
};

/* ---- bus_socketcan_link.c: the socket, and a link that comes and goes ---- */

int bus_socketcan_make(struct bus_socketcan *s);	/* creates the socket; -EAFNOSUPPORT: this kernel has no CAN */
int bus_socketcan_attach_now(struct bus_socketcan *s);	/* at the opening; 0: attached, and up */
int bus_socketcan_set_filters(struct bus_socketcan *s); /* passes s->filters to the kernel */
void bus_socketcan_enter(struct bus_socketcan *s, enum bus_state state);
bool bus_socketcan_well(const struct bus_socketcan *s); /* attached, up and not bus-off */

/* Checks for what is missing: CAN in the kernel, the interface, the link.  Sets bus.next_ns to the next check. */
void bus_socketcan_check(struct bus_socketcan *s);

/* Handles an error of the socket.  Returns 0 if the link is down or gone, else -errno.  bus_receive reports it even if
 * the link is already back: the queue of the controller is gone. */
int bus_socketcan_take_error(struct bus_socketcan *s, int error);
