/* recbus.h: CAN buses beside the channels of a recording.
 *
 * Channels know nothing of CAN, so the calls are in can/log/recbus.c, and the program that opens the recorder gives
 * them to it.
 */
#pragma once

#include "channels/clock/clock.h"
#include "channels/ros/ros_can.h"
#include "config/base/base.h"

struct recbus;

struct recbus_ops {
	/* "can0", "left=wire:larm0"; name is that in the file.  NULL after a line in errors. */
	struct recbus *(*open)(const char *text, char name[ROS_CAN_BUS_MAX], struct error_sink *errors);
	int (*join)(struct recbus *bus, struct clock_set *set, uint32_t tag); /* 0 or -errno */
	int64_t (*next_ns)(const struct recbus *bus);			      /* call receive then at the latest */
	/* The next frame; its t_ns is CLOCK_MONOTONIC.  false: there is none now. */
	bool (*receive)(struct recbus *bus, struct ros_can *can);
	uint64_t (*lost)(const struct recbus *bus); /* frames, since it was opened */
	void (*close)(struct recbus *bus);	    /* NULL is fine */
};

extern const struct recbus_ops recbus_ops;
