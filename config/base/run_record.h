/* run_record.h: $RUN/robot, in which achstart says which robot runs there and where its channels are. */
#pragma once

#include "config/base/run.h"
#include "config/base/text.h"

#define RUN_RECORD_PREFIX_MAX 64 /* of a channel's name */

struct run_record {
	char name[TEXT_NAME_MAX + 1];
	char prefix[RUN_RECORD_PREFIX_MAX];
	char channels[RUN_PATH_MAX]; /* ACH_DIR; "": not set */
};

/* That of the robot in the folder run (safe_path_open).  0; -ENOENT; -EBADMSG and others: treat it as missing; a line
 * if it cannot be trusted. */
int run_record_read(const char *run, struct run_record *record, struct error_sink *errors);

/* With $ENDPLATE_PREFIX and $ACH_DIR, into the opened folder; an equal file stays.  0, -ENAMETOOLONG if one of them is
 * too long, or another -errno. */
int run_record_write(int folder, const char *name);
