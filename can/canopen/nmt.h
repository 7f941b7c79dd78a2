/* nmt.h: network management of CANopen (CiA 301): commands, heartbeat, node guarding.
 *
 *	nmt_command(&frame, NMT_START, 0x20);
 *	nmt_heartbeat(&frame, 0x7F, NMT_OPERATIONAL);
 *	nmt_guard(&frame, 0x20);			a remote frame; the node answers with its state
 *
 *	if (nmt_decode(&got.frame, &word))		of the identifier NMT_ID + node
 *		nmt_heard(&node, word, got.t_ns);
 *
 * The same identifier carries heartbeats, answers to guard requests and the message after a boot.
 */
#pragma once

#include "can/bus/frame.h"

#define NMT_NODE_MAX 0x7F
#define NMT_ID_COMMAND 0x000u
#define NMT_ID_SYNC 0x080u
#define NMT_ID 0x700u /* + node */

enum nmt_order {
	NMT_START = 0x01,
	NMT_STOP = 0x02,
	NMT_PREPARE = 0x80, /* to pre-operational */
	NMT_RESET_NODE = 0x81,
	NMT_RESET_COMMUNICATION = 0x82,
};

enum nmt_state {
	NMT_BOOT = 0x00,
	NMT_STOPPED = 0x04,
	NMT_OPERATIONAL = 0x05,
	NMT_PRE_OPERATIONAL = 0x7F,
};

#define NMT_TOGGLE 0x80 /* changes with each answer to a guard request; 0 in heartbeats */

/* node 0: all. */
static inline void nmt_command(struct frame *frame, enum nmt_order order, unsigned int node)
{
	*frame = (struct frame){ .id = NMT_ID_COMMAND, .len = 2, .data = { (uint8_t)order, (uint8_t)node } };
}

static inline void nmt_heartbeat(struct frame *frame, unsigned int node, enum nmt_state state)
{
	*frame = (struct frame){ .id = NMT_ID + node, .len = 1, .data = { (uint8_t)state } };
}

static inline void nmt_guard(struct frame *frame, unsigned int node)
{
	*frame = (struct frame){ .id = (NMT_ID + node) | FRAME_RTR, .len = 1 };
}

/* false: not a state: a guard request, or another length. */
static inline bool nmt_decode(const struct frame *frame, uint8_t *word)
{
	if (frame->id & (FRAME_EXT | FRAME_RTR | FRAME_ERR) || frame_id(frame) <= NMT_ID ||
	    frame_id(frame) > NMT_ID + NMT_NODE_MAX || frame->len != 1)
		return false;
	*word = frame->data[0];
	return true;
}

static inline const char *nmt_words(enum nmt_state state)
{
	static const char *const words[] = { [NMT_BOOT] = "boot",
					     [NMT_STOPPED] = "stopped",
					     [NMT_OPERATIONAL] = "operational",
					     [NMT_PRE_OPERATIONAL] = "pre-operational" };

	return state < sizeof(words) / sizeof(*words) && words[state] ? words[state] : "unknown";
}

/* State of a node; all zero at first. */
struct nmt_node {
	int64_t heard_ns; /* 0: never */
	enum nmt_state state;
	uint8_t word;
	unsigned int boots;   /* messages after a boot */
	unsigned int toggles; /* answers to guard requests whose toggle bit did not change: one was lost */
};

/* guarded: it answers guard requests; its toggle bit is looked at. */
static inline void nmt_heard(struct nmt_node *node, uint8_t word, bool guarded, int64_t t_ns)
{
	const bool boot = word == NMT_BOOT;

	if (guarded && !boot && node->heard_ns && node->word != NMT_BOOT && !((node->word ^ word) & NMT_TOGGLE))
		node->toggles++;
	node->boots += boot;
	node->state = (enum nmt_state)(word & ~NMT_TOGGLE);
	node->word = word;
	node->heard_ns = t_ns;
}
