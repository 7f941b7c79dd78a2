/* realtime.c: what a process with a fixed rate asks of the system. */
#include <malloc.h>
#include <sched.h>
#include <sys/mman.h>

#include "channels/clock/vt_clock.h"
#include "daemons/drv/realtime.h"

#define STACK_TOUCHED (256 * 1024)
#define ROOM (32 << 20) /* for channels that are opened later */

/* What the loop will need of the stack is there before it is needed. */
static __attribute__((noinline)) void touch_stack(void)
{
	char stack[STACK_TOUCHED];

	explicit_bzero(stack, sizeof(stack));
}

/* Within a small limit the memory of now can be locked, but with it every later mapping is refused, such as that of
 * a channel that appears afterwards: then later ones are not locked. */
static bool lock_all(void)
{
	void *room;

	if (mlockall(MCL_CURRENT | MCL_FUTURE))
		return false;
	room = mmap(NULL, ROOM, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	if (room != MAP_FAILED)
		return !munmap(room, ROOM);
	return !mlockall(MCL_CURRENT);
}

static int lock_memory(struct error_sink *errors)
{
	/* Memory that reading the files took is given back; from here on freed memory stays with the process, and no
	 * allocation makes a mapping of its own. */
	malloc_trim(0);
	mallopt(M_TRIM_THRESHOLD, -1);
	mallopt(M_MMAP_MAX, 0);
	if (!lock_all())
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
	const bool alone = !vt_clock_end(); /* all processes of a virtual clock share a core and a priority */
	int refused = 0, status;
	cpu_set_t cores;

	if (want->core >= 0 && alone) {
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
	status = want->priority && alone ? realtime_schedule(0, SCHED_FIFO, (int)want->priority) : 0;
	if (status) {
		error_add(errors, "priority %d: %s; it takes CAP_SYS_NICE or a limit for it (ulimit -r)",
			  (int)want->priority, strerror(-status));
		refused++;
	}
	return refused;
}
