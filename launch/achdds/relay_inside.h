/* relay_inside.h: what the files of the relay share. */
#pragma once

#include "launch/achdds/relay.h"
#include "launch/achdds/relay_clock.h"

#define RELAY_PEERS_MAX 4
#define RELAY_CDR_MAX (MSG_SIZE_MAX + 64)

/* A channel that is sent. */
struct relay_out {
	const char *name; /* without the prefix */
	char full[PORT_NAME_MAX];
	bool is_ref;
	struct dds_node_writer *writer;
	struct channel_reader reader;
	int64_t look_ns;
	uint64_t sent, missed, dropped;
};

/* A channel that is received. */
struct relay_in {
	const char *name;
	struct dds_node_reader *reader;
	struct endplate_device *device; /* of references; NULL: it is put into the channel */
	struct port port;
	uint64_t session, number; /* of the last message */
	uint64_t writer;	  /* whose it was, */
	int64_t writer_ns;	  /* and when it came */
	/* Messages that came; missing between them; of a sender whose clock is not known well enough; out of order; not
	 * messages; of another writer; not delivered. */
	uint64_t received, lost, unsynchronized, late, malformed, other_writer, refused;
	int64_t age_ns, error_ns; /* of the last one delivered */
};

/* Another relay of this name. */
struct relay_peer {
	uint64_t session; /* 0: none */
	int64_t seen_ns;
	struct relay_clock clock;
};

struct relay {
	struct bridge *b;
	uint64_t session;
	struct dds_node_writer *asks, *answers;
	struct dds_node_reader *asked, *answered;
	int64_t ask_ns;
	struct relay_peer peers[RELAY_PEERS_MAX];
	struct relay_out *outs;
	struct relay_in *ins;
	union {
		struct msg_header header;
		struct {
			struct msg_header header;
			struct msg_common common;
		} front;
		uint8_t bytes[MSG_SIZE_MAX];
	} msg, state;
	uint8_t cdr[RELAY_CDR_MAX];
};

/* relay_peer.c: the clocks of other machines. */
void relay_peer_ask(struct relay *r);
void relay_peer_answer(struct relay *r, const struct dds_node_sample *question);
void relay_peer_take(struct relay *r, const struct dds_node_sample *answer);
/* How far the clock of that sender is ahead.  false: that is not known well enough. */
bool relay_peer_offset(const struct relay *r, uint64_t session, int64_t now_ns, int64_t *offset_ns, int64_t *error_ns);

/* relay_receive.c: a sample of a channel. */
void relay_receive(struct relay *r, struct relay_in *in, const struct dds_node_sample *sample);
