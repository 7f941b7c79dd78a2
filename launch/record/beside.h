/* beside.h: writes an incident in a thread, while the caller goes on with its turns.
 *
 *	beside_begin(&job);			with freeze, bus and channels set
 *	if (job.on && beside_ended(&job, wait))
 *		...job.status, job.name, job.why...
 *
 * Hashes of programs and fsync take about a second.  On a virtual clock that is held to a rate, which waits for each
 * process, the robot would fall behind by that; the thread is in real time, on any processor and with an ordinary
 * priority.  When it ends is then as random as the disk.  On a virtual clock that is not held to a rate the caller
 * waits at once: the clock stands still meanwhile, and the incident is announced at the instant at which it was
 * begun, in every run.
 */
#ifndef LAUNCH_RECORD_BESIDE_H
#define LAUNCH_RECORD_BESIDE_H

#include <pthread.h>
#include <stdatomic.h>
#include <stdbool.h>

#include "channels/rec/writer.h"
#include "config/base/lines.h"
#include "launch/record/freeze.h"

struct beside {
	struct freeze freeze;
	struct writer *bus, *channels; /* of its record, which the thread closes */
	void (*remove)(const char *whole);
	void (*alive)(void); /* called while beside_ended waits */

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
void beside_begin(struct beside *job);

/* wait: for its end.  true, once: it has ended. */
bool beside_ended(struct beside *job, bool wait);

/* Must the caller wait at once? */
bool beside_waits(void);

#endif
