/* hung.h: whether a silent daemon is hung, or did not get a processor.
 *
 * On a loaded machine a healthy daemon waits on the run queue for longer than dead_after, and to kill it adds load.
 * So the time that it waited for a processor does not count as silence, up to a limit.  A daemon that is stopped,
 * sleeps, or runs without a sign of life does not wait: it is hung as soon as its silence exceeds dead_after.
 *
 * /proc/PID/schedstat has the sum of the waits that have ended; a daemon that is runnable and has not run since the
 * last sample is in a wait that has not.  Both are of the main thread, which is the loop of a daemon.
 */
#pragma once

#include <sys/types.h>

#include "config/base/base.h"

#define HUNG_LIMIT_FACTOR 10 /* times the patience: a daemon that is silent for longer is killed in any case, ... */
#define HUNG_LIMIT_MIN_NS INT64_C(2000000000) /* ... but not before this */

enum hung_verdict {
	HUNG_NO,    /* not silent for long enough */
	HUNG_WAITS, /* silent, but it waited for a processor */
	HUNG_YES,
	HUNG_OVERLOADED, /* it still waited for a processor at the limit */
};

struct hung_facts {
	int64_t patience_ns, silent_ns;
	int64_t waited_ns, cpu_ns; /* during the silence, as far as it was sampled */
	char state;		   /* as in /proc/PID/stat */
	bool known;		   /* the kernel accounts for waits; else only the silence counts */
};
enum hung_verdict hung_verdict(const struct hung_facts *facts);

/* The samples of one silence.  Zero: none. */
struct hung {
	int64_t since_ns;	     /* when the silence began */
	int64_t cpu_ns, delay_ns;    /* of its first sample */
	int64_t seen_cpu_ns, ran_ns; /* of the last: and when it was first seen, so that it has not run since */
	struct hung_facts facts;     /* as of the last sample; patience is the caller's */
};

/* One line of /proc/PID/schedstat as of now.  fresh: the process began with the silence. */
void hung_sample(struct hung *hung, const char *schedstat, char state, int64_t since_ns, bool fresh, int64_t now_ns);
/* The same for a process. */
void hung_measure(struct hung *hung, pid_t pid, int64_t since_ns, bool fresh, int64_t now_ns);
