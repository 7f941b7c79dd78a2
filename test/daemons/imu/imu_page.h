/* imu_page.h: what the vectors of hw-docs/devices/imu.md say of a sample. */
#pragma once

#include "daemons/imu/imu.h"
#include "test/daemons/drv/page_lib.h"

#define IMU_PAGE "hw-docs/devices/imu.md"
#define IMU_PAGE_FRAME_NS 100000 /* from one frame of a vector to the next */

void imu_page_say(char said[PAGE_LIB_TEXT], const struct imu_sample *sample);
double imu_page_round(double value); /* no negative zero in six digits */
