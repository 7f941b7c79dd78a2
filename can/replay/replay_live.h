/* replay_live.h: canreplay --closed-loop: the devices of a recording, played to a live driver; replay_match.h decides
 * what, when.
 *
 * Offered to other folders:
 *	sender.h
 */
#pragma once

#include "can/replay/replay_live_refs.h"
#include "can/replay/replay_live_report.h"
#include "can/replay/sender.h"

struct replay_live {
	/* options; also options.strict, shown.diff and shown.all */
	bool on;
	struct settings_strings frames, bus, tolerance, channel;
	const char *channels, *window, *settle, *wait, *report, *step;
	int64_t bitrate;
	bool force, json;
	struct replay_match_options options;
	struct replay_live_report shown;

	/* private */
	struct replay_match_rules rules;
	struct replay_match_same same;
	struct replay_match *loop;
	const char *names[REPLAY_MATCH_BUSES_MAX];
	struct replay_live_refs refs;
	struct sender *sender;
	int64_t wait_ns, horizon_ns;
	bool ready; /* and said so */
	int failed; /* of what was heard: -errno */
	struct replay_live_frame {
		int64_t send_ns; /* when to hand it over, so that it ends when it is due */
		struct replay_match_play play;
	} * held; /* in that order */
	size_t held_n, held_room;
};

/* The options, and the files of --frames.  0, or EXIT_WRONG or EXIT_RETRY after a line. */
int replay_live_check(struct replay_live *c);

/* Once the recording was read and the map is complete: the loop, and the references.  A wire is attached to as a node
 * of its own, so that the driver's frames are acknowledged.  0, or a status after a line. */
int replay_live_open(struct replay_live *c, struct bus_map *map);
int replay_live_add(struct replay_live *c, const struct bus_map *map, const struct bus_map_bus *to,
		    const struct log_record *r);

/* Until the recording is over, or a signal.  0: nothing differs, or nothing was compared; REPLAY_LIVE_DIFFERS;
 * EXIT_RETRY after a line. */
#define REPLAY_LIVE_DIFFERS 1
int replay_live_run(struct replay_live *c, struct sender *sender, const struct sender_log *log);
void replay_live_close(struct replay_live *c);
