/* engine_inner.h: between the files of the engine.
 *
 *	engine.c	nodes, commands
 *	engine_request.c	mailbox and FIFO
 *	engine_plan.c	who sends next, and from when on
 *	engine_end.c	how that ends, and when
 *	engine_break.c	where an error is found and how long its flags are
 *	engine_step.c	time goes on: what was planned happens
 *	engine_finish.c	an attempt is over
 *	engine_count.c	error counters, states, error frames
 *	engine_fault.c	faults on demand
 *	engine_time.c	exact time
 *	engine_stats.c	statistics, load
 */
#ifndef CAN_WIRE_ENGINE_INNER_H
#define CAN_WIRE_ENGINE_INNER_H

#include "can/bits.h"
#include "can/wire/engine.h"

/* Of the rules of CAN, in bits. */
#define ENGINE_FLAG 6	   /* error flag */
#define ENGINE_DELIMITER 8 /* behind error flags */
#define ENGINE_SUSPEND 8   /* a passive node waits so long after a frame of its own */
#define ENGINE_JOIN 11	   /* recessive bits that a node has to see before it takes part */
#define ENGINE_RECOVER 128 /* times ENGINE_JOIN: back from bus-off */
#define ENGINE_EOF 7
#define ENGINE_STUFF 6 /* so many equal bits are an error */

#define ENGINE_WARNING 96
#define ENGINE_PASSIVE 128
#define ENGINE_OFF 256

#define ENGINE_BIT(i) (UINT32_C(1) << (i))
/* for (ENGINE_EACH(i, set)): i in the set, from the lowest.  What is taken out of it meanwhile is passed over. */
#define ENGINE_EACH(i, set)            \
	int i = engine_after(set, -1); \
	i >= 0;                        \
	i = engine_after(set, i)

static inline int engine_after(uint32_t set, int node)
{
	uint64_t rest = (uint64_t)set >> (node + 1);

	return rest ? node + 1 + __builtin_ctzll(rest) : -1;
}

/* ---- engine_time.c ---- */

struct engine_instant engine_time_at(int64_t ns);
struct engine_instant engine_time_add(const struct engine *e, struct engine_instant t, uint64_t bits);
struct engine_instant engine_time_max(struct engine_instant a, struct engine_instant b);
bool engine_time_before(struct engine_instant a, struct engine_instant b);
int64_t engine_time_bits(const struct engine *e, struct engine_instant from, struct engine_instant to); /* whole ones */
int64_t engine_time_ns(struct engine_instant t);							/* rounded up */

/* ---- engine_break.c ---- */

struct engine_line {
	uint8_t bits[BITS_MAX];
	bool stuffed[BITS_MAX];
	unsigned int n;
};

void engine_break_line(struct engine_line *line, const struct frame *f);

/* Bit at from the wire has another level than was sent, and the sender, who notices, sends a flag of that level: the
 * bit at which those who only listen find an error too.  It is at itself when six bits are equal then, or when no other
 * level is allowed there. */
unsigned int engine_break_found(const struct engine_line *line, unsigned int at, unsigned int seen, unsigned int flag);

/* The same when from bit cut on nothing is sent any more; line->n: they take it for a good frame. */
unsigned int engine_break_cut(const struct engine_line *line, unsigned int cut);

unsigned int engine_break_last_dominant(const struct engine_line *line, unsigned int end); /* before bit end */

/* May arbitration be lost at this bit? */
bool engine_break_arbitrating(const struct engine_line *line, const struct frame *f, unsigned int at);
unsigned int engine_break_any(const struct engine_line *line, const struct frame *f, uint64_t draw);
uint8_t engine_break_place(const struct frame *f, unsigned int at); /* as in data[3] of an error frame */

/* ---- engine_plan.c ---- */

unsigned int engine_plan_wire(const struct engine *e, int node); /* the wire it is on */
void engine_plan(struct engine *e, unsigned int w);		 /* works out wire[w].attempt if it is not known */
void engine_plan_again(struct engine *e, unsigned int w);	 /* it is not what it was */
/* A command comes at now_ns: who sends the frame that has begun is decided now. */
void engine_plan_freeze(struct engine *e, unsigned int w, int64_t now_ns);
void engine_plan_cut(struct engine *e, unsigned int w, int node, int64_t now_ns); /* node is gone in mid-frame */
/* Those that have seen enough of it by then take part from now on. */
void engine_plan_join(struct engine *e, unsigned int w, int64_t now_ns);
bool engine_plan_passive(const struct engine *e, int node);
bool engine_plan_any_active(const struct engine *e, uint32_t nodes);
/* What it sends in this attempt. */
const struct engine_entry *engine_plan_sends(const struct engine *e, const struct engine_attempt *a, int node);

/* ---- engine_end.c ---- */

void engine_end(struct engine *e, unsigned int w);			/* of wire[w].attempt */
uint64_t engine_end_draw(const struct engine *e, unsigned int purpose); /* of this frame; 0 to 2^64 - 1 */
bool engine_end_chance(const struct engine *e, const struct engine_chance *chance, unsigned int purpose);

/* ---- engine_step.c ---- */

void engine_emit(struct engine *e, struct engine_event *event);
void engine_step_settle(struct engine *e, int64_t now_ns); /* adds up what was repeated without anybody looking */
void engine_step_away(struct engine *e, int64_t now_ns);   /* was the hub away? */

/* ---- engine_finish.c ---- */

void engine_finish(struct engine *e, unsigned int w);
/* What was to go with this attempt goes: aborted frames, detached nodes. */
void engine_finish_let_go(struct engine *e, uint32_t contenders, int64_t t_ns);

/* ---- engine.c, engine_request.c ---- */

void engine_wire_init(struct engine_wire *wire, int64_t now_ns);
void engine_refresh(struct engine *e, int node); /* its place in the sets, after any change of it */
void engine_pop(struct engine *e, int node);	 /* the mailbox is done with */
void engine_purge(struct engine *e, int node, enum engine_why why, int64_t t_ns);
void engine_free_node(struct engine *e, int node);
void engine_off(struct engine *e, int node, enum engine_why why, int64_t now_ns); /* link down, or power off */
void engine_on(struct engine *e, int node, int64_t now_ns);

/* ---- engine_count.c ---- */

/* Adds to a counter (less than 0: one frame went well), and what follows from it. */
void engine_count_tx(struct engine *e, int node, int errors, int64_t t_ns);
void engine_count_rx(struct engine *e, int node, int errors, int64_t t_ns);
/* The same with a report of it, unless the bus is quiet: classes, data[2], data[3] of the error frame. */
void engine_count_tx_error(struct engine *e, int node, uint32_t classes, uint8_t type, uint8_t place, int64_t t_ns);
void engine_count_rx_error(struct engine *e, int node, int errors, uint8_t type, uint8_t place, int64_t t_ns);
void engine_count_state(struct engine *e, int node, enum bus_state state, int64_t t_ns);
void engine_count_recovered(struct engine *e, int node, int64_t t_ns);

/* As in linux/can/error.h: in the id, in data[1], in data[2]. */
#define ENGINE_ERR_CRTL 0x004u
#define ENGINE_ERR_PROT 0x008u
#define ENGINE_ERR_ACK 0x020u
#define ENGINE_ERR_BUSOFF 0x040u
#define ENGINE_ERR_BUSERROR 0x080u
#define ENGINE_ERR_RESTARTED 0x100u
#define ENGINE_ERR_CNT 0x200u /* data[6], data[7] are the counters */
#define ENGINE_CRTL_RX_WARNING 0x04
#define ENGINE_CRTL_TX_WARNING 0x08
#define ENGINE_CRTL_RX_PASSIVE 0x10
#define ENGINE_CRTL_TX_PASSIVE 0x20
#define ENGINE_CRTL_ACTIVE 0x40
#define ENGINE_PROT_FORM 0x02
#define ENGINE_PROT_STUFF 0x04
#define ENGINE_PROT_BIT0 0x08 /* could not send a dominant bit */
#define ENGINE_PROT_BIT1 0x10 /* a recessive one */
#define ENGINE_PROT_TX 0x80
#define ENGINE_PLACE_CRC 0x08
#define ENGINE_PLACE_ACK 0x19
#define ENGINE_PLACE_EOF 0x1a

/* ---- engine_stats.c ---- */

/* The bus was busy, busy bits in each of bits. */
void engine_stats_busy(struct engine *e, int64_t from_ns, int64_t to_ns, unsigned int busy, unsigned int of);
void engine_stats_stuck(struct engine *e, int64_t now_ns); /* what a fault held, up to now */

#endif
