/* log_formats_all.c: all formats. */
#include "can/log/log_formats.h"

const struct log_format *const log_formats_all[] = {
	&log_candump_format,
	&log_screen_format,
	&log_asc_format,
	&log_trc_format,
	&log_csv_format,
	&log_ixxat_format,
	&log_blf_format,
	&log_pcap_format,
	&log_pcapng_format,
	&log_mcap_format,
	NULL,
};
