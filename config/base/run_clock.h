/* run_clock.h: which robot's virtual clock a program beside it means. */
#pragma once

#include "config/base/run.h"

/* The page of a virtual clock (channels/clock/vt_page.h) into path: that of $ENDPLATE_RUN; else of the only robot of
 * this user or the system that has one, and has its channels where $ACH_DIR and $ENDPLATE_PREFIX say.  0, or
 * -ENOENT. */
int run_clock_find(char path[RUN_PATH_MAX]);
