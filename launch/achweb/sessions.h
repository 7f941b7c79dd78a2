/* sessions.h: sessions that outlive the process: the stop of an open page works again as soon as achweb does.
 *
 * They are in a file beside the socket web, for this user alone and for this boot.  Links are not kept, and neither are
 * challenges and counts (fresh.h): the next process has others.
 */
#pragma once

#include "launch/achweb/token.h"

#define SESSIONS_FILE "web.sessions"

/* How many were found; lines that are not sound are left out. */
size_t sessions_read(struct token_store *store, int folder, int64_t now_ns);
/* 0 or -errno. */
int sessions_write(const struct token_store *store, int folder, int64_t now_ns);
