/* channel_reader.h: a channel that the bridge reads.
 *
 * A channel is waited for, and each message then takes some system calls, here and in its writer.  Where many come it
 * is cheaper to look.  So a channel whose messages follow each other closely is polled, as long as the bridge gets more
 * than one message in CHANNEL_READER_PERIOD_NS: its writer wakes no process, and the loop reads it every
 * CHANNEL_READER_PERIOD_NS.
 */
#pragma once

#include "channels/clock/clock.h"

#define CHANNEL_READER_PERIOD_NS 200000

/* All of the bridge. */
struct channel_readers {
	struct clock_set *set;
	uid_t owner; /* of the channels */
	unsigned int polled;
	int64_t paced_ns; /* when the last message would have come if they came every CHANNEL_READER_PERIOD_NS */
	unsigned int looks, found;
	bool calm; /* polling has found little */
};

struct channel_reader {
	const char *name;
	uint32_t tag;
	ach_channel_t chan;  /* to be read: no call of the kernel */
	ach_channel_t watch; /* in the set, while it is waited for */
	bool open, waits, polled;
	int64_t news_ns; /* when the last messages were found */
};

/* Opens the channel at its oldest message; 0 or -errno.  name is kept.  The tag comes from the set when there are
 * messages. */
int channel_reader_open(struct channel_readers *readers, struct channel_reader *reader, const char *name, uint32_t tag);
/* The same, but the tag does not come: the caller reads when it likes. */
int channel_reader_open_quiet(struct channel_readers *readers, struct channel_reader *reader, const char *name);
void channel_reader_close(struct channel_readers *readers, struct channel_reader *reader); /* also if it is not open */
/* Closes it if its channel was removed. */
void channel_reader_check(struct channel_readers *readers, struct channel_reader *reader);

/* Before the messages are read, because the tag came. */
void channel_reader_seen(struct channel_readers *readers, struct channel_reader *reader, int64_t now_ns);
/* After they were read; more: there may be more of them, which the loop reads with those that are polled. */
void channel_reader_read(struct channel_readers *readers, struct channel_reader *reader, int64_t now_ns, bool news,
			 bool more);
/* When the loop is to read the polled ones again, after it did; CLOCK_NEVER: there are none. */
int64_t channel_reader_due(struct channel_readers *readers, int64_t now_ns);
