/* bus_interface.c: network interfaces, and messages about them. */
#include <ctype.h>
#include <errno.h>
#include <net/if.h>
#include <net/if_arp.h>
#include <stdio.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/socket.h>
#include <unistd.h>

#include "can/bus_interface.h"
#include "config/nearest.h"

#define ECHO_FLAG (1u << 18) /* IFF_ECHO of <linux/if.h>, which cannot be had beside <net/if.h> */

static int ask(int socket, unsigned long request, const char *name, struct ifreq *r)
{
	*r = (struct ifreq){ 0 };
	snprintf(r->ifr_name, sizeof(r->ifr_name), "%s", name);
	return ioctl(socket, request, r) ? -errno : 0;
}

/* ---- in the loop ---- */

int bus_interface_find(int socket, const char *name)
{
	socklen_t len = sizeof(int);
	struct ifreq r;
	int index, err;

	/* For an unknown name SIOCGIFINDEX of root makes the kernel start modprobe and wait for it; SO_BINDTODEVICE
	 * does not.  Another user may bind only once, but SIOCGIFINDEX does not start modprobe for that user. */
	if (setsockopt(socket, SOL_SOCKET, SO_BINDTODEVICE, name, (socklen_t)strlen(name) + 1)) {
		if (errno == ENODEV)
			return -ENODEV;
	} else if (!getsockopt(socket, SOL_SOCKET, SO_BINDTOIFINDEX, &index, &len) && index > 0) {
		return index;
	}
	err = ask(socket, SIOCGIFINDEX, name, &r);
	return err ? err : r.ifr_ifindex;
}

int bus_interface_flags(int socket, const char *name)
{
	struct ifreq r;
	int err = ask(socket, SIOCGIFFLAGS, name, &r);

	return err ? err : (unsigned short)r.ifr_flags;
}

/* ---- at the opening ---- */

static bool is_can(int socket, const char *name)
{
	struct ifreq r;

	return !ask(socket, SIOCGIFHWADDR, name, &r) && r.ifr_hwaddr.sa_family == ARPHRD_CAN;
}

int bus_interface_index(int socket, const char *name)
{
	struct ifreq r;
	int err = ask(socket, SIOCGIFINDEX, name, &r);

	if (err)
		return err;
	return is_can(socket, name) ? r.ifr_ifindex : -EMEDIUMTYPE;
}

bool bus_interface_confirms(const struct link_netlink *link)
{
	return link->flags & ECHO_FLAG || !strcmp(link->kind, "vcan") || !strcmp(link->kind, "vxcan");
}

/* ---- messages ---- */

const char *bus_interface_name_wrong(const char *name)
{
	size_t len = strlen(name);

	if (!len)
		return "the name is missing: can0, wire:NAME or log:FILE";
	if (strchr(name, ':'))
		return "before the colon stands wire or log: can0, wire:NAME or log:FILE";
	if (len >= IFNAMSIZ)
		return "the name of an interface has at most 15 characters";
	if (!strcmp(name, ".") || !strcmp(name, ".."))
		return "an interface is named like can0";
	for (const char *c = name; *c; c++)
		if (*c == '/' || !isgraph((unsigned char)*c))
			return "the name of an interface has no blanks and no slashes";
	return NULL;
}

/* Suggests the CAN interface with the nearest name, else lists all. */
static void suggest(char *text, size_t size, const char *name)
{
	struct if_nameindex *all = if_nameindex();
	int s = socket(AF_UNIX, SOCK_DGRAM | SOCK_CLOEXEC, 0);
	const char *near = NULL;
	size_t len = 0;

	text[0] = 0;
	for (struct if_nameindex *i = all; i && s >= 0 && i->if_name; i++) {
		if (!is_can(s, i->if_name))
			continue;
		nearest_try(name, i->if_name, &near);
		if (len < size)
			len += (size_t)snprintf(text + len, size - len, "%s%s", len ? ", " : "there is ", i->if_name);
	}
	if (near)
		snprintf(text, size, "is %s meant?", near);
	else if (!len)
		snprintf(text, size,
			 "there is none: plug the adapter in, or make a virtual bus: "
			 "ip link add vcan0 type vcan && ip link set vcan0 up");
	if (s >= 0)
		close(s);
	if (all)
		if_freenameindex(all);
}

void bus_interface_explain(const char *name, int error, struct error_sink *errors)
{
	struct link_netlink link;
	char others[256];

	switch (-error) {
	case ENODEV:
		suggest(others, sizeof(others), name);
		error_add(errors, "%s: no such CAN interface; %s", name, others);
		break;
	case EMEDIUMTYPE:
		suggest(others, sizeof(others), name);
		error_add(errors, "%s is not a CAN interface; %s", name, others);
		break;
	case ENETDOWN:
		(void)link_netlink_query(&link, (int)if_nametoindex(name));
		error_add(errors, "%s is down; bring it up: ip link set %s up%s", name, name,
			  link_netlink_has_controller(&link) ? " type can bitrate 1000000" : "");
		break;
	case EAFNOSUPPORT:
		error_add(errors,
			  "%s: this kernel has no CAN: load it, modprobe can_raw, or use a soft wire, wire:NAME "
			  "(a service or container may also have been denied AF_CAN)",
			  name);
		break;
	case EPERM:
	case EACCES:
		error_add(errors,
			  "%s: not allowed to open a CAN socket (%s): "
			  "the service's or container's rules must allow AF_CAN",
			  name, strerror(-error));
		break;
	default:
		error_add(errors, "%s: unable to open a CAN socket: %s", name, strerror(-error));
	}
}
