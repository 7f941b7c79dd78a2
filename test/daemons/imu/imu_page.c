/* imu_page.c: what the vectors of hw-docs/devices/imu.md say of a sample. */
#include <math.h>

#include "test/daemons/imu/imu_page.h"
#include "test/lib/testcase.h"

double imu_page_round(double value)
{
	return fabs(value) < 5e-7 ? 0 : value;
}

static void add(char *said, const char *word, const double *values, unsigned int n)
{
	sprintf(said + strlen(said), "%s%s", *said ? " " : "", word);
	for (unsigned int i = 0; i < n; i++)
		sprintf(said + strlen(said), " %.6f", imu_page_round(values[i]));
}

void imu_page_say(char said[PAGE_LIB_TEXT], const struct imu_sample *s)
{
	*said = 0;
	add(said, "rate", s->rate_rad_s, 3);
	add(said, "acceleration", s->acceleration_m_s2, 3);
	sprintf(said + strlen(said), " status %u", s->status);
	if (!isnan(s->orientation[0]))
		add(said, "orientation", s->orientation, 4);
	if (!isnan(s->temperature_k))
		add(said, "temperature", &s->temperature_k, 1);
}
