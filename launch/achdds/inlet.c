/* inlet.c: a channel that the bridge reads. */
#include <errno.h>

#include "launch/achdds/inlet.h"

#define BURST 8		  /* messages that may come at once, without being too many */
#define CLOSE_NS 10000000 /* between messages that follow each other closely */
#define QUIET_NS 50000000 /* after this time without messages a channel is waited for again */
#define LOOKS 500	  /* after which polling has to have found messages in half of them */

static int attach(const struct inlets *inlets, ach_channel_t *chan, const char *name)
{
	ach_attr_t attr;

	ach_attr_init(&attr);
	ach_attr_set_owner(&attr, inlets->owner, 0660);
	return ach_open(chan, name, &attr) == ACH_OK ? 0 : -ENOENT;
}

/* Messages from now on are reported. */
static int wait_for(struct inlets *inlets, struct inlet *inlet)
{
	int r = attach(inlets, &inlet->watch, inlet->name);

	if (r)
		return r;
	ach_flush(&inlet->watch);
	r = clock_set_add_channel(inlets->set, &inlet->watch, inlet->tag);
	if (r)
		ach_close(&inlet->watch);
	inlet->waits = !r;
	return r;
}

static void do_not_wait(struct inlets *inlets, struct inlet *inlet)
{
	if (!inlet->waits)
		return;
	clock_set_remove_channel(inlets->set, &inlet->watch);
	ach_close(&inlet->watch);
	inlet->waits = false;
}

static void set_polled(struct inlets *inlets, struct inlet *inlet, bool polled)
{
	if (!inlets->polled) {
		inlets->looks = inlets->found = 0;
		inlets->calm = false;
	}
	inlets->polled += (unsigned int)polled - (unsigned int)inlet->polled;
	inlet->polled = polled;
}

int inlet_open_quiet(struct inlets *inlets, struct inlet *inlet, const char *name)
{
	const int r = attach(inlets, &inlet->chan, name);

	inlet->name = name;
	inlet->open = !r;
	return r;
}

int inlet_open(struct inlets *inlets, struct inlet *inlet, const char *name, uint32_t tag)
{
	int r = inlet_open_quiet(inlets, inlet, name);

	inlet->tag = tag;
	if (!r)
		r = wait_for(inlets, inlet);
	if (r)
		inlet_close(inlets, inlet);
	else
		set_polled(inlets, inlet, true); /* what is there already is read, then it is waited for */
	return r;
}

void inlet_close(struct inlets *inlets, struct inlet *inlet)
{
	if (!inlet->open)
		return;
	do_not_wait(inlets, inlet);
	set_polled(inlets, inlet, false);
	ach_close(&inlet->chan);
	inlet->open = false;
}

void inlet_check(struct inlets *inlets, struct inlet *inlet)
{
	int unlinked = 0;

	if (inlet->open && (ach_unlinked(&inlet->chan, &unlinked) != ACH_OK || unlinked))
		inlet_close(inlets, inlet);
}

/* Counts a message; true: they are too many to wait for each. */
static bool is_busy(struct inlets *inlets, int64_t now_ns)
{
	const int64_t room_ns = BURST * INLET_PERIOD_NS;

	if (inlets->paced_ns < now_ns - room_ns)
		inlets->paced_ns = now_ns - room_ns;
	if (inlets->paced_ns < now_ns + room_ns)
		inlets->paced_ns += INLET_PERIOD_NS;
	return inlets->paced_ns > now_ns;
}

void inlet_seen(struct inlets *inlets, struct inlet *inlet, int64_t now_ns)
{
	const bool busy = is_busy(inlets, now_ns);

	if (!inlet->waits)
		return;
	if (busy && now_ns - inlet->news_ns < CLOSE_NS) {
		do_not_wait(inlets, inlet);
		set_polled(inlets, inlet, true);
	} else {
		ach_flush(&inlet->watch); /* before the messages are read: what comes meanwhile is reported */
	}
}

void inlet_read(struct inlets *inlets, struct inlet *inlet, int64_t now_ns, bool news, bool more)
{
	if (!inlet->open)
		return;
	if (news)
		inlet->news_ns = now_ns;
	inlets->found += news && inlet->polled;
	if (more)
		set_polled(inlets, inlet, true);
	else if (inlet->polled && inlet->waits)
		set_polled(inlets, inlet, false);
	else if (inlet->polled && (inlets->calm || now_ns - inlet->news_ns > QUIET_NS) && wait_for(inlets, inlet))
		inlet_close(inlets, inlet); /* it was removed, or there is no descriptor: to be opened again */
}

int64_t inlet_due(struct inlets *inlets, int64_t now_ns)
{
	if (!inlets->polled)
		return CLOCK_NEVER;
	if (++inlets->looks >= LOOKS) {
		inlets->calm = inlets->found < LOOKS / 2;
		inlets->looks = inlets->found = 0;
	}
	return now_ns + INLET_PERIOD_NS;
}
