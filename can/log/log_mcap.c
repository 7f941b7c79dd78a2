/* log_mcap.c: the frames of MCAP files, read; can/log/log_mcap_input.c unpacks them. */
#include <string.h>

#include "can/log/log_formats.h"
#include "can/log/log_input.h"
#include "can/log/log_mcap.h"

static const char *mcap_record(struct log *log, struct log_record *r)
{
	const unsigned char *bytes = log_bytes(log, sizeof(struct log_mcap_item));
	struct log_mcap_item item;

	if (!bytes)
		return log_end;
	memcpy(&item, bytes, sizeof(item));
	log_skip(log, sizeof(item));
	if (item.damaged)
		return "a chunk or a record is damaged and left out";
	if (!frame_valid(&item.frame) || (item.frame.id & FRAME_ERR && item.frame.len != FRAME_DATA_MAX))
		return "there is no such frame: its identifier or its length is damaged";
	if (item.t_ns < 0)
		return "the time is out of range";
	r->t_ns = item.t_ns;
	memcpy(r->bus, item.bus, sizeof(r->bus));
	r->direction = item.direction;
	r->frame = item.frame;
	return NULL;
}

const struct log_format log_mcap_format = {
	.name = "MCAP",
	.suffix = ".mcap",
	.probe_bytes = log_mcap_probe,
	.input = log_mcap_input,
	.read_record = mcap_record,
	.begin = log_mcap_begin,
	.put = log_mcap_put,
	.end = log_mcap_end,
};
