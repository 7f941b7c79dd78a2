/* check_frames.h: what drivers say they do on their buses (DRIVER ... --frames): the frames they send and take, and
 * what they claim for themselves; which drivers are in conflict, and whether the buses have time for the frames
 * (can/load/traffic.h).  Pure.
 *
 *	check_frames_begin(&frames, &launch);
 *	check_frames_read(&frames, waist, text, len, &errors);	for each driver
 *	check_frames_conflicts(&frames, &errors);
 *	check_frames_times(&frames, &errors);
 *	check_frames_free(&frames);
 *
 * A claim is a part of a bus that only one process may have: its pacing, or all modules of a kind; or a channel that
 * only one process may write.
 */
#pragma once

#include "can/load/traffic.h"
#include "config/base/base.h"
#include "launch/file/launch_file.h"

struct check_claim {
	const struct launch_daemon *daemon;
	const struct robot_bus *bus; /* NULL: what is a channel that it writes */
	char what[TEXT_NAME_MAX + 8];
};

#define CHECK_CHANNELS_MAX 256
#define CHECK_CLAIMS_MAX (16 * LAUNCH_DAEMONS_MAX) /* as many as a driver can make */

struct check_frames {
	const struct launch *launch;
	struct traffic traffic; /* its drivers and buses have the places of the launch's daemons and buses */
	struct check_claim claims[CHECK_CLAIMS_MAX];
	size_t claims_n;
	struct launch_channel channels[CHECK_CHANNELS_MAX];
	size_t channels_n;
};

/* Nothing was read yet. */
void check_frames_begin(struct check_frames *frames, const struct launch *launch);
/* Adds what a driver printed: {driver, name, frames: [...], claims: [...], channels: [...]}; other keys are
 * ignored.  0; -EINVAL with lines "x.launch:5: waist: pciod --frames:3: ..." in errors; -ENOMEM with a line. */
int check_frames_read(struct check_frames *frames, const struct launch_daemon *daemon, const char *text, size_t len,
		      struct error_sink *errors);
void check_frames_free(struct check_frames *frames);

/* One line for each two daemons in conflict on a bus: both claim the same part of it; or both they, or their devices,
 * send the same identifier.  A frame that a driver takes is one that its device sends; shared identifiers may be sent
 * by several drivers, or taken by several. */
void check_frames_conflicts(const struct check_frames *frames, struct error_sink *errors);
/* A line for each bus above TRAFFIC_LOAD_MAX, and each other one on which a frame may end after its deadline: which
 * frame, and a change that helps. */
void check_frames_times(struct check_frames *frames, struct error_sink *errors);

/* After check_frames_times: for each driver how long its frames may take, as the value of ENDPLATE_BOUNDS:
 * "torso:0EF=1250000 torso:100=...", in nanoseconds.  A driver does not check frames that have no bound, nor any if
 * memory for the text is missing. */
#define CHECK_FRAMES_BOUNDS "ENDPLATE_BOUNDS"
void check_frames_bounds(const struct check_frames *frames, struct launch *launch);
