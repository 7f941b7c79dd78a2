/* drv_life.h: the lifecycle of a driver, a table.
 *
 * At each tick the loop derives one event, the first that applies in this order:
 *
 *	STOP	the driver was asked to end
 *	FAULT	set by the driver, or its device is silent, or its bus is down
 *	BUSY	not up yet: the start is under way
 *	ESTOP	level estop
 *	HOLD	level hold, and the driver does not balance
 *	HOMING	the driver homes or makes another requested motion of its own (a hold ends it)
 *	IDLE	level run, no valid reference
 *	REF	level run (or hold, for a driver that balances), a valid reference
 *
 * and drv_life_next says what the state becomes.  A sensor is never disarmed, holding or homing.
 */
#pragma once

#include "channels/msg/msg.h"

enum drv_life_event {
	DRV_LIFE_STOP,
	DRV_LIFE_FAULT,
	DRV_LIFE_BUSY,
	DRV_LIFE_ESTOP,
	DRV_LIFE_HOLD,
	DRV_LIFE_HOMING,
	DRV_LIFE_IDLE,
	DRV_LIFE_REF,
	DRV_LIFE_EVENTS,
};

struct drv_life_now {
	bool stop, fault, up, homing, balances, ref;
	enum msg_level level;
};
enum drv_life_event drv_life_event(const struct drv_life_now *now);

/* After a fault, a start or a disarmed time nothing moves in the first tick, and after homing (positions are others
 * now) no reference is obeyed in it: one tick of holding comes before, in which ramps begin at what is measured.
 * STOPPING is for ever. */
enum msg_life drv_life_next(enum msg_life state, enum drv_life_event event, bool sensor);
