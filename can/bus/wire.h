/* wire.h: shared by canwire and the programs on its buses.
 *
 * A program connects to the socket RUN/wire/BUS (SEQPACKET, protected by its mode and folder) and sends a struct
 * wire_attach with its eventfd.  canwire answers with a struct wire_attached and three descriptors: the memory of
 * this attachment, the page of canwire (read-only), and canwire's bell.  From then on frames go through the memory
 * alone, one ring each way, and the socket only serves to detect the end of the other side.  A datagram that does not
 * begin with a wire_attach is a line of text for canwire, which replies with text: see hub_control.c.
 *
 * Neither side trusts the other: an index is checked before it is used, a frame is copied out once and then checked,
 * and each keeps its own index in its own memory.  A program killed while it writes has not published
 * the index: the frame is not there.
 *
 * Before it sleeps, each side announces it (armed; wake_ns) and reads the head once more.  To wake the other, each side
 * publishes the head, checks whether the other sleeps, and rings if so.  All four accesses are seq_cst, so at least one
 * side sees the other's.
 */
#pragma once

#include <stdatomic.h>

#include "can/bus/bus.h"

#define WIRE_MAGIC 0x45524957u /* "WIRE" */
#define WIRE_VERSION 2

#define WIRE_BUSES_MAX 16
#define WIRE_CONTROLLERS_MAX 32 /* of a bus */
#define WIRE_TX_SLOTS 64
#define WIRE_RX_SLOTS 512

/* ---- the handshake ---- */

/* In wire_attach.flags. */
#define WIRE_ERRORS 0x1	 /* error frames are wanted */
#define WIRE_NO_ECHO 0x2 /* own frames are not wanted back */
#define WIRE_FD 0x4	 /* CAN FD frames are wanted, too, and may be sent if the bus carries them */
#define WIRE_FLAGS_ALL (WIRE_ERRORS | WIRE_NO_ECHO | WIRE_FD)

struct wire_attach {
	uint32_t magic, version;
	char controller[TEXT_NAME_MAX + 1]; /* "host", or a device's name */
	uint32_t flags;
	uint32_t filters_n; /* WIRE_EVERYTHING: no filter */
	struct bus_filter filters[BUS_FILTERS_MAX];
};
#define WIRE_EVERYTHING UINT32_MAX

struct wire_attached {
	uint32_t magic, version;
	int32_t error;	     /* negative errno, and no descriptors; 0: attached */
	uint32_t bus;	     /* its index in the page */
	uint32_t controller; /* the same */
};

#define WIRE_ATTACHED_FDS 3 /* memory, page, bell */

/* ---- the memory of an attachment ---- */

struct wire_tx {
	int64_t t_ns;	     /* when it was handed over */
	uint32_t generation; /* of the controller, as the sender knew it: a reset in between makes the frame void */
	struct frame frame;
};

struct wire_rx {
	int64_t t_ns; /* end of frame */
	uint32_t flags;
	struct frame frame;
};

enum wire_armed {
	WIRE_AWAKE,
	WIRE_ARMED,	       /* any frame rings */
	WIRE_ARMED_FOR_OTHERS, /* the program's own frames do not */
};

struct wire_memory {
	/* Written by the program. */
	_Alignas(64) _Atomic uint32_t tx_head; /* frames handed over, ever */
	_Atomic uint32_t rx_tail;	       /* frames taken, ever */
	/* Written by both: not 0 while the program may sleep; canwire clears it as it rings. */
	_Alignas(64) _Atomic uint32_t armed; /* enum wire_armed */
	/* Written by canwire. */
	_Alignas(64) _Atomic uint32_t rx_head;
	_Atomic uint32_t tx_tail;
	_Atomic uint64_t dropped; /* frames dropped because rx was full */
	_Alignas(64) struct wire_tx tx[WIRE_TX_SLOTS];
	_Alignas(64) struct wire_rx rx[WIRE_RX_SLOTS];
};

/* ---- canwire's page: written by it, seen by all ---- */

struct wire_controller {
	_Atomic uint32_t generation; /* counts resets, bus-offs, outages: frames queued before are gone */
	_Atomic uint32_t state;	     /* enum bus_state */
	_Atomic uint32_t queued;     /* frames in mailbox and queue */
	_Atomic uint32_t room;	     /* frames that these hold */
};

struct wire_bus {
	_Atomic int64_t idle_ns;   /* the bus is taken until then */
	_Atomic int64_t asleep_ns; /* a device's program was rung then, and has not come; 0: all came within 2 ms */
	int64_t frame_min_ns;	   /* the shortest frame there is */
	uint32_t data_bitrate;	   /* of CAN FD; 0: a classic bus */
	struct wire_controller controllers[WIRE_CONTROLLERS_MAX];
};

struct wire_page {
	uint32_t magic, version;
	/* When canwire wakes by itself, and the time before which waking it is useless; 0, 0 while it is awake.  A
	 * frame that cannot end before canwire wakes does not ring. */
	_Alignas(64) _Atomic int64_t wake_ns;
	_Atomic int64_t use_ns;
	_Atomic int64_t turn_ns; /* when canwire last began a turn, written before wake_ns is 0 */
	struct wire_bus buses[WIRE_BUSES_MAX];
};

/* The earliest end of a frame that is handed over at t_ns, or when waking canwire for it is of use. */
static inline int64_t wire_end_ns(const struct wire_page *page, const struct wire_bus *bus, int64_t t_ns)
{
	const int64_t idle_ns = atomic_load_explicit(&bus->idle_ns, memory_order_relaxed);
	const int64_t end_ns = (idle_ns > t_ns ? idle_ns : t_ns) + bus->frame_min_ns;
	const int64_t use_ns = atomic_load_explicit(&page->use_ns, memory_order_relaxed);

	return end_ns > use_ns ? end_ns : use_ns;
}

/* Does canwire have to be woken for a frame that is handed over now?  Not if it will be awake before that can have
 * ended.  seq_cst, with the head before it. */
static inline bool wire_must_ring(const struct wire_page *page, const struct wire_bus *bus, int64_t now_ns)
{
	const int64_t wake_ns = atomic_load_explicit(&page->wake_ns, memory_order_seq_cst);

	return wire_end_ns(page, bus, now_ns) < wake_ns;
}
