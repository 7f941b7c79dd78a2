/* follow.h: reads every message of some channels as it comes.
 *
 *	struct follow f;
 *
 *	if (follow_open(&f, name))
 *		return EXIT_RETRY;
 *	follow_from(&f, 0);
 *	do {
 *		while ((r = follow_next(&f)) > 0)
 *			... f.bytes, f.len, f.missed
 *	} while (!r && !follow_wait(&f, 1, CLOCK_NEVER));
 *	follow_close(&f);
 *
 * If a channel is removed and made again, as when a robot restarts, the new channel is followed.
 */
#pragma once

#include "channels/ach/ach.h"
#include "config/base/base.h"

#define FOLLOW_MAX 62 /* channels in one follow_wait */

struct follow {
	const char *name;
	ach_channel_t chan;
	bool gone;		/* removed, and there is no new one yet */
	bool quiet;		/* follow_next and follow_check print nothing */
	enum ach_status status; /* of the last call on the channel that failed */

	uint8_t *bytes; /* the message */
	size_t len, room;
	uint64_t missed; /* messages before it that were overwritten unseen */

	bool counts; /* messages missed before the next one are a loss, not just older than the start */
	int fd;
	int64_t check_ns; /* when to check again whether the channel was removed */
};

/* 0, or EXIT_RETRY after a line. */
int follow_open(struct follow *f, const char *name);
void follow_close(struct follow *f);

/* Goes to before the n newest messages (0: what comes from now on); returns the Ach sequence number of the newest. */
uint64_t follow_from(struct follow *f, uint64_t n);

/* 1: a message; 0: none unseen; -1: failed, after a line. */
int follow_next(struct follow *f);

/* Has it been removed?  Then opens the new one, if there is one, which is read from its first message on. */
void follow_check(struct follow *f);
/* Closes the channel; follow_check opens it again. */
void follow_leave(struct follow *f);

/* Until one of them may have something, or the deadline.  0; 1: a signal came; -1: failed, after a line. */
int follow_wait(struct follow *f, size_t n, int64_t deadline_ns);
