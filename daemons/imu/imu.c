/* imu.c: a sample of an inertial sensor, mounted.  Checked: pure, covered. */
#include "daemons/imu/imu.h"

void imu_mount(const struct mounting *mounting, struct imu_sample *sample)
{
	mounting_turn(mounting, sample->acceleration_m_s2);
	mounting_turn(mounting, sample->rate_rad_s);
	mounting_orient(mounting, sample->orientation);
}

bool imu_same(const struct imu_sample *a, const struct imu_sample *b)
{
	return !memcmp(a->acceleration_m_s2, b->acceleration_m_s2, sizeof(a->acceleration_m_s2)) &&
	       !memcmp(a->rate_rad_s, b->rate_rad_s, sizeof(a->rate_rad_s));
}
