/* log_mcap_write.c: frames as an MCAP file: a channel for each bus. */
#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "can/log/log_mcap.h"
#include "channels/rec/mcap.h"
#include "channels/ros/ros_can.h"
#include "channels/ros/ros_map.h"

#define SCHEMA_ID 1

static int add_bytes(void *to, const void *bytes, size_t len)
{
	log_put(to, bytes, len);
	return 0;
}

void log_mcap_begin(struct log_writer *w, const struct log_record *first)
{
	static char text[ROS_SCHEMA_MAX];
	const struct ros_type *type = ros_type_by_name(ROS_CAN_TYPE);
	const struct mcap_options options = { MCAP_ZSTD, "endplate canconvert", add_bytes, w };

	(void)first;
	w->mcap = mcap_writer_new(&options);
	if (!w->mcap) {
		w->failed = -ENOMEM;
		return;
	}
	mcap_write_schema(w->mcap, &(struct mcap_schema){ .id = SCHEMA_ID,
							  .name = mcap_text(type->name),
							  .encoding = mcap_text(ROS_SCHEMA_ENCODING),
							  .data = { text, ros_schema(type, text) } });
}

static void add_channel(struct log_writer *w, const char *bus, unsigned int channel)
{
	struct mcap_map map = { .len = 0 };
	char topic[LOG_BUS_MAX + 8];

	snprintf(topic, sizeof(topic), "/can/%s", bus);
	mcap_map_add(&map, "channel", "%s", bus);
	mcap_map_add(&map, "channel_number", "%u", channel);
	mcap_map_add(&map, "kind", "frame");
	mcap_map_add(&map, "first", "1");
	mcap_write_channel(w->mcap, &(struct mcap_channel){ .id = (uint16_t)channel,
							    .schema = SCHEMA_ID,
							    .topic = mcap_text(topic),
							    .encoding = mcap_text(ROS_MESSAGE_ENCODING),
							    .metadata = mcap_map_text(&map) });
}

void log_mcap_put(struct log_writer *w, const struct log_record *r, unsigned int channel)
{
	struct ros_can can = { .t_ns = r->t_ns, .direction = r->direction };
	uint8_t cdr[ROS_CAN_CDR_MAX];
	int err;

	if (w->failed)
		return;
	memcpy(can.bus, r->bus, sizeof(can.bus));
	memcpy(&can.frame, &r->frame, sizeof(can.frame));
	if (w->interfaces_n < w->buses_n) { /* the record is the first of its bus */
		add_channel(w, r->bus, channel);
		w->interfaces_n = w->buses_n;
	}
	err = mcap_write_message(w->mcap, &(struct mcap_message){ .channel = (uint16_t)channel,
								  .sequence = (uint32_t)(w->records + 1),
								  .log_ns = (uint64_t)r->t_ns,
								  .publish_ns = (uint64_t)r->t_ns,
								  .data = cdr,
								  .len = ros_can_encode(&can, cdr) });
	if (err)
		w->failed = err;
}

void log_mcap_end(struct log_writer *w)
{
	const int err = w->mcap ? mcap_write_end(w->mcap) : 0;

	if (err)
		w->failed = err;
	mcap_writer_free(w->mcap);
	w->mcap = NULL;
}
