/* ros_graph.h: the message by which a participant says which ROS 2 nodes it is: ParticipantEntitiesInfo, as CDR. */
#pragma once

#include "config/base/base.h"

#define ROS_GRAPH_TOPIC "ros_discovery_info"
#define ROS_GRAPH_TYPE "rmw_dds_common::msg::dds_::ParticipantEntitiesInfo_"
#define ROS_GRAPH_GID 16 /* bytes; Humble and older had 24 */
#define ROS_GRAPH_ENDS_MAX 512
#define ROS_GRAPH_SIZE_MAX (2 * ROS_GRAPH_ENDS_MAX * ROS_GRAPH_GID + 256)

struct ros_graph {
	uint8_t participant[ROS_GRAPH_GID];
	const char *space, *name; /* of the only node */
	size_t readers_n, writers_n;
	uint8_t readers[ROS_GRAPH_ENDS_MAX][ROS_GRAPH_GID], writers[ROS_GRAPH_ENDS_MAX][ROS_GRAPH_GID];
};

/* The CDR bytes, with their header; 0: there is no room. */
size_t ros_graph_write(const struct ros_graph *graph, uint8_t *cdr, size_t size);
