/* snapshot.h: the state of a channel at one moment, read without changing it. */
#pragma once

#include "channels/ach/ach.h"
#include "channels/msg/msg.h"
#include "config/base/base.h"

struct snapshot {
	enum ach_status status; /* of taking it; ACH_OK also for an empty channel */
	uint32_t count, size;	/* of the channel */
	mode_t mode;
	int64_t at_ns;	 /* when */
	uint64_t seq;	 /* of the newest message; 0: there is none */
	size_t len;	 /* its bytes */
	size_t retained; /* messages, this one included */
	uint32_t writer; /* pid of its writer */
	bool waited;	 /* a process waits for the next message, or waited and died */
	enum msg_refusal refusal;
	const struct msg_type *type; /* NULL: not an Endplate message */
	struct msg_header header;    /* valid if type is set */
};

void snapshot_take(struct snapshot *snap, ach_channel_t *chan);

/* Messages per second between two snapshots; for Endplate messages by their own times, which are more exact. */
double snapshot_rate(const struct snapshot *first, const struct snapshot *second);

/* Since the newest message was published; only if it has a type. */
int64_t snapshot_age_ns(const struct snapshot *snap);

/* Is there a process with that pid?  It may be a later process with the same pid. */
bool snapshot_alive(uint32_t pid);

/* For people, three digits: "200 Hz", "3.14 ms". */
#define SNAPSHOT_TEXT_MAX 32
void snapshot_rate_text(char text[SNAPSHOT_TEXT_MAX], double hz);
void snapshot_age_text(char text[SNAPSHOT_TEXT_MAX], int64_t ns);

/* The members of the object that ach info --json prints, without its braces. */
void snapshot_json(struct json *j, const char *name, double rate_hz, const struct snapshot *snap); /* NAN: no rate */
