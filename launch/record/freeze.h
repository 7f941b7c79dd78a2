/* freeze.h: an incident as a folder.
 *
 *	incident	when, why, of which robot and machine: a "key: value" in each line
 *	bus-NAME.log	the frames of that bus, as candump -L writes them
 *	channels.rec	the messages of all channels, as ach record writes them
 *	programs	a line for each process of the robot: SHA-256 of its program, process, command line
 *	events.log	the end of the robot's log of events
 *	settings/	the files that the command lines name with --config, and the launch file
 *
 * It is written as FREEZE_INCOMPLETE, with fsync, and renamed, so that a folder with the name of an incident is whole,
 * also after the power was lost.
 */
#ifndef LAUNCH_RECORD_FREEZE_H
#define LAUNCH_RECORD_FREEZE_H

#include <stdint.h>

#include "config/base/error.h"

#define FREEZE_CAUSES_MAX 16
#define FREEZE_NAME_MAX 48
#define FREEZE_INCOMPLETE ".incident"

struct freeze_cause {
	int64_t t_ns; /* CLOCK_MONOTONIC */
	char why[256];
};

struct freeze {
	const char *folder;	    /* in which incidents are */
	const char *bus, *channels; /* the rolling files, of which the pieces are */
	const char *robot;
	int64_t real_ns;	   /* CLOCK_REALTIME less CLOCK_MONOTONIC */
	int64_t from_ns;	   /* older frames and messages do not belong to it */
	int64_t keep, total_bytes; /* incidents in the folder; the oldest are removed, this one stays */
	struct freeze_cause causes[FREEZE_CAUSES_MAX];
	unsigned int causes_n;
	uint64_t more; /* causes that had no room */
};

/* Writes it, to the disk (fsync), and removes the oldest.  name: of the folder.  0 or -errno with a line in errors. */
int freeze_write(const struct freeze *f, char name[FREEZE_NAME_MAX], struct error_sink *errors);

/* When the newest one began, CLOCK_REALTIME; 0: there is none. */
int64_t freeze_newest(const char *folder);

#endif
