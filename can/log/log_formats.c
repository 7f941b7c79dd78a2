/* log_formats.c: the formats that every program has. */
#include "can/log/log_formats.h"

static const char *mcap_refuse(struct log_text line)
{
	(void)line;
	return "MCAP, which only the CAN tools read: let canconvert write another format";
}

static const struct log_format mcap_unread = {
	.name = "MCAP",
	.probe_bytes = log_mcap_probe,
	.refuse = mcap_refuse,
};

const struct log_format *const log_formats_plain[] = { LOG_FORMATS_PLAIN, &mcap_unread, NULL };
