/* engine_inner.h: shared by the files of the engine.
 *
 * Calls go one way: a file calls only files below it in this list (test/lint/layers).
 *
 *	engine_fault.c		faults on demand
 *	engine.c		commands on nodes; information, statistics
 *	engine_request.c	requests to send
 *	engine_advance.c	handles due events in order of time
 *	engine_finish.c		an attempt is over: delivery, echoes, errors
 *	engine_arbitrate.c	which frame is sent next, and when it starts
 *	engine_outcome.c	how that attempt ends, and when
 *	engine_detect.c		at which bit a listener detects an error
 *	engine_errors.c		error counters, bus states, error frames
 *	engine_queue.c		mailbox and FIFO
 *	engine_node.c		nodes, wires and the sets of nodes; events
 *	engine_load.c		bus load
 *	engine_time.c		exact time
 */
#pragma once

#include "can/bus/bits.h"
#include "can/bus/frame_error.h"
#include "can/wire/engine.h"

/* ISO 11898-1, in bits. */
#define ENGINE_FLAG 6	   /* error flag */
#define ENGINE_DELIMITER 8 /* behind error flags */
#define ENGINE_SUSPEND 8   /* that a passive node waits after a frame of its own */
#define ENGINE_JOIN 11	   /* recessive bits that a node has to see before it takes part */
#define ENGINE_RECOVER 128 /* times ENGINE_JOIN: back from bus-off */
#define ENGINE_EOF 7
#define ENGINE_STUFF 6 /* equal bits in a row that are an error */

#define ENGINE_WARNING 96
#define ENGINE_PASSIVE 128
#define ENGINE_OFF 256

#define ENGINE_BIT(i) (UINT32_C(1) << (i))
/* for (ENGINE_EACH(i, set)): each i in the set, from the lowest.  The set is read again after each turn. */
#define ENGINE_EACH(i, set)            \
	int i = engine_after(set, -1); \
	i >= 0;                        \
	i = engine_after(set, i)

static inline int engine_after(uint64_t set, int node)
{
	uint64_t rest = set >> (node + 1);

	return rest ? node + 1 + __builtin_ctzll(rest) : -1;
}

/* Counts what happened to a node, and on the bus. */
#define ENGINE_COUNT(e, i, what) ((e)->node[i].stats.what++, (e)->stats.what++)

/* ---- engine_time.c ---- */

struct engine_instant engine_time_at(int64_t ns);
struct engine_instant engine_time_add(const struct engine *e, struct engine_instant t, uint64_t bits);
struct engine_instant engine_time_max(struct engine_instant a, struct engine_instant b);
bool engine_time_before(struct engine_instant a, struct engine_instant b);
int64_t engine_time_bits(const struct engine *e, struct engine_instant from, struct engine_instant to); /* whole ones */
/* When bit number bit of the attempt begins, and which one is at t.  Behind an error all bits are slow. */
struct engine_instant engine_time_frame(const struct engine *e, const struct engine_attempt *a, unsigned int bit);
unsigned int engine_time_frame_bit(const struct engine *e, const struct engine_attempt *a, struct engine_instant t);
int64_t engine_time_ns(struct engine_instant t); /* rounded up */

/* ---- engine_load.c ---- */

/* The bus was busy during busy of every of bits. */
void engine_load_add(struct engine *e, int64_t from_ns, int64_t to_ns, unsigned int busy, unsigned int of);
void engine_load_stuck(struct engine *e, int64_t now_ns); /* adds the time that the fault stuck took until now_ns */
double engine_load(struct engine *e, int64_t now_ns);	  /* of the last second */

/* ---- engine_node.c ---- */

void engine_emit(struct engine *e, struct engine_event *event);

void engine_wire_init(struct engine_wire *wire, int64_t now_ns);
static inline void engine_wire_changed(struct engine *e, unsigned int w) /* its attempt has to be worked out again */
{
	e->wire[w].attempt.known = false;
}

bool engine_node_exists(const struct engine *e, int node);
static inline unsigned int engine_node_wire(const struct engine *e, int node) /* the wire it is on */
{
	return e->node[node].connected ? 0 : 1 + (unsigned int)node;
}

static inline bool engine_node_passive(const struct engine *e, int node)
{
	return e->node[node].tx_errors >= ENGINE_PASSIVE || e->node[node].rx_errors >= ENGINE_PASSIVE;
}

uint32_t engine_node_passives(const struct engine *e, uint32_t nodes); /* those of the nodes that are */
static inline bool engine_node_any_active(const struct engine *e, uint32_t nodes)
{
	return engine_node_passives(e, nodes) != nodes;
}

/* The entry that the node sends in this attempt. */
static inline const struct engine_entry *engine_node_sends(const struct engine *e, const struct engine_attempt *a,
							   int node)
{
	const struct engine_node *n = &e->node[node];

	return a->babblers & ENGINE_BIT(node) ? &n->babble : &n->entries[n->head];
}

/* Nodes that do not know a CAN FD frame, if the attempt is one. */
uint32_t engine_node_classics(const struct engine *e, const struct engine_attempt *a);
void engine_node_update(struct engine *e, int node);		   /* the sets it is in, after any change of it */
void engine_node_join(struct engine *e, int node, int64_t now_ns); /* it is new on its wire */
void engine_node_free(struct engine *e, int node);

/* ---- engine_queue.c ---- */

void engine_queue_add(struct engine *e, int node, const struct engine_entry *entry);
void engine_queue_pop(struct engine *e, int node); /* the mailbox is done with */
/* on_wire: the mailbox is being sent; it is purged after that attempt if the attempt fails. */
void engine_queue_purge(struct engine *e, int node, bool on_wire, enum engine_why why, int64_t t_ns);
/* The attempt is over: purges the requests and frees the nodes that waited for that. */
void engine_queue_let_go(struct engine *e, uint32_t contenders, int64_t t_ns);

/* ---- engine_errors.c ---- */

/* Adds to an error counter (less than 0: a frame succeeded) and changes the state if that is due. */
void engine_errors_tx(struct engine *e, int node, int errors, int64_t t_ns);
void engine_errors_rx(struct engine *e, int node, int errors, int64_t t_ns);
/* The same with an error frame, unless the bus is quiet: its classes, data[2], data[3].  A transmit error counts 8. */
void engine_errors_report_tx(struct engine *e, int node, uint32_t classes, uint8_t type, uint8_t place, int64_t t_ns);
void engine_errors_report_rx(struct engine *e, int node, int errors, uint8_t type, uint8_t place, int64_t t_ns);
void engine_errors_state(struct engine *e, int node, enum bus_state state, int64_t t_ns);
void engine_errors_recover(struct engine *e, int node, int64_t t_ns); /* starts to recover from bus-off */
void engine_errors_recovered(struct engine *e, int node, int64_t t_ns);

/* ---- engine_detect.c ---- */

struct engine_stream {
	uint8_t bits[BITS_FD_MAX];
	bool stuffed[BITS_FD_MAX];
	unsigned int n;
	bool fd;
};

void engine_detect_stream(struct engine_stream *stream, const struct frame *f);

/* At bit at the wire has the level seen, not the one that was sent; the sender sees that and sends an error flag of
 * level flag.  Returns the bit at which listeners detect an error.  It is at itself if that makes six equal bits or if
 * that level is not allowed there. */
unsigned int engine_detect_after_flag(const struct engine_stream *stream, unsigned int at, unsigned int seen,
				      unsigned int flag);

/* The same if the sender stops before bit cut; stream->n: listeners take it for a good frame. */
unsigned int engine_detect_after_cut(const struct engine_stream *stream, unsigned int cut);

unsigned int engine_detect_last_dominant(const struct engine_stream *stream, unsigned int end); /* before bit end */

/* Is this bit part of the arbitration? */
bool engine_detect_arbitrating(const struct engine_stream *stream, const struct frame *f, unsigned int at);
unsigned int engine_detect_any(const struct engine_stream *stream, const struct frame *f, uint64_t draw);
uint8_t engine_detect_place(const struct frame *f, unsigned int at); /* as in data[3] of an error frame */

/* ---- engine_outcome.c ---- */

void engine_outcome(struct engine *e, unsigned int w); /* of wire[w].attempt */
bool engine_outcome_chance(const struct engine *e, const struct engine_chance *chance, unsigned int purpose);

/* ---- engine_arbitrate.c ---- */

void engine_arbitrate(struct engine *e, unsigned int w); /* works out wire[w].attempt unless it is known */
/* A command comes at now_ns: the senders of a frame that has begun are decided now. */
void engine_arbitrate_freeze(struct engine *e, unsigned int w, int64_t now_ns);
void engine_arbitrate_cut(struct engine *e, unsigned int w, int node, int64_t now_ns); /* node is gone in mid-frame */
void engine_arbitrate_join(struct engine *e, unsigned int w, int64_t now_ns); /* nodes that may join by then do so */
bool engine_arbitrate_sending(struct engine *e, int node, int64_t now_ns);    /* is its mailbox on the wire? */

/* ---- engine_finish.c ---- */

void engine_finish(struct engine *e, unsigned int w);

/* ---- engine_advance.c ---- */

/* engine_advance, and the attempts of an endless repetition are counted: before any command. */
void engine_advance_all(struct engine *e, int64_t now_ns);
void engine_advance_outage(struct engine *e, int64_t now_ns); /* was the hub away? */

/* ---- engine.c ---- */

void engine_off(struct engine *e, int node, enum engine_why why, int64_t now_ns); /* link down, or power off */
void engine_on(struct engine *e, int node, int64_t now_ns);
