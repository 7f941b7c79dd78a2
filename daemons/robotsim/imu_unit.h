/* imu_unit.h: what simulated inertial sensors share: motion, mounting, noise, time, faults.
 *
 *	imu_unit.c	the kind
 *	sim_dmu.c		the frames of a Silicon Sensing DMU, from hw-docs/devices/imu.md
 *	sim_mti.c		those of an Xsens MTi
 */
#pragma once

#include "daemons/imu/imud_settings.h"
#include "daemons/robotsim/sim_base.h"

#define IMU_UNIT_BURST_MAX 8 /* frames of a sample */

struct imu_unit;

struct imu_unit_wire {
	uint32_t hears, sends;
	/* The frames of the unit's sample.  How many. */
	unsigned int (*frames)(struct imu_unit *unit, struct frame frames[IMU_UNIT_BURST_MAX]);
	void (*hear)(struct imu_unit *unit, const struct frame *frame, int64_t t_ns); /* may be NULL */
	uint32_t half; /* identifier that the fault half takes away */
	bool streams;  /* from power-on */
};
extern const struct imu_unit_wire imu_unit_dmu, imu_unit_mti;

struct imu_unit {
	struct sim_base base;

	/* rows */
	double noise_force, noise_rate; /* rms */
	double bias_rate[3];
	size_t bias_rate_n;
	double rate_hz; /* 0: as the driver is set */
	int64_t delay_ns, toggle_delay_ns, seed;
	bool streams, orientation;

	const struct imu_unit_wire *wire;
	struct imud_settings settings;
	struct sim_motion motion;
	double to_sensor[3][3]; /* from the robot's axes */

	bool stuck, repeats, half, streaming;
	int64_t period_ns, sample_ns; /* the next one */
	int64_t power_ns;	      /* of the last power-on */

	/* the sample, in the sensor's axes */
	double force[3], rate[3];
	uint32_t number;
	int64_t t_ns;

	uint64_t toggles, samples;
};
