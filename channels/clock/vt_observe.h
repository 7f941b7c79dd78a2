/* vt_observe.h: the virtual clock of a robot, for programs beside it (clock.h). */
#pragma once

#include "config/base/base.h"

/* From then on clock_now_ns is the robot's time, and waits are in real time.  The clock is that of the robot of
 * this path from then on, also if that is started later, or again; without a robot, or with one in real time, it is the
 * real one.  path NULL: of the robot that the environment means (run_clock.h).  0 or -errno; -ENOENT: this is a daemon
 * of a robot that has no virtual clock. */
int vt_observe(const char *path);

/* Has the observed clock stood still for 0.5 s of real time?  With wait it watches the clock for that time; without, it
 * goes by what this process has read so far. */
bool vt_observe_stands(bool wait);
bool vt_observe_is_kept(void); /* does its achtime run? */
