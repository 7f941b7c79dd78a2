/* engine.h: a CAN bus as a pure function of time and requests.
 *
 * One struct engine is one bus with its controllers ("nodes").  It has no descriptor and no clock, allocates nothing
 * and prints nothing: time is an argument, events are calls of a function.  The same calls give the same events, in
 * however many steps the time is advanced.
 *
 *	static struct engine e;
 *	int host, imu;
 *
 *	engine_init(&e, &(struct engine_settings){ .bitrate = 1000000, .event = happened, .to = hub }, now_ns);
 *	host = engine_attach(&e, "host", now_ns);
 *	imu = engine_attach(&e, "imu", now_ns);
 *	...
 *	status = engine_request(&e, host, &frame, stamp_ns, tag, clock_now_ns());
 *	...
 *	engine_advance(&e, clock_now_ns());
 *	wake_ns = engine_next_ns(&e);
 *
 * Order of calls in a turn of the hub: all requests that have arrived, then commands, then engine_advance, then
 * engine_next_ns.
 *
 * Rules:
 * - A node has one mailbox behind one FIFO.  The mailbox is repeated until a node acknowledges it; only reset,
 *   bus-off, power off, detach and an outage empty it.  Each accepted request ends in exactly one event,
 *   ECHO or PURGED.
 * - A frame starts when the bus is idle and there is a request.  All nodes with a request not later than that take part
 *   in the arbitration.  It is decided only when the winner's last bit is due, so a request takes part if its stamp is
 *   in time, even if it arrives after the start of the frame.  A request that arrives after the decision is late: it is
 *   counted and takes part in the next arbitration.
 * - The stamp of a frame is the end of its end-of-frame field, start + bits - 3 bits of interframe space, rounded up to
 *   nanoseconds.  Time is kept exactly, as nanoseconds and parts of 1/bitrate of one: nothing drifts.
 * - Acknowledgement, error flags and their superposition, error counters, warning, passive, bus-off and recovery follow
 *   ISO 11898-1.  A node that joins (attached, up, powered, connected, recovered) hears and sends nothing before it has
 *   seen 11 recessive bits.
 * - An error takes as many bits as on a wire: 123#DEADBEEF without an acknowledgement takes 87, and 95 once its sender
 *   is passive.  From then on nothing changes and no event is due; the attempts are counted with the next command.
 *
 * A bus with a data bit rate carries CAN FD frames beside classic ones.  Their bits between BRS and the CRC delimiter
 * last as long as that rate says; error flags are at the nominal bit rate.  A controller that only knows classic CAN
 * takes every CAN FD frame for one with a wrong CRC: as long as it is error-active it destroys it.
 *
 * Where it is simpler than a wire: listeners find an error in a CAN FD frame by six equal bits or by a dominant bit
 * behind the CRC, not by a wrong fixed stuff bit; a classic controller signals its error at the end of the frame; a
 * passive node that detected an error alone, and is still sending its flag when the next frame comes, misses that
 * frame without counting it.  And if an error hits the identifier of a passive winner, the frame ends, while on a wire
 * another contender would continue.
 */
#pragma once

#include "can/bus/bus.h"
#include "can/bus/frame.h"

#define ENGINE_NODES 32		  /* on one bus; a set of them is a uint32_t, bit i for node i */
#define ENGINE_NAME_MAX 24	  /* bytes of a node's name with the terminating zero: text_is_name */
#define ENGINE_QUEUE_MAX 128	  /* the longest FIFO */
#define ENGINE_QUEUE 10		  /* default txqueuelen */
#define ENGINE_NEVER INT64_MAX	  /* CLOCK_NEVER */
#define ENGINE_OUTAGE_NS 50000000 /* a good engine_settings.outage_ns for real time */

/* ---- events ---- */

/* Identifies a request; returned with its events. */
struct engine_tag {
	uint32_t connection;
	uint32_t sequence;
};

enum engine_event_kind {
	ENGINE_FRAME,  /* was on the wire, complete and acknowledged: for the listeners of all in receivers */
	ENGINE_ECHO,   /* node's own frame, tag, was: right before its ENGINE_FRAME; for all listeners of node */
	ENGINE_PURGED, /* node's request tag will not be sent: why */
	ENGINE_ERROR,  /* an error frame (FRAME_ERR) for the listeners of node, as SocketCAN reports it */
	ENGINE_STATE,  /* state, tx_errors and rx_errors of node are these now */
	ENGINE_OUTAGE, /* the hub was away for t_ns - since_ns: all requests are purged, the bus starts idle */
};

enum engine_why { ENGINE_RESET, ENGINE_BUS_OFF, ENGINE_POWER, ENGINE_DETACHED, ENGINE_AWAY };

/* frame points into the engine and is valid during the call. */
struct engine_event {
	enum engine_event_kind kind;
	int node;		   /* FRAME: the sender, of several the lowest; OUTAGE: -1 */
	int64_t t_ns;		   /* never less than that of the event before */
	int64_t start_ns;	   /* FRAME, ECHO: of its start bit */
	int64_t since_ns;	   /* OUTAGE */
	const struct frame *frame; /* FRAME, ECHO, PURGED, ERROR */
	struct engine_tag tag;	   /* ECHO, PURGED; FRAME: the sender's */
	enum engine_why why;	   /* PURGED */
	uint32_t senders; /* FRAME: several when equal frames were sent as one; none: it lost power in its last bits */
	uint32_t receivers;   /* FRAME: nodes that receive it; never a sender */
	uint32_t lost;	      /* FRAME: nodes that acknowledged it and lost it (fault drop) */
	bool again;	      /* FRAME: the sender saw an error in the last bit and repeats it: no echo this time */
	bool babble;	      /* FRAME: of a babbling node: without request and echo */
	enum bus_state state; /* STATE */
	uint16_t tx_errors, rx_errors;
};

/* ---- setting up ---- */

struct engine_settings {
	uint32_t bitrate;      /* bit/s, 1000 to 1000000 */
	uint32_t data_bitrate; /* of CAN FD, bitrate to 10000000; 0: a classic bus */
	uint32_t queue;	       /* of new nodes; 0: ENGINE_QUEUE */
	uint32_t restart_ms;   /* of new nodes; 0: bus-off lasts until engine_restart */
	uint64_t seed;	       /* of random faults */
	int64_t outage_ns;     /* if a frame was due longer ago than this the hub was away: ENGINE_OUTAGE; 0: never */
	bool quiet;	       /* no ERROR for single bus errors, only for states: berr-reporting off */

	/* Called inside engine_advance and commands, in order of time; calls nothing of the engine. */
	void (*event)(void *to, const struct engine_event *event);
	void *to;
};

/* All functions below that return int return 0 (or what their comment says) or -errno; -ENOENT: no such node. */

struct engine;
int engine_init(struct engine *e, const struct engine_settings *settings,
		int64_t now_ns); /* -EINVAL: bit rates (also if they have too large a common multiple), queue */

/* ---- nodes ----
 * These take effect at now_ns, after everything due until then; a frame on the wire is cut at that bit. */

/* The index of the node of that name, created and up if there was none; or -EINVAL (name), -ENOSPC (no room). */
int engine_attach(struct engine *e, const char *name, int64_t now_ns);
int engine_find(const struct engine *e, const char *name); /* -ENOENT */

/* Its last connection is gone: purges its requests and removes the node, after the frame on the wire if that is its
 * own. */
int engine_detach(struct engine *e, int node, int64_t now_ns);

/* Link down and up; a reset is both.  Down: mailbox and FIFO are empty, counters 0, BUS_STOPPED.  Requests: -ENETDOWN.
 * */
int engine_down(struct engine *e, int node, int64_t now_ns);
int engine_up(struct engine *e, int node, int64_t now_ns);
int engine_reset(struct engine *e, int node, int64_t now_ns);

/* Back from bus-off, after 128 times 11 recessive bits.  -EBUSY: it is not bus-off. */
int engine_restart(struct engine *e, int node, int64_t now_ns);

int engine_set_queue(struct engine *e, int node, uint32_t queue); /* -EINVAL; requests beyond it stay */
int engine_set_restart(struct engine *e, int node, uint32_t restart_ms);

struct engine_node_stats {
	uint64_t sent, received;   /* frames complete: echoes, others' frames */
	uint64_t lost;		   /* received and dropped by the fault */
	uint64_t arbitration_lost; /* times */
	uint64_t errors;	   /* bus errors seen, as sender or receiver */
	uint64_t retransmissions;  /* attempts that failed */
	uint64_t refused;	   /* requests answered ENOBUFS */
	uint64_t purged;
	uint64_t late;
	uint64_t bus_offs, restarts;
};

/* NULL: no such node.  Below, at struct engine_node. */
const struct engine_node *engine_node(const struct engine *e, int node);

/* ---- frames ---- */

/* Hands a frame over.  stamp_ns is the sender's; it is clamped: not after now_ns, not before the node's previous
 * request, not before an arbitration already decided.  Does not advance time.
 *	-ENOBUFS	the FIFO is full
 *	-ENETDOWN	down, without power, bus-off
 *	-EINVAL		not a valid frame, or CAN FD on a classic bus or of a classic controller
 *	-ECANCELED	stamped before the end of an outage: void like the requests that waited then */
int engine_request(struct engine *e, int node, const struct frame *frame, int64_t stamp_ns, struct engine_tag tag,
		   int64_t now_ns);

/* ---- time ---- */

/* Handles everything that is complete by now_ns.  Time does not go back: an earlier now_ns counts as the last one. */
void engine_advance(struct engine *e, int64_t now_ns);

/* When engine_advance next has something to do, as far as is known now; ENGINE_NEVER: only after a request or command.
 * */
int64_t engine_next_ns(struct engine *e);

/* The bus is busy at least until then: a frame stamped now_ns or later does not start before. */
int64_t engine_free_ns(struct engine *e, int64_t now_ns);

/* ---- faults ---- */

enum engine_fault_kind {
	ENGINE_DROP,	/* frames are acknowledged and lost behind the controller: of node, or of all receivers */
	ENGINE_CORRUPT, /* a bit is flipped: on the wire, or with node as this receiver alone sees it (found by CRC) */
	ENGINE_DELAY,	/* requests of node arrive ns later */
	ENGINE_STUCK,	/* the wire, for ns: level */
	ENGINE_BABBLE,	/* node sends frame without end instead of its own, for ns or (0) until babble off */
	ENGINE_POWER_OFF, /* node: as down, and nothing but power brings it up */
	ENGINE_POWER_ON,
	ENGINE_DISCONNECT, /* node hears nothing and gets no acknowledge; it repeats on its own piece of wire */
	ENGINE_CONNECT,
	ENGINE_CLASSIC, /* node: its controller does not know CAN FD */
	ENGINE_CLEAR,	/* no more drop, corrupt, delay, stuck, babble; the others stay */
};

enum engine_level {
	ENGINE_HELD,	  /* busy, as by overload frames: no node can send, no counter moves */
	ENGINE_DOMINANT,  /* short: senders go bus-off, receivers passive */
	ENGINE_RECESSIVE, /* open: senders go bus-off */
};

struct engine_fault {
	enum engine_fault_kind kind;
	char node[ENGINE_NAME_MAX]; /* "": none, or all */
	bool off;		    /* drop, corrupt, delay, stuck, babble, classic: no more */
	uint32_t next;		    /* drop, corrupt: the next N frames */
	uint32_t ppm;		    /* or at random: N of a million */
	int bit; /* corrupt: which, 0 is the start bit, stuff bits count; -1: any behind the arbitration field */
	int64_t ns;
	enum engine_level level;
	struct frame frame;
};

/* From now_ns on, as fault_read checked it.  -ENOENT: no such node. */
int engine_fault(struct engine *e, const struct engine_fault *fault, int64_t now_ns);

/* ---- statistics ---- */

struct engine_stats {
	uint64_t frames;	 /* complete */
	uint64_t bits;		 /* of them, with stuff bits and interframe space */
	uint64_t attempts;	 /* starts of frame */
	uint64_t errors;	 /* attempts that failed */
	uint64_t unacknowledged; /* of them without acknowledgement */
	uint64_t collisions;	 /* of them same identifier, different bits */
	uint64_t corrupted;	 /* frames hit by the fault */
	uint64_t lost;		 /* receptions lost by the fault */
	uint64_t arbitration_lost;
	uint64_t late; /* requests behind the horizon */
	uint64_t purged, refused;
	uint64_t bus_offs, restarts;
	uint64_t outages;
	int64_t outage_ns; /* all of them together */
	double load;	   /* part of the last second in which the bus was busy, 0 to 1 */
};
void engine_stats(struct engine *e, struct engine_stats *stats, int64_t now_ns);

const char *engine_why_name(enum engine_why why); /* "reset" ... */

/* ---- private ---- */

/* ns + part / unit nanoseconds. */
struct engine_instant {
	int64_t ns;
	uint32_t part; /* below engine.unit */
};

struct engine_entry {
	int64_t request_ns;
	struct engine_tag tag;
	uint16_t bits;		  /* on the wire, interframe space included */
	uint16_t fast_from, fast; /* of them at the data bit rate: the first, and how many */
	bool last;		  /* purged after the current attempt */
	struct frame frame;
};

struct engine_chance {
	uint32_t next, ppm;
	int bit;
	int64_t since_ns;
};

struct engine_node {
	char name[ENGINE_NAME_MAX]; /* "": free */
	bool up, power, connected;
	bool classic; /* it does not know CAN FD */
	bool joined;  /* it has seen 11 recessive bits since join_ns */
	bool leaving; /* detached, its last frame is on the wire */
	bool recovering;
	enum bus_state state;
	uint16_t tx_errors, rx_errors;
	uint32_t queue, restart_ms;
	int64_t join_ns, last_ns, delay_ns;
	unsigned int join_bits;	    /* recessive ones that it has to see */
	int64_t restart_ns;	    /* bus-off: when it restarts by itself */
	int64_t recover_ns;	    /* since when it counts recessive bits */
	unsigned int recover_left;  /* times 11 */
	struct engine_instant free; /* passive: suspended until then after a frame of its own */
	unsigned int head, waiting;
	struct engine_entry entries[ENGINE_QUEUE_MAX + 1];
	struct engine_entry babble;
	bool babbling;
	int64_t babble_until_ns;
	struct engine_chance drop, corrupt;
	struct engine_node_stats stats;
};

/* How an attempt to send ends. */
enum engine_end {
	ENGINE_END_GOOD,
	ENGINE_END_ACK,	 /* no acknowledgement */
	ENGINE_END_BIT,	 /* a sender sees another bit than it sends */
	ENGINE_END_CRC,	 /* a receiver saw a wrong CRC and signals it */
	ENGINE_END_LAST, /* last bit of end of frame: broken for the sender alone */
	ENGINE_END_LOST, /* a flipped bit looks like a lost arbitration, and no sender is left */
	ENGINE_END_CUT,	 /* the sender left */
	ENGINE_END_OPEN, /* the wire is open: no node hears anything, a sender not even itself */
};

/* The next frame of a wire, as things stand. */
struct engine_attempt {
	bool known, none; /* worked out; no node wants to send */
	bool frozen;	  /* it began, and a command came: the senders are decided */
	bool fixed;	  /* and its end: that bit is past */
	bool endless;	  /* repeated for ever, nothing changes */
	bool flipped;	  /* by the fault corrupt */
	struct engine_instant start, due;
	uint32_t contenders, senders, listeners;
	uint32_t babblers; /* of the contenders: with the frame of the fault */
	int origin;	   /* the lowest sender, also when it is gone */
	struct engine_entry entry;
	int cut, opened; /* bit at which the senders went, the wire was opened; -1 */
	enum engine_end end;
	unsigned int bit, length; /* of the error; until the bus is idle again */
	bool seen_dominant;	  /* the wire's level there */
	uint32_t sending;	  /* of the senders, those still there at the end */
	uint32_t first;		  /* of the senders, those that detect the error */
	uint32_t dropped;	  /* of the senders, passive ones that stopped while others went on */
	int dropped_bits;	  /* by how much they are ready for the next after the others, or before them */
	uint32_t still;		  /* of the contenders, those that would have lost the arbitration behind the error */
	uint32_t late;		  /* passive nodes whose flag ends late_bits after those of the others */
	unsigned int late_bits;
	uint32_t deaf; /* of the listeners, those that alone saw it wrong */
};

/* 0 is the bus; node i, disconnected, sits alone on wire 1 + i. */
struct engine_wire {
	uint32_t present, unjoined;	       /* nodes that take part; of them those that do not yet */
	struct engine_instant idle, recessive; /* from when on it is */
	struct engine_instant held;	       /* fault: not before */
	int64_t open_ns, open_until_ns;
	struct engine_instant short_next; /* the next time counters move in a short */
	int64_t short_until_ns;
	uint32_t short_senders;
	bool shorted, short_begun;
	int64_t horizon_ns; /* the arbitration decided last */
	struct engine_attempt attempt;
};

#define ENGINE_LOAD_PARTS 64

struct engine {
	struct engine_settings settings;
	uint32_t unit; /* both bit rates divide it */
	int64_t now_ns, void_ns, event_ns;
	uint32_t nodes, pending; /* sets: in use; with something to send */
	uint32_t off;		 /* bus-off: these have times of their own */
	uint64_t wires;		 /* in use */
	uint64_t draws;		 /* attempts on wire 0, for random faults */
	struct engine_chance drop, corrupt;
	struct engine_stats stats;
	int64_t stuck_ns, stuck_until_ns; /* not yet in the load */
	int64_t load_part[ENGINE_LOAD_PARTS], load_busy_ns[ENGINE_LOAD_PARTS];
	struct engine_wire wire[1 + ENGINE_NODES];
	struct engine_node node[ENGINE_NODES];
};
