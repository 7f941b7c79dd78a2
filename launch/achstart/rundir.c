/* rundir.c: what achstart needs in $RUN while it runs. */
#include <sys/socket.h>
#include <sys/stat.h>
#include <unistd.h>

#include "launch/achstart/control_server.h"

/* ---- notify ---- */

int rundir_notify(struct error_sink *errors)
{
	const int folder = run_folder(NULL, errors);
	int fd, status;

	if (folder < 0)
		return folder;
	fd = safe_path_socket(folder, "notify", SOCK_DGRAM, 0600);
	close(folder);
	status = fd < 0 ? fd : setsockopt(fd, SOL_SOCKET, SO_PASSCRED, &(int){ 1 }, sizeof(int)) ? -errno : 0;
	if (!status)
		return fd;
	error_add(errors, "notify: unable to listen: %s", strerror(-status));
	if (fd >= 0)
		close(fd);
	return status;
}

static void take_line(struct notice *notice, const char *line)
{
	notice->ready |= !strcmp(line, "READY=1");
	notice->watchdog |= !strcmp(line, "WATCHDOG=1");
	if (!strncmp(line, "STATUS=", 7)) {
		notice->has_status = true;
		snprintf(notice->status, sizeof(notice->status), "%s", line + 7);
		utf8_mend(notice->status);
	}
}

void rundir_drop(struct notice *notice)
{
	for (size_t i = 0; i < notice->fds_n; i++)
		if (notice->fds[i] >= 0)
			close(notice->fds[i]);
	notice->fds_n = 0;
}

/* The kernel closes descriptors for which there is no room. */
int rundir_notice(int fd, struct notice *notice)
{
	char text[1024], control[CMSG_SPACE(sizeof(struct ucred)) + CMSG_SPACE(NOTIFY_FDS * sizeof(int))];
	struct iovec part = { .iov_base = text, .iov_len = sizeof(text) - 1 };
	struct msghdr message = {
		.msg_iov = &part, .msg_iovlen = 1, .msg_control = control, .msg_controllen = sizeof(control)
	};
	const ssize_t len = recvmsg(fd, &message, MSG_DONTWAIT | MSG_CMSG_CLOEXEC);
	char *rest = text, *line;

	if (len < 0)
		return 0;
	text[len] = 0;
	memset(notice, 0, sizeof(*notice));
	for (struct cmsghdr *c = CMSG_FIRSTHDR(&message); c; c = CMSG_NXTHDR(&message, c))
		if (c->cmsg_level == SOL_SOCKET && c->cmsg_type == SCM_CREDENTIALS) {
			notice->pid = ((const struct ucred *)(const void *)CMSG_DATA(c))->pid;
		} else if (c->cmsg_level == SOL_SOCKET && c->cmsg_type == SCM_RIGHTS) {
			notice->fds_n = (c->cmsg_len - CMSG_LEN(0)) / sizeof(int);
			memcpy(notice->fds, CMSG_DATA(c), notice->fds_n * sizeof(int));
		}
	while ((line = strsep(&rest, "\n")))
		take_line(notice, line);
	return 1;
}

#define EVERY_NS 500000000

/* ---- what is missing ---- */

static const struct part {
	const char *name;
	mode_t kind;
} parts[] = {
	{ "lock", 0 }, { "notify", S_IFSOCK }, { "control", S_IFSOCK }, { "robot", S_IFREG }, { "state", S_IFDIR }
};
enum { LOCK, NOTIFY, CONTROL, ROBOT, STATE, PARTS };
#define BIT(part) (1u << (part))

/* The folder is ours if the lock is. */
static unsigned int find_missing(const struct supervisor *s)
{
	unsigned int missing = folder_is_locked(s->lock) ? 0 : BIT(LOCK);

	for (int i = NOTIFY; i < PARTS; i++)
		missing |= folder_has(parts[i].name, parts[i].kind) ? 0 : BIT(i);
	return missing;
}

/* "lock, control of ", or nothing if it is the whole folder. */
static void name_missing(char names[64], unsigned int missing)
{
	*names = 0;
	if (missing == BIT(PARTS) - 1)
		return;
	for (int i = 0; i < PARTS; i++)
		if (missing & BIT(i))
			lines_append(names, 64, ", ", "%s", parts[i].name);
	lines_append(names, 64, " of ", "%s", "");
}

void rundir_listen(struct supervisor *s, int64_t now_ns)
{
	if (!folder_is_locked(s->lock) || !folder_has("notify", S_IFSOCK))
		s->deaf_ns = now_ns;
}

/* ---- recreating ---- */

static int make_states(struct supervisor *s, struct error_sink *errors)
{
	const int status = folder_make_states(errors);

	if (status)
		return status;
	for (size_t i = 0; i < s->n; i++)
		if (policy_has_process(&s->supervised[i].policy) || s->supervised[i].saved.left_as != FOLDER_RUNS)
			folder_state_write(s->supervised[i].daemon->name, &s->supervised[i].saved);
	return 0;
}

/* In a folder that is not ours everything is created again. */
static int make_parts(struct supervisor *s, unsigned int missing, struct error_sink *errors)
{
	int notify_fd, status = folder_share(s->launch->operators, errors);

	if (!status)
		status = folder_robot_write(s->launch->name, errors);
	if (!status && missing & (BIT(LOCK) | BIT(STATE)))
		status = make_states(s, errors);
	if (!status && missing & (BIT(LOCK) | BIT(NOTIFY))) {
		notify_fd = rundir_notify(errors);
		if (notify_fd < 0)
			return notify_fd;
		close(s->notify_fd);
		s->notify_fd = notify_fd;
	}
	/* Open connections stay; new ones find the new socket. */
	if (!status && missing & (BIT(LOCK) | BIT(CONTROL)))
		status = control_server_listen(s->control, errors);
	return status;
}

static int recreate(struct supervisor *s, unsigned int missing, struct error_sink *errors)
{
	const int lock = missing & BIT(LOCK) ? folder_lock(false, errors) : s->lock;
	const int status = lock < 0 ? lock : make_parts(s, missing, errors);

	if (lock < 0 || lock == s->lock)
		return status;
	close(status ? lock : s->lock); /* on failure it is tried again */
	s->lock = status ? s->lock : lock;
	return status;
}

bool rundir_has_daemon(const struct launch *launch)
{
	struct folder_state state;

	for (size_t i = 0; i < launch->daemons_n; i++)
		if (!folder_state_read(launch->daemons[i].name, &state) && folder_runs(&state))
			return true;
	return false;
}

void rundir_check(struct supervisor *s, int64_t now_ns)
{
	struct events_sink wrong = { &s->events, now_ns, MSG_SEVERITY_ERROR, "achstart", "folder" };
	struct error_sink errors = { s->reported_folder ? NULL : events_line, &wrong, 0 };
	char path[RUN_PATH_MAX] = "", names[64];
	unsigned int missing;

	if (now_ns < s->rundir_ns)
		return;
	s->rundir_ns = now_ns + EVERY_NS;
	missing = find_missing(s);
	if (!missing) {
		s->reported_folder = false; /* put right by hand */
		return;
	}
	rundir_listen(s, now_ns);
	s->reported_folder = recreate(s, missing, &errors);
	s->events.log.look_ns = 0; /* at once: the event below belongs into the new log */
	events_update(&s->events, now_ns);
	if (s->reported_folder || run_path(path, NULL, &errors))
		return;
	name_missing(names, missing);
	supervise_say(s, now_ns, WARNING, "folder", "%s%s: removed or renamed, and created again", names, path);
}
