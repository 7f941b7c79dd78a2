/* drv_life.c: the lifecycle of a driver.  Checked: covered. */
#include "daemons/drv/drv_life.h"

#define STATES (MSG_LIFE_STOPPING + 1)

enum {
	start = MSG_LIFE_STARTING,
	disarm = MSG_LIFE_DISARMED,
	hold = MSG_LIFE_HOLDING,
	home = MSG_LIFE_HOMING,
	active = MSG_LIFE_ACTIVE,
	fault = MSG_LIFE_FAULT,
	stop = MSG_LIFE_STOPPING,
};

/* clang-format off */
static const unsigned char table[STATES][DRV_LIFE_EVENTS] = {
	/*			 STOP	FAULT	BUSY	ESTOP	HOLD	HOMING	IDLE	REF */
	[MSG_LIFE_DOWN]	     = { stop,	fault,	start,	disarm,	hold,	hold,	hold,	hold },
	[MSG_LIFE_STARTING]  = { stop,	fault,	start,	disarm,	hold,	hold,	hold,	hold },
	[MSG_LIFE_DISARMED]  = { stop,	fault,	start,	disarm,	hold,	hold,	hold,	hold },
	[MSG_LIFE_HOLDING]   = { stop,	fault,	start,	disarm,	hold,	home,	hold,	active },
	[MSG_LIFE_HOMING]    = { stop,	fault,	start,	disarm,	hold,	home,	hold,	hold },
	[MSG_LIFE_ACTIVE]    = { stop,	fault,	start,	disarm,	hold,	home,	hold,	active },
	[MSG_LIFE_FAULT]     = { stop,	fault,	start,	disarm,	hold,	hold,	hold,	hold },
	[MSG_LIFE_STOPPING]  = { stop,	stop,	stop,	stop,	stop,	stop,	stop,	stop },
};
/* clang-format on */

enum drv_life_event drv_life_event(const struct drv_life_now *now)
{
	if (now->stop)
		return DRV_LIFE_STOP;
	if (now->fault)
		return DRV_LIFE_FAULT;
	if (!now->up)
		return DRV_LIFE_BUSY;
	if (now->level >= MSG_LEVEL_ESTOP)
		return DRV_LIFE_ESTOP;
	if (now->level == MSG_LEVEL_HOLD && !now->balances)
		return DRV_LIFE_HOLD;
	if (now->homing)
		return DRV_LIFE_HOMING;
	return now->ref ? DRV_LIFE_REF : DRV_LIFE_IDLE;
}

enum msg_life drv_life_next(enum msg_life state, enum drv_life_event event, bool sensor)
{
	if (sensor && event > DRV_LIFE_BUSY && state != MSG_LIFE_STOPPING)
		return MSG_LIFE_ACTIVE;
	return table[state][event];
}
