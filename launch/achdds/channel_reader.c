/* channel_reader.c: a channel that the bridge reads. */
#include "channels/port/port.h"
#include "config/base/base.h"
#include "launch/achdds/channel_reader.h"

#define BURST 8		  /* messages that may come at once, without being too many */
#define CLOSE_NS 10000000 /* between messages that follow each other closely */
#define QUIET_NS 50000000 /* after this time without messages a channel is waited for again */
#define LOOKS 500	  /* after which polling has to have found messages in half of them */

static int attach(const struct channel_readers *readers, ach_channel_t *chan, const char *name)
{
	return port_attach(chan, name, readers->owner, 0660) == ACH_OK ? 0 : -ENOENT;
}

/* Messages from now on are reported. */
static int wait_for(struct channel_readers *readers, struct channel_reader *reader)
{
	int r = attach(readers, &reader->watch, reader->name);

	if (r)
		return r;
	ach_flush(&reader->watch);
	r = clock_set_add_channel(readers->set, &reader->watch, reader->tag);
	if (r)
		ach_close(&reader->watch);
	reader->waits = !r;
	return r;
}

static void do_not_wait(struct channel_readers *readers, struct channel_reader *reader)
{
	if (!reader->waits)
		return;
	clock_set_remove_channel(readers->set, &reader->watch);
	ach_close(&reader->watch);
	reader->waits = false;
}

static void set_polled(struct channel_readers *readers, struct channel_reader *reader, bool polled)
{
	if (!readers->polled) {
		readers->looks = readers->found = 0;
		readers->calm = false;
	}
	readers->polled += (unsigned int)polled - (unsigned int)reader->polled;
	reader->polled = polled;
}

int channel_reader_open_quiet(struct channel_readers *readers, struct channel_reader *reader, const char *name)
{
	const int r = attach(readers, &reader->chan, name);

	reader->name = name;
	reader->open = !r;
	return r;
}

int channel_reader_open(struct channel_readers *readers, struct channel_reader *reader, const char *name, uint32_t tag)
{
	int r = channel_reader_open_quiet(readers, reader, name);

	reader->tag = tag;
	if (!r)
		r = wait_for(readers, reader);
	if (r)
		channel_reader_close(readers, reader);
	else
		set_polled(readers, reader, true); /* what is there already is read, then it is waited for */
	return r;
}

void channel_reader_close(struct channel_readers *readers, struct channel_reader *reader)
{
	if (!reader->open)
		return;
	do_not_wait(readers, reader);
	set_polled(readers, reader, false);
	ach_close(&reader->chan);
	reader->open = false;
}

void channel_reader_check(struct channel_readers *readers, struct channel_reader *reader)
{
	if (reader->open && port_is_gone(&reader->chan))
		channel_reader_close(readers, reader);
}

/* Counts a message; true: they are too many to wait for each. */
static bool is_busy(struct channel_readers *readers, int64_t now_ns)
{
	const int64_t room_ns = BURST * CHANNEL_READER_PERIOD_NS;

	if (readers->paced_ns < now_ns - room_ns)
		readers->paced_ns = now_ns - room_ns;
	if (readers->paced_ns < now_ns + room_ns)
		readers->paced_ns += CHANNEL_READER_PERIOD_NS;
	return readers->paced_ns > now_ns;
}

void channel_reader_seen(struct channel_readers *readers, struct channel_reader *reader, int64_t now_ns)
{
	const bool busy = is_busy(readers, now_ns);

	if (!reader->waits)
		return;
	if (busy && now_ns - reader->news_ns < CLOSE_NS) {
		do_not_wait(readers, reader);
		set_polled(readers, reader, true);
	} else {
		ach_flush(&reader->watch); /* before the messages are read: what comes meanwhile is reported */
	}
}

void channel_reader_read(struct channel_readers *readers, struct channel_reader *reader, int64_t now_ns, bool news,
			 bool more)
{
	if (!reader->open)
		return;
	if (news)
		reader->news_ns = now_ns;
	readers->found += news && reader->polled;
	if (more)
		set_polled(readers, reader, true);
	else if (reader->polled && reader->waits)
		set_polled(readers, reader, false);
	else if (reader->polled && (readers->calm || now_ns - reader->news_ns > QUIET_NS) && wait_for(readers, reader))
		channel_reader_close(readers,
				     reader); /* it was removed, or there is no descriptor: to be opened again */
}

int64_t channel_reader_due(struct channel_readers *readers, int64_t now_ns)
{
	if (!readers->polled)
		return CLOCK_NEVER;
	if (++readers->looks >= LOOKS) {
		readers->calm = readers->found < LOOKS / 2;
		readers->looks = readers->found = 0;
	}
	return now_ns + CHANNEL_READER_PERIOD_NS;
}
