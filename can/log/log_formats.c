/* log_formats.c: the table of formats. */
#include "can/log/log_formats.h"

const struct log_format_row *const log_formats[LOG_FORMATS] = {
	[LOG_CANDUMP] = &log_candump_format, [LOG_SCREEN] = &log_screen_format, [LOG_ASC] = &log_asc_format,
	[LOG_TRC] = &log_trc_format,	     [LOG_CSV] = &log_csv_format,	[LOG_IXXAT] = &log_ixxat_format,
	[LOG_BLF] = &log_blf_format,	     [LOG_PCAP] = &log_pcap_format,	[LOG_PCAPNG] = &log_pcapng_format,
	[LOG_MCAP] = &log_mcap_format,
};
