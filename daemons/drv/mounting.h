/* mounting.h: how a sensor is mounted on the robot; mounting_settings.h has the setting.  Pure. */
#pragma once

/* Begins as zeros, which is none: mounting_of makes one. */
struct mounting {
	double q[4]; /* w x y z: from the sensor's axes to the robot's */
};

/* Roll, pitch and yaw of the sensor in the robot: about x, then y, then z of the robot. */
struct mounting mounting_of(const double degrees[3]);
/* From the sensor's axes into the robot's. */
void mounting_turn(const struct mounting *mounting, double v[3]);
/* The sensor's orientation in the world, w x y z, becomes the robot's. */
void mounting_orient(const struct mounting *mounting, double q[4]);
