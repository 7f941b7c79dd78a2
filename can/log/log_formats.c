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

const struct log_format *const log_formats_plain[] = {
	&log_candump_format,
	&log_screen_format,
	&log_asc_format,
	&log_trc_format,
	&log_csv_format,
	&log_ixxat_format,
	&log_blf_format,
	&log_pcap_format,
	&log_pcapng_format,
	&mcap_unread,
	NULL,
};
