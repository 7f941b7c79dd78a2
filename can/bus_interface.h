/* bus_interface.h: what the kernel tells about network interfaces, for bus_socketcan.c.
 *
 * socket is any socket: the CAN socket itself, or one of AF_UNIX where there is none.
 */
#ifndef CAN_BUS_INTERFACE_H
#define CAN_BUS_INTERFACE_H

#include <stdbool.h>
#include <stdint.h>

#include "can/bus.h"

/* ---- in the loop: one system call each, nothing that waits ---- */

/* Its index (above 0), or -errno: -ENODEV.  Only a CAN socket that is not bound: it may leave a mark on it that CAN
 * does not look at. */
int bus_interface_find(int socket, const char *name);

/* Has it an echo of its own, by its flags, or need not have one: on a virtual bus (vcan, vxcan) what is handed over is
 * on the bus.  Yes, if the kernel does not say. */
bool bus_interface_confirms(int index);
bool bus_interface_confirms_by(unsigned int flags, const char *kind); /* kind: "can", "vcan", ...; "": none */

/* Its flags, IFF_UP and so on, the lower 16 of them; or -errno. */
int bus_interface_flags(int socket, const char *name);

/* ---- at the opening: may take milliseconds ---- */

/* Its index, or -errno: -ENODEV; -EMEDIUMTYPE: it is no CAN interface. */
int bus_interface_look(int socket, const char *name);

/* The controller's state, BUS_STOPPED while it is down; BUS_ERROR_ACTIVE for one without controller. */
enum bus_state bus_interface_state(int index);

/* What is wrong with a name that no interface can have; NULL: nothing. */
const char *bus_interface_name_wrong(const char *name);

/* Adds the sentence for an error of opening. */
void bus_interface_explain(const char *name, int error, struct error_sink *errors);

#endif
