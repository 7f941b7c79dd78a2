/* graph.h: the message by which a participant says which ROS 2 nodes it is: ParticipantEntitiesInfo, as CDR. */
#ifndef LAUNCH_ACHDDS_GRAPH_H
#define LAUNCH_ACHDDS_GRAPH_H

#include <stddef.h>
#include <stdint.h>

#define GRAPH_TOPIC "ros_discovery_info"
#define GRAPH_TYPE "rmw_dds_common::msg::dds_::ParticipantEntitiesInfo_"
#define GRAPH_GID 16 /* bytes; Humble and older had 24 */
#define GRAPH_ENDS_MAX 512
#define GRAPH_SIZE_MAX (2 * GRAPH_ENDS_MAX * GRAPH_GID + 256)

struct graph {
	uint8_t participant[GRAPH_GID];
	const char *space, *name; /* of the only node */
	size_t readers_n, writers_n;
	uint8_t readers[GRAPH_ENDS_MAX][GRAPH_GID], writers[GRAPH_ENDS_MAX][GRAPH_GID];
};

/* The CDR bytes, with their header; 0: there is no room. */
size_t graph_write(const struct graph *graph, uint8_t *cdr, size_t size);

#endif
