/* robot_doubts.c: limits of a robot file that cannot be meant. */
#include <math.h>

#include "config/settings/robot.h"

/* Joints of arms, legs and heads turn at 1 to 6 rad/s, the fastest small ones at 10; 50 rad/s^2 is from rest to that in
 * a fifth of a second; what turns farther than 4 turns is a wheel or a spindle.  In degrees nearly every joint is above
 * one of them. */
#define VELOCITY_MAX 10
#define ACCELERATION_MAX 50
#define RANGE_MAX (4 * TURN)
#define TURN (2 * M_PI)

static bool has_range(const struct robot_limits *l)
{
	return isfinite(l->position[0]) && isfinite(l->position[1]);
}

/* A wheel has no range.  A limit beside joints: is it that of one with a range? */
static bool holds_for_range(const struct robot_device *device, const struct yaml_node *map,
			    const struct robot_limits *limits, const char *key)
{
	bool found = has_range(limits);

	for (size_t i = 0; map == device->limits_node && i < device->joints_n; i++)
		found |= has_range(&device->joints[i].limits) && !yaml_find(device->joints[i].node, key);
	return found;
}

/* Whoever wrote a unit meant it. */
static bool without_unit(const struct yaml_node *node)
{
	double number;

	return node && !yaml_real(node->kind == YAML_LIST ? node->first : node, &number);
}

static void doubt_map(const struct robot_device *device, const struct yaml_node *map, const struct robot_limits *limits,
		      struct error_sink *warnings)
{
	const struct yaml_node *node = yaml_find(map, "position");
	const double *p = limits->position;

	if (without_unit(node) && (p[1] - p[0] > RANGE_MAX || fabs(p[0]) > RANGE_MAX || fabs(p[1]) > RANGE_MAX))
		yaml_error(warnings, node,
			   "%s: from %.0f to %.0f turns; if degrees are meant, write [%g deg, %g deg], else [%g rad, "
			   "%g rad]",
			   device->name, p[0] / TURN, p[1] / TURN, p[0], p[1], p[0], p[1]);
	node = yaml_find(map, "velocity");
	if (without_unit(node) && limits->velocity > VELOCITY_MAX && holds_for_range(device, map, limits, "velocity"))
		yaml_error(warnings, node,
			   "%s: %g rad/s is %.0f turns a second; if degrees are meant, write %g deg/s, else %g rad/s",
			   device->name, limits->velocity, limits->velocity / TURN, limits->velocity, limits->velocity);
	node = yaml_find(map, "acceleration");
	if (without_unit(node) && limits->acceleration > ACCELERATION_MAX &&
	    holds_for_range(device, map, limits, "acceleration"))
		yaml_error(warnings, node,
			   "%s: %g rad/s^2 is from rest to a turn a second in %.0f ms; if degrees are meant, write %g "
			   "deg/s^2, else %g rad/s^2",
			   device->name, limits->acceleration, 1000 * TURN / limits->acceleration, limits->acceleration,
			   limits->acceleration);
}

void robot_doubts(const struct robot_device *device, struct error_sink *warnings)
{
	doubt_map(device, device->limits_node, &device->limits, warnings);
	for (size_t i = 0; i < device->joints_n; i++)
		doubt_map(device, device->joints[i].node, &device->joints[i].limits, warnings);
}
