/* imu.h: a sample of an inertial sensor, also as it is mounted; see hw-docs/devices/imu.md.  Pure. */
#pragma once

#include "config/base/base.h"
#include "daemons/drv/mounting.h"

/* In the sensor's axes as a codec decodes it; imu_mount turns it into the robot's. */
struct imu_sample {
	int64_t t_ns; /* its first frame was on the wire */
	double acceleration_m_s2[3];
	double rate_rad_s[3];  /* about x, y, z */
	double orientation[4]; /* w x y z: from the sensor's axes to the world's; NaN: none */
	double temperature_k;  /* NaN: none */
	uint32_t status;       /* as the device sent it */
	bool follows;	       /* no sample is missing between the one before and this one */
};

/* Frames that made no sample. */
struct imu_counts {
	uint32_t incomplete; /* samples that lacked a part */
	uint32_t repeated;   /* samples sent before */
	uint32_t odd;	     /* frames of another length */
};

void imu_mount(const struct mounting *mounting, struct imu_sample *sample);

/* Each value is as it was: a sensor that measures has noise, so that this does not last. */
bool imu_same(const struct imu_sample *a, const struct imu_sample *b);
