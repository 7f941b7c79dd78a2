/* joy.c: what a joystick asks for.  Checked: pure, covered. */
#include "daemons/joy/joy.h"

#include <linux/input-event-codes.h>
#include <math.h>

/* ---- the hold ---- */

static void release(struct joy *joy)
{
	joy->held = false;
	joy->idle = false;
}

static bool in_dead_zone(const struct joy *joy, const struct joy_axis *axis)
{
	return fabs(axis->value) <= joy->rules.dead_zone;
}

static void press(struct joy *joy)
{
	joy->held = true;
	for (struct joy_axis *axis = joy->axes; axis < joy->axes + joy->axes_n; axis++)
		axis->centred = !joy->rules.centre || in_dead_zone(joy, axis);
}

/* ---- the device ---- */

/* Axes rest in the middle until an event, or joy_begin, says something else. */
void joy_plug(struct joy *joy)
{
	release(joy);
	joy->there = true;
	joy->stop = false;
	joy->event_ns = joy->poll_ns = 0;
	for (struct joy_axis *axis = joy->axes; axis < joy->axes + joy->axes_n; axis++)
		axis->value = 0;
}

void joy_unplug(struct joy *joy)
{
	release(joy);
	joy->there = joy->stop = false;
}

/* ---- events ---- */

static double normed(const struct joy_axis *axis, int32_t value)
{
	const double middle = (axis->low + axis->high) / 2, half = (axis->high - axis->low) / 2;
	const double x = half > 0 ? (value - middle) / half : 0;

	return num_clamp(x, -1, 1);
}

static void move_axes(struct joy *joy, uint16_t code, int32_t value)
{
	for (struct joy_axis *axis = joy->axes; axis < joy->axes + joy->axes_n; axis++) {
		if (axis->code != code)
			continue;
		axis->value = normed(axis, value);
		axis->centred |= in_dead_zone(joy, axis);
	}
}

static bool is_stop(const struct joy *joy, uint16_t type, uint16_t code)
{
	return type == EV_KEY && code == joy->rules.stop && code != JOY_NO_BUTTON;
}

void joy_begin(struct joy *joy, uint16_t type, uint16_t code, int32_t value)
{
	if (type == EV_ABS)
		move_axes(joy, code, value);
	else if (is_stop(joy, type, code))
		joy->stop = value;
}

/* A key that repeats, value 2, is not pressed again. */
void joy_take(struct joy *joy, uint16_t type, uint16_t code, int32_t value, int64_t t_ns)
{
	if (type == EV_SYN && code == SYN_DROPPED)
		release(joy);
	if (type != EV_KEY && type != EV_ABS)
		return;
	joy->event_ns = t_ns;
	if (type == EV_ABS) {
		move_axes(joy, code, value);
	} else if (is_stop(joy, type, code)) {
		joy->stop = value;
		joy->stopped |= joy->stop;
	} else if (code == joy->rules.deadman && value == 1) {
		press(joy);
	} else if (code == joy->rules.deadman && value == 0) {
		release(joy);
	}
}

void joy_poll(struct joy *joy, int64_t now_ns)
{
	if (joy->poll_ns && now_ns - joy->poll_ns > joy->rules.frozen_ns)
		release(joy);
	joy->poll_ns = now_ns;
	if (joy->held && now_ns - joy->event_ns > joy->rules.idle_ns) {
		release(joy);
		joy->idle = true;
	}
}

/* ---- commands ---- */

/* From 0 at the edge of the dead zone to 1 at the end of the range. */
static double shaped(const struct joy_rules *rules, double value)
{
	const double x = fmax((fabs(value) - rules->dead_zone) / (1 - rules->dead_zone), 0);

	return copysign((1 - rules->expo) * x + rules->expo * x * x * x, value);
}

enum joy_state joy_command(const struct joy *joy, double value[JOY_AXES_MAX])
{
	memset(value, 0, JOY_AXES_MAX * sizeof(*value));
	if (!joy->there)
		return JOY_ABSENT;
	if (!joy->held)
		return joy->idle ? JOY_IDLE : JOY_RELEASED;
	for (unsigned int i = 0; i < joy->axes_n; i++)
		if (!joy->axes[i].centred)
			return JOY_OFF_CENTRE;
	for (unsigned int i = 0; i < joy->axes_n; i++)
		value[i] = joy->axes[i].scale * shaped(&joy->rules, joy->axes[i].value);
	return JOY_ACTIVE;
}

bool joy_stop_asked(struct joy *joy)
{
	const bool asked = joy->stop || joy->stopped;

	joy->stopped = false;
	return asked;
}
