/* pciod_home.h: a request that homes modules, one after the other, in their order.
 *
 *	home = (struct pciod_home){ .handle = handle, .left = joints };
 *	pciod_home_next(&home);
 *	begin(home.at);
 *
 *	result = pciod_home_step(&home, orders, &how, &why);	in each tick
 *	if (!result && pciod_home_next(&home))
 *		begin(home.at);
 *	else if (result != DRV_LATER)
 *		drv_reply(drv, home.handle, result, ...);
 *
 * It ends with an error when the driver is asked to stop, when the level is raised, when a module fails, and when one
 * takes too long.  Pure.
 */
#pragma once

#include "daemons/drv/drv.h"

#define PCIOD_HOME_S 60 /* for each module */

struct pciod_home {
	uint32_t handle;
	unsigned int at; /* the joint whose turn it is */
	uint64_t left;	 /* bits of those that come after it */
	double left_s;
};

struct pciod_home_how {	     /* how the module is */
	bool stopping;	     /* the driver */
	bool done;	     /* homed */
	const char *trouble; /* why it cannot be homed; NULL: it can */
};

/* To the next joint; false: there is none. */
bool pciod_home_next(struct pciod_home *home);
/* DRV_LATER: it runs; 0: the joint is done; or -errno and why: the request is over. */
int pciod_home_step(struct pciod_home *home, const struct drv_orders *orders, const struct pciod_home_how *how,
		    const char **why);
