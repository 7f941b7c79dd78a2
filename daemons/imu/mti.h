/* mti.h: frames of an Xsens MTi on CAN; see hw-docs/devices/imu.md.  Pure. */
#pragma once

#include "can/bus/frame.h"
#include "daemons/imu/imu.h"

#define MTI_ID_ERROR 0x001u	   /* code (u8) */
#define MTI_ID_WARNING 0x002u	   /* code (u8) */
#define MTI_ID_TIME 0x005u	   /* sample time (u32): begins a sample */
#define MTI_ID_COUNTER 0x006u	   /* group counter (u16): belongs to the time before it, or begins a sample */
#define MTI_ID_STATUS 0x011u	   /* status word (u32) */
#define MTI_ID_ORIENTATION 0x021u  /* quaternion w x y z (i16 each) */
#define MTI_ID_RATE 0x032u	   /* x, y, z (i16 each); high rate: 0x061 */
#define MTI_ID_ACCELERATION 0x034u /* x, y, z (i16 each); high rate: 0x062 */
#define MTI_ID_TEMPERATURE 0x051u  /* (i16) */

#define MTI_STATUS_SELF_TEST 0x01u    /* passed */
#define MTI_STATUS_FILTER_VALID 0x02u /* the orientation can be used */
#define MTI_STATUS_CLIPPED 0x3F00u    /* an acceleration or a rate of turn is at the end of its range */

struct mti {
	/* by the caller */
	uint32_t id_rate, id_acceleration;
	bool waits_for_orientation; /* a sample is complete with it, not before */
	int64_t window_ns;	    /* the frames of a sample come within this time; less than a period */

	struct imu_counts counts;
	struct imu_sample now; /* the sample that is under way */
	bool open;	       /* there is one */
	unsigned int has;      /* its parts */
	uint32_t time, counter;
	unsigned int last_numbers; /* which of the two the last complete sample had; 0: there is none */
	uint32_t last_time, last_counter;
	bool status_known;
	uint32_t status; /* the newest */
	double temperature_k;
	int64_t temperature_ns; /* 0: none */
};

/* A frame of one of the identifiers from time to temperature.  true: with it the sample is complete. */
bool mti_take(struct mti *mti, const struct frame *frame, int64_t t_ns, struct imu_sample *sample);
