/* mcapfile.h: an MCAP file on the disk, for the commands that write one. */
#ifndef CHANNELS_TOOL_MCAPFILE_H
#define CHANNELS_TOOL_MCAPFILE_H

#include "channels/rec/mcaprec.h"

struct mcapfile {
	int fd;
	struct mcap_writer *mcap;
	struct mcaprec_writer *writer; /* of records, to mcap */
};

extern const char *const mcapfile_compressions[]; /* the words of enum mcap_compression */

/* Its beginning.  fd may be -1, if mcapfile_convert gives it later.  0 or -ENOMEM. */
int mcapfile_open(struct mcapfile *f, int fd, enum mcap_compression compression);
void mcapfile_close(struct mcapfile *f); /* fd stays open */

/* writer_options.convert: with is a struct mcapfile. */
int64_t mcapfile_convert(void *with, int fd, const char *items, size_t len, bool last);

#endif
