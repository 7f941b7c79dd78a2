/* bus_interface.c: network interfaces, and messages about them. */
#include <ctype.h>
#include <linux/rtnetlink.h>
#include <net/if.h>
#include <net/if_arp.h>
#include <sys/ioctl.h>
#include <sys/socket.h>
#include <unistd.h>

#include "can/bus/bus_interface.h"

#define ANSWER_MAX 16384
#define ECHO_FLAG (1u << 18) /* IFF_ECHO of <linux/if.h>, which cannot be had beside <net/if.h> */

static int ask(int socket, unsigned long request, const char *name, struct ifreq *r)
{
	snprintf(r->ifr_name, sizeof(r->ifr_name), "%s", name);
	return ioctl(socket, request, r) ? -errno : 0;
}

/* ---- in the loop ---- */

int bus_interface_find(int socket, const char *name)
{
	socklen_t len = sizeof(int);
	struct ifreq r = { 0 };
	int index, err;

	/* For an unknown name every SIOCGIF of root makes the kernel start modprobe and wait for it; SO_BINDTODEVICE
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
	struct ifreq r = { 0 };
	int err = ask(socket, SIOCGIFFLAGS, name, &r);

	return err ? err : (unsigned short)r.ifr_flags;
}

/* ---- at the opening ---- */

static bool is_can(int socket, const char *name)
{
	struct ifreq r = { 0 };

	return !ask(socket, SIOCGIFHWADDR, name, &r) && r.ifr_hwaddr.sa_family == ARPHRD_CAN;
}

int bus_interface_index(int socket, const char *name)
{
	struct ifreq r = { 0 };
	int err = ask(socket, SIOCGIFINDEX, name, &r);

	if (err)
		return err;
	return is_can(socket, name) ? r.ifr_ifindex : -EMEDIUMTYPE;
}

bool bus_interface_confirms(const struct bus_interface *link)
{
	return link->flags & ECHO_FLAG || !strcmp(link->kind, "vcan") || !strcmp(link->kind, "vxcan");
}

/* ---- netlink ---- */

struct question {
	struct nlmsghdr head;
	struct ifinfomsg link;
	char attributes[256];
};

/* The answer, of at most ANSWER_MAX bytes, is there when send returns.  0, or -errno of this side or the kernel's. */
static int ask_kernel(const struct question *question, struct nlmsghdr *answer)
{
	int s = socket(AF_NETLINK, SOCK_RAW | SOCK_CLOEXEC, NETLINK_ROUTE);
	ssize_t len;

	if (s < 0)
		return -errno;
	len = send(s, question, question->head.nlmsg_len, 0);
	if (len >= 0)
		len = recv(s, answer, ANSWER_MAX, MSG_DONTWAIT);
	if (len < 0)
		len = -errno;
	close(s);
	if (len < 0)
		return (int)len;
	if (!NLMSG_OK(answer, (size_t)len))
		return -EPROTO;
	return answer->nlmsg_type == NLMSG_ERROR ? ((const struct nlmsgerr *)NLMSG_DATA(answer))->error : 0;
}

/* Where an attribute goes: in the message itself, in IFLA_LINKINFO, and in its IFLA_INFO_DATA of a controller. */
struct field {
	unsigned short type;
	size_t offset, size;
};
#define FIELD(type, member)                                                                               \
	{                                                                                                 \
		type, offsetof(struct bus_interface, member), sizeof(((struct bus_interface *)0)->member) \
	}

static const struct field outer[] = {
	FIELD(IFLA_TXQLEN, queue), FIELD(IFLA_MTU, mtu), FIELD(IFLA_QDISC, queueing), { 0 }
};
static const struct field in_info[] = { FIELD(IFLA_INFO_KIND, kind), FIELD(IFLA_INFO_XSTATS, stats), { 0 } };
static const struct field in_data[] = {
	FIELD(IFLA_CAN_STATE, state),	   FIELD(IFLA_CAN_RESTART_MS, restart_ms),
	FIELD(IFLA_CAN_BITTIMING, timing), FIELD(IFLA_CAN_DATA_BITTIMING, data_timing),
	FIELD(IFLA_CAN_CTRLMODE, mode),	   FIELD(IFLA_CAN_BERR_COUNTER, counters),
	FIELD(IFLA_CAN_CLOCK, clock),	   { 0 },
};

/* Copies what fields lists of len bytes of attributes; returns the attribute nested, or NULL. */
static struct rtattr *read_fields(struct bus_interface *link, struct rtattr *first, size_t len,
				  const struct field *fields, unsigned short nested)
{
	struct rtattr *found = NULL;
	int left = (int)len;

	for (struct rtattr *a = first; RTA_OK(a, left); a = RTA_NEXT(a, left)) {
		const unsigned short type = a->rta_type & NLA_TYPE_MASK;

		if (type == nested)
			found = a;
		for (const struct field *f = fields; f->size; f++)
			if (f->type == type)
				memcpy((char *)link + f->offset, RTA_DATA(a),
				       RTA_PAYLOAD(a) < f->size ? RTA_PAYLOAD(a) : f->size);
	}
	return found;
}

static enum bus_state state_of(unsigned int state)
{
	static const enum bus_state states[] = {
		[CAN_STATE_ERROR_ACTIVE] = BUS_ERROR_ACTIVE,
		[CAN_STATE_ERROR_WARNING] = BUS_WARNING,
		[CAN_STATE_ERROR_PASSIVE] = BUS_PASSIVE,
		[CAN_STATE_BUS_OFF] = BUS_OFF,
	};

	return state < sizeof(states) / sizeof(states[0]) ? states[state] : BUS_STOPPED;
}

int bus_interface_query(struct bus_interface *link, int index)
{
	const struct question question = {
		.head = { .nlmsg_len = offsetof(struct question, attributes),
			  .nlmsg_type = RTM_GETLINK,
			  .nlmsg_flags = NLM_F_REQUEST },
		.link = { .ifi_family = AF_UNSPEC, .ifi_index = index },
	};
	_Alignas(struct nlmsghdr) char answer[ANSWER_MAX];
	struct nlmsghdr *head = (struct nlmsghdr *)(void *)answer;
	const int err = ask_kernel(&question, head);
	const struct ifinfomsg *info = NLMSG_DATA(head);
	struct rtattr *inside;

	memset(link, 0, sizeof(*link));
	if (err)
		return err;
	if (head->nlmsg_type != RTM_NEWLINK || head->nlmsg_len < NLMSG_LENGTH(sizeof(*info)))
		return -EPROTO;
	link->flags = info->ifi_flags;
	inside = read_fields(link, IFLA_RTA(info), IFLA_PAYLOAD(head), outer, IFLA_LINKINFO);
	if (inside)
		inside = read_fields(link, RTA_DATA(inside), RTA_PAYLOAD(inside), in_info, IFLA_INFO_DATA);
	if (inside && bus_interface_has_controller(link))
		read_fields(link, RTA_DATA(inside), RTA_PAYLOAD(inside), in_data, 0);
	link->kind[sizeof(link->kind) - 1] = 0;
	link->queueing[sizeof(link->queueing) - 1] = 0;
	link->state = state_of(link->state); /* until here it is the kernel's number */
	return 0;
}

bool bus_interface_has_controller(const struct bus_interface *link)
{
	return !strcmp(link->kind, "can");
}

/* ---- setting ---- */

static int ioctl_on(const char *name, unsigned long request, struct ifreq *r)
{
	int s = socket(AF_UNIX, SOCK_DGRAM | SOCK_CLOEXEC, 0), err;

	if (s < 0)
		return -errno;
	err = ask(s, request, name, r);
	close(s);
	return err;
}

int bus_interface_set_up(const char *name, bool up)
{
	struct ifreq r = { 0 };
	int err = ioctl_on(name, SIOCGIFFLAGS, &r);

	r.ifr_flags = (short)(up ? r.ifr_flags | IFF_UP : r.ifr_flags & ~IFF_UP);
	return err ? err : ioctl_on(name, SIOCSIFFLAGS, &r);
}

int bus_interface_set_queue(const char *name, uint32_t frames)
{
	return ioctl_on(name, SIOCSIFTXQLEN, &(struct ifreq){ .ifr_qlen = (int)frames });
}

int bus_interface_set_mtu(const char *name, uint32_t bytes)
{
	return ioctl_on(name, SIOCSIFMTU, &(struct ifreq){ .ifr_mtu = (int)bytes });
}

/* ---- settings of a controller ---- */

/* There is room.  Returns the attribute, whose length a nested one gets later. */
static struct rtattr *add(struct question *order, unsigned short type, const void *data, size_t len)
{
	struct rtattr *a = (struct rtattr *)(void *)((char *)order + NLMSG_ALIGN(order->head.nlmsg_len));

	a->rta_type = type;
	a->rta_len = (unsigned short)RTA_LENGTH(len);
	if (len)
		memcpy(RTA_DATA(a), data, len);
	order->head.nlmsg_len = NLMSG_ALIGN(order->head.nlmsg_len) + (uint32_t)RTA_ALIGN(a->rta_len);
	return a;
}

static void end(const struct question *order, struct rtattr *nested)
{
	nested->rta_len = (unsigned short)((const char *)order + order->head.nlmsg_len - (const char *)nested);
}

int bus_interface_set(const char *name, const struct bus_interface_attribute *attributes, size_t n)
{
	struct question order = {
		.head = { .nlmsg_len = offsetof(struct question, attributes),
			  .nlmsg_type = RTM_NEWLINK,
			  .nlmsg_flags = NLM_F_REQUEST | NLM_F_ACK },
		.link = { .ifi_family = AF_UNSPEC, .ifi_index = (int)if_nametoindex(name) },
	};
	_Alignas(struct nlmsghdr) char answer[ANSWER_MAX];
	struct rtattr *info = add(&order, IFLA_LINKINFO | NLA_F_NESTED, NULL, 0), *inside;

	add(&order, IFLA_INFO_KIND, "can", 3);
	inside = add(&order, IFLA_INFO_DATA | NLA_F_NESTED, NULL, 0);
	for (size_t i = 0; i < n; i++)
		add(&order, attributes[i].type, attributes[i].data, attributes[i].len);
	end(&order, inside);
	end(&order, info);
	/* an acknowledgement is an error message with 0 */
	return ask_kernel(&order, (struct nlmsghdr *)(void *)answer);
}

/* ---- messages ---- */

const char *bus_interface_name_wrong(const char *name)
{
	size_t len = strlen(name);

	if (!len)
		return "the name is missing: can0, wire:NAME or log:FILE";
	if (strchr(name, ':'))
		return "the prefix before the colon must be wire or log: can0, wire:NAME or log:FILE";
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
	struct text_out out = text_out(text, size);
	const char *near = NULL;

	for (struct if_nameindex *i = all; i && s >= 0 && i->if_name; i++) {
		if (!is_can(s, i->if_name))
			continue;
		nearest_try(name, i->if_name, &near);
		text_add(&out, "%s%s", out.len ? ", " : "there is ", i->if_name);
	}
	if (near)
		snprintf(text, size, "is %s meant?", near);
	else if (!out.len)
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
	struct bus_interface link;
	char others[256];

	switch (-error) {
	case ENODEV:
	case EMEDIUMTYPE:
		suggest(others, sizeof(others), name);
		error_add(errors, "%s%s; %s", name,
			  error == -ENODEV ? ": no such CAN interface" : " is not a CAN interface", others);
		break;
	case ENETDOWN:
		(void)bus_interface_query(&link, (int)if_nametoindex(name));
		error_add(errors, "%s is down; bring it up: ip link set %s up%s", name, name,
			  bus_interface_has_controller(&link) ? " type can bitrate 1000000" : "");
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
