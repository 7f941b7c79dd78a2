/* bridge.c: what the parts of achdds share. */
#include "launch/achdds/bridge.h"

#define VALID_TICKS 5	  /* that a reference counts, the default of ref_max */
#define VALID_NS 50000000 /* the same, of a driver that does not say how long a tick is */

void bridge_say(struct bridge *b, enum msg_severity severity, const char *code, const char *fmt, ...)
{
	va_list args;

	va_start(args, fmt);
	report_event(&b->report, clock_now_ns(), severity, code, fmt, args);
	va_end(args);
}

int64_t bridge_wall_ns(void)
{
	return clock_real.real() - clock_now_ns(); /* on a virtual clock, too: DDS is outside */
}

int64_t bridge_valid_ns(int64_t planned_ns, const struct msg_common *driver)
{
	const int64_t ticks_ns = VALID_TICKS * driver->period_ns;

	if (planned_ns)
		return planned_ns;
	return ticks_ns > 0 && ticks_ns < ENDPLATE_VALID_MAX_NS ? ticks_ns : VALID_NS;
}
