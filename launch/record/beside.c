/* beside.c: writes an incident in a thread. */
#include <errno.h>
#include <sched.h>
#include <signal.h>
#include <string.h>
#include <sys/resource.h>
#include <time.h>

#include "channels/clock/clock.h"
#include "channels/clock/vt_clock.h"
#include "config/base/ns.h"
#include "daemons/drv/realtime.h"
#include "launch/record/beside.h"

#define BEAT_NS 100000000

/* On a virtual clock it has inherited the processor of the clock, which others would wait for. */
static void leave_clock(void)
{
	cpu_set_t any;

	memset(&any, 0xFF, sizeof(any));
	sched_setaffinity(0, sizeof(any), &any);
	realtime_schedule(0, SCHED_OTHER, 0);
	setpriority(PRIO_PROCESS, 0, 0); /* of this thread: a person waits for it */
}

static void write_all(struct beside *job)
{
	writer_close(job->bus);
	writer_close(job->channels);
	job->status = freeze_write(&job->freeze, job->name, lines_begin(&job->why));
	job->remove(job->freeze.bus);
	job->remove(job->freeze.channels);
	atomic_store(&job->ended, true);
}

static void *run(void *arg)
{
	leave_clock();
	write_all(arg);
	return NULL;
}

void beside_begin(struct beside *job)
{
	sigset_t all, before;

	job->on = true;
	job->ended = false;
	sigfillset(&all);
	pthread_sigmask(SIG_SETMASK, &all, &before);
	job->started = !pthread_create(&job->thread, NULL, run, job);
	pthread_sigmask(SIG_SETMASK, &before, NULL);
	if (!job->started)
		write_all(job);
}

static void join(struct beside *job)
{
	job->alive();
	for (;;) {
		const int64_t until_ns = clock_real.now() + BEAT_NS;
		const struct timespec until = { until_ns / NS_PER_S, until_ns % NS_PER_S };

		if (pthread_clockjoin_np(job->thread, NULL, CLOCK_MONOTONIC, &until) != ETIMEDOUT)
			return;
		job->alive();
	}
}

bool beside_ended(struct beside *job, bool wait)
{
	if (!job->on || (!wait && !atomic_load(&job->ended)))
		return false;
	if (job->started)
		join(job);
	job->on = job->started = false;
	return true;
}

bool beside_waits(void)
{
	const struct vt_end *end = vt_clock_end();

	return end && end->page->rate <= 0;
}
