/* removal.h: notices that channels were removed or replaced, without a look at their files.
 *
 *	struct removal removal;
 *
 *	removal_open(&removal);
 *	removal_watch(&removal, &chan);		then ach_unlinked once: it may have been removed before
 *	for (;;) {
 *		clock_wait: removal.fd is readable
 *		if (removal_read(&removal))
 *			ach_unlinked of each channel
 *	}
 *
 * The kernel reports (inotify) when a channel's file is removed, renamed, replaced, overwritten or truncated, by
 * whatever means.  It does not report that a folder above it was moved or mounted over, and a user has a limited number
 * of inotify descriptors: look at the file every second as well, and at every turn if removal_watch fails.
 */
#pragma once

#include "channels/ach/ach.h"
#include "config/base/base.h"

struct removal {
	int fd;		 /* readable: call removal_read; -1: none */
	uint64_t events; /* how often removal_read found something */
};

/* 0 or -errno; then fd is -1, and every other call here is allowed. */
int removal_open(struct removal *removal);
void removal_close(struct removal *removal);

/* 0 or -errno.  The same channel may be watched again; a watch ends with the channel's file. */
int removal_watch(const struct removal *removal, const ach_channel_t *chan);

/* Takes what was reported, or the first 256 reports; fd stays readable while some are left.  True: look at the files of
 * all channels watched.  Never waits. */
bool removal_read(struct removal *removal);
