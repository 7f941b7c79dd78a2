/* drv_tick.h: when a driver's next tick is.
 *
 *	tick: 5ms			a period of its own
 *	tick: clock, clock/5+1ms	every cycle of the robot's clock, every fifth, 1 ms after it
 *	tick: frame torso 0x0AF 10ms	when that frame has come, which it does every 10 ms
 *	tick: frame 0x0AF 10ms		the same on the driver's first bus, for a preset that knows no names
 *	tick: ref 2ms			when a reference has come
 *
 * Pure: times are arguments.  Two ways of following something outside:
 *
 * clock   Ticks keep a phase of their own, which each sight of the clock (drv_tick_clock) corrects by at most 1 %
 *		of a period per tick.  So whatever the clock does, two ticks are 0.99 to 1.01 periods apart: none is
 *		doubled, none is missing, and a clock that comes back after an absence is met without a step.
 * frame, ref	The event itself is the tick (drv_tick_event), unless it comes less than half a period after the last
 *		tick.  Missing for 1.5 periods, the tick that waited for it comes then, and the others in the last
 *		phase, the next one half a period later; when the event is back they are moved towards it by at most
 *		1 % of a period per tick, and it takes over once they meet (within 2 %).  So they begin, too.
 *
 * In free run (what was seen last is 1.5 periods old at a tick) ticks are a period apart; before the first sight, too.
 * A period of its own never is.
 *
 * Late: whole periods that have passed are skipped and counted, never made up for in a burst.
 */
#pragma once

#include "config/base/base.h"

#define DRV_TICK_PERIOD_MIN_NS 100000	   /* 0.1 ms */
#define DRV_TICK_PERIOD_MAX_NS 10000000000 /* 10 s */
#define DRV_TICK_BUS_MAX 24

enum drv_tick_kind { DRV_TICK_PERIOD, DRV_TICK_CLOCK, DRV_TICK_FRAME, DRV_TICK_REF };

struct drv_tick_rule {
	enum drv_tick_kind kind;
	int64_t period_ns;	    /* clock: of the ticks, until the clock is heard */
	int64_t divider;	    /* clock: 1 to 1000 */
	int64_t offset_ns;	    /* clock: 0 to less than a period of the ticks (drv_tick_pace) */
	char bus[DRV_TICK_BUS_MAX]; /* "": the first */
	uint32_t id;		    /* frame: with FRAME_EXT if it was written with 8 digits */
};

/* NULL, or what text is not at, as part of a sentence: "a tick such as 5ms, clock/5+1ms, frame torso 0x0AF 10ms or ref
 * 2ms", in the manner of settings_row.check; *rule is set only if it is one.  rule may be NULL. */
const char *drv_tick_parse(struct drv_tick_rule *rule, const char *text);

/* The robot's clock has that period (0: unknown, 1 ms), and so have ticks on it.  NULL, or as above: text is not a
 * tick with such a clock. */
const char *drv_tick_pace(struct drv_tick_rule *rule, int64_t clock_ns);

struct drv_tick {
	struct drv_tick_rule rule;
	int64_t period_ns; /* as it is now */
	int64_t next_ns;   /* the next tick's own time, were it not for an event */
	int64_t last_ns;   /* the last tick's own time */
	int64_t error_ns;  /* clock: how far next_ns is from where it ought to be; + the clock's is later */
	int64_t seen_ns;   /* the time of the last cycle, frame or reference that was seen; INT64_MIN: none was */
	bool event;	   /* frame, ref: it has come, and the tick is due for it */
	bool following;	   /* frame, ref: events are ticks */
	bool freerun;	   /* at the last tick */
	uint64_t ticks, skipped;
};

/* The first tick is at first_ns. */
void drv_tick_start(struct drv_tick *t, const struct drv_tick_rule *rule, int64_t first_ns);

/* The clock said: cycle was at t_cycle_ns, and cycles are cycle_period_ns apart.  Ticks belong to cycles that the
 * divider divides; other than for that a cycle's number is not looked at, since a restarted clock counts as it likes.
 * To be called before drv_tick_due, also with the same cycle again.  Ignored is what makes no sense (a
 * period more than 2 % off the configured one, a cycle in the future by more than a period of the ticks) and what is
 * 1.5 of these periods old: that clock is gone.  Other kinds of tick do not listen to it. */
bool drv_tick_has_period(const struct drv_tick *t, int64_t cycle_period_ns); /* as configured, within 2 % */
void drv_tick_clock(struct drv_tick *t, uint64_t cycle, int64_t t_cycle_ns, int64_t cycle_period_ns, int64_t now_ns);

/* The frame, or the reference, came at t_ns, which is not in the future.  Other kinds of tick do not listen to it. */
void drv_tick_event(struct drv_tick *t, int64_t t_ns);

/* When to call drv_tick_due at the latest. */
int64_t drv_tick_next_ns(const struct drv_tick *t);

/* Is it time for a tick?  If so it is counted, with *late_ns (since when it could have been called, skipped periods
 * included; 0 for a tick of an event), *skipped (periods left out before it), and the next one is set. */
bool drv_tick_due(struct drv_tick *t, int64_t now_ns, int64_t *late_ns, uint64_t *skipped);

/* The last tick was in free run, or what was seen last is two periods old by now. */
bool drv_tick_freerun(const struct drv_tick *t, int64_t now_ns);
