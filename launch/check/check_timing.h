/* check_timing.h: whether the buses have time for the frames of the drivers (can/load/traffic.h).
 *
 *	check_timing(&frames, &launch, &errors);
 *	check_timing_bounds(&frames, &launch);
 */
#ifndef LAUNCH_CHECK_CHECK_TIMING_H
#define LAUNCH_CHECK_CHECK_TIMING_H

#include "launch/check/check_frames.h"

/* A line for each bus on which a frame may end after its deadline: which frame, and a change that helps. */
void check_timing(const struct check_frames *frames, const struct launch *launch, struct error_sink *errors);

/* For each driver how long its frames may take, as the value of ENDPLATE_BOUNDS: "torso:0EF=1250000 torso:100=...", in
 * nanoseconds.  A driver does not check frames that have no bound, nor any if memory for the text is missing. */
#define CHECK_TIMING_VARIABLE "ENDPLATE_BOUNDS"
void check_timing_bounds(const struct check_frames *frames, struct launch *launch);

#endif
