/* inlet.h: a channel that the bridge reads.
 *
 * A channel is waited for, and each message then takes some system calls, here and in its writer.  Where many come it
 * is cheaper to look.  So a channel whose messages follow each other closely is polled, as long as the bridge gets more
 * than one message in INLET_PERIOD_NS: its writer wakes no process, and the loop reads it every INLET_PERIOD_NS.
 */
#ifndef LAUNCH_ACHDDS_INLET_H
#define LAUNCH_ACHDDS_INLET_H

#include "channels/clock/clock.h"

#define INLET_PERIOD_NS 200000

/* All of the bridge. */
struct inlets {
	struct clock_set *set;
	uid_t owner; /* of the channels */
	unsigned int polled;
	int64_t paced_ns; /* when the last message would have come if they came every INLET_PERIOD_NS */
	unsigned int looks, found;
	bool calm; /* polling has found little */
};

struct inlet {
	const char *name;
	uint32_t tag;
	ach_channel_t chan;  /* to be read: no call of the kernel */
	ach_channel_t watch; /* in the set, while it is waited for */
	bool open, waits, polled;
	int64_t news_ns; /* when the last messages were found */
};

/* Opens the channel at its oldest message; 0 or -errno.  name is kept.  The tag comes from the set when there are
 * messages. */
int inlet_open(struct inlets *inlets, struct inlet *inlet, const char *name, uint32_t tag);
/* The same, but the tag does not come: the caller reads when it likes. */
int inlet_open_quiet(struct inlets *inlets, struct inlet *inlet, const char *name);
void inlet_close(struct inlets *inlets, struct inlet *inlet); /* also if it is not open */
/* Closes it if its channel was removed. */
void inlet_check(struct inlets *inlets, struct inlet *inlet);

/* Before the messages are read, because the tag came. */
void inlet_seen(struct inlets *inlets, struct inlet *inlet, int64_t now_ns);
/* After they were read; more: there may be more of them, which the loop reads with those that are polled. */
void inlet_read(struct inlets *inlets, struct inlet *inlet, int64_t now_ns, bool news, bool more);
/* When the loop is to read the polled ones again, after it did; CLOCK_NEVER: there are none. */
int64_t inlet_due(struct inlets *inlets, int64_t now_ns);

#endif
