/* log_formats.h: the table of formats.
 *
 * Each format is a row at the end of its file.  A text format is known by a line and reads lines; a binary format is
 * known by its first bytes and reads records; see log_parse.h.  A format that is written has put, and begin and end as
 * far as it needs them; see log_put.h.
 */
#pragma once

#include "can/log/log_parse.h"
#include "can/log/log_put.h"

/* Properties of frames that a format cannot hold. */
#define LOG_NO_FD 1
#define LOG_NO_BUSES 2	   /* more than one bus */
#define LOG_NO_DIRECTION 4 /* that a frame was sent */
#define LOG_NO_ERRORS 8	   /* error frames */
#define LOG_NO_NAMES 16	   /* names of buses: it numbers them */
#define LOG_NO_DETAILS 32  /* which error it was */
#define LOG_NO_CODES 64	   /* length codes above 8 of classic frames */
#define LOG_NO_PAST 128	   /* stamps before that of the first frame */

struct log_format {
	const char *name;
	const char *suffix;
	bool (*probe)(struct log_text line);
	bool (*probe_bytes)(const unsigned char *bytes, size_t n);
	/* Why the log is not read although its format is known, by the line that showed it.  NULL: it is read. */
	const char *(*refuse)(struct log_text line);
	struct log_input *(*input)(void); /* what unpacks the records; NULL: they lie in the file as they are */
	const char *(*read_line)(struct log *log, struct log_record *r, struct log_text line);
	const char *(*read_record)(struct log *log, struct log_record *r);

	/* Into w; dated and start_ns are known at the beginning.  NULL: not written. */
	void (*begin)(struct log_writer *w);
	void (*put)(struct log_writer *w, const struct log_record *r);
	void (*end)(struct log_writer *w);
	int64_t start_unit_ns; /* how exact start_ns can be written; 0: there is none */
	unsigned int lacks;
};

/* The first bytes of an MCAP file; drivers know them, too. */
static inline bool log_mcap_probe(const unsigned char *bytes, size_t n)
{
	return n >= 4 && !memcmp(bytes, "\x89MCA", 4);
}

extern const struct log_format log_candump_format, log_screen_format, log_asc_format, log_trc_format, log_csv_format,
	log_ixxat_format, log_blf_format, log_pcap_format, log_pcapng_format, log_mcap_format;

/* Those that drivers have, too. */
#define LOG_FORMATS_PLAIN                                                                                              \
	&log_candump_format, &log_screen_format, &log_asc_format, &log_trc_format, &log_csv_format, &log_ixxat_format, \
		&log_blf_format, &log_pcap_format, &log_pcapng_format
