/* motion.h: how a joint moves, and what it may do. */
#pragma once

struct motion_state {
	double rad, rad_s, rad_s2;
};

struct motion_limits {
	double min_rad, max_rad; /* infinite where there is none */
	double velocity_rad_s;	 /* finite, above 0, as the next one */
	double acceleration_rad_s2;
	double jerk_rad_s3; /* infinite: none */
};

/* The range of each during a motion. */
struct motion_peaks {
	double min_rad, max_rad, min_rad_s, max_rad_s;
	double rad_s2, rad_s3; /* greatest magnitudes */
};
