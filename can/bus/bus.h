/* bus.h: one CAN bus, whatever is behind it.
 *
 *	struct bus *bus;
 *	struct bus_frame got[32];
 *
 *	if (bus_open(&bus, "can0", &(struct bus_options){ .filters = filters, .filters_n = 2 }, &errors))
 *		return 111;
 *	for (;;) {
 *		struct clock_fd fd = { .fd = bus_fd(bus), .events = POLLIN };
 *
 *		clock_wait(&fd, 1, bus_next_ns(bus));
 *		while ((n = bus_receive(bus, got, 32)) > 0)
 *			...
 *	}
 *
 * Names:	can0, vcan0	a SocketCAN interface
 *		wire:waist	a soft wire, see canwire(1)
 *		log:FILE	a recording, at its pace; log:FILE@can1 takes the frames of can1 only, and
 *				log:FILE>SENT or log:FILE@can1>SENT writes the frames sent to the file SENT
 *
 * Nothing here blocks, prints or allocates after bus_open.  If a bus goes down or disappears, struct bus attaches to it
 * again once it is back.  The descriptor stays the same; meanwhile bus_receive and bus_send return errors, and
 * bus_state is BUS_STOPPED or BUS_ABSENT.
 *
 * Offered to other folders:
 *	attach.h bits.h bus_backend.h bus_filters.h bus_interface.h frame.h frame_error.h
 *	frame_text.h link.h wire.h
 */
#pragma once

#include "can/bus/frame.h"
#include "channels/clock/clock.h"

struct bus;

/* ---- frames received ---- */

/* In bus_frame.flags. */
#define BUS_OWN 0x1	  /* the echo of a frame sent through this struct bus: it was on the wire, complete */
#define BUS_LOCAL 0x2	  /* sent by another program on this machine, through the same interface */
#define BUS_QUEUED 0x8	  /* an own frame that the kernel queued; it may or may not have been sent: bus_confirms */
#define BUS_RESTAMPED 0x4 /* the stamp was missing or not plausible; t_ns is the time of arrival */

struct bus_frame {
	int64_t t_ns; /* end of the frame, as exact as the bus reports it; CLOCK_MONOTONIC */
	uint32_t flags;
	struct frame frame;
};

/* A frame passes if one of the filters takes it: (id ^ filter.id) & filter.mask == 0, on all bits of id, FRAME_EXT and
 * FRAME_RTR too.  Filters apply to the frames of others: own echoes always pass, and bus_options.errors selects error
 * frames. */
struct bus_filter {
	uint32_t id;
	uint32_t mask;
};
#define BUS_FILTERS_MAX 512

static inline bool bus_filters_take(const struct bus_filter *filters, size_t n, uint32_t id)
{
	for (size_t i = 0; i < n; i++)
		if (!((id ^ filters[i].id) & filters[i].mask))
			return true;
	return false;
}

/* ---- opening ---- */

struct log_format;

struct bus_options {
	const struct bus_filter *filters; /* NULL: everything */
	size_t filters_n;		  /* with filters given and 0: nothing but own echoes and errors */
	const uint32_t *sends; /* with filters: identifiers that will be sent, FRAME_EXT and FRAME_RTR included. */
	size_t sends_n;	       /* Optional: the first frame of each needs no system call to change filters then */
	bool errors;	       /* deliver error frames as well; the state is kept in any case */
	bool fd;	       /* CAN FD frames, both ways */
	bool no_echo;	       /* frames sent here do not come back as BUS_OWN */
	bool later;	       /* a bus that is absent or down is not an error: attach when it appears */
	bool ask_only;	       /* with later: bus_settle waits for the answer, so that several are asked at once */
	const struct log_format *const *log_formats; /* log:FILE: those that it may have; NULL: log_formats_plain */
	int receive_buffer;			     /* bytes asked of the kernel; 0: its default */
};

/* Opens the bus.  0, or with a line in errors that says what to do:
 *	-EINVAL		the name is not valid, or not that of a CAN bus, such as eth0 (also with later)
 *	-ENODEV		no such interface, no such wire
 *	-ENETDOWN	it is there, but down
 *	-EACCES, -EPERM	not for this user
 *	-EAFNOSUPPORT	this kernel has no CAN
 *	-ENOENT ...	the log cannot be read, or the file of sent frames not written
 * With later bus_open returns 0 instead of ENODEV, ENETDOWN and EAFNOSUPPORT, and bus_state is BUS_ABSENT or
 * BUS_STOPPED.  options may be NULL. */
int bus_open(struct bus **bus, const char *name, const struct bus_options *options, struct error_sink *errors);
void bus_close(struct bus *bus); /* NULL is fine */

/* After bus_open with ask_only, before anything else: waits until the bus is there, or absent.  Returns as bus_open. */
int bus_settle(struct bus *bus, struct error_sink *errors);

/* NULL if the name is valid, else the reason as part of a sentence. */
const char *bus_name_wrong(const char *name);

/* ---- the loop's half ---- */

int bus_fd(const struct bus *bus);	    /* readable: call bus_receive.  Never changes; -1: there is none */
int64_t bus_next_ns(const struct bus *bus); /* call bus_receive then at the latest; CLOCK_NEVER: only when readable */

/* Instead of bus_fd, for loops: the bus adds its descriptors to the set and removes them when it is closed, which is
 * before the set is.  When the set reports the tag, call bus_receive until it returns 0 or an error; until then
 * bus_next_ns is in the past.  A soft wire needs no system call to receive then.  Once for a bus.  0 or -errno. */
int bus_join(struct bus *bus, struct clock_set *set, uint32_t tag);

/* Which frames wake the loop that joined.  A loop with nothing left to send sleeps on when an echo comes, and one that
 * knows when the next frame matters sleeps until then; it asks bus_pending when something else wakes it.  Call it
 * before each wait.  false: this bus wakes by every frame. */
enum bus_wake {
	BUS_WAKE_ALL,
	BUS_WAKE_OTHERS, /* no echoes */
	BUS_WAKE_NONE,
};
bool bus_wake_by(struct bus *bus, enum bus_wake wake);
bool bus_pending(const struct bus *bus); /* frames came that did not wake: call bus_receive */

/* Receives up to n frames in the order in which they were on the bus.  Returns their number; 0: no more now; or
 *	-ENETDOWN	the link is down
 *	-ENODEV		the interface is gone
 *	-ENODATA	log: everything has been played
 * Frames that came before are delivered first; then every call returns the error until the bus is back.  If the link
 * was down or away between two calls (a reset), one call returns the error: frames handed over before will not be sent.
 */
int bus_receive(struct bus *bus, struct bus_frame *frames, size_t n);

/* Hands a frame over.  0 does not mean that it was sent; its echo does.
 *	-ENOBUFS	the queue is full; try when an echo has come
 *	-ENETDOWN, -ENODEV	as above; after a reset of the link the first frame is refused, the next one is taken
 *	-EINVAL		not a valid frame for this bus (FD on a classic one, length, identifier, an error frame) */
int bus_send(struct bus *bus, const struct frame *frame);

/* bus_send in two halves, for several frames at once: they leave at the latest with the flush. */
int bus_queue(struct bus *bus, const struct frame *frame);
void bus_flush(struct bus *bus);

/* ---- state ---- */

enum bus_state {
	BUS_ABSENT,	  /* no such interface now */
	BUS_STOPPED,	  /* down */
	BUS_ERROR_ACTIVE, /* usual */
	BUS_WARNING,	  /* an error counter of 96 or more */
	BUS_PASSIVE,	  /* of 128 or more */
	BUS_OFF,	  /* the controller has left the bus; the link's owner resets it */
};
enum bus_state bus_state(const struct bus *bus);
/* Does an echo confirm that the frame was on the wire?  Not on an interface that does not echo by itself (no IFF_ECHO,
 * as slcan): there the kernel returns the frames it has queued, as BUS_QUEUED.  This may change each time the bus is
 * attached. */
bool bus_confirms(const struct bus *bus);
/* Since when the wire, or a program that plays a device on it, has not run although it should have; 0: it runs.  Only a
 * soft wire, which needs a processor, ever pauses. */
int64_t bus_paused_ns(const struct bus *bus, int64_t now_ns);
const char *bus_state_name(enum bus_state state); /* "error-active" ... */

struct bus_stats {
	uint64_t received;  /* frames delivered; echoes and error frames apart */
	uint64_t sent;	    /* frames handed over */
	uint64_t confirmed; /* echoes */
	uint64_t errors;    /* error frames seen */
	uint64_t dropped;   /* lost between bus and us: the receive buffer was full; log: damaged lines, and frames */
			    /* sent that could not be kept */
	uint64_t refused;   /* sends answered ENOBUFS */
	uint64_t restamped; /* BUS_RESTAMPED */
	uint64_t attached;  /* times attached (1: the first) or back from bus-off: frames queued before are gone */
	int64_t received_ns, confirmed_ns; /* when the last of them was on the bus; 0: none */
};
const struct bus_stats *bus_stats(const struct bus *bus);
const char *bus_name(const struct bus *bus);
