/* comply.c: the law of a compliant joint.  Checked: pure, covered. */
#include "daemons/hubo/comply.h"

#include <math.h>

const char *const comply_names[COMPLY_GAINS] = {
	[COMPLY_KP] = "comply-kp",
	[COMPLY_KD] = "comply-kd",
	[COMPLY_PWM] = "comply-pwm",
	[COMPLY_GRAV] = "comply-grav",
};
const char *const comply_units[COMPLY_GAINS] = {
	[COMPLY_KP] = "%/rad",
	[COMPLY_KD] = "% s/rad",
	[COMPLY_PWM] = "%",
	[COMPLY_GRAV] = "%",
};

int comply_find(const char *name)
{
	for (int i = 0; i < COMPLY_GAINS; i++)
		if (!strcmp(comply_names[i], name))
			return i;
	return -1;
}

int comply_set(double gains[COMPLY_GAINS], const double most[COMPLY_GAINS], enum comply_gain gain, double value)
{
	const double upper = most[gain == COMPLY_GRAV ? COMPLY_PWM : gain];
	const double lower = gain == COMPLY_GRAV ? -upper : 0;

	if (!(value >= lower && value <= upper)) /* a NaN is not */
		return -ERANGE;
	gains[gain] = value;
	return 0;
}

int comply_duty(int32_t *permille, const double gains[COMPLY_GAINS], const struct comply_at *at)
{
	double percent = gains[COMPLY_KP] * (at->rest_rad - at->position_rad) - gains[COMPLY_KD] * at->velocity_rad_s +
			 gains[COMPLY_GRAV];

	*permille = 0;
	if (!isfinite(percent))
		return -EINVAL;
	percent = fmax(-gains[COMPLY_PWM], fmin(gains[COMPLY_PWM], percent));
	if (at->position_rad >= at->max_rad)
		percent = fmin(percent, 0);
	if (at->position_rad <= at->min_rad)
		percent = fmax(percent, 0);
	*permille = (int32_t)(percent * 10);
	return 0;
}
