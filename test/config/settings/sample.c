/* sample.c: a driver's settings as a driver would have them, for tests. */
#include <string.h>

#include "test/config/settings/lines.h"
#include "test/config/settings/sample.h"

struct sample sample;
struct sample_loop sample_loop;

static const char *const safe_words[] = { "hold", "zero-velocity", "zero-current", NULL };

static const char *modules_form(const char *text)
{
	return strchr(text, ':') ? NULL : "modules such as torso:4-7,9";
}

static const struct settings_row loop_rows[] = {
	SETTINGS_DURATION("tick", struct sample_loop, tick_ns, "5ms", "100us", "1s", "time between two references"),
	SETTINGS_WORD("on_estop", struct sample_loop, on_estop, safe_words, "hold", "what to do at estop"),
	SETTINGS_BOOL("balance", struct sample_loop, balance, "no", "the robot falls without it: goes on at hold",
		      .was = "upright"),
	SETTINGS_END,
};
static const struct settings_row driver_rows[] = {
	SETTINGS_TEXT("modules", struct sample, modules, SETTINGS_REQUIRED, "modules of each bus",
		      .check = modules_form),
	SETTINGS_REAL("torque_limit", struct sample, torque_limit, "N m", "20.5", "0", NULL, "largest torque"),
	SETTINGS_REAL("limit", struct sample, current_a, "A", "5", "0", "49",
		      "largest current that a reference may ask for; what the module itself allows is read from it "
		      "at start and the smaller of the two holds"),
	SETTINGS_INT("retries", struct sample, retries, "", "3", "-1", "0x10", "times to ask again; -1: for ever"),
	SETTINGS_REALS("gains", struct sample, gains, gains_n, "", "[1, 0.5]", "0", "10", "of the regulator"),
	SETTINGS_INTS("ids", struct sample, ids, ids_n, "", NULL, "1", "31", "addresses"),
	SETTINGS_END,
};

static struct settings of_driver = { .rows = driver_rows, .values = &sample };
static struct settings of_loop = { .rows = loop_rows, .values = &sample_loop, .next = &of_driver };

struct settings *sample_start(void)
{
	memset(&sample, 0, sizeof(sample));
	memset(&sample_loop, 0, sizeof(sample_loop));
	settings_defaults(&of_loop, lines_start());
	return &of_loop;
}
