/* folder.c: what achstart keeps in $RUN. */
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include "channels/clock.h"
#include "config/run.h"
#include "launch/achstart/folder.h"

#define STATE_MAX 256
#define RELEASE_NS 2000000000
#define RETRY_NS 2000000

/* Is what was locked still what others would open?  One that ended well has removed it. */
static bool is_same(int fd, const char *path)
{
	struct stat opened, there;

	return !fstat(fd, &opened) && !stat(path, &there) && opened.st_dev == there.st_dev &&
	       opened.st_ino == there.st_ino;
}

bool folder_is_locked(int lock)
{
	char path[RUN_PATH_MAX];

	return !run_path(path, "lock", &(struct error_sink){ 0 }) && is_same(lock, path);
}

static int taken(int fd, const char *path, struct error_sink *errors)
{
	char holder[32] = { 0 };

	if (pread(fd, holder, sizeof(holder) - 1, 0) > 0)
		holder[strcspn(holder, "\n")] = 0;
	error_add(errors, "this robot has an achstart already, process %s (%s)", *holder ? holder : "unknown", path);
	close(fd);
	return -EBUSY;
}

/* A process that a killed achstart was about to start has the lock until exec: a moment later it is free. */
static bool holder_is_dead(int fd)
{
	char holder[32] = { 0 };
	int pid = pread(fd, holder, sizeof(holder) - 1, 0) > 0 ? atoi(holder) : 0;

	return pid > 0 && kill(pid, 0) && errno == ESRCH;
}

int folder_lock(bool patient, struct error_sink *errors)
{
	const int64_t until_ns = clock_now_ns() + RELEASE_NS;
	char path[RUN_PATH_MAX], line[32];
	int fd, len, folder = run_folder("", errors);

	if (folder < 0)
		return folder;
	close(folder);
	if (run_path(path, "lock", errors))
		return -ENAMETOOLONG;
	for (;;) {
		fd = open(path, O_RDWR | O_CREAT | O_CLOEXEC, 0644);
		if (fd < 0) {
			const int status = -errno;

			error_add(errors, "%s: %s", path, strerror(-status));
			return status;
		}
		if (!flock(fd, LOCK_EX | LOCK_NB)) {
			if (is_same(fd, path))
				break;
		} else if (!patient || !holder_is_dead(fd) || clock_now_ns() > until_ns) {
			return taken(fd, path, errors);
		} else {
			clock_wait(NULL, 0, clock_now_ns() + RETRY_NS);
		}
		close(fd);
	}
	len = snprintf(line, sizeof(line), "%d\n", (int)getpid());
	if (ftruncate(fd, 0) || pwrite(fd, line, (size_t)len, 0) != len)
		error_add(errors, "%s: %s", path, strerror(errno)); /* the lock counts, not what it says */
	folder = run_folder("state", &(struct error_sink){ 0 });    /* told of when one is written */
	if (folder >= 0)
		close(folder);
	return fd;
}

/* ---- files ---- */

static int write_all(const char *path, const char *text, size_t len)
{
	int status = 0, fd = open(path, O_WRONLY | O_CREAT | O_TRUNC | O_NONBLOCK | O_CLOEXEC, 0644);

	if (fd < 0)
		return -errno;
	errno = 0;
	if (write(fd, text, len) != (ssize_t)len)
		status = errno ? -errno : -ENOSPC;
	close(fd);
	return status;
}

/* To the side, then renamed: whoever reads it sees the old one or the new one. */
static int replace(const char *path, const char *text, size_t len)
{
	char aside[RUN_PATH_MAX + 8];
	int status;

	snprintf(aside, sizeof(aside), "%s.new", path);
	status = write_all(aside, text, len);
	if (!status && rename(aside, path))
		status = -errno;
	if (status)
		unlink(aside);
	return status;
}

/* Into text, with a zero behind it: how many bytes, or -errno. */
static int read_all(const char *path, char *text, size_t size)
{
	const int fd = open(path, O_RDONLY | O_NONBLOCK | O_CLOEXEC); /* whatever lies there: nobody waits for it */
	ssize_t len;

	if (fd < 0)
		return -errno;
	len = read(fd, text, size - 1);
	close(fd);
	text[len > 0 ? len : 0] = 0;
	return len < 0 ? -EIO : (int)len;
}

/* ---- the robot ---- */

int folder_robot_write(const char *name, struct error_sink *errors)
{
	const char *prefix = getenv("ENDPLATE_PREFIX");
	char path[RUN_PATH_MAX], text[STATE_MAX];
	struct folder_robot kept;
	int status, len;

	prefix = prefix ? prefix : "";
	if (!folder_robot_read(NULL, &kept) && !strcmp(kept.name, name) && !strcmp(kept.prefix, prefix))
		return 0;
	if (run_path(path, "robot", errors))
		return -ENAMETOOLONG;
	len = snprintf(text, sizeof(text), "name %s\nprefix %s\nend\n", name, prefix);
	status = replace(path, text, (size_t)len);
	if (status)
		error_add(errors, "%s: %s", path, strerror(-status));
	return status;
}

/* "KEY VALUE\n", VALUE shorter than size; the rest of text, or NULL. */
static const char *take_line(const char *text, const char *key, char *value, size_t size)
{
	const size_t skip = strlen(key), len = text ? strcspn(text, "\n") : 0;

	if (!text || strncmp(text, key, skip) != 0 || text[len] != '\n' || len - skip >= size)
		return NULL;
	snprintf(value, size, "%.*s", (int)(len - skip), text + skip);
	return text + len + 1;
}

int folder_robot_read(const char *folder, struct folder_robot *robot)
{
	char path[RUN_PATH_MAX + 8], text[STATE_MAX];
	const char *rest = text;
	int len;

	if (folder)
		snprintf(path, sizeof(path), "%s/robot", folder);
	else if (run_path(path, "robot", &(struct error_sink){ 0 }))
		return -ENOENT;
	len = read_all(path, text, sizeof(text));
	if (len < 0)
		return len;
	rest = take_line(rest, "name ", robot->name, sizeof(robot->name));
	rest = take_line(rest, "prefix ", robot->prefix, sizeof(robot->prefix));
	return rest && !strcmp(rest, "end\n") && text_is_name(robot->name) ? 0 : -EBADMSG;
}

/* ---- states ---- */

static int state_path(char path[RUN_PATH_MAX], const char *name)
{
	char rest[64];

	snprintf(rest, sizeof(rest), "state/%s", name);
	return run_path(path, rest, &(struct error_sink){ 0 });
}

static const char *const lefts[FOLDER_LEFTS] = { "runs", "wanted", "stopped", "done", "failed" };

const char *folder_left_name(enum folder_left left)
{
	return left == FOLDER_RUNS || left == FOLDER_WANTED ? "gone" : lefts[left];
}

static bool left_of(const char *word, enum folder_left *left)
{
	for (int i = 0; i < FOLDER_LEFTS; i++)
		if (!strcmp(word, lefts[i])) {
			*left = i;
			return true;
		}
	return false;
}

int folder_state_write(const char *name, const struct folder_state *s)
{
	char path[RUN_PATH_MAX], text[STATE_MAX];
	int len;

	/* The folder is not made here: if it is missing, so are all the others, and mend.c has to see that. */
	if (state_path(path, name))
		return -ENAMETOOLONG;
	len = snprintf(text, sizeof(text),
		       "pid %d\nstarted %" PRIu64 "\nincarnation %" PRIu32 "\nhash %016" PRIx64
		       "\nready %d\nready_ns %" PRId64 "\nspawned_ns %" PRId64 "\nrestarts %" PRIu64 "\nleft %s\nend\n",
		       (int)s->pid, s->started, s->incarnation, s->hash, s->ready, s->ready_ns, s->spawned_ns,
		       s->restarts, lefts[s->left]);
	return replace(path, text, (size_t)len);
}

int folder_state_read(const char *name, struct folder_state *s)
{
	char path[RUN_PATH_MAX], text[STATE_MAX + 1], left[8] = "", end[4] = "";
	int len, pid = 0, ready = 0, n;

	if (state_path(path, name))
		return -ENAMETOOLONG;
	len = read_all(path, text, sizeof(text));
	if (len < 0)
		return len;
	memset(s, 0, sizeof(*s));
	n = sscanf(text,
		   "pid %d started %" SCNu64 " incarnation %" SCNu32 " hash %" SCNx64 " ready %d ready_ns %" SCNd64
		   " spawned_ns %" SCNd64 " restarts %" SCNu64 " left %7s %3s",
		   &pid, &s->started, &s->incarnation, &s->hash, &ready, &s->ready_ns, &s->spawned_ns, &s->restarts,
		   left, end);
	if (n != 10 || strcmp(end, "end") != 0 || pid < 0 || !left_of(left, &s->left))
		return -EBADMSG;
	s->pid = pid;
	s->ready = ready;
	return 0;
}

void folder_state_remove(const char *name)
{
	char path[RUN_PATH_MAX];

	if (!state_path(path, name))
		unlink(path);
}

/* ---- processes ---- */

/* What stands behind the program's name, which is in brackets and may hold anything. */
static int stat_rest(pid_t pid, char *text, size_t size)
{
	char path[32], *bracket;
	ssize_t len;
	int fd;

	snprintf(path, sizeof(path), "/proc/%d/stat", (int)pid);
	fd = open(path, O_RDONLY | O_CLOEXEC);
	if (fd < 0)
		return -errno;
	len = read(fd, text, size - 1);
	close(fd);
	if (len <= 0)
		return -ESRCH;
	text[len] = 0;
	bracket = strrchr(text, ')');
	if (!bracket || !bracket[1])
		return -ESRCH;
	memmove(text, bracket + 2, strlen(bracket + 2) + 1);
	return 0;
}

char folder_run_state(pid_t pid)
{
	char text[1024];

	return stat_rest(pid, text, sizeof(text)) ? 0 : text[0];
}

uint64_t folder_started(pid_t pid)
{
	char text[1024], *field = text;

	if (stat_rest(pid, text, sizeof(text)) || text[0] == 'Z' || text[0] == 'X')
		return 0;
	for (int i = 3; i < 22 && field; i++) { /* text begins with field 3 */
		field = strchr(field, ' ');
		field = field ? field + 1 : NULL;
	}
	return field ? strtoull(field, NULL, 10) : 0;
}

bool folder_runs(const struct folder_state *state)
{
	return state->pid > 0 && state->started && folder_started(state->pid) == state->started;
}

/* ---- the end ---- */

/* Of one that still runs, without a place in the launch file, it stays. */
static void sweep_state(const char *name)
{
	struct folder_state state;

	if (folder_state_read(name, &state) || !folder_runs(&state))
		folder_state_remove(name);
}

/* What a daemon locks stays when it is killed; nobody has it any more, or it stays here, too. */
static void sweep_lock(const char *path)
{
	const int fd = open(path, O_RDWR | O_CLOEXEC);

	if (fd < 0)
		return;
	if (!flock(fd, LOCK_EX | LOCK_NB))
		unlink(path);
	close(fd);
}

static bool ends_with(const char *name, const char *end)
{
	const size_t len = strlen(name), end_len = strlen(end);

	return len >= end_len && !strcmp(name + len - end_len, end);
}

static void sweep_folder(const char *folder)
{
	const bool states = !strcmp(folder, "state");
	char path[RUN_PATH_MAX], file[RUN_PATH_MAX + 256];
	const struct dirent *entry;
	DIR *dir;

	if (run_path(path, folder, &(struct error_sink){ 0 }) || !(dir = opendir(path)))
		return;
	while ((entry = readdir(dir))) {
		snprintf(file, sizeof(file), "%s/%s", path, entry->d_name);
		if (states && *entry->d_name != '.')
			sweep_state(entry->d_name);
		else if (!states && ends_with(entry->d_name, ".lock"))
			sweep_lock(file);
	}
	closedir(dir);
	rmdir(path);
}

void folder_sweep(void)
{
	static const char *const names[] = { "notify", "control", "robot", "lock" };
	char path[RUN_PATH_MAX];

	sweep_folder("state");
	sweep_folder("wire");
	if (!run_path(path, "robotsim.lock", &(struct error_sink){ 0 }))
		sweep_lock(path);
	for (size_t i = 0; i < sizeof(names) / sizeof(*names); i++)
		if (!run_path(path, names[i], &(struct error_sink){ 0 }))
			unlink(path);
}
