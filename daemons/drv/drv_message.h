/* drv_message.h: room for any message. */
#ifndef DRV_MESSAGE_H
#define DRV_MESSAGE_H

#include "channels/msg/msg.h"

/* Room for any message there is, aligned as they are. */
union drv_message {
	struct msg_header header;
	struct { /* every state begins so */
		struct msg_header header;
		struct msg_common common;
	} state;
	struct msg_joint_state joints;
	struct msg_joint_ref joint_ref;
	struct msg_clock clock;
	struct msg_estop estop;
	struct msg_request request;
	struct msg_reply reply;
	uint8_t bytes[8192];
};

#endif
