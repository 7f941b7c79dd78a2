/* chans.h: the channels of the robot, all that are there, and what the newest message of each says.
 *
 * Those whose name begins with $ENDPLATE_PREFIX; without one all of the machine.  Those that belong neither to the
 * robot's user nor to root, or that every user may write, are left out.  A reader like any other: no writer waits for
 * it, and it needs no achstart.
 */
#ifndef LAUNCH_ACHCTL_CHANS_H
#define LAUNCH_ACHCTL_CHANS_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

#include "channels/ach.h"
#include "channels/msg/msg.h"

#define CHANS_MAX 256

struct chans_one {
	char name[ACH_CHAN_NAME_MAX]; /* without prefix */
	bool ours;		      /* the newest is one of our messages: */
	struct msg_header header;
	bool state; /* ... and begins with the common block, too */
	struct msg_common common;
	int64_t read_ns; /* when it was looked at */
	double rate_hz;	 /* over the last second or so; NAN: not known yet */
	double phase_us; /* publication behind the beginning of the clock's cycle; NAN: there is no clock */

	/* private */
	ach_channel_t chan;
	bool seen; /* at the last scan */
	uint64_t rate_seq;
	int64_t rate_ns;
};

struct chans {
	struct chans_one *at[CHANS_MAX]; /* by name */
	size_t n;
	struct msg_clock clock; /* the newest, if there is one */
	bool has_clock;
	uid_t owner;	 /* of the robot, at the last scan */
	int64_t scan_ns; /* when to look for channels that came or went */
};

/* One that is all zeroes is empty.  Opens what has come, closes what has gone, reads the newest of each. */
void chans_look(struct chans *chans);
void chans_close(struct chans *chans);

/* Of the newest when it was read; NAN: it does not say. */
double chans_age_ms(const struct chans_one *one);

/* "waist" of "waist-state", "clock" of "clock", into name; false: it is no channel on which a daemon shows itself. */
bool chans_daemon(const struct chans_one *one, char *name, size_t size);

#endif
