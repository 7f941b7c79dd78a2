/* link_netlink.c: see link_netlink.h. */
#include <errno.h>
#include <linux/rtnetlink.h>
#include <net/if.h>
#include <stddef.h>
#include <stdio.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/socket.h>
#include <unistd.h>

#include "can/link_netlink.h"

#define ANSWER_MAX 16384

/* ---- reading ---- */

struct question {
	struct nlmsghdr head;
	struct ifinfomsg link;
};

/* The answer is there when send returns.  Bytes, or -errno. */
static ssize_t ask(const struct question *question, void *answer, size_t size)
{
	int s = socket(AF_NETLINK, SOCK_RAW | SOCK_CLOEXEC, NETLINK_ROUTE);
	ssize_t len;

	if (s < 0)
		return -errno;
	len = send(s, question, sizeof(*question), 0);
	if (len >= 0)
		len = recv(s, answer, size, MSG_DONTWAIT);
	if (len < 0)
		len = -errno;
	close(s);
	return len;
}

/* Where an attribute goes: in the message itself, in IFLA_LINKINFO, and in its IFLA_INFO_DATA of a controller. */
struct field {
	unsigned short type;
	size_t offset, size;
};
#define FIELD(type, member)                                                                             \
	{                                                                                               \
		type, offsetof(struct link_netlink, member), sizeof(((struct link_netlink *)0)->member) \
	}

static const struct field outer[] = { FIELD(IFLA_TXQLEN, queue), { 0 } };
static const struct field in_info[] = { FIELD(IFLA_INFO_KIND, kind), FIELD(IFLA_INFO_XSTATS, stats), { 0 } };
static const struct field in_data[] = {
	FIELD(IFLA_CAN_STATE, state),
	FIELD(IFLA_CAN_RESTART_MS, restart_ms),
	FIELD(IFLA_CAN_BITTIMING, timing),
	FIELD(IFLA_CAN_CTRLMODE, mode),
	FIELD(IFLA_CAN_BERR_COUNTER, counters),
	FIELD(IFLA_CAN_CLOCK, clock),
	{ 0 },
};

/* Copies what fields lists of len bytes of attributes; returns the attribute nested, or NULL. */
static struct rtattr *read_fields(struct link_netlink *link, struct rtattr *first, size_t len,
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

int link_netlink_query(struct link_netlink *link, int index)
{
	const struct question question = {
		.head = { .nlmsg_len = sizeof(question), .nlmsg_type = RTM_GETLINK, .nlmsg_flags = NLM_F_REQUEST },
		.link = { .ifi_family = AF_UNSPEC, .ifi_index = index },
	};
	_Alignas(struct nlmsghdr) char answer[ANSWER_MAX];
	struct nlmsghdr *head = (struct nlmsghdr *)(void *)answer;
	ssize_t len = ask(&question, answer, sizeof(answer));
	const struct ifinfomsg *info = NLMSG_DATA(head);
	struct rtattr *inside;

	memset(link, 0, sizeof(*link));
	if (len < 0)
		return (int)len;
	if (!NLMSG_OK(head, (size_t)len))
		return -EPROTO;
	if (head->nlmsg_type == NLMSG_ERROR)
		return ((const struct nlmsgerr *)NLMSG_DATA(head))->error;
	if (head->nlmsg_type != RTM_NEWLINK || head->nlmsg_len < NLMSG_LENGTH(sizeof(*info)))
		return -EPROTO;
	link->flags = info->ifi_flags;
	inside = read_fields(link, IFLA_RTA(info), IFLA_PAYLOAD(head), outer, IFLA_LINKINFO);
	if (inside)
		inside = read_fields(link, RTA_DATA(inside), RTA_PAYLOAD(inside), in_info, IFLA_INFO_DATA);
	if (inside && link_netlink_has_controller(link))
		read_fields(link, RTA_DATA(inside), RTA_PAYLOAD(inside), in_data, 0);
	link->kind[sizeof(link->kind) - 1] = 0;
	link->state = state_of(link->state); /* until here it is the kernel's number */
	return 0;
}

bool link_netlink_is_up(const struct link_netlink *link)
{
	return link->flags & IFF_UP;
}

bool link_netlink_has_controller(const struct link_netlink *link)
{
	return !strcmp(link->kind, "can");
}

/* ---- setting ---- */

static int change(const char *name, unsigned long get, unsigned long set, void (*to)(struct ifreq *r, uint32_t value),
		  uint32_t value)
{
	int s = socket(AF_UNIX, SOCK_DGRAM | SOCK_CLOEXEC, 0), err = 0;
	struct ifreq r = { 0 };

	if (s < 0)
		return -errno;
	snprintf(r.ifr_name, sizeof(r.ifr_name), "%s", name);
	if (get && ioctl(s, get, &r))
		err = -errno;
	to(&r, value);
	if (!err && ioctl(s, set, &r))
		err = -errno;
	close(s);
	return err;
}

static void to_flags(struct ifreq *r, uint32_t up)
{
	r->ifr_flags = (short)(up ? r->ifr_flags | IFF_UP : r->ifr_flags & ~IFF_UP);
}

static void to_queue(struct ifreq *r, uint32_t frames)
{
	r->ifr_qlen = (int)frames;
}

int link_netlink_set_up(const char *name, bool up)
{
	return change(name, SIOCGIFFLAGS, SIOCSIFFLAGS, to_flags, up);
}

int link_netlink_set_queue(const char *name, uint32_t frames)
{
	return change(name, 0, SIOCSIFTXQLEN, to_queue, frames);
}
