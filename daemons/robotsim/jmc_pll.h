/* jmc_pll.h: the phase-locked loop of a simulated Hubo joint board, pure.
 *
 * The board has a tick every period.  The arrival of a reference is the sync event: the loop (type 2) moves the ticks
 * so that a reference comes the share sample of a period before its tick, and the period to that of the references.
 *
 *	jmc_pll_start(&pll, &settings, 5000000, t_ns);
 *	jmc_pll_arrive(&pll, t_ns);		a reference came
 *	while (pll.tick_ns <= t_ns)
 *		jmc_pll_tick(&pll);		a tick is over: the next one is in tick_ns
 *
 * Unlocked, ticks follow each arrival at once, with the nominal period.  The loop locks after lock_after arrivals in a
 * row that came within the lock range of their time, and unlocks after unlock_after periods without a reference.
 * Nothing public describes the loop of the real boards: all of it is assumed.
 */
#pragma once

#include "config/base/base.h"

struct jmc_pll_settings {
	double bandwidth_hz, damping;
	double range;  /* share of the period: of the phase to lock, and of the period while locked */
	double sample; /* share of the period from the expected arrival to the tick */
	int64_t lock_after, unlock_after;
	double hold_after; /* periods */
};

/* Errors of the phase since it settled, a second after the lock. */
struct jmc_pll_quality {
	uint64_t n;
	double sum_ns, squares, max_ns;
};

struct jmc_pll {
	struct jmc_pll_settings settings;
	double nominal_ns, period_ns;
	int64_t tick_ns; /* the next one */
	int64_t last_ns; /* of the last reference; INT64_MIN: none yet */
	int64_t settled_ns;
	bool locked;
	int64_t in_row;	  /* arrivals in time, while unlocked */
	double error_ns;  /* of the last arrival: positive if it was late */
	uint64_t arrived; /* references */
	uint64_t locks, losses;
	struct jmc_pll_quality quality;
};

void jmc_pll_start(struct jmc_pll *pll, const struct jmc_pll_settings *settings, int64_t nominal_ns, int64_t t_ns);
void jmc_pll_arrive(struct jmc_pll *pll, int64_t t_ns);
void jmc_pll_tick(struct jmc_pll *pll);

/* None came for hold_after periods. */
bool jmc_pll_holds(const struct jmc_pll *pll, int64_t t_ns);
double jmc_pll_mean_ns(const struct jmc_pll *pll); /* of the errors; 0: none yet */
double jmc_pll_rms_ns(const struct jmc_pll *pll);  /* around 0 */
