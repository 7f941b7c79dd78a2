/* snapshot.h: what the page gets, as JSON (achweb(1), THE PAGE). */
#ifndef LAUNCH_ACHWEB_SNAPSHOT_H
#define LAUNCH_ACHWEB_SNAPSHOT_H

#include "launch/achweb/client.h"
#include "launch/achweb/view.h"

/* Each is NULL if there is no memory. */
struct blob *snapshot_robot(const struct view *view, int64_t now_ns); /* all that changes with time */
struct blob *snapshot_events(const struct view *view);		      /* the last ones, newest first */
struct blob *snapshot_facts(const char *config); /* units of fields, and the limits of joints in that robot file */
struct blob *snapshot_hello(const struct client *client); /* what this client may do */
struct blob *snapshot_again(void);			  /* its challenge has ended: it is to send another proof */

#endif
