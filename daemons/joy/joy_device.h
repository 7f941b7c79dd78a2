/* joy_device.h: the joystick as it is read: a device of evdev, or recorded events.
 *
 *	joy_device_open(&device, "/dev/input/by-id/...-event-joystick", &joy);
 *	joy_device_read(device, &joy, now_ns);		in each tick
 *
 * "file:PATH" is a file of struct input_event, as cat(1) copies it from an event device; its events come at the times
 * that they had.  If PATH is a FIFO, they come when they are written, and the joystick is there while a writer is.  Its
 * axes have the range -32767 to 32767.
 */
#pragma once

#include "daemons/joy/joy.h"

struct joy_device;

/* 0 if joy has a joystick now, or -errno: -ENOTSUP if it lacks a button or an axis of joy. */
int joy_device_open(struct joy_device **device, const char *name, struct joy *joy, int64_t now_ns);
/* Gives all events that wait to joy.  0, or -errno: the joystick is gone, and the device has to be closed. */
int joy_device_read(struct joy_device *device, struct joy *joy, int64_t now_ns);
void joy_device_close(struct joy_device *device); /* NULL is allowed */

/* The number of a code: of ABS_Y for EV_ABS, of BTN_TL for EV_KEY; -1: there is none of that name. */
int joy_device_code(unsigned int type, const char *name);
