/* chan.h: opens a channel for a program of people, and says why it cannot. */
#pragma once

#include <sys/types.h>

#include "channels/ach/ach.h"
#include "config/settings/program.h"

#define chan_fail(...) program_report(EXIT_RETRY, __VA_ARGS__) /* a line on stderr */

/* Opens a channel, or says in one line why not and what to do.  0 or EXIT_RETRY. */
int chan_open(ach_channel_t *chan, const char *name);
/* The line alone, for another call on that channel that answered status.  EXIT_RETRY. */
int chan_refused(const char *name, enum ach_status status);

/* "root:robot" */
#define CHAN_OWNER_MAX 72
void chan_owner(char text[CHAN_OWNER_MAX], uid_t uid, gid_t gid);
