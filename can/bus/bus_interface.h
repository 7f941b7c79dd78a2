/* bus_interface.h: network interfaces, and messages about them.
 *
 * socket is any socket: the CAN socket itself, or one of AF_UNIX where there is none.
 */
#pragma once

#include <linux/can/netlink.h>

#include "can/bus/bus.h"

/* ---- netlink ---- */

/* Zero where the kernel or the controller's driver does not say. */
struct bus_interface {
	unsigned int flags; /* IFF_UP ... */
	uint32_t queue;	    /* txqueuelen */
	uint32_t mtu;	    /* CAN_MTU: classic frames only; CANFD_MTU: those of CAN FD, too */
	char queueing[16];  /* queueing discipline: "pfifo_fast" ... */
	char kind[16];	    /* "can": with a controller; "vcan" ... */

	enum bus_state state; /* of the controller; without one BUS_ERROR_ACTIVE */
	uint32_t restart_ms;
	struct can_bittiming timing, data_timing;
	struct can_berr_counter counters;
	struct can_device_stats stats;
	struct can_ctrlmode mode;
	struct can_clock clock;
};

/* One system call for each of three steps, none of which waits.  0 or -errno. */
int bus_interface_query(struct bus_interface *link, int index);
bool bus_interface_has_controller(const struct bus_interface *link);

/* ---- in the loop: few system calls each, none of which waits ---- */

/* Its index (above 0), or -errno: -ENODEV.  socket is a CAN socket; its SO_BINDTODEVICE may be set afterwards, which
 * CAN ignores. */
int bus_interface_find(int socket, const char *name);

/* Does an echo confirm that a frame was sent?  The interface echoes by itself (IFF_ECHO), or it is virtual (vcan,
 * vxcan): then a frame is on the bus once it is handed over. */
bool bus_interface_confirms(const struct bus_interface *link);

/* Its flags, IFF_UP and so on, the lower 16 of them; or -errno.  Only once bus_interface_find has found it: for an
 * unknown name the kernel starts modprobe and waits for it. */
int bus_interface_flags(int socket, const char *name);

/* ---- at the opening: may take milliseconds ---- */

/* Its index, or -errno: -ENODEV; -EMEDIUMTYPE: it is not a CAN interface. */
int bus_interface_index(int socket, const char *name);

/* Up or down; the length of its queue; its MTU, while it is down. */
int bus_interface_set_up(const char *name, bool up);
int bus_interface_set_queue(const char *name, uint32_t frames);
int bus_interface_set_mtu(const char *name, uint32_t bytes);
/* Attributes of a controller that is down: IFLA_CAN_BITTIMING ...  The kernel takes CAN FD only together with both
 * rates. */
struct bus_interface_attribute {
	unsigned short type;
	const void *data;
	size_t len;
};
int bus_interface_set(const char *name, const struct bus_interface_attribute *attributes, size_t n);

/* Why the name cannot be that of an interface; NULL: it can. */
const char *bus_interface_name_wrong(const char *name);

/* Adds the message for an error of opening. */
void bus_interface_explain(const char *name, int error, struct error_sink *errors);
