/* joy.h: what a joystick asks for: events and times in, a command out.
 *
 *	joy_plug(&joy);				a joystick is there, nothing is pressed
 *	joy_take(&joy, type, code, value, t_ns);	each event, in order
 *	joy_poll(&joy, now_ns);			the device was read, and there is nothing more
 *	if (joy_command(&joy, value) == JOY_ACTIVE)
 *		(value[i] of each axis, in the unit of its scale)
 *	if (joy_stop_asked(&joy))
 *		(raise the e-stop)
 *
 * Pure: times are arguments, and types and codes are those of linux/input-event-codes.h.
 *
 * A command needs the dead-man switch.  Pressing it while the joystick is there begins a hold; releasing it, unplugging
 * the joystick, lost events, a gap between two polls and idle time end it, and then the switch has to be pressed again.
 */
#pragma once

#include "config/base/base.h"

#define JOY_AXES_MAX 8
#define JOY_NO_BUTTON 0 /* KEY_RESERVED */

struct joy_axis {
	uint16_t code;	  /* ABS_Y */
	double scale;	  /* the command at the end of the range; negative: the axis is turned round */
	double low, high; /* the range that the device states */
	double value;	  /* -1 to 1 of that range, 0 in the middle */
	bool centred;	  /* it was in the dead zone since the switch was pressed */
};

struct joy_rules {
	uint16_t deadman, stop; /* buttons; stop may be JOY_NO_BUTTON */
	double dead_zone;	/* 0 to below 1 of the range from the middle */
	double expo;		/* 0: straight, 1: cubic */
	bool centre;		/* an axis has to be centred after the switch was pressed */
	int64_t idle_ns;	/* time without an event that ends a hold */
	int64_t frozen_ns;	/* time between two polls that ends a hold */
};

enum joy_state { JOY_ABSENT, JOY_RELEASED, JOY_IDLE, JOY_OFF_CENTRE, JOY_ACTIVE };

struct joy {
	struct joy_rules rules;
	struct joy_axis axes[JOY_AXES_MAX];
	unsigned int axes_n;

	bool there;	    /* a joystick is plugged in */
	bool held;	    /* the dead-man switch */
	bool idle;	    /* the last hold ended by idle time */
	bool stop, stopped; /* the stop button is pressed; it was, since joy_stop_asked was called */
	int64_t event_ns;   /* of the newest event; 0: none */
	int64_t poll_ns;    /* of the last poll; 0: none since it is there */
};

void joy_plug(struct joy *joy);
void joy_unplug(struct joy *joy);
/* The position of an axis, or of the stop button, when the joystick was opened: the device sends no event for it. */
void joy_begin(struct joy *joy, uint16_t type, uint16_t code, int32_t value);
void joy_take(struct joy *joy, uint16_t type, uint16_t code, int32_t value, int64_t t_ns);
void joy_poll(struct joy *joy, int64_t now_ns);

/* value: one for each axis; 0 unless active. */
enum joy_state joy_command(const struct joy *joy, double value[JOY_AXES_MAX]);
/* The stop button is pressed, or was since the last call. */
bool joy_stop_asked(struct joy *joy);
