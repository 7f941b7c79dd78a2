/* backlog.h: between the reading of channels, which must not wait, and a disk, which may.
 *
 * A bounded memory and a thread that writes what is in it to a recording (reclog.h).  When the disk does not follow,
 * the oldest messages in the memory give way, are counted by channel, and their number is written where they are
 * missing.
 */
#ifndef CHANNELS_TOOL_BACKLOG_H
#define CHANNELS_TOOL_BACKLOG_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "channels/tool/reclog.h"

struct backlog;

struct backlog *backlog_open(size_t bytes, size_t channels); /* NULL: no memory */
/* Begins to write to fd, first the channels told by then.  0, or -1: no thread. */
int backlog_start(struct backlog *b, int fd);

void backlog_channel(struct backlog *b, uint16_t channel, const struct reclog_channel *what);
void backlog_message(struct backlog *b, const struct reclog_record *message, uint64_t missed_before_it);

/* Nothing more comes: what is there is written, and the end. */
void backlog_finish(struct backlog *b);
/* What is not written by now counts as lost. */
void backlog_abandon(struct backlog *b);

/* Readable once the thread has ended; backlog_error says why: 0, or an errno. */
int backlog_ended_fd(const struct backlog *b);
int backlog_error(const struct backlog *b);

/* So far: whole messages, bytes, and those of a channel that are lost. */
uint64_t backlog_messages(const struct backlog *b);
uint64_t backlog_bytes(const struct backlog *b);
uint64_t backlog_lost(struct backlog *b, uint16_t channel);

/* After the thread has ended, or if it never began; NULL is fine. */
void backlog_close(struct backlog *b);

#endif
