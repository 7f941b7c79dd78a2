/* robot_channels.h: all channels of the robot, with the newest message of each.
 *
 * These are the channels whose names begin with $ENDPLATE_PREFIX; without a prefix all channels of the machine.
 * Channels that belong neither to the robot's user nor to root, or that every user may write, are left out.  Reading
 * them delays no writer and needs no achstart.
 */
#pragma once

#include <sys/types.h>

#include "channels/ach/ach.h"
#include "channels/estop/estop.h"
#include "config/base/base.h"

#define ROBOT_CHANNELS_MAX 256

struct robot_channel {
	char name[ACH_CHAN_NAME_MAX]; /* without prefix */
	bool ours;		      /* the newest is one of our messages: */
	struct msg_header header;
	bool state; /* ... and begins with the common block, too */
	struct msg_common common;
	struct msg_joint_state *joints; /* the newest; NULL: the channel has others */
	struct msg_device_info *info;	/* likewise */
	char refusal[MSG_TEXT_SIZE];	/* of a channel of events: why a reference was last refused; "": none was */
	uint32_t refused_by;		/* the incarnation of the driver that did */
	int64_t read_ns;		/* when it was looked at */
	double rate_hz;			/* over the last second or so; NAN: not known yet */
	double phase_us; /* publication behind the beginning of the clock's cycle; NAN: there is no clock */

	/* private */
	ach_channel_t chan;
	uint64_t rate_seq;
	int64_t rate_ns;
};

struct robot_channels {
	struct robot_channel *at[ROBOT_CHANNELS_MAX]; /* by name */
	size_t n;
	struct msg_clock clock; /* the newest, if there is one */
	bool has_clock;
	struct msg_balance_state balance;
	struct msg_mux_state mux;
	bool has_balance, has_mux;
	/* Gets each message that is read, if it is one of ours; of channels NAME-event every one.  NULL: none. */
	void (*each)(void *to, const struct robot_channel *one, const struct msg_type *type, const void *msg);
	void *to;
	uid_t owner;	 /* of the robot, at the last scan */
	int64_t scan_ns; /* when to look for channels that came or went */
};

/* Begin with a struct of zeroes.  Opens new channels, closes removed ones, reads the newest message of each. */
void robot_channels_read(struct robot_channels *channels);
void robot_channels_close(struct robot_channels *channels);

/* Age of the newest message when it was read; NAN: unknown. */
double robot_channel_age_ms(const struct robot_channel *one);

/* "waist" of "waist-state", "clock" of "clock", into name; false: it is not the state channel of a daemon. */
bool robot_channel_daemon(const struct robot_channel *one, char *name, size_t size);

/* ---- the level of the e-stop that the drivers obey ----
 *
 * achctl has not read the channels since the robot was armed, so it begins with the lowering that the states of the
 * drivers name.
 */

/* Opens the channels of $ENDPLATE_PREFIX, which belong to the owner of $RUN, or to this user if there is none.  0, or
 * -errno with a line for each channel that is not open: robot_level_read tries again. */
int robot_level_open(struct estop *estop, bool make, struct error_sink *errors);
/* The level; estop->epoch is the newest that a driver names if none is obeyed. */
enum msg_level robot_level_read(struct estop *estop, const struct robot_channels *channels, int64_t now_ns);

/* Reads the messages since *seen.  true: these are only copies of estop-b, written by drivers to estop; *seen is then
 * up to date. */
bool robot_level_only_copied(struct estop *estop, struct estop_seen *seen);

/* Is it the state of a driver whose process has not ended at that time?  Its name. */
bool robot_level_driver(const struct estop *estop, const struct robot_channel *one, char *name, size_t size,
			int64_t now_ns);
