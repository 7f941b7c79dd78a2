/* pcube_settings.c: the types of modules, and what the robot file may say about one. */
#include <math.h>

#include "channels/clock/vt_clock.h"
#include "daemons/pcio/pciod_settings.h"
#include "daemons/robotsim/pcube.h"

#define DEG (3.14159265358979323846 / 180)

/* The inertia for which a tenth of the nominal torque gives the largest acceleration. */
const struct pcube_type pcube_types[] = {
	{ "PRL120", 596, 216, 372, 25 * DEG, 100 * DEG, 5, 10, 12 },
	{ "PRL100", 625, 81.5, 176, 24 * DEG, 100 * DEG, 4, 8, 4.5 },
	{ "PRL80", 552, 20.7, 41.4, 25 * DEG, 100 * DEG, 3, 6, 1.2 },
	{ "PRL60", 300, 4.5, 9.6, 50 * DEG, 200 * DEG, 2, 4, 0.13 },
	{ "LWA3", 625, 81.5, 176, 24 * DEG, 100 * DEG, 4, 8, 4.5 },
};
static const char *const type_names[] = { "PRL120", "PRL100", "PRL80", "PRL60", "LWA3", NULL };

#define ROW(TYPE, key, ...) SETTINGS_##TYPE(key, struct pcube_settings, __VA_ARGS__)
/* clang-format off */
const struct settings_row pcube_rows[] = {
	ROW(WORD, "type", type, type_names, "PRL120", "kind of module"),
	ROW(REAL, "position", position, "rad", NULL, NULL, NULL, "where it stands; 0, or the middle of its limits"),
	ROW(REAL, "moving", moving, "rad/s", "0", NULL, NULL, "how fast it moves when it is found"),
	ROW(BOOL, "homed", homed, "yes", "it was homed before"),
	ROW(BOOL, "power", power, "yes", "it is switched on"),
	ROW(REALS, "limits", limits, limits_n, "rad", NULL, NULL, NULL,
	    "its min- and max-position; those of the device's limits"),
	ROW(REALS, "ends", ends, ends_n, "rad", NULL, NULL, NULL, "where the joint ends; 0.1 rad beyond its limits"),
	ROW(REAL, "home", home, "rad", NULL, NULL, NULL, "where its home switch is; 0, or the middle of its limits"),
	ROW(REAL, "home_offset", home_offset, "rad", NULL, NULL, NULL, "what it calls that place; as it is"),
	ROW(REAL, "home_velocity", home_velocity, "rad/s", "0.2", "-1", "1", "velocity and first direction of homing"),
	ROW(INT, "config", config, "", "0x118", "0", "0x0FFFFFFF", "config word in flash"),
	ROW(INT, "serial", serial, "", NULL, "0", "0xFFFFFFFF", "serial number; 1000 and its address"),
	ROW(INT, "version", version, "", "0x2501", "0", "0xFFFF", "of its firmware"),
	ROW(REAL, "following_error", following_error, "rad", "0.1", "0", NULL, "max-following-error in flash"),
	ROW(REAL, "inertia", inertia, "kg m^2", NULL, "0.001", "1000", "what it moves; by type"),
	ROW(REAL, "gravity", gravity, "N m", "0", NULL, NULL,
	    "torque of the load at 90 degrees from where it hangs, 0 rad"),
	ROW(REAL, "friction", friction, "N m", NULL, "0", NULL, "dry; 3 % of the nominal torque"),
	ROW(REAL, "noise", noise, "rad", "0", "0", "1", "error of the position it measures, at most, by chance"),
	ROW(REAL, "voltage", voltage, "V", "24", "0", "100", "of its supply"),
	ROW(DURATION, "watchdog", watchdog_ns, NULL, "1ms", "10s",
	    "how long it waits to be fed; as the driver's module_watchdog"),
	ROW(DURATION, "boot", boot_ns, "300ms", "0", "1min", "from power to the first answer"),
	ROW(DURATION, "reply_delay", reply_delay_ns, "300us", "0", "10s", "from a frame to its answer"),
	ROW(DURATION, "reply_jitter", reply_jitter_ns, "0", "0", "10s", "at most that much more, by chance"),
	ROW(REAL, "reorder", reorder, "", "0", "0", "1", "share of the answers that others overtake"),
	ROW(REAL, "lose", lose, "", "0", "0", "1", "share of the answers that never come"),
	ROW(INT, "refused", refused, "", "0", "0", "0xFF",
	    "status of a refused request; that of others is the driver's ack_ok"),
	ROW(BOOL, "wrong_after_reset", wrong_after_reset, "yes", "the first position after a reset is off by 0.25 rad"),
	ROW(BOOL, "absolute", absolute, "no", "it knows its position after power-up"),
	ROW(INT, "seed", seed, "", "1", "0", "0xFFFFFFFF", "seed of the random numbers"),
	SETTINGS_END,
};
/* clang-format on */

/* 0 where that is inside the limits by a margin, else their middle. */
static double place(const double limits[2], double by)
{
	return limits[0] <= -by && limits[1] >= by ? 0 : (limits[0] + limits[1]) / 2;
}

static bool is_wrong(const double pair[2], size_t n)
{
	return n != 2 || pair[0] >= pair[1];
}

int pcube_settings_complete(struct settings *settings, const struct pcube_given *given, struct error_sink *errors)
{
	struct pcube_settings *s = settings->values;
	const struct pcube_type *type = &pcube_types[s->type];
	const char *where = given->where;

	s->seed = vt_clock_seed(s->seed);
	s->done = given->driver->ack_ok;
	if (!settings_given(settings, "watchdog"))
		s->watchdog_ns = given->driver->watchdog_ns;
	if (!settings_given(settings, "limits")) {
		s->limits[0] = isfinite(given->limits[0]) ? given->limits[0] : -6.5;
		s->limits[1] = isfinite(given->limits[1]) ? given->limits[1] : 6.5;
		s->limits_n = 2;
	}
	if (!settings_given(settings, "ends")) {
		s->ends[0] = s->limits[0] - 0.1;
		s->ends[1] = s->limits[1] + 0.1;
		s->ends_n = 2;
	}
	if (is_wrong(s->limits, s->limits_n) || is_wrong(s->ends, s->ends_n))
		return error_refuse(errors, -EINVAL,
				    "%s: limits and ends are two numbers each, the lower one first: [-1, 1]", where);
	if (!settings_given(settings, "position"))
		s->position = place(s->limits, 0.01);
	if (s->position < s->ends[0] || s->position > s->ends[1])
		return error_refuse(errors, -EINVAL, "%s: position: %g rad is beyond the ends of the joint, %g to %g",
				    where, s->position, s->ends[0], s->ends[1]);
	if (!settings_given(settings, "home"))
		s->home = place(s->limits, 0);
	if (!settings_given(settings, "home_offset"))
		s->home_offset = s->home;
	if (!settings_given(settings, "serial"))
		s->serial = 1000 + given->address;
	if (!settings_given(settings, "inertia"))
		s->inertia = type->inertia;
	if (!settings_given(settings, "friction"))
		s->friction = 0.03 * type->torque_nm;
	return 0;
}
