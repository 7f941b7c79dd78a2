/* pciod_list.h: the setting `modules`.
 *
 *	15			module 15 on the only bus
 *	13,15			two of them
 *	4-7			four
 *	larm0:4-7,larm1:8-10	on the bus of that role or name
 *
 * Pure; a function of the caller resolves the names of buses.
 */
#pragma once

#include "channels/msg/types.h"
#include "config/base/base.h"

struct pciod_list_item {
	unsigned int bus;
	unsigned int number;
	char joint[MSG_NAME_SIZE]; /* its number; BUS.NUMBER if there is one of that number on another bus, too */
};

struct pciod_list {
	struct pciod_list_item item[MSG_JOINTS];
	unsigned int n;
};

struct pciod_list_buses {
	const char *where; /* begins an error line: "modules" */
	unsigned int n;
	int (*find)(const void *of, const char *name); /* by role or name; negative: there is none */
	const char *(*name)(const void *of, unsigned int bus);
	const void *of;
};

/* 0, or -EINVAL with one line. */
int pciod_list_read(struct pciod_list *list, const char *text, const struct pciod_list_buses *buses,
		    struct error_sink *errors);
