/* closed.h: canreplay --closed-loop: the devices of a recording, played to a live driver; loop.h decides what, when. */
#ifndef CAN_REPLAY_CLOSED_H
#define CAN_REPLAY_CLOSED_H

#include "can/replay/closed_refs.h"
#include "can/replay/closed_report.h"
#include "can/replay/loop.h"
#include "can/replay/sender.h"
#include "config/settings/settings.h"

struct closed {
	/* options; also options.strict, shown.diff and shown.all */
	bool on;
	struct settings_strings frames, bus, tolerance, channel;
	const char *channels, *window, *settle, *wait, *report, *step;
	int64_t bitrate;
	bool force, json;
	struct loop_options options;
	struct closed_report shown;

	/* private */
	struct loop_rules rules;
	struct loop_same same;
	struct loop *loop;
	const char *names[LOOP_BUSES_MAX];
	struct closed_refs refs;
	struct sender *sender;
	int64_t wait_ns, horizon_ns;
	bool ready; /* and said so */
	int failed; /* of what was heard: -errno */
	struct closed_frame {
		int64_t send_ns; /* when to hand it over, so that it ends when it is due */
		struct loop_play play;
	} * held; /* in that order */
	size_t held_n, held_room;
};

/* The options, and the files of --frames.  0, or PROGRAM_WRONG or PROGRAM_FAILED after a line. */
int closed_check(struct closed *c);

/* Once the recording was read and all routes are known: the loop, and the references.  A wire is attached to as a node
 * of its own, so that the driver's frames are acknowledged.  0, or a status after a line. */
int closed_open(struct closed *c, struct routes *routes);
int closed_add(struct closed *c, const struct routes *routes, const struct route_bus *to, const struct log_record *r);

/* Until the recording is over, or a signal.  0: nothing differs, or nothing was compared; CLOSED_DIFFERS;
 * PROGRAM_FAILED after a line. */
#define CLOSED_DIFFERS 1
int closed_run(struct closed *c, struct sender *sender, const struct sender_log *log);
void closed_close(struct closed *c);

#endif
