/* page_json.h: what the page gets, as JSON (achweb(1), THE PAGE). */
#pragma once

#include "launch/achweb/client.h"
#include "launch/achweb/robot_view.h"

/* Each is NULL if there is no memory. */
struct blob *page_json_robot(const struct robot_view *view, int64_t now_ns); /* all that changes with time */
struct blob *page_json_events(const struct robot_view *view);		     /* the last ones, newest first */
struct blob *page_json_facts(const char *config); /* units of fields, and the limits of joints in that robot file */
struct blob *page_json_hello(const struct client *client); /* what this client may do */
struct blob *page_json_again(void);			   /* its challenge has ended: it is to send another proof */
