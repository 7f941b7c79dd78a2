/* graph.h: the robot as a picture: achstart --graph robot.launch | dot -Tsvg >robot.svg
 *
 * From left to right: channels, the processes that write and read them, buses, devices.  Only wanted daemons.  Pure.
 */
#ifndef LAUNCH_CHECK_GRAPH_H
#define LAUNCH_CHECK_GRAPH_H

#include <stdio.h>

#include "launch/file/launch_file.h"

/* Prints it in the language of graphviz. */
void graph_print(const struct launch *launch, FILE *to);

#endif
