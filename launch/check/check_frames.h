/* check_frames.h: the frames that drivers say they send and take (--frames): who clashes with whom, and how full the
 * buses are.  Pure.
 *
 *	struct check_frames frames = { 0 };
 *
 *	check_frames_read(&frames, &claims, waist, text, len, &errors);	for each driver
 *	check_frames_clashes(&frames, &launch, &errors);
 *	load = check_frames_load(&frames, bus);
 *	check_frames_free(&frames);
 *
 * Load is the sum, over all rows with a period, of the most bits that a frame of that length can take, at the bit
 * rate of the bus.  What a driver takes counts as often as it is asked for, or as often as its own row says,
 * whichever is more.
 */
#ifndef LAUNCH_CHECK_CHECK_FRAMES_H
#define LAUNCH_CHECK_CHECK_FRAMES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "config/error.h"
#include "launch/check/check_claims.h"
#include "launch/file/launch_file.h"

#define CHECK_LOAD_MAX 0.9

struct check_frame {
	const struct launch_daemon *daemon;
	const struct robot_bus *bus;
	uint32_t id;
	bool ext, tx, shared;
	uint8_t len;
	double period_s; /* 0: when it likes */
	bool answered;
	uint32_t reply_id;
};

struct check_frames {
	struct check_frame *rows;
	size_t n, room;
};

/* Adds what a driver printed: {driver, name, frames: [...], claims: [...]}; keys that are not known are left alone.  0;
 * -EINVAL with lines "waist --frames:3: ..." in errors; -ENOMEM with a line. */
int check_frames_read(struct check_frames *frames, struct check_claims *claims, const struct launch_daemon *daemon,
		      const char *text, size_t len, struct error_sink *errors);
void check_frames_free(struct check_frames *frames);

/* A line for each identifier that two send on one bus, be they drivers or devices: what a driver takes, its device
 * sends.  Shared ones may be sent by several drivers, or be taken by several.  How many. */
unsigned int check_frames_clashes(const struct check_frames *frames, struct error_sink *errors);
/* A line for each bus above CHECK_LOAD_MAX.  How many. */
unsigned int check_frames_loads(const struct check_frames *frames, const struct launch *launch,
				struct error_sink *errors);

double check_frames_load(const struct check_frames *frames, const struct robot_bus *bus); /* 1: full */
double check_frames_hz(const struct check_frames *frames, const struct robot_bus *bus);

#endif
