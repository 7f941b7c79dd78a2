/* causes.h: what of the events, stops and states of a robot is an incident.
 *
 *	struct causes causes = { .found = found, .trigger = { .skipped_max = 20 } };
 *
 *	causes_seen(&causes, channel);	for each message that a recorder reads
 *	causes_look(&causes, now_ns);	after each turn of it
 *
 * A message that was seen before, by an earlier recorder, does not count again.  The newest state of each device is
 * looked at twice a second.
 */
#pragma once

#include "channels/rec/recorder.h"
#include "launch/record/trigger.h"

#define CAUSES_SOURCES_MAX 256

struct causes {
	struct trigger trigger;
	void (*found)(enum trigger_kind kind, int64_t t_ns, const char *why);
	size_t prefix; /* letters before the names of the robot's channels */

	/* private */
	struct causes_source {
		char name[ACH_CHAN_NAME_MAX];
		uint64_t id, number; /* of the channel, and of its last message */
		bool unseen;	     /* its newest state, of which these are: */
		uint32_t incarnation;
		uint64_t skipped;
	} sources[CAUSES_SOURCES_MAX];
	size_t n;
	int64_t look_ns; /* at states again */
};

void causes_seen(struct causes *c, const struct recorder_channel *from);
void causes_look(struct causes *c, int64_t now_ns);
