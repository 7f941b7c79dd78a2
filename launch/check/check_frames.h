/* check_frames.h: what drivers say they do on their buses (DRIVER ... --frames): the frames they send and take, and
 * what they claim for themselves; which drivers are in conflict, and how full the buses are.  Pure.
 *
 *	struct check_frames frames = { 0 };
 *
 *	check_frames_read(&frames, waist, text, len, &errors);	for each driver
 *	check_frames_conflicts(&frames, &errors);
 *	check_frames_loads(&frames, &launch, &errors);
 *	check_frames_free(&frames);
 *
 * A claim is a part of a bus that only one process may have: its pacing, or all modules of a kind; or a channel that
 * only one process may write.
 *
 * The load of a bus is the sum, over all rows with a period, of the most bits that a frame of that length can take, at
 * the bit rate of the bus.  A frame that a driver takes counts as often as the driver asks for it, or as often as its
 * own row says, whichever is more.
 */
#ifndef LAUNCH_CHECK_CHECK_FRAMES_H
#define LAUNCH_CHECK_CHECK_FRAMES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "can/load/traffic.h"
#include "launch/file/launch_file.h"

#define CHECK_LOAD_MAX TRAFFIC_LOAD_MAX

struct check_frame {
	const struct launch_daemon *daemon;
	const struct robot_bus *bus;
	struct traffic_row row; /* without places */
	int64_t tick_ns;	/* of the driver; 0: not known */
};

struct check_claim {
	const struct launch_daemon *daemon;
	const struct robot_bus *bus; /* NULL: what is a channel that it writes */
	char what[TEXT_NAME_MAX + 8];
};

#define CHECK_CHANNELS_MAX 256
#define CHECK_CLAIMS_MAX (16 * LAUNCH_DAEMONS_MAX) /* as many as a driver can make */

struct check_frames {
	struct check_frame *rows;
	size_t n, room;
	struct check_claim claims[CHECK_CLAIMS_MAX];
	size_t claims_n;
	struct launch_channel channels[CHECK_CHANNELS_MAX];
	size_t channels_n;
};

/* Adds what a driver printed: {driver, name, frames: [...], claims: [...], channels: [...]}; other keys are
 * ignored.  0; -EINVAL with lines "x.launch:5: waist: pciod --frames:3: ..." in errors; -ENOMEM with a line. */
int check_frames_read(struct check_frames *frames, const struct launch_daemon *daemon, const char *text, size_t len,
		      struct error_sink *errors);
void check_frames_free(struct check_frames *frames);

/* One line for each two daemons in conflict on a bus: both claim the same part of it; or both they, or their devices,
 * send the same identifier.  A frame that a driver takes is one that its device sends; shared identifiers may be sent
 * by several drivers, or taken by several. */
void check_frames_conflicts(const struct check_frames *frames, struct error_sink *errors);
/* One line for each bus above CHECK_LOAD_MAX. */
void check_frames_loads(const struct check_frames *frames, const struct launch *launch, struct error_sink *errors);

double check_frames_load(const struct check_frames *frames, const struct robot_bus *bus); /* 1: full */
double check_frames_hz(const struct check_frames *frames, const struct robot_bus *bus);

#endif
