/* causes.h: reads the events, stops and states of a robot for what is an incident.
 *
 *	struct causes causes = { .found = found, .trigger = { .skipped_max = 20 } };
 *
 *	causes_open(&causes, &recorder);	once a second
 *	causes_read(&causes);			often: events and stops
 *	causes_states(&causes);			twice a second: the newest state of each device
 *	causes_close(&causes);
 *
 * It reads without locks and waits for nothing.
 */
#ifndef LAUNCH_RECORD_CAUSES_H
#define LAUNCH_RECORD_CAUSES_H

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
		enum { CAUSES_EVENTS, CAUSES_STOPS, CAUSES_STATE } kind;
		bool open;
		ach_channel_t chan;
	} sources[CAUSES_SOURCES_MAX];
	size_t n;
};

/* Opens the channels that the recorder knows, and again those that another one has taken the place of. */
void causes_open(struct causes *c, const struct recorder *rec);
void causes_read(struct causes *c);
void causes_states(struct causes *c);
void causes_close(struct causes *c);

#endif
