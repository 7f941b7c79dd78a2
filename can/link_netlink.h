/* link_netlink.h: what libsocketcan does not tell about an interface. */
#ifndef CAN_LINK_NETLINK_H
#define CAN_LINK_NETLINK_H

#include <stdbool.h>
#include <stdint.h>

struct link_netlink {
	bool up;	   /* IFF_UP */
	bool controller;   /* libsocketcan has something to say about it */
	uint32_t queue;	   /* txqueuelen */
	char kind[16];	   /* "can", "vcan"; "" if the kernel does not say */
	char queueing[16]; /* "pfifo_fast", "noqueue" ... */
};

/* 0 or -errno. */
int link_netlink_look(struct link_netlink *link, int index);

/* Up or down, for an interface without controller; and the length of its queue. */
int link_netlink_set_up(const char *name, bool up);
int link_netlink_set_queue(const char *name, uint32_t frames);

#endif
