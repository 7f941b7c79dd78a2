/* bridge.h: what the parts of achdds share. */
#pragma once

#include "channels/client/endplate.h"
#include "channels/port/report.h"
#include "channels/ros/ros_trajectory.h"
#include "launch/achdds/bridge_file.h"
#include "launch/achdds/channel_reader.h"

/* Tags of the set. */
enum { BRIDGE_TAG_PUBLISH = 0, BRIDGE_TAG_RELAY = 1000, BRIDGE_TAG_NODE = 2000, BRIDGE_TAG_STOP };

struct bridge {
	struct bridge_file file;
	struct dds_node *node;
	struct endplate *robot;
	const char *prefix; /* of the names of its channels */
	struct clock_set *set;
	struct channel_readers readers;
	struct report report;
};

/* An event. */
void bridge_say(struct bridge *b, enum msg_severity severity, const char *code, const char *fmt, ...)
	__attribute__((format(printf, 4, 5)));

/* CLOCK_REALTIME less CLOCK_MONOTONIC, for stamps of ROS. */
int64_t bridge_wall_ns(void);

/* "age_ns" of what was written at t_ns; null: nothing was. */
static inline void bridge_age(struct json *j, int64_t now_ns, int64_t t_ns)
{
	if (t_ns)
		json_int(j, "age_ns", now_ns - t_ns);
	else
		json_null(j, "age_ns");
}

/* How long a reference counts from its reception: as planned, or, 0, as long as a driver accepts by default. */
int64_t bridge_valid_ns(int64_t planned_ns, const struct msg_common *driver);
