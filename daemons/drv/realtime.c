/* realtime.c: what a process with a fixed rate asks of the system. */
#include <errno.h>
#include <malloc.h>
#include <sched.h>
#include <string.h>
#include <sys/mman.h>

#include "daemons/drv/realtime.h"

#define STACK_TOUCHED (256 * 1024)

/* What the loop will need of the stack is there before it is needed. */
static __attribute__((noinline)) void touch_stack(void)
{
	char stack[STACK_TOUCHED];

	explicit_bzero(stack, sizeof(stack));
}

static int lock_memory(struct error_sink *errors)
{
	/* Freed memory stays with the process, and no allocation makes a mapping of its own. */
	mallopt(M_TRIM_THRESHOLD, -1);
	mallopt(M_MMAP_MAX, 0);
	if (mlockall(MCL_CURRENT | MCL_FUTURE))
		return error_refuse(errors, 1,
				    "memory is not locked: %s; it takes CAP_IPC_LOCK or a larger limit (ulimit -l)",
				    strerror(errno));
	touch_stack();
	return 0;
}

int realtime_schedule(pid_t pid, int policy, int priority)
{
	return sched_setscheduler(pid, policy, &(struct sched_param){ .sched_priority = priority }) ? -errno : 0;
}

int realtime_enter(const struct realtime *want, struct error_sink *errors)
{
	int refused = 0, status;
	cpu_set_t cores;

	if (want->core >= 0) {
		CPU_ZERO(&cores);
		CPU_SET((int)want->core, &cores);
		if (sched_setaffinity(0, sizeof(cores), &cores)) {
			error_add(errors, "core %d: %s; there is no such core, or it is not for this process",
				  (int)want->core, strerror(errno));
			refused++;
		}
	}
	if (want->lock)
		refused += lock_memory(errors);
	status = want->priority ? realtime_schedule(0, SCHED_FIFO, (int)want->priority) : 0;
	if (status) {
		error_add(errors, "priority %d: %s; it takes CAP_SYS_NICE or a limit for it (ulimit -r)",
			  (int)want->priority, strerror(-status));
		refused++;
	}
	return refused;
}
