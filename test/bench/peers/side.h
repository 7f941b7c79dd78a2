/* side.h: a sender and its readers over one transport, each a process, which take a turn when they are asked to. */
#pragma once

#include <stdatomic.h>
#include <stdbool.h>

#include "test/bench/lib_figures.h"
#include "test/bench/peers/peers.h"

enum side_order {
	SIDE_LATENCY, /* a message every millisecond */
	SIDE_FLOOD,   /* without a pause: readers lose what they do not manage */
	SIDE_WINDOW,  /* at most SIDE_WINDOW_SIZE ahead of the slowest reader: nothing needs to be lost */
	SIDE_QUIT,
};
#define SIDE_MEASURES SIDE_QUIT
#define SIDE_PERIOD_NS 1000000ll
#define SIDE_WINDOW_SIZE 8 /* half of what a channel, and each peer that has such a setting, keeps */

struct side {
	struct transport_link link;
	struct side_shared {
		struct side_reader {
			_Alignas(
				64) _Atomic uint64_t received; /* messages of this turn that count, and of all before */
			_Atomic uint32_t turn;		       /* of the newest message */
			_Atomic int64_t turned_ns;	       /* when the first message of that turn came */
			_Atomic bool gone;
		} readers[TRANSPORT_READERS_MAX];
		struct side_tally {
			uint64_t sent, received;
			int64_t spent_ns;
		} tallies[SIDE_MEASURES];
	} * shared;
	struct figures_samples *samples[TRANSPORT_READERS_MAX];
	int64_t slice_ns;
	uint32_t turn;
	int orders[2], answers[2]; /* pipes to and from the sender */
	pid_t sender, readers[TRANSPORT_READERS_MAX];
	bool timed, works;
};

/* timed: for SIDE_LATENCY, the samples are its latencies; else those of SIDE_FLOOD: the ages of some messages when they
 * are received.  samples: room of each reader. */
void side_start(struct side *side, const struct transport *kind, size_t size, unsigned readers, int64_t slice_ns,
		bool timed, uint32_t samples);
/* These print why it no longer works, after which they do nothing. */
void side_wait_joined(struct side *side);
/* SCHED_FIFO for all threads of its processes, those of the library, too; 0: SCHED_OTHER. */
void side_set_priority(struct side *side, int priority);
void side_turn(struct side *side, enum side_order order);
void side_quit(struct side *side); /* asks it to */
void side_end(struct side *side);  /* waits for that */
