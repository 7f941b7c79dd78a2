/* daemon_state.h: how a daemon is, by what it publishes: header and common block of its state channel, nothing else. */
#pragma once

#include "channels/ach/ach.h"
#include "channels/msg/msg.h"
#include "config/base/base.h"

struct daemon_state {
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

void daemon_state_init(struct daemon_state *published, const char *channel); /* without prefix; opens nothing yet */
void daemon_state_close(struct daemon_state *published);
/* Takes the newest message.  Opens the channel when it appears, and again when its file was replaced (checked once a
 * second).  Never makes one. */
void daemon_state_update(struct daemon_state *published, int64_t now_ns);
/* The same, and looks at the file whether it is time or not. */
void daemon_state_update_now(struct daemon_state *published, int64_t now_ns);
/* The age of the newest publication; INT64_MAX: none. */
int64_t daemon_state_age_ns(const struct daemon_state *published, int64_t now_ns);
