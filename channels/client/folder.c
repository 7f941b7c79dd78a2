/* folder.c: what achstart keeps in $RUN. */
#include <dirent.h>
#include <fcntl.h>
#include <signal.h>
#include <sys/file.h>
#include <sys/pidfd.h>
#include <sys/stat.h>
#include <unistd.h>

#include "channels/client/folder.h"
#include "channels/clock/clock.h"

#define STATE_MAX 512
#define RESERVED_EACH 8192 /* bytes: the old state and the new one */
#define ENTERED 0711
#define RELEASE_NS 2000000000
#define RETRY_NS 2000000

/* $RUN and state in it, of the achstart that has the lock: opened once.  Others open them each time. */
static int run_fd = -1, state_fd = -1;

static void replace(int *fd, int by)
{
	if (*fd >= 0)
		close(*fd);
	*fd = by;
}

/* ---- the lock ---- */

/* Is the folder that we have opened still at that path?  It may have been renamed. */
static bool is_in_place(void)
{
	const int now = run_open(&(struct error_sink){ 0 });
	struct stat ours, there;
	const bool same = now >= 0 && run_fd >= 0 && !fstat(run_fd, &ours) && !fstat(now, &there) &&
			  ours.st_ino == there.st_ino && ours.st_dev == there.st_dev;

	if (now >= 0)
		close(now);
	return same;
}

bool folder_is_locked(int lock)
{
	return is_in_place() && safe_path_is_there(lock, run_fd, "lock");
}

bool folder_has(const char *name, mode_t kind)
{
	struct stat st;

	return !fstatat(run_fd, name, &st, AT_SYMLINK_NOFOLLOW) && (st.st_mode & S_IFMT) == kind &&
	       st.st_uid == geteuid();
}

static int report_holder(int fd, struct error_sink *errors)
{
	char holder[32] = { 0 }, path[RUN_PATH_MAX] = "";

	if (pread(fd, holder, sizeof(holder) - 1, 0) > 0)
		holder[strcspn(holder, "\n")] = 0;
	run_path(path, "lock", &(struct error_sink){ 0 });
	error_add(errors, "this robot has an achstart already, process %s (%s)", *holder ? holder : "unknown", path);
	close(fd);
	return -EBUSY;
}

/* A process that a killed achstart was about to start has the lock until exec, for a moment. */
static bool holder_is_dead(int fd)
{
	char holder[32] = { 0 };
	int pid = pread(fd, holder, sizeof(holder) - 1, 0) > 0 ? atoi(holder) : 0;

	return pid > 0 && kill(pid, 0) && errno == ESRCH;
}

/* The lock of that folder, held; or -errno with a line. */
static int lock_in(int folder, bool patient, struct error_sink *errors)
{
	const int64_t until_ns = clock_now_ns() + RELEASE_NS;
	int fd;

	for (;;) {
		fd = safe_path_file(folder, "lock", O_RDWR | O_CREAT, 0600, errors);
		if (fd < 0)
			return fd;
		if (!flock(fd, LOCK_EX | LOCK_NB)) {
			if (safe_path_is_there(fd, folder, "lock")) /* an achstart that ended well has removed it */
				return fd;
		} else if (!patient || !holder_is_dead(fd) || clock_now_ns() > until_ns) {
			return report_holder(fd, errors);
		} else {
			clock_wait(NULL, 0, clock_now_ns() + RETRY_NS);
		}
		close(fd);
	}
}

int folder_lock(bool patient, struct error_sink *errors)
{
	const int folder = run_folder(NULL, errors);
	const int fd = folder < 0 ? folder : lock_in(folder, patient, errors);
	char line[32];
	int len;

	if (fd < 0) {
		if (folder >= 0)
			close(folder);
		return fd;
	}
	replace(&run_fd, folder);
	len = snprintf(line, sizeof(line), "%d\n", (int)getpid());
	if (ftruncate(fd, 0) || pwrite(fd, line, (size_t)len, 0) != len)
		error_add(errors, "lock: %s", strerror(errno)); /* the text in it is for people only */
	folder_make_states(&(struct error_sink){ 0 });		/* reported when a state is written */
	return fd;
}

int folder_make_states(struct error_sink *errors)
{
	const int folder = safe_path_folder_in(run_fd, "state", 0700, errors);

	replace(&state_fd, folder < 0 ? -1 : folder);
	return folder < 0 ? folder : 0;
}

/* Lets that group read and enter the folder; (gid_t)-1: its owner alone.  A folder that others may enter, but not read,
 * stays as it is: systemd would give a folder of another group, with all that is in it, to the group of the unit. */
static int share(int folder, gid_t group)
{
	const bool shared = group != (gid_t)-1;
	const int fd = openat(folder, ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	struct stat st;
	int status = 0;

	if (shared && fd >= 0 && !fstat(fd, &st) && (st.st_mode & 0777) == ENTERED)
		status = 0;
	else if (fd < 0 || (shared && fchown(fd, (uid_t)-1, group)) || fchmod(fd, shared ? 0750 : 0700))
		status = -errno;
	if (fd >= 0)
		close(fd);
	return status;
}

/* A folder of root, such as /dev/shm, is not changed. */
static bool is_roots(const char *path)
{
	struct stat st;

	return !lstat(path, &st) && S_ISDIR(st.st_mode) && !st.st_uid && (geteuid() || st.st_mode & S_ISVTX);
}

/* Makes $ACH_DIR if need be; shared: for that group. */
static int prepare_channels(bool shared, gid_t group, struct error_sink *errors)
{
	const char *path = getenv("ACH_DIR");
	int folder, status;

	if (!path || !*path || is_roots(path))
		return 0;
	folder = safe_path_folder(path, 0700, errors);
	if (folder < 0)
		return folder;
	status = shared ? share(folder, group) : 0;
	close(folder);
	return status;
}

int folder_make_channels(struct error_sink *errors)
{
	return prepare_channels(false, (gid_t)-1, errors);
}

int folder_share(gid_t group, struct error_sink *errors)
{
	const unsigned int lines = errors->count;
	const int run = share(run_fd, group), status = run ? run : prepare_channels(true, group, errors);

	if (status && errors->count == lines)
		error_add(errors, "unable to give the folders of the robot to the group %d: %s", (int)group,
			  strerror(-status));
	return status;
}

void folder_give(int folder, const char *name)
{
	if (port_group() != (gid_t)-1)
		(void)!fchownat(folder, name, (uid_t)-1, port_group(), AT_EMPTY_PATH | AT_SYMLINK_NOFOLLOW);
}

/* ---- files ---- */

int folder_enter(const char *name, int flags)
{
	const int run = run_fd >= 0 ? run_fd : run_open(&(struct error_sink){ 0 });
	const int folder = run < 0 ? run : openat(run, name, flags | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
	const int status = run < 0 ? run : folder < 0 ? -errno : folder;

	if (run >= 0 && run != run_fd)
		close(run);
	return status;
}

/* ---- the robot ---- */

int folder_robot_write(const char *name, struct error_sink *errors)
{
	const int status = run_record_write(run_fd, name);

	if (status == -ENAMETOOLONG)
		return error_refuse(errors, status, "ENDPLATE_PREFIX or ACH_DIR is too long");
	if (status)
		error_add(errors, "unable to write $RUN/robot: %s", strerror(-status));
	else
		folder_give(run_fd, "robot");
	return status;
}

/* ---- states ---- */

static const char *const lefts[FOLDER_LEFTS] = { "runs", "wanted", "stopped", "done", "failed" };

const char *folder_left_name(enum folder_left left)
{
	return left == FOLDER_RUNS || left == FOLDER_RESTART ? "gone" : lefts[left];
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
	char text[STATE_MAX];
	const int len = snprintf(text, sizeof(text),
				 "pid %d\nstarted %" PRIu64 "\nboot %016" PRIx64 " %016" PRIx64 "\nincarnation %" PRIu32
				 "\nhash %016" PRIx64 "\nready %d\nready_ns %" PRId64 "\nspawned_ns %" PRId64
				 "\nrestarts %" PRIu64 "\nleft %s\nlatches %" PRId64 "\nend\n",
				 (int)s->pid, s->started, s->boot[0], s->boot[1], s->incarnation, s->hash, s->ready,
				 s->ready_ns, s->spawned_ns, s->restarts, lefts[s->left_as], s->latches);

	/* The folder is not made here: if it is missing, so are all the others, and rundir.c has to see that. */
	int status = state_fd < 0 ? -ENOENT : safe_path_write(state_fd, name, 0600, text, (size_t)len);

	if (status == -ENOSPC && !unlinkat(run_fd, "room", 0))
		status = safe_path_write(state_fd, name, 0600, text, (size_t)len);
	return status;
}

int folder_reserve(size_t daemons)
{
	const int fd = openat(run_fd, "room", O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0600);
	int status;

	if (fd < 0)
		return errno == EEXIST ? 0 : -errno;
	status = -posix_fallocate(fd, 0, (off_t)(daemons * RESERVED_EACH));
	close(fd);
	if (status)
		unlinkat(run_fd, "room", 0);
	return status;
}

/* Reads state/NAME and adds a zero. */
static int read_state(const char *name, char *text, size_t size)
{
	const int folder = folder_enter("state", O_PATH);
	const int len = folder < 0 ? folder : safe_path_read(folder, name, text, size, &(struct error_sink){ 0 });

	if (folder >= 0)
		close(folder);
	return len;
}

int folder_state_read(const char *name, struct folder_state *s)
{
	char text[STATE_MAX + 1], left[8] = "", end[4] = "";
	int len, pid = 0, ready = 0, n;

	len = read_state(name, text, sizeof(text));
	if (len < 0)
		return len;
	memset(s, 0, sizeof(*s));
	n = sscanf(text,
		   "pid %d started %" SCNu64 " boot %" SCNx64 " %" SCNx64 " incarnation %" SCNu32 " hash %" SCNx64
		   " ready %d ready_ns %" SCNd64 " spawned_ns %" SCNd64 " restarts %" SCNu64
		   " left %7s latches %" SCNd64 " %3s",
		   &pid, &s->started, &s->boot[0], &s->boot[1], &s->incarnation, &s->hash, &ready, &s->ready_ns,
		   &s->spawned_ns, &s->restarts, left, &s->latches, end);
	if (n != 13 || strcmp(end, "end") != 0 || pid < 0 || !left_of(left, &s->left_as))
		return -EBADMSG;
	s->pid = pid;
	s->ready = ready;
	return 0;
}

void folder_state_remove(const char *name)
{
	if (state_fd >= 0)
		unlinkat(state_fd, name, 0);
}

/* ---- processes ---- */

int folder_proc_read(pid_t pid, const char *file, char *text, size_t size)
{
	char path[40];
	ssize_t len;
	int fd;

	snprintf(path, sizeof(path), "/proc/%d/%s", (int)pid, file);
	fd = open(path, O_RDONLY | O_CLOEXEC);
	if (fd < 0)
		return -errno;
	len = read(fd, text, size - 1);
	close(fd);
	text[len > 0 ? len : 0] = 0;
	return len > 0 ? (int)len : -ESRCH;
}

/* The fields behind the program's name, which is in brackets and may hold anything. */
static int stat_rest(pid_t pid, char *text, size_t size)
{
	const char *bracket;

	if (folder_proc_read(pid, "stat", text, size) < 0)
		return -ESRCH;
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

void folder_begin(struct folder_state *state, pid_t pid)
{
	state->pid = pid;
	state->started = folder_started(pid);
	boot_id_read(state->boot);
}

/* The effective user of a process; (uid_t)-1: there is none. */
static uid_t user_of(pid_t pid)
{
	char text[2048];
	const char *line = folder_proc_read(pid, "status", text, sizeof(text)) < 0 ? NULL : strstr(text, "\nUid:");
	unsigned int uid;

	return line && sscanf(line, "\nUid: %*u %u", &uid) == 1 ? (uid_t)uid : (uid_t)-1;
}

/* root may have started a program that has changed its user since. */
static bool is_ours(pid_t pid)
{
	return !geteuid() || user_of(pid) == geteuid();
}

static bool is_of_this_boot(const struct folder_state *state)
{
	uint64_t boot[2];

	return !boot_id_read(boot) && boot[0] == state->boot[0] && boot[1] == state->boot[1];
}

bool folder_runs(const struct folder_state *state)
{
	return state->pid > 0 && state->started && is_of_this_boot(state) &&
	       folder_started(state->pid) == state->started;
}

int folder_pidfd(const struct folder_state *state)
{
	const int fd = state->pid > 0 ? pidfd_open(state->pid, 0) : -1;

	/* The descriptor comes first: the number may be reused before the state is compared. */
	if (fd >= 0 && folder_runs(state) && is_ours(state->pid))
		return fd;
	if (fd >= 0)
		close(fd);
	return -ESRCH;
}

/* ---- the end ---- */

/* The state of a process that still runs, though the launch file does not name it, stays. */
static void sweep_state(const char *name)
{
	struct folder_state state;

	if (folder_state_read(name, &state) || !folder_runs(&state))
		folder_state_remove(name);
}

/* A killed daemon leaves its lock files behind; a lock that is held stays. */
static void sweep_lock(int folder, const char *name)
{
	const int fd = safe_path_file(folder, name, O_RDWR, 0, &(struct error_sink){ 0 });

	if (fd < 0)
		return;
	if (!flock(fd, LOCK_EX | LOCK_NB))
		unlinkat(folder, name, 0);
	close(fd);
}

static void sweep_folder(const char *name)
{
	const int fd = openat(run_fd, name, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
	DIR *dir = fd < 0 ? NULL : fdopendir(fd);
	const bool states = !strcmp(name, "state");
	const struct dirent *entry;

	while (dir && (entry = readdir(dir))) {
		if (states && *entry->d_name != '.')
			sweep_state(entry->d_name);
		else if (!states && lines_before(entry->d_name, ".lock"))
			sweep_lock(fd, entry->d_name);
	}
	if (dir)
		closedir(dir);
	else if (fd >= 0)
		close(fd);
	unlinkat(run_fd, name, AT_REMOVEDIR);
}

void folder_sweep_states(void)
{
	sweep_folder("state");
}

void folder_sweep(void)
{
	static const char *const names[] = { "room", "notify", "control", "web", "web.sessions", "robot", "lock" };

	sweep_folder("wire");
	sweep_lock(run_fd, "robotsim.lock");
	for (size_t i = 0; i < sizeof(names) / sizeof(*names); i++)
		unlinkat(run_fd, names[i], 0);
}
