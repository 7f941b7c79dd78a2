/* recorder.h: records channels: every message, with its time, in the format of reclog.h.
 *
 *	recorder_open(&rec, ...);
 *	recorder_add(&rec, name) for each channel
 *	recorder_begin(&rec, &writer, errors);
 *	do
 *		r = recorder_turn(&rec, deadline_ns);
 *	while (!(r & RECORDER_STOP));
 *	recorder_end(&rec, true);
 *	recorder_close(&rec);
 *
 * Reading takes no lock and never waits for the disk (writer.h).  Messages that were overwritten unread, or that gave
 * way to newer ones in memory, are counted, and the file has a record of the loss in their place.  A channel that is
 * removed and made again is followed.
 */
#pragma once

#include "channels/rec/follow.h"
#include "channels/rec/rec_delta.h"
#include "channels/rec/recbus.h"
#include "channels/rec/reclog.h"
#include "channels/rec/writer.h"

#define RECORDER_CHANNELS_MAX 1000

struct recorder_channel {
	char name[2 * ACH_CHAN_NAME_MAX]; /* one that is too long stays so */
	struct follow f;
	uint64_t id;	 /* of the channel described last; 0: not there */
	uint64_t broken; /* the id of a channel that could not be read */
	struct reclog_channel what;
	bool described;	  /* what is in the file */
	bool said;	  /* why it cannot be read */
	uint64_t missing; /* lost before the next message, and the file does not say so yet */
	uint64_t dropped; /* the same, from the memory */
	uint64_t lost;

	struct recbus *bus; /* a CAN bus instead of a channel; else NULL */
	uint64_t frames, dropped_frames;
};

/* The last message of a channel in an earlier file. */
struct recorder_place {
	uint64_t id, number;
};

struct recorder {
	/* A channel that is missing, corrupt or refused is waited for, with a line in errors, and all that it holds is
	 * recorded, behind its place if it has one; else it has to be there, and is recorded from now on.  errors NULL:
	 * not so. */
	struct error_sink *errors;
	const struct recbus_ops *buses; /* for recorder_add_bus */
	bool wait;			/* without errors: a channel may be missing */
	bool sparse;			/* messages are written without their repetitions */
	bool polled; /* a turn waits for its deadline, then reads all channels: no writer has to wake it */
	const struct recorder_place *places;
	size_t places_n;
	void (*seen)(const struct recorder_channel *c); /* called with each message, in c->f; NULL: no */

	struct recorder_channel *channels;
	size_t n;
	uint64_t messages; /* passed to the writer */
	struct writer *writer;

	/* private */
	struct clock_set *set;
	int folder; /* readable when a channel was made or removed */
	bool bare;  /* records are not written as they are, so they have no CRC */
	bool begun;
	bool looks; /* at the folder, every 20 ms */
	int64_t check_ns, look_ns;
	uint8_t packed[REC_DELTA_MAX];
};

/* 0 or -errno; the fields above that are the caller's follow. */
int recorder_open(struct recorder *rec, struct error_sink *errors);
/* 0, or EXIT_RETRY after a line. */
int recorder_add(struct recorder *rec, const char *name);
/* A CAN bus: "can0", "left=wire:larm0".  0, or EXIT_RETRY after a line in errors. */
int recorder_add_bus(struct recorder *rec, const char *text, struct error_sink *errors);
bool recorder_has(const struct recorder *rec, const char *name);
/* Opens the file; path, bounds and memory are the caller's, lose, note, begin and end are not.  0 or -errno with a line
 * in errors. */
int recorder_begin(struct recorder *rec, struct writer_options *writer, struct error_sink *errors);

/* Waits until the deadline at the latest, and records what is there.  Negative: failed, after a line; else: */
#define RECORDER_STOP 1	  /* SIGINT or SIGTERM */
#define RECORDER_ENDED 2  /* a write failed */
#define RECORDER_FOLDER 4 /* a channel was made or removed */
int recorder_turn(struct recorder *rec, int64_t deadline_ns);

/* Ends the file, behind the messages that are unread (rest): as writer_finish. */
int recorder_end(struct recorder *rec, bool rest);
void recorder_close(struct recorder *rec);

uint64_t recorder_lost(const struct recorder *rec);
