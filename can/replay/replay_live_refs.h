/* replay_live_refs.h: the references of a recording of channels, published beside the frames of a closed loop.
 *
 * A message is due when it was published, by the clock of the frames: a recording of ach record has both its own time
 * and that of the epoch.  Its times are moved to now, and it is for the driver that lives now.
 *
 * Messages of the e-stop are never published: a recording does not arm a robot.  They only say when it was armed.
 */
#pragma once

#include "channels/ach/ach.h"
#include "channels/rec/reclog.h"
#include "config/base/base.h"
#include "config/settings/settings.h"

struct replay_live_refs {
	uint64_t put, early; /* published; before the driver's first frame, and so left out */
	int64_t armed_ns;    /* the first lowering to run, of the epoch; 0: there is none */

	/* private */
	struct replay_live_refs_channel {
		struct reclog_channel what;
		bool known, wanted, open;
		char name[64], state[64];
		ach_channel_t chan;
	} * channels;
	size_t channels_n, channels_room;
	struct replay_live_refs_message {
		int64_t t_ns; /* of the epoch */
		int64_t recorded_ns;
		uint16_t channel;
		uint32_t len;
		uint8_t *bytes;
	} * messages;
	size_t n, room, at;
};

/* Reads the file.  names: NAME or NAME=NEW, the channels to play, or none: all that end in -ref.  0, or EXIT_RETRY
 * after a line. */
int replay_live_refs_read(struct replay_live_refs *refs, const char *path, const struct settings_strings *names);
void replay_live_refs_close(struct replay_live_refs *refs);

/* When the first and the last one were published, of the epoch; false: there is none. */
bool replay_live_refs_span(const struct replay_live_refs *refs, int64_t *first_ns, int64_t *last_ns);

/* The next is due at that time of the clock, if offset_ns leads from the epoch to the clock; INT64_MAX: none. */
int64_t replay_live_refs_next_ns(const struct replay_live_refs *refs, int64_t offset_ns);
/* The driver has begun: what is due before is left out. */
void replay_live_refs_begin(struct replay_live_refs *refs, int64_t offset_ns, int64_t now_ns);
/* Publishes all that are due.  0, or EXIT_RETRY after a line. */
int replay_live_refs_play(struct replay_live_refs *refs, int64_t offset_ns, int64_t now_ns);
