/* own.c: what achstart asks of the system for itself. */
#include <errno.h>
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>

#include "daemons/port.h"
#include "launch/achstart/own.h"

#define PRIORITY_MAX 99

/* systemd's AmbientCapabilities= would pass them on with every exec. */
void own_capabilities(void)
{
	prctl(PR_CAP_AMBIENT, PR_CAP_AMBIENT_CLEAR_ALL, 0, 0, 0);
}

void own_group(gid_t operators)
{
	char number[16];

	snprintf(number, sizeof(number), "%u", (unsigned int)operators);
	if (operators == (gid_t)-1)
		unsetenv(PORT_OPERATORS);
	else
		setenv(PORT_OPERATORS, number, 1);
}

void own_priority(int64_t highest, struct error_sink *warnings)
{
	const struct sched_param param = { .sched_priority = (int)(highest < PRIORITY_MAX ? highest + 1 : highest) };

	if (!highest)
		return;
	if (sched_setscheduler(0, SCHED_FIFO | SCHED_RESET_ON_FORK, &param))
		error_add(
			warnings,
			"priority %d: %s; it takes a higher limit, LimitRTPRIO= or ulimit -r; a daemon that spins may "
			"outlive it",
			param.sched_priority, strerror(errno));
	/* Not what comes: every channel would be in memory as a whole. */
	if (mlockall(MCL_CURRENT))
		error_add(warnings, "memory is not locked: %s; it takes a higher limit, LimitMEMLOCK= or ulimit -l",
			  strerror(errno));
}
