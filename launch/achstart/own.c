/* own.c: what achstart asks of the system for itself. */
#include <errno.h>
#include <linux/capability.h>
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "daemons/port.h"
#include "launch/achstart/own.h"

#define PRIORITY_MAX 99

static const int handed_on[] = { CAP_NET_ADMIN, CAP_SYS_NICE, CAP_IPC_LOCK };

/* glibc has no calls for these two. */
static int get_capabilities(struct __user_cap_data_struct data[2])
{
	struct __user_cap_header_struct header = { _LINUX_CAPABILITY_VERSION_3, 0 };

	return (int)syscall(SYS_capget, &header, data);
}

static int set_capabilities(const struct __user_cap_data_struct data[2])
{
	struct __user_cap_header_struct header = { _LINUX_CAPABILITY_VERSION_3, 0 };

	return (int)syscall(SYS_capset, &header, data);
}

void own_capabilities(void)
{
	struct __user_cap_data_struct data[2];

	if (!geteuid() || get_capabilities(data))
		return;
	for (size_t i = 0; i < sizeof(handed_on) / sizeof(*handed_on); i++)
		data[CAP_TO_INDEX(handed_on[i])].inheritable |=
			data[CAP_TO_INDEX(handed_on[i])].permitted & CAP_TO_MASK(handed_on[i]);
	if (set_capabilities(data))
		return;
	/* One that is not permitted is refused, and what needs it says so when it needs it. */
	for (size_t i = 0; i < sizeof(handed_on) / sizeof(*handed_on); i++)
		prctl(PR_CAP_AMBIENT, PR_CAP_AMBIENT_RAISE, handed_on[i], 0, 0);
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
		error_add(warnings, "priority %d: %s; it takes CAP_SYS_NICE; a daemon that spins may outlive it",
			  param.sched_priority, strerror(errno));
	/* Not what comes: every channel would be in memory as a whole. */
	if (mlockall(MCL_CURRENT))
		error_add(warnings, "memory is not locked: %s; it takes CAP_IPC_LOCK", strerror(errno));
}
