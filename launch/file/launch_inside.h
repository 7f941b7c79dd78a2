/* launch_inside.h: private to launch*.c: from the tree of the launch file to the structs, step by step. */
#pragma once

#include "launch/file/launch_file.h"

#define LAUNCH_ALIVE_UNSAID 3 /* not given; behind the words */

/* The steps.  Each adds its errors and goes on. */
void launch_read_daemons(struct launch *launch, struct error_sink *errors); /* each by itself: kind, rules */
void launch_read_buses(struct launch *launch, struct error_sink *errors);
void launch_read_needs(struct launch *launch, struct error_sink *errors); /* those given, and the defaults */
void launch_order(struct launch *launch, struct error_sink *errors);	  /* sorts; needs become places */
void launch_read_groups(struct launch *launch, struct error_sink *errors);
void launch_read_clock(struct launch *launch, struct error_sink *errors);
void launch_command(struct launch *launch, struct error_sink *errors); /* argv, environment */

/* A name or a list of names: each text node in turn, beginning with NULL; NULL: no more. */
const struct yaml_node *launch_next(const struct yaml_node *names, const struct yaml_node *last);
/* The node, or NULL if it is null. */
const struct yaml_node *launch_given(const struct yaml_node *node);
/* Are those names, and nothing else?  If not, the line says to write what. */
bool launch_are_names(const struct yaml_node *names, const char *what, struct error_sink *errors);
/* "the robot file has no bus "tors"; did you mean torso?", or, if best is NULL, what followed by otherwise.  key,
 * "bus: ", begins the line if the node is in a list. */
void launch_unknown(struct error_sink *errors, const struct yaml_node *node, const char *name, const char *key,
		    const char *what, const char *best, const char *otherwise);
/* Is there a driver without a device, because a name is misspelt?  It may be reported as missing elsewhere. */
bool launch_is_unresolved(const struct launch *launch);
/* The daemon that the node names, or NULL with a line; key, "needs: ", begins it if the node is in a list. */
struct launch_daemon *launch_named(const struct launch *launch, const struct yaml_node *name, const char *key,
				   struct error_sink *errors);
