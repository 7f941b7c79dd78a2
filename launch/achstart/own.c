/* own.c: what achstart asks of the system for itself. */
#include <errno.h>
#include <fcntl.h>
#include <grp.h>
#include <pwd.h>
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <unistd.h>

#include "daemons/drv/port.h"
#include "launch/achstart/own.h"

#define PRIORITY_MAX 99

/* systemd's AmbientCapabilities= would pass them on with every exec. */
void own_capabilities(void)
{
	prctl(PR_CAP_AMBIENT, PR_CAP_AMBIENT_CLEAR_ALL, 0, 0, 0);
}

/* ---- groups ---- */

static bool may_act_for(gid_t group)
{
	const gid_t own = getegid();

	if (setegid(group))
		return false;
	if (setegid(own))
		abort(); /* what is made from here on would be the group's */
	return true;
}

static bool is_another(const char *user)
{
	const struct passwd *entry = getpwnam(user);

	return entry && entry->pw_uid && entry->pw_uid != geteuid();
}

/* Is another user in our effective group, as a member or by his own primary group? */
static bool is_common(void)
{
	const struct group *group = getgrgid(getegid());
	const struct passwd *entry;
	bool common = false;

	for (char **name = group ? group->gr_mem : NULL; name && *name && !common; name++)
		common = is_another(*name);
	setpwent();
	while (!common && (entry = getpwent()))
		common = entry->pw_gid == getegid() && entry->pw_uid && entry->pw_uid != geteuid();
	endpwent();
	return common;
}

static int check_member(const char *key, gid_t group, bool common, struct error_sink *errors)
{
	if (!group_member(group))
		error_add(
			errors,
			"%s: this process is not in the group %u: add its user to the group, or start achstart as root",
			key, (unsigned int)group);
	else if (common)
		error_add(errors,
			  "%s: other users are in group %u, which this process has as its own, and would get the same "
			  "rights: start achstart with a private group (Group=), and this one as a supplementary group",
			  key, (unsigned int)getegid());
	else
		return 0;
	return -EPERM;
}

int own_groups(const struct rights_robot *r, struct error_sink *errors)
{
	const gid_t none = (gid_t)-1;
	int status = 0;

	if (r->operators != none && r->operators != getegid() && setgid(r->operators))
		status = check_member("operators", r->operators, is_common(), errors);
	if (!status && r->moving != none && r->moving != getegid() && !may_act_for(r->moving))
		status = check_member("moving", r->moving,
				      r->operators == getegid() || r->arming == getegid() || is_common(), errors);
	return status;
}

void own_share(int folder, const char *name)
{
	if (port_group() != (gid_t)-1)
		(void)!fchownat(folder, name, (uid_t)-1, port_group(), AT_EMPTY_PATH | AT_SYMLINK_NOFOLLOW);
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
