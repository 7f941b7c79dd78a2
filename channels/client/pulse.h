/* pulse.h: how a daemon is, by what it publishes: header and common block of its state channel, nothing else. */
#ifndef CHANNELS_CLIENT_PULSE_H
#define CHANNELS_CLIENT_PULSE_H

#include <stdbool.h>
#include <stdint.h>

#include "channels/ach/ach.h"
#include "channels/msg/msg.h"

struct pulse {
	char channel[64]; /* with prefix */
	bool open, corrupt;
	bool there; /* something of the right kind has been published */
	struct msg_header header;
	struct msg_common common;
	bool is_clock;
	struct msg_clock clock; /* of the clock's channel, all of it */
	double rate_hz;		/* over the last second */
	ach_channel_t chan;
	int64_t look_ns;
	int64_t lost_ns; /* when its file was last found removed, replaced or corrupt; 0: never */
	uint64_t rate_sequence;
	int64_t rate_ns;
};

void pulse_init(struct pulse *pulse, const char *channel); /* without prefix; opens nothing yet */
void pulse_close(struct pulse *pulse);
/* Takes the newest message.  Opens the channel when it appears, and again when its file was replaced (checked once a
 * second).  Never makes one. */
void pulse_update(struct pulse *pulse, int64_t now_ns);
/* The same, and looks at the file whether it is time or not. */
void pulse_update_now(struct pulse *pulse, int64_t now_ns);
/* Of the newest publication; INT64_MAX: none. */
int64_t pulse_age_ns(const struct pulse *pulse, int64_t now_ns);

#endif
