/* lib_transport.h: ways to hand a message to sleeping processes, all behind one face. */
#pragma once

#include <mqueue.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "channels/ach/ach.h"

#define TRANSPORT_READERS_MAX 8
#define TRANSPORT_SIZE_MAX 1024

enum transport_note {
	TRANSPORT_SAMPLE,
	TRANSPORT_WARM_UP, /* not to be counted */
	TRANSPORT_QUIT,
};

struct transport_message { /* the first bytes of every message */
	int64_t sent_ns;
	uint32_t note;
	uint32_t turn; /* of the sender, in peers/ */
};

struct transport_floor; /* a futex word and slots in shared memory */

/* One sender, some readers.  Each side is joined by the process that uses it. */
struct transport_link {
	const struct transport *kind;
	size_t size;
	unsigned readers, depth; /* depth: messages kept, where the transport has such a setting */
	int64_t wake_gap_ns;	 /* of a channel's readers; 0: none */
	union {
		struct {
			char name[ACH_CHAN_NAME_MAX];
			ach_channel_t sending, receiving;
			int readable;	       /* the descriptor, in achfd */
			struct clock_set *set; /* in achset */
			void *peer;	       /* of another library, see peers/ */
		};
		struct {
			struct transport_floor *floor;
			uint32_t seen;
		};
		int fds[TRANSPORT_READERS_MAX][2]; /* of each reader: receiving, sending */
		mqd_t queues[TRANSPORT_READERS_MAX];
	};
};

struct transport {
	const char *name;
	void (*open)(struct transport_link *link);				  /* before the fork */
	void (*join_sending)(struct transport_link *link);			  /* NULL: nothing to do */
	void (*join_receiving)(struct transport_link *link, unsigned reader);	  /* NULL: nothing to do */
	void (*forget_name)(struct transport_link *link);			  /* once all have joined */
	void (*send)(struct transport_link *link, const void *message);		  /* to every reader */
	void (*receive)(struct transport_link *link, unsigned reader, void *buf); /* sleeps until there is one */
	void (*close)(struct transport_link *link);				  /* in the process that opened it */
	/* Without copies, instead of send and receive. */
	void *(*loan)(struct transport_link *link); /* room for a message */
	void (*publish)(struct transport_link *link);
	const void *(*take)(struct transport_link *link, unsigned reader); /* sleeps until there is one */
	bool (*give_back)(struct transport_link *link);			   /* false: it was overwritten meanwhile */
};

extern const struct transport transport_ach, transport_achfd, transport_achset; /* lib_transport_ach.c */
extern const struct transport transport_futex;					/* lib_transport_futex.c */
extern const struct transport transport_pipe, transport_dgram, transport_mq;	/* lib_transport_kernel.c */

void transport_open(struct transport_link *link, const struct transport *kind, size_t size, unsigned readers,
		    unsigned depth);
void transport_join_sending(struct transport_link *link);
void transport_join_receiving(struct transport_link *link, unsigned reader);
void transport_all_joined(struct transport_link *link);
void transport_send(struct transport_link *link, void *message, enum transport_note note); /* stamps it */
void transport_close(struct transport_link *link);
