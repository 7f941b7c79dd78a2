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
 *
 *	freeze_begin(&job);			with freeze, bus and channels set: a thread writes it
 *	if (job.on && freeze_ended(&job, wait))
 *		...job.status, job.name, job.why...
 *
 * Hashes of programs and fsync take about a second.  On a virtual clock that is held to a rate, which waits for each
 * process, the robot would fall behind by that; the thread is in real time, on any processor and with an ordinary
 * priority.  When it ends is then as random as the disk.  On a virtual clock that is not held to a rate the caller
 * waits at once: the clock stands still meanwhile, and the incident is announced at the instant at which it was
 * begun, in every run.
 */
#pragma once

#include <pthread.h>
#include <stdatomic.h>

#include "channels/rec/writer.h"
#include "config/base/base.h"

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

struct freeze_job {
	struct freeze freeze;
	struct writer *bus, *channels; /* of its record, which the thread closes */
	void (*remove)(const char *whole);
	void (*alive)(void); /* called while freeze_ended waits */

	bool on; /* begun, and its end was not fetched */
	int status;
	char name[FREEZE_NAME_MAX];
	struct lines why;

	/* private */
	pthread_t thread;
	bool started;
	atomic_bool ended;
};

/* There must be none under way. */
void freeze_begin(struct freeze_job *job);

/* wait: for its end.  true, once: it has ended. */
bool freeze_ended(struct freeze_job *job, bool wait);

/* Must the caller wait at once? */
bool freeze_waits(void);

/* When the newest one began, CLOCK_REALTIME; 0: there is none. */
int64_t freeze_newest(const char *folder);
