/* bus_interface.h: network interfaces, and messages about them.
 *
 * socket is any socket: the CAN socket itself, or one of AF_UNIX where there is none.
 */
#ifndef CAN_BUS_INTERFACE_H
#define CAN_BUS_INTERFACE_H

#include <stdbool.h>
#include <stdint.h>

#include "can/bus.h"
#include "can/link_netlink.h"

/* ---- in the loop: one system call each, nothing that waits ---- */

/* Its index (above 0), or -errno: -ENODEV.  socket is a CAN socket that is not bound; its SO_BINDTODEVICE may be set
 * afterwards, which CAN ignores. */
int bus_interface_find(int socket, const char *name);

/* Does an echo confirm that a frame was sent?  The interface echoes by itself (IFF_ECHO), or it is virtual (vcan,
 * vxcan): then a frame is on the bus once it is handed over. */
bool bus_interface_confirms(const struct link_netlink *link);

/* Its flags, IFF_UP and so on, the lower 16 of them; or -errno. */
int bus_interface_flags(int socket, const char *name);

/* ---- at the opening: may take milliseconds ---- */

/* Its index, or -errno: -ENODEV; -EMEDIUMTYPE: it is not a CAN interface. */
int bus_interface_index(int socket, const char *name);

/* Why the name cannot be that of an interface; NULL: it can. */
const char *bus_interface_name_wrong(const char *name);

/* Adds the message for an error of opening. */
void bus_interface_explain(const char *name, int error, struct error_sink *errors);

#endif
