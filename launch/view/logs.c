/* logs.c: the output of the daemons. */
#include <fcntl.h>
#include <sys/stat.h>
#include <sys/statvfs.h>
#include <time.h>
#include <unistd.h>

#include "channels/client/folder.h"
#include "channels/clock/clock.h"
#include "launch/view/logs.h"

#define RETRY_NS 1000000000
#define FILE_MAX 64
#define STAMP_MAX 32

/* ---- where the files are ---- */

static int own_place(char place[RUN_PATH_MAX])
{
	const char *set = getenv("LOGS_DIRECTORY");

	if (!set || *set != '/')
		return -ENOENT;
	snprintf(place, RUN_PATH_MAX, "%.*s", (int)strcspn(set, ":"), set);
	return 0;
}

static int kept_place(char place[RUN_PATH_MAX])
{
	const int folder = folder_enter("log", O_PATH);
	const int len =
		folder < 0 ? 0 : safe_path_read(folder, "place", place, RUN_PATH_MAX, &(struct error_sink){ 0 });

	if (folder >= 0)
		close(folder);
	if (len < 2 || *place != '/' || place[len - 1] != '\n')
		return -ENOENT;
	place[len - 1] = 0;
	return 0;
}

int logs_path(char path[RUN_PATH_MAX], const char *file)
{
	char place[RUN_PATH_MAX];

	if (own_place(place) && kept_place(place)) {
		snprintf(place, sizeof(place), "log/%s", file);
		return run_path(path, place, &(struct error_sink){ 0 });
	}
	return snprintf(path, RUN_PATH_MAX, "%s/%s", place, file) < RUN_PATH_MAX ? 0 : -ENAMETOOLONG;
}

/* Without operators, for the robot's user alone. */
static mode_t file_mode(void)
{
	return port_group() == (gid_t)-1 ? 0600 : 0640;
}

static int write_place(int folder, const char *place)
{
	char text[RUN_PATH_MAX + 1];
	const int len = snprintf(text, sizeof(text), "%s\n", place);
	const int status = safe_path_write(folder, "place", file_mode(), text, (size_t)len);

	if (!status)
		folder_give(folder, "place");
	return status;
}

int logs_keep_place(void)
{
	char place[RUN_PATH_MAX], kept[RUN_PATH_MAX];
	const bool elsewhere = !own_place(place);
	int folder, status = 0;

	if (elsewhere && !kept_place(kept) && !strcmp(place, kept))
		return 0;
	folder = run_folder("log", &(struct error_sink){ 0 });
	if (folder < 0)
		return folder;
	if (elsewhere)
		status = write_place(folder, place);
	else if (unlinkat(folder, "place", 0) && errno != ENOENT)
		status = -errno;
	close(folder);
	return status;
}

/* $RUN/log, made if need be, for the operators to read. */
static int log_folder(struct error_sink *errors)
{
	const int folder = run_folder("log", errors);

	if (folder >= 0)
		folder_give(folder, "");
	return folder;
}

/* The folder of the files: that of systemd, or ours. */
static int file_folder(void)
{
	char place[RUN_PATH_MAX];
	int folder;

	if (own_place(place))
		return log_folder(&(struct error_sink){ 0 });
	folder = open(place, O_PATH | O_DIRECTORY | O_CLOEXEC);
	return folder < 0 ? -errno : folder;
}

static const char *file_name(const struct logs *l, int nth, char name[FILE_MAX])
{
	snprintf(name, FILE_MAX, nth ? "%s.log.%d" : "%s.log", l->name, nth);
	return name;
}

/* ---- the file ---- */

static int open_file(struct logs *l)
{
	const int folder = file_folder();
	char name[FILE_MAX];
	struct stat st;
	int fd;

	if (folder < 0)
		return folder;
	fd = safe_path_file(folder, file_name(l, 0, name), O_WRONLY | O_CREAT | O_APPEND, file_mode(),
			    &(struct error_sink){ 0 });
	if (fd >= 0)
		folder_give(fd, "");
	close(folder);
	if (fd < 0)
		return fd == -ENXIO ? -EINVAL : fd; /* a FIFO, which has no reader */
	l->file = fd;
	l->file_size = fstat(l->file, &st) ? 0 : st.st_size;
	l->room = 0;
	return 0;
}

static int reopen_file(struct logs *l)
{
	close(l->file);
	l->file = -1;
	return open_file(l);
}

static void rotate(struct logs *l, int kept)
{
	const int folder = file_folder();
	char from[FILE_MAX], to[FILE_MAX];

	if (folder < 0)
		return;
	for (int i = kept; i > 0; i--)
		renameat(folder, file_name(l, i - 1, from), folder, file_name(l, i, to));
	close(folder);
	reopen_file(l);
}

/* Leaves room for other files, states above all. */
static bool has_room(struct logs *l, size_t len)
{
	struct statvfs fs;
	int64_t free, reserve;

	if (l->room < (int64_t)len && !fstatvfs(l->file, &fs)) {
		free = (int64_t)(fs.f_bavail * fs.f_frsize);
		reserve = (int64_t)(fs.f_blocks / 4 * fs.f_frsize);
		reserve = reserve < LOGS_RESERVE ? reserve : LOGS_RESERVE;
		l->room = free - reserve < LOGS_BURST ? free - reserve : LOGS_BURST;
	}
	if (l->room < (int64_t)len)
		return false;
	l->room -= (int64_t)len;
	return true;
}

void logs_say(struct logs *l, int64_t now_ns, int64_t t_ns, const char *line)
{
	char text[LOGS_LINE_MAX + STAMP_MAX + 16], place[RUN_PATH_MAX];
	const int64_t real_ns = clock_real_ns() - (clock_now_ns() - t_ns);
	const time_t seconds = (time_t)(real_ns / NS_PER_S);
	struct tm tm;
	bool elsewhere;
	size_t len;

	localtime_r(&seconds, &tm);
	len = strftime(text, STAMP_MAX, "%Y-%m-%d %H:%M:%S", &tm);
	len += (size_t)snprintf(text + len, sizeof(text) - len, ".%06d %s\n", (int)(real_ns / 1000 % 1000000), line);
	if (l->file < 0 && now_ns >= l->retry_ns) {
		l->retry_ns = now_ns + RETRY_NS;
		l->error = -open_file(l);
	}
	errno = ENOSPC;
	if (l->file < 0 || !has_room(l, len) || write(l->file, text, len) != (ssize_t)len) {
		l->error = l->file < 0 ? l->error : errno;
		l->lost++;
		return;
	}
	l->error = 0;
	l->lines++;
	l->file_size += (int64_t)len;
	elsewhere = !own_place(place);
	if (l->file_size > (elsewhere ? LOGS_SIZE_MAX : LOGS_RUN_SIZE_MAX))
		rotate(l, elsewhere ? LOGS_KEPT : 1);
}

bool logs_check(struct logs *l, int64_t now_ns)
{
	char name[FILE_MAX];
	bool gone = false;
	int folder;

	if (now_ns < l->look_ns)
		return false;
	l->look_ns = now_ns + RETRY_NS;
	folder = l->file < 0 ? -1 : file_folder();
	if (folder >= 0) {
		gone = !safe_path_is_there(l->file, folder, file_name(l, 0, name));
		close(folder);
	}
	if (gone)
		l->error = -reopen_file(l);
	return gone && !l->error;
}

const char *logs_why(int error)
{
	return error == EINVAL ? "there is something else of its name" : strerror(error);
}

bool logs_changed(struct logs *l, int *error)
{
	*error = l->error;
	if (l->reported == !!l->error)
		return false;
	l->reported = l->error;
	return true;
}

/* ---- lines ---- */

const char *logs_last(const struct logs *l, unsigned int nth)
{
	return nth < l->last_n ? l->last[(l->last_at + LOGS_LAST - 1 - nth) % LOGS_LAST] : NULL;
}

void logs_forget(struct logs *l)
{
	l->last_n = 0;
}

static void end_line(struct logs *l, int64_t now_ns)
{
	l->line[l->line_len] = 0;
	snprintf(l->last[l->last_at], sizeof(l->last[0]), "%s", l->line);
	l->last_at = (l->last_at + 1) % LOGS_LAST;
	if (l->last_n < LOGS_LAST)
		l->last_n++;
	logs_say(l, now_ns, now_ns, l->line);
	l->line_len = 0;
}

static void take_byte(struct logs *l, int64_t now_ns, char byte)
{
	if (byte == '\n')
		end_line(l, now_ns);
	else if (l->line_len < LOGS_LINE_MAX) /* no control characters for a terminal that shows the log */
		l->line[l->line_len++] = ((unsigned char)byte < ' ' && byte != '\t') || byte == 0x7F ? '?' : byte;
}

bool logs_read(struct logs *l, int64_t now_ns)
{
	char bytes[4096];

	while (l->fifo >= 0 && l->taken < LOGS_BURST) {
		const ssize_t n = read(l->fifo, bytes, sizeof(bytes));

		if (n <= 0)
			return true;
		l->taken += (size_t)n;
		for (ssize_t i = 0; i < n; i++)
			take_byte(l, now_ns, bytes[i]);
	}
	return l->fifo < 0;
}

void logs_allow(struct logs *l)
{
	l->taken = 0;
}

void logs_end(struct logs *l, int64_t now_ns)
{
	logs_allow(l);
	logs_read(l, now_ns);
	if (l->line_len)
		end_line(l, now_ns);
}

/* ---- opening ---- */

/* A FIFO of ours, or -errno. */
static int check_fifo(int fd)
{
	struct stat st;

	if (fd < 0)
		return -errno;
	if (!fstat(fd, &st) && S_ISFIFO(st.st_mode) && st.st_uid == geteuid())
		return fd;
	close(fd);
	return -EEXIST;
}

/* For reading and writing, so that neither side ever sees the other close it. */
static int open_fifo(const char *path)
{
	return check_fifo(open(path, O_RDWR | O_NONBLOCK | O_CLOEXEC));
}

static int open_pipe(void)
{
	char path[32];
	int ends[2], fd;

	if (pipe2(ends, O_CLOEXEC))
		return -errno;
	snprintf(path, sizeof(path), "/proc/self/fd/%d", ends[0]);
	fd = open_fifo(path);
	close(ends[0]);
	close(ends[1]);
	return fd;
}

static int make_fifo(const struct logs *l)
{
	const int folder = log_folder(&(struct error_sink){ 0 });
	int fd;

	if (folder < 0)
		return folder;
	if (mkfifoat(folder, l->name, 0600) && errno != EEXIST)
		fd = -errno;
	else
		fd = check_fifo(openat(folder, l->name, O_RDWR | O_NONBLOCK | O_NOFOLLOW | O_CLOEXEC));
	close(folder);
	return fd;
}

int logs_open(struct logs *l, const char *name, bool fifo, struct error_sink *errors)
{
	const int folder = log_folder(errors);
	int status = folder < 0 ? folder : 0;

	memset(l, 0, sizeof(*l));
	l->fifo = l->file = -1;
	snprintf(l->name, sizeof(l->name), "%s", name);
	if (folder >= 0) {
		close(folder);
		l->fifo = fifo ? make_fifo(l) : -1;
		status = fifo && l->fifo < 0 ? l->fifo : open_file(l);
		if (status)
			error_add(errors, "log/%s: %s", name, logs_why(-status));
	}
	if (fifo && l->fifo < 0)
		l->fifo = open_pipe();
	l->error = -status;
	l->reported = status;
	return status;
}

void logs_adopt(struct logs *l, pid_t pid)
{
	char path[32];
	struct stat ours, theirs;
	int fd;

	snprintf(path, sizeof(path), "/proc/%d/fd/1", (int)pid);
	if (stat(path, &theirs) || !S_ISFIFO(theirs.st_mode))
		return;
	if (l->fifo >= 0 && !fstat(l->fifo, &ours) && ours.st_ino == theirs.st_ino && ours.st_dev == theirs.st_dev)
		return;
	fd = open_fifo(path);
	if (fd < 0)
		return;
	if (l->fifo >= 0)
		close(l->fifo);
	l->fifo = fd;
}

void logs_close(struct logs *l, bool remove_fifo)
{
	const int folder = remove_fifo ? run_folder("log", &(struct error_sink){ 0 }) : -1;

	if (l->fifo >= 0)
		close(l->fifo);
	if (l->file >= 0)
		close(l->file);
	l->fifo = l->file = -1;
	if (folder < 0)
		return;
	unlinkat(folder, l->name, 0);
	close(folder);
}
