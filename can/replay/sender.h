/* sender.h: frames to the buses of a map, what becomes of them, and the wait in between. */
#pragma once

#include "can/log/bus_map.h"
#include "can/log/log.h"
#include "config/base/base.h"

struct sender {
	struct bus_map *map;
	int stop_fd;	     /* readable: stop */
	int64_t max_late_ns; /* how long a full queue is tried again */
	bool untimed;	     /* moments mean nothing: late stays empty */
	struct hist late;    /* when it was handed over less when it was due */
	/* Called for each frame of another program, if the map listens; may be NULL. */
	void (*heard)(void *to, const struct bus_map_bus *b, const struct bus_frame *got);
	void *heard_to;
};

/* Why a wait ended; less than 0: failed, and a line was printed. */
#define SENDER_TIME 0 /* it is time, or an echo came: ask the clock */
#define SENDER_STOP 1

/* Until that time, or something happens.  Echoes are taken meanwhile. */
int sender_wait(struct sender *s, int64_t until_ns);

/* Hands the frame over, or counts why not; reports a change of the bus once on stderr.  A full queue is waited
 * for.  0, SENDER_STOP, or less than 0: failed, and a line was said. */
int sender_send(struct sender *s, struct bus_map_bus *b, const struct log_record *r, int64_t due_ns);

/* Counts of what could not be read from the log that is sent. */
struct sender_log {
	uint64_t errors_left_out; /* error frames */
	uint64_t damaged, backward, lost;
	uint64_t passes;
	int64_t took_ns;
};

/* Waits for the echoes of the last frames, and prints the result.  true: everything was sent. */
bool sender_summary(struct sender *s, const struct sender_log *log, bool json);
