/* pciod_home.c: a request that homes modules, one after the other.  Checked: covered. */
#include "config/base/base.h"
#include "daemons/pcio/pciod_home.h"

_Static_assert(MSG_JOINTS <= 64, "a bit for each joint");

bool pciod_home_next(struct pciod_home *home)
{
	if (!home->left)
		return false;
	home->at = (unsigned int)__builtin_ctzll(home->left);
	home->left &= home->left - 1;
	home->left_s = PCIOD_HOME_S;
	return true;
}

int pciod_home_step(struct pciod_home *home, const struct drv_orders *orders, const struct pciod_home_how *how,
		    const char **why)
{
	home->left_s -= orders->dt_s;
	if (how->stopping) {
		*why = "the driver was asked to stop";
		return -ECANCELED;
	}
	if (!orders->armed || orders->level != MSG_LEVEL_RUN) {
		*why = orders->level == MSG_LEVEL_HOLD ? "level hold" : "level estop";
		return -ECANCELED;
	}
	if (how->trouble) {
		*why = how->trouble;
		return -EIO;
	}
	if (home->left_s < 0) {
		*why = "it takes longer than a minute";
		return -ETIMEDOUT;
	}
	return how->done ? 0 : DRV_LATER;
}
