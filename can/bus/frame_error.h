/* frame_error.h: the bits of an error frame (FRAME_ERR), those of SocketCAN. */
#pragma once

#include <linux/can/error.h>

#ifndef CAN_ERR_CNT
#define CAN_ERR_CNT 0x00000200u /* data[6], data[7] are the error counters; since Linux 6.0 */
#endif
