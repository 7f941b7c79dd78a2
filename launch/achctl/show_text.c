/* show_text.c: numbers, short, for people. */
#include <math.h>
#include <stdio.h>

#include "launch/achctl/show.h"

static void none(char text[SHOW_TEXT_MAX])
{
	snprintf(text, SHOW_TEXT_MAX, "-");
}

void show_uptime(char text[SHOW_TEXT_MAX], double s)
{
	if (!isfinite(s))
		none(text);
	else if (s < 9.95)
		snprintf(text, SHOW_TEXT_MAX, "%.1f s", s);
	else if (s < 119.5)
		snprintf(text, SHOW_TEXT_MAX, "%.0f s", s);
	else if (s < 119.5 * 60)
		snprintf(text, SHOW_TEXT_MAX, "%.0f min", s / 60);
	else if (s < 47.5 * 3600)
		snprintf(text, SHOW_TEXT_MAX, "%.0f h", s / 3600);
	else
		snprintf(text, SHOW_TEXT_MAX, "%.0f d", s / 86400);
}

void show_us(char text[SHOW_TEXT_MAX], double us)
{
	if (!isfinite(us))
		none(text);
	else if (fabs(us) < 999.5)
		snprintf(text, SHOW_TEXT_MAX, "%.0f us", us);
	else if (fabs(us) < 9950)
		snprintf(text, SHOW_TEXT_MAX, "%.1f ms", us / 1e3);
	else if (fabs(us) < 999500)
		snprintf(text, SHOW_TEXT_MAX, "%.0f ms", us / 1e3);
	else
		show_uptime(text, us / 1e6);
}

void show_hz(char text[SHOW_TEXT_MAX], double hz)
{
	if (!isfinite(hz))
		none(text);
	else
		snprintf(text, SHOW_TEXT_MAX, hz > 0 && hz < 9.95 ? "%.1f Hz" : "%.0f Hz", hz);
}

void show_count(char text[SHOW_TEXT_MAX], int64_t n)
{
	if (n < 100000)
		snprintf(text, SHOW_TEXT_MAX, "%lld", (long long)n);
	else if (n < 10000000)
		snprintf(text, SHOW_TEXT_MAX, "%lldk", (long long)n / 1000);
	else
		snprintf(text, SHOW_TEXT_MAX, "%lldM", (long long)n / 1000000);
}
