/* link_netlink.h: what the kernel says about an interface, in one question. */
#ifndef CAN_LINK_NETLINK_H
#define CAN_LINK_NETLINK_H

#include <linux/can/netlink.h>
#include <stdbool.h>
#include <stdint.h>

#include "can/bus.h"

/* Zero where the kernel or the controller's driver does not say. */
struct link_netlink {
	unsigned int flags; /* IFF_UP ... */
	uint32_t queue;	    /* txqueuelen */
	char kind[16];	    /* "can": with a controller; "vcan" ... */

	enum bus_state state; /* of the controller; without one BUS_ERROR_ACTIVE */
	uint32_t restart_ms;
	struct can_bittiming timing;
	struct can_berr_counter counters;
	struct can_device_stats stats;
	struct can_ctrlmode mode;
	struct can_clock clock;
};

/* One system call for each of three steps, none of which waits.  0 or -errno. */
int link_netlink_query(struct link_netlink *link, int index);
bool link_netlink_is_up(const struct link_netlink *link);
bool link_netlink_has_controller(const struct link_netlink *link);

/* Up or down, for an interface without controller; and the length of its queue. */
int link_netlink_set_up(const char *name, bool up);
int link_netlink_set_queue(const char *name, uint32_t frames);

#endif
