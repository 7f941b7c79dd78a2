/* log.h: recorded frames, read and written.
 *
 * Read: candump -L (also what candump -l writes), what candump prints on the screen with -t, Vector ASC and BLF,
 * PCAN TRC 1.0 to 2.1, CSV of python-can and of IXXAT, pcap and pcapng of SocketCAN, and of log_formats_all also MCAP
 * with frames of endplate_msgs or can_msgs, each plain or compressed by gzip or zstd; the first bytes decide which.
 * Written: log_writer.h.  Files of any length stream through one buffer; only a compressed file, BLF and MCAP allocate
 * memory, when they are opened, and for a larger container or chunk.
 *
 *	struct log log;
 *	struct log_record r;
 *
 *	if (log_open(&log, path, log_formats_plain, 0, &errors))
 *		...
 *	while ((status = log_next(&log, &r)) > 0)
 *		...
 *	log_close(&log);
 *
 * A damaged line (not of the format, cut off, longer than LOG_LINE_MAX, a frame that cannot be) is a line in errors,
 *
 *	trace.log:17: an identifier has 3 or 8 digits
 *	trace.blf: record 17: the object is cut off
 *
 * counted, and skipped.  Behind LOG_ERRORS_MAX of them they are only counted; the last line says how many there were.
 * Comments, empty lines and lines without a frame (markers, statistics, states, requests to send) are not damaged.
 *
 * Offered to other folders:
 *	bus_map.h id_filter.h log_writer.h recorded_bus.h
 */
#pragma once

#include <sys/types.h>

#include "can/bus/frame.h"
#include "config/base/base.h"

#define LOG_BUS_MAX 16	  /* bytes of an interface's name, with the terminating zero */
#define LOG_LINE_MAX 512  /* bytes of a line; a longer one is damaged */
#define LOG_ERRORS_MAX 20 /* damaged lines that are reported one by one */

struct log_format;

/* Tables of formats (log_formats.h), which end with NULL.  A program has those in it that it names: drivers, which lock
 * their memory, take the plain ones; all of them have MCAP and its compression, too. */
extern const struct log_format *const log_formats_plain[], *const log_formats_all[];

/* ASC, TRC and BLF give the start of the recording in local time, which is taken for the local time here; without it
 * times count from 0.  An error on the bus becomes 20000080#0000000000000000, whatever details they have, as in
 * asc2log. */
struct log_record {
	int64_t t_ns;	       /* as in the file: since the epoch, or since the start of the recording */
	char bus[LOG_BUS_MAX]; /* the name of the interface, or can and the channel's number less one */
	char direction;	       /* 'T' sent, 'R' received, 0 if the file does not say */
	struct frame frame;    /* frame_valid */
	uint64_t line;	       /* in the file, from 1; of a binary file the record */
};

#define LOG_INTERFACES_MAX 64

struct log_input;

struct log {
	const struct log_format *format;
	uint64_t line;	   /* last one read; of a binary file the record */
	uint64_t damaged;  /* lines that were skipped */
	uint64_t backward; /* records with a stamp before the one before them */
	uint64_t lost;	   /* frames that the file itself counts as lost (log_write_loss) */

	/* private */
	const char *path;
	const struct log_format *const *formats;
	bool strict;
	struct error_sink *errors;
	int fd;
	struct log_input *input; /* decompresses what fd has; NULL: nothing to do */
	const char *cut;	 /* why the bytes end before the file should */
	int failed;		 /* what log_next returns from now on */
	int broken;		 /* the -errno of a binary file */
	off_t start;		 /* where in fd the log begins; -1: in a pipe */
	uint64_t reported;	 /* damaged lines that were reported one by one */
	uint64_t reported_upto;	 /* no line up to this one is reported again after log_rewind */
	uint64_t unreported;
	int64_t last_ns;
	size_t begin, end;
	bool at_end, skipping;
	struct {
		int base;	  /* ASC: 16 or 10 */
		bool relative;	  /* ASC, screen: stamps from the event before */
		bool placed;	  /* screen: relative is known */
		bool error;	  /* screen: the last frame was an error frame, and a line may explain it */
		bool swapped;	  /* pcap, pcapng: of the other byte order */
		int64_t now_ns;	  /* ASC, screen: that of the last event */
		int64_t start_ns; /* ASC, TRC, BLF: stamps count from here */
		int64_t block_ns; /* ASC: the date of the trigger block; 0: none, or it was used */
		int64_t unit_ns;  /* pcap: of the fraction of a second */
		char columns[32]; /* TRC: one letter each */
		uint32_t interfaces_n;
		struct log_interface {
			char name[LOG_BUS_MAX];
			uint16_t link_type;
			uint8_t resolution; /* digits of a second's fraction; with 0x80 in bits */
			int64_t offset_s;
		} interfaces[LOG_INTERFACES_MAX]; /* pcapng */
	} of;
	char buffer[1 << 16];
};

#define LOG_STRICT 1 /* the first damaged line ends it */

/* "-" is standard input.  0, or -errno with a line in errors: -EBADMSG if the format is not known.  An empty file is
 * a log without records.  errors (may be NULL), formats and path are kept. */
int log_open(struct log *log, const char *path, const struct log_format *const *formats, int flags,
	     struct error_sink *errors);
void log_close(struct log *log);

/* 1: a record; 0: the end; -EBADMSG: damaged, and the log is strict; other -errno: it cannot be read any further, and a
 * line in errors says why.  From a pipe a record is there as soon as its line is. */
int log_next(struct log *log, struct log_record *r);

/* To the start, with all counts at 0; damaged lines are counted again, but not reported again.  -ESPIPE for a pipe. */
int log_rewind(struct log *log);

/* Seconds with decimals, exactly to the nanosecond: 1700000000.123456.  0 or -EINVAL. */
int log_stamp(const char *text, int64_t *ns);

/* A line of candump -L with its newline, for a stamp of the epoch, cut to microseconds.  Returns its length, the
 * terminating zero apart.  With several buses candump has their names end in one column: " can0", "vcan0". */
#define LOG_WRITE_MAX 256
size_t log_write_line(char text[LOG_WRITE_MAX], int64_t t_ns, const char *bus, const struct frame *f);

/* A comment that says how many frames were lost just here: "# can0: 12 frames lost".  can-utils skip it,
 * log_next adds it up. */
size_t log_write_loss(char text[LOG_WRITE_MAX], const char *bus, uint64_t frames);
