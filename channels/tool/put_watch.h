/* put_watch.h: ach put: does the driver take the references?  For a channel NAME-ref or NAME.SOURCE-ref whose driver
 * publishes NAME-info; other channels are not watched. */
#pragma once

#include "channels/ach/ach.h"
#include "channels/msg/ref.h"

struct put_watch {
	bool on;
	const char *name; /* of the channel */
	int source;	  /* among those of a refmuxd; -1: the driver reads the channel itself */
	ach_channel_t info, state, event;
	struct msg_device_info known;
	struct ref_layout layout;

	/* since the last look */
	enum ref_verdict verdict;	 /* of our newest reference, as the driver would judge it */
	char text[MSG_TEXT_SIZE];	 /* that in words */
	uint64_t refused, ticks, states; /* of the reader's state */
	uint64_t puts;
	uint32_t incarnation; /* of the reader */

	uint64_t count;		 /* of ours that were refused */
	char why[MSG_TEXT_SIZE]; /* the newest of them */
};

void put_watch_open(struct put_watch *watch, const char *name);
void put_watch_close(struct put_watch *watch);
/* Before it is put, at now_ns. */
void put_watch_judge(struct put_watch *watch, const void *ref, size_t len, int64_t now_ns);
/* Was it, or one of those since the last look, refused?  count and why say more. */
bool put_watch_look(struct put_watch *watch);
/* The same, waiting for as long as the reader takes: two of its ticks. */
bool put_watch_wait(struct put_watch *watch);
