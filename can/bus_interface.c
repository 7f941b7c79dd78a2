/* bus_interface.c: what the kernel tells about network interfaces, and the sentences about it.
 *
 * The state is asked of netlink here and not of libsocketcan, whose can_get_state prints to stderr about an interface
 * that has no controller.
 */
#include <ctype.h>
#include <errno.h>
#include <linux/can/netlink.h>
#include <linux/rtnetlink.h>
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

	/* For a name that the kernel does not have SIOCGIFINDEX makes it start modprobe and wait, if root asks.  This
	 * does not.  Without root it works only once, and then the ioctl does, since nobody starts modprobe for it. */
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

int bus_interface_look(int socket, const char *name)
{
	struct ifreq r;
	int err = ask(socket, SIOCGIFINDEX, name, &r);

	if (err)
		return err;
	return is_can(socket, name) ? r.ifr_ifindex : -EMEDIUMTYPE;
}

static struct rtattr *find(struct rtattr *first, size_t len, unsigned short type)
{
	int left = (int)len;

	for (struct rtattr *a = first; RTA_OK(a, left); a = RTA_NEXT(a, left))
		if ((a->rta_type & NLA_TYPE_MASK) == type)
			return a;
	return NULL;
}

static struct rtattr *inside(struct rtattr *outer, unsigned short type)
{
	return outer ? find(RTA_DATA(outer), RTA_PAYLOAD(outer), type) : NULL;
}

/* What the kernel has to say about the link, from IFLA_LINKINFO on, in answer; NULL: nothing. */
static struct rtattr *link_info(int index, void *answer, size_t size)
{
	struct {
		struct nlmsghdr head;
		struct ifinfomsg link;
	} question = {
		.head = { .nlmsg_len = sizeof(question), .nlmsg_type = RTM_GETLINK, .nlmsg_flags = NLM_F_REQUEST },
		.link = { .ifi_family = AF_UNSPEC, .ifi_index = index }
	};
	struct nlmsghdr *head = answer;
	int s = socket(AF_NETLINK, SOCK_RAW | SOCK_CLOEXEC, NETLINK_ROUTE);
	ssize_t len = -1;

	if (s >= 0 && send(s, &question, sizeof(question), 0) == sizeof(question))
		len = recv(s, answer, size, MSG_DONTWAIT); /* the answer is there when send returns */
	if (s >= 0)
		close(s);
	if (len < (ssize_t)NLMSG_SPACE(sizeof(struct ifinfomsg)) || !NLMSG_OK(head, (size_t)len) ||
	    head->nlmsg_type != RTM_NEWLINK)
		return NULL;
	return find(IFLA_RTA(NLMSG_DATA(head)), IFLA_PAYLOAD(head), IFLA_LINKINFO);
}

#define ANSWER_MAX 16384

enum bus_state bus_interface_state(int index)
{
	static const enum bus_state states[] = {
		[CAN_STATE_ERROR_ACTIVE] = BUS_ERROR_ACTIVE,
		[CAN_STATE_ERROR_WARNING] = BUS_WARNING,
		[CAN_STATE_ERROR_PASSIVE] = BUS_PASSIVE,
		[CAN_STATE_BUS_OFF] = BUS_OFF,
	};
	_Alignas(struct nlmsghdr) char answer[ANSWER_MAX];
	struct rtattr *state = inside(inside(link_info(index, answer, sizeof(answer)), IFLA_INFO_DATA), IFLA_CAN_STATE);
	uint32_t value = 0;

	if (state && RTA_PAYLOAD(state) >= sizeof(value))
		memcpy(&value, RTA_DATA(state), sizeof(value));
	else
		return BUS_ERROR_ACTIVE;
	return value < sizeof(states) / sizeof(states[0]) ? states[value] : BUS_STOPPED;
}

bool bus_interface_confirms_by(unsigned int flags, const char *kind)
{
	return flags & ECHO_FLAG || !strcmp(kind, "vcan") || !strcmp(kind, "vxcan");
}

bool bus_interface_confirms(int index)
{
	_Alignas(struct nlmsghdr) char answer[ANSWER_MAX] = { 0 };
	struct rtattr *kind = inside(link_info(index, answer, sizeof(answer)), IFLA_INFO_KIND);
	const struct nlmsghdr *head = (const void *)answer;
	char name[IFNAMSIZ] = "";

	if (head->nlmsg_type != RTM_NEWLINK)
		return true;
	if (kind)
		snprintf(name, sizeof(name), "%.*s", (int)RTA_PAYLOAD(kind), (const char *)RTA_DATA(kind));
	return bus_interface_confirms_by(((const struct ifinfomsg *)NLMSG_DATA(head))->ifi_flags, name);
}

/* A real controller, which needs a bit rate? */
static bool has_controller(const char *name)
{
	_Alignas(struct nlmsghdr) char answer[ANSWER_MAX];
	struct rtattr *kind = inside(link_info((int)if_nametoindex(name), answer, sizeof(answer)), IFLA_INFO_KIND);

	return kind && RTA_PAYLOAD(kind) >= sizeof("can") && !memcmp(RTA_DATA(kind), "can", sizeof("can"));
}

/* ---- words ---- */

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

/* The CAN interfaces that there are: the one whose name is nearest, else all of them. */
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
	char others[256];

	switch (-error) {
	case ENODEV:
		suggest(others, sizeof(others), name);
		error_add(errors, "%s: no such CAN interface; %s", name, others);
		break;
	case EMEDIUMTYPE:
		suggest(others, sizeof(others), name);
		error_add(errors, "%s is no CAN interface; %s", name, others);
		break;
	case ENETDOWN:
		error_add(errors, "%s is down; bring it up: ip link set %s up%s", name, name,
			  has_controller(name) ? " type can bitrate 1000000" : "");
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
