/* ros_can.h: frames of CAN buses as endplate_msgs/msg/CanFrame, and back; can_msgs/msg/Frame is read as well. */
#pragma once

#include <linux/can.h>

#include "channels/ros/cdr.h"

#ifndef CANFD_FDF /* of kernels before 5.17 */
#define CANFD_FDF 0x04
#endif

#define ROS_CAN_TYPE "endplate_msgs/msg/CanFrame"
#define ROS_CAN_BUS_MAX 16
#define ROS_CAN_CDR_MAX 160 /* bytes of an encoded frame */

struct ros_can {
	int64_t t_ns; /* of CLOCK_REALTIME */
	char bus[ROS_CAN_BUS_MAX];
	char direction;		  /* 'R' received, 'T' sent, 0 unknown */
	struct canfd_frame frame; /* a classic frame has no CANFD_FDF, and its length code above 8 in __res1 */
};

/* Returns the length. */
size_t ros_can_encode(const struct ros_can *can, uint8_t cdr[ROS_CAN_CDR_MAX]);

bool ros_can_known(const char *type_name); /* may ros_can_decode read it? */
/* 0, or -1: these are not the bytes of one.  The caller checks whether there can be such a frame. */
int ros_can_decode(const char *type_name, const void *cdr, size_t len, struct ros_can *can);
