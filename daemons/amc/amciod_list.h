/* amciod_list.h: the setting `drives`.
 *
 *	0x20 left, 0x21 right -		nodes 20 and 21 (hexadecimal) on the only bus; the second counts backwards
 *	base:32 left, arm:5 elbow	on the bus of that role or name
 *
 * Pure; the caller resolves the names of buses.
 */
#pragma once

#include "channels/msg/types.h"
#include "config/base/base.h"

#define AMCIOD_LIST_MAX 8
#define AMCIOD_NODE_MAX 0x7F

struct amciod_list_item {
	unsigned int bus;
	unsigned int node;
	char joint[MSG_NAME_SIZE];
	bool backwards;
};

struct amciod_list {
	struct amciod_list_item item[AMCIOD_LIST_MAX];
	unsigned int n;
};

struct amciod_list_buses {
	const char *where; /* begins an error line: "drives" */
	unsigned int n;
	int (*find)(const void *of, const char *name); /* by role or name; negative: not found */
	const void *of;
};

/* 0, or -EINVAL with one line. */
int amciod_list_read(struct amciod_list *list, const char *text, const struct amciod_list_buses *buses,
		     struct error_sink *errors);
