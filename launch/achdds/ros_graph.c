/* ros_graph.c: ParticipantEntitiesInfo of rmw_dds_common as CDR. */
#include "channels/ros/cdr.h"
#include "launch/achdds/ros_graph.h"

static void put_gids(struct cdr_out *o, const uint8_t gids[][ROS_GRAPH_GID], size_t n)
{
	cdr_put_u32(o, (uint32_t)n);
	cdr_put(o, gids, 1, n * ROS_GRAPH_GID);
}

size_t ros_graph_write(const struct ros_graph *graph, uint8_t *cdr, size_t size)
{
	struct cdr_out o = cdr_out(cdr, size);

	cdr_put(&o, graph->participant, 1, ROS_GRAPH_GID);
	cdr_put_u32(&o, 1); /* nodes */
	cdr_put_string(&o, graph->space, strlen(graph->space));
	cdr_put_string(&o, graph->name, strlen(graph->name));
	put_gids(&o, graph->readers, graph->readers_n);
	put_gids(&o, graph->writers, graph->writers_n);
	return o.len <= size ? o.len : 0;
}
