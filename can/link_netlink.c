/* link_netlink.c: what libsocketcan does not tell about an interface. */
#include <errno.h>
#include <linux/rtnetlink.h>
#include <net/if.h>
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

/* The kernel has answered by the time that send returns.  Bytes, or -errno. */
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

static void copy_text(char text[16], const struct rtattr *a)
{
	size_t len = RTA_PAYLOAD(a);

	snprintf(text, 16, "%.*s", (int)len, (const char *)RTA_DATA(a));
}

static void read_link_info(struct link_netlink *link, struct rtattr *outer)
{
	int left = (int)RTA_PAYLOAD(outer);

	for (struct rtattr *a = RTA_DATA(outer); RTA_OK(a, left); a = RTA_NEXT(a, left))
		if (a->rta_type == IFLA_INFO_KIND)
			copy_text(link->kind, a);
}

static void read_attribute(struct link_netlink *link, struct rtattr *a)
{
	switch (a->rta_type & NLA_TYPE_MASK) {
	case IFLA_QDISC:
		copy_text(link->queueing, a);
		break;
	case IFLA_TXQLEN:
		if (RTA_PAYLOAD(a) >= sizeof(link->queue))
			memcpy(&link->queue, RTA_DATA(a), sizeof(link->queue));
		break;
	case IFLA_LINKINFO:
		read_link_info(link, a);
		break;
	}
}

int link_netlink_look(struct link_netlink *link, int index)
{
	const struct question question = {
		.head = { .nlmsg_len = sizeof(question), .nlmsg_type = RTM_GETLINK, .nlmsg_flags = NLM_F_REQUEST },
		.link = { .ifi_family = AF_UNSPEC, .ifi_index = index },
	};
	_Alignas(struct nlmsghdr) char answer[ANSWER_MAX];
	struct nlmsghdr *head = (struct nlmsghdr *)(void *)answer;
	ssize_t len = ask(&question, answer, sizeof(answer));
	const struct ifinfomsg *info = NLMSG_DATA(head);
	int left;

	memset(link, 0, sizeof(*link));
	if (len < 0)
		return (int)len;
	if (!NLMSG_OK(head, (size_t)len))
		return -EPROTO;
	if (head->nlmsg_type == NLMSG_ERROR)
		return ((const struct nlmsgerr *)NLMSG_DATA(head))->error;
	if (head->nlmsg_type != RTM_NEWLINK || head->nlmsg_len < NLMSG_LENGTH(sizeof(*info)))
		return -EPROTO;
	left = (int)IFLA_PAYLOAD(head);
	for (struct rtattr *a = IFLA_RTA(info); RTA_OK(a, left); a = RTA_NEXT(a, left))
		read_attribute(link, a);
	link->up = info->ifi_flags & IFF_UP;
	link->controller = !strcmp(link->kind, "can");
	return 0;
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
