/* freeze.c: an incident as a folder. */
#include <dirent.h>
#include <fcntl.h>
#include <libgen.h>
#include <limits.h>
#include <sched.h>
#include <signal.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/utsname.h>
#include <time.h>
#include <unistd.h>

#include "can/log/log.h"
#include "channels/client/folder.h"
#include "channels/clock/clock.h"
#include "channels/clock/vt_clock.h"
#include "channels/rec/rec_rotate.h"
#include "channels/rec/reclog.h"
#include "config/settings/options.h"
#include "config/settings/robot.h"
#include "daemons/drv/realtime.h"
#include "launch/file/launch_file.h"
#include "launch/record/freeze.h"
#include "launch/view/logs.h"

#define DIGITS 4
#define ARGUMENTS_MAX 8192
#define SETTINGS_MAX (1 << 20) /* bytes of a file of settings that is copied */
#define EVENTS_MAX (1 << 16)   /* bytes of the log of events */
#define BEAT_NS 100000000      /* while the thread is waited for */

/* ---- files ---- */

static int copy(int from, int to, off_t skip, off_t most)
{
	char bytes[1 << 16];
	ssize_t n;

	if (skip && lseek(from, skip, SEEK_SET) < 0)
		return -errno;
	while (most > 0 && (n = read(from, bytes, sizeof(bytes))) > 0) {
		const ssize_t done = write(to, bytes, (size_t)n);

		if (done != n)
			return done < 0 ? -errno : -ENOSPC;
		most -= n;
	}
	return 0;
}

/* Without waiting for a FIFO that may lie there. */
static int open_regular(const char *path)
{
	const int fd = open(path, O_RDONLY | O_NONBLOCK | O_CLOEXEC);
	struct stat st;

	if (fd < 0 || (!fstat(fd, &st) && S_ISREG(st.st_mode)))
		return fd;
	close(fd);
	errno = EINVAL;
	return -1;
}

/* To the disk; a file system that cannot do that keeps it as well as it can. */
static int save(int fd)
{
	return fsync(fd) && errno != EINVAL && errno != EROFS ? -errno : 0;
}

/* status, or what went wrong in the end. */
static int save_and_close(FILE *to, int status)
{
	if (!status && fflush(to))
		status = -errno;
	if (!status)
		status = save(fileno(to));
	if (fclose(to) && !status)
		status = -errno;
	return status;
}

/* skip negative: the last bytes. */
static int copy_file(const char *from, int folder, const char *name, off_t skip, off_t most, int flags)
{
	const int in = open_regular(from);
	const int out = in < 0 ? -1 : openat(folder, name, O_WRONLY | O_CREAT | O_CLOEXEC | flags, 0640);
	int status = in < 0 || out < 0 ? -errno : 0;
	struct stat st;

	if (!status && skip < 0)
		skip = !fstat(in, &st) && st.st_size > -skip ? st.st_size + skip : 0;
	if (!status)
		status = copy(in, out, skip, most);
	if (!status)
		status = save(out);
	if (in >= 0)
		close(in);
	if (out >= 0 && close(out) && !status)
		status = -errno;
	return status;
}

/* The pieces, one behind the other.  Each begins with a mark, of which the whole has one. */
static int join_channels(const struct freeze *f, int folder)
{
	struct rec_piece *pieces = NULL;
	const size_t n = writer_pieces(f->channels, &pieces);
	char path[PATH_MAX];
	int status = 0;

	for (size_t i = 0; !status && i < n; i++) {
		status = rec_rotate_path(path, f->channels, DIGITS, pieces[i].number);
		if (!status)
			status =
				copy_file(path, folder, "channels.rec", i ? RECLOG_MAGIC_SIZE : 0, INT64_MAX, O_APPEND);
	}
	free(pieces);
	return status;
}

struct bus_file {
	char name[LOG_BUS_MAX];
	FILE *to;
};

static FILE *bus_file(struct bus_file files[ROBOT_BUSES_MAX], int folder, const char *name)
{
	char path[LOG_BUS_MAX + 16];
	int i = 0, fd;

	while (i < ROBOT_BUSES_MAX && files[i].to && strcmp(files[i].name, name) != 0)
		i++;
	if (i < ROBOT_BUSES_MAX && !files[i].to) {
		snprintf(path, sizeof(path), "bus-%s.log", name);
		fd = openat(folder, path, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0640);
		files[i].to = fd < 0 ? NULL : fdopen(fd, "w");
		snprintf(files[i].name, sizeof(files[i].name), "%s", name);
	}
	return i < ROBOT_BUSES_MAX ? files[i].to : NULL;
}

/* Lines are "(1700000000.123456) NAME 123#..." and "# NAME: remark". */
static int split_piece(const char *path, int folder, struct bus_file files[ROBOT_BUSES_MAX])
{
	FILE *from = fopen(path, "re");
	char line[LOG_WRITE_MAX], name[LOG_BUS_MAX];
	int status = from ? 0 : -errno;

	while (!status && fgets(line, sizeof(line), from)) {
		FILE *to;

		if (sscanf(line, "%*s %15[^: \n]", name) != 1)
			continue;
		to = bus_file(files, folder, name);
		if (!to || fputs(line, to) < 0)
			status = errno ? -errno : -EIO;
	}
	if (from)
		fclose(from);
	return status;
}

static int split_buses(const struct freeze *f, int folder)
{
	struct bus_file files[ROBOT_BUSES_MAX] = { 0 };
	struct rec_piece *pieces = NULL;
	const size_t n = writer_pieces(f->bus, &pieces);
	char path[PATH_MAX];
	int status = 0;

	for (size_t i = 0; !status && i < n; i++) {
		status = rec_rotate_path(path, f->bus, DIGITS, pieces[i].number);
		if (!status)
			status = split_piece(path, folder, files);
	}
	for (int i = 0; i < ROBOT_BUSES_MAX && files[i].to; i++)
		status = save_and_close(files[i].to, status);
	free(pieces);
	return status;
}

/* ---- the incident ---- */

static void stamp(char text[64], int64_t real_ns)
{
	const time_t seconds = (time_t)(real_ns / NS_PER_S);
	struct tm when;
	const size_t len = strftime(text, 64, "%Y-%m-%d %H:%M:%S", gmtime_r(&seconds, &when));

	snprintf(text + len, 64 - len, ".%06" PRId64 " UTC", real_ns % NS_PER_S / NS_PER_US);
}

static int write_incident(const struct freeze *f, int folder)
{
	const int fd = openat(folder, "incident", O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0640);
	FILE *to = fd < 0 ? NULL : fdopen(fd, "w");
	struct utsname machine = { 0 };
	char text[64];

	if (!to)
		return -errno;
	uname(&machine);
	stamp(text, f->causes[0].t_ns + f->real_ns);
	fprintf(to, "time: %s\nrobot: %s\nendplate: %s\nkernel: %s %s %s\nhost: %s\n", text, f->robot, OPTIONS_VERSION,
		machine.sysname, machine.release, machine.machine, machine.nodename);
	fprintf(to, "t_ns: %" PRId64 "\nreal_ns: %" PRId64 "\nfrom_ns: %" PRId64 "\n", f->causes[0].t_ns, f->real_ns,
		f->from_ns);
	for (unsigned int i = 0; i < f->causes_n; i++)
		fprintf(to, "cause: %+.6f s %s\n", (double)(f->causes[i].t_ns - f->causes[0].t_ns) / 1e9,
			f->causes[i].why);
	if (f->more)
		fprintf(to, "causes: %" PRIu64 " more\n", f->more);
	return save_and_close(to, 0);
}

/* ---- programs ---- */

static bool read_link(char path[PATH_MAX], const char *pid)
{
	char link[64];
	ssize_t n;

	snprintf(link, sizeof(link), "/proc/%.20s/exe", pid);
	n = readlink(link, path, PATH_MAX - 1);
	path[n > 0 ? n : 0] = 0;
	return n > 0;
}

static void hash_of(char text[SHA256_TEXT_MAX], const char *pid)
{
	char path[64], bytes[1 << 14];
	struct sha256 s;
	size_t n;
	FILE *from;

	snprintf(path, sizeof(path), "/proc/%.20s/exe", pid);
	from = fopen(path, "re");
	snprintf(text, SHA256_TEXT_MAX, "%s", "?");
	if (!from)
		return;
	sha256_start(&s);
	while ((n = fread(bytes, 1, sizeof(bytes), from)) > 0)
		sha256_add(&s, bytes, n);
	fclose(from);
	sha256_text(&s, text);
}

/* The launch file of that argument, which is a name without a slash. */
static bool find_launch(char path[LAUNCH_FIND_MAX], const char *pid, const char *argument)
{
	char here[64], program[64], folder[LAUNCH_FIND_MAX];
	struct launch_places places = { .here = here };

	snprintf(here, sizeof(here), "/proc/%.20s/cwd/", pid);
	snprintf(program, sizeof(program), "/proc/%.20s/exe", pid);
	places.installed = launch_installed(folder, program);
	return !launch_path_in(path, argument, &places, &(struct error_sink){ 0 });
}

/* The robot file of a driver, and the launch file of achstart. */
static void copy_settings(const char *pid, const char *program, const char *arguments, int len, int folder)
{
	const bool starts = text_ends_with(program, "/achstart");
	bool next = false, found = false;

	for (const char *a = arguments; a < arguments + len; a += strlen(a) + 1) {
		const size_t n = strlen(a);
		const bool launch = n > 7 && !strcmp(a + n - 7, ".launch");
		const bool last = starts && !found && a + n + 1 >= arguments + len;
		char path[PATH_MAX], name[PATH_MAX];

		/* A name without the suffix is looked for only as the last word: an option may have the others. */
		if ((launch || last) && !strchr(a, '/') && find_launch(path, pid, a)) {
			snprintf(name, sizeof(name), "%s", path);
			copy_file(path, folder, basename(name), 0, SETTINGS_MAX, O_EXCL);
			found = true;
		} else if (next || launch) {
			snprintf(path, sizeof(path), "%s%s%s%s", *a == '/' ? "" : "/proc/", *a == '/' ? "" : pid,
				 *a == '/' ? "" : "/cwd/", a);
			snprintf(name, sizeof(name), "%s", a);
			copy_file(path, folder, basename(name), 0, SETTINGS_MAX, O_EXCL);
		}
		next = !strcmp(a, "--config");
	}
}

static bool beside(const char *a, const char *b)
{
	const char *end = strrchr(a, '/');

	return end && !strncmp(a, b, (size_t)(end - a) + 1) && !strchr(b + (end - a) + 1, '/');
}

/* All programs that lie in the folder of this one. */
static int write_programs(int folder, int settings)
{
	const int fd = openat(folder, "programs", O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0640);
	FILE *to = fd < 0 ? NULL : fdopen(fd, "w");
	char own[PATH_MAX], path[PATH_MAX], hash[SHA256_TEXT_MAX], arguments[ARGUMENTS_MAX];
	DIR *proc = opendir("/proc");
	struct dirent *entry;

	int status = to && proc && read_link(own, "self") ? 0 : -errno;

	while (!status && (entry = readdir(proc))) {
		int len;

		if (*entry->d_name < '1' || *entry->d_name > '9' || !read_link(path, entry->d_name) ||
		    !beside(own, path))
			continue;
		hash_of(hash, entry->d_name);
		*arguments = 0;
		len = folder_proc_read(atoi(entry->d_name), "cmdline", arguments, sizeof(arguments));
		copy_settings(entry->d_name, path, arguments, len, settings);
		for (int i = 0; i + 1 < len; i++)
			if (arguments[i] == 0 || arguments[i] == '\n')
				arguments[i] = ' ';
		fprintf(to, "%s %s %s\n", hash, entry->d_name, arguments);
	}
	if (proc)
		closedir(proc);
	return to ? save_and_close(to, status) : status;
}

/* ---- the folder ---- */

static int fill(const struct freeze *f, int folder)
{
	char events[RUN_PATH_MAX];
	int settings, status = write_incident(f, folder);

	if (!status)
		status = split_buses(f, folder);
	if (!status)
		status = join_channels(f, folder);
	if (!status && !logs_path(events, "events.log"))
		copy_file(events, folder, "events.log", -EVENTS_MAX, EVENTS_MAX, O_EXCL); /* without achstart: none */
	if (status || mkdirat(folder, "settings", 0750))
		return status ? status : -errno;
	settings = openat(folder, "settings", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	if (settings < 0)
		return -errno;
	status = write_programs(folder, settings);
	if (!status)
		status = save(settings);
	close(settings);
	return status ? status : save(folder);
}

static void remove_folder(int at, const char *name)
{
	const int fd = openat(at, name, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
	DIR *folder = fd < 0 ? NULL : fdopendir(fd);
	struct dirent *entry;

	while (folder && (entry = readdir(folder))) {
		if (!strcmp(entry->d_name, ".") || !strcmp(entry->d_name, ".."))
			continue;
		if (unlinkat(fd, entry->d_name, 0) && errno == EISDIR)
			remove_folder(fd, entry->d_name);
	}
	if (folder)
		closedir(folder);
	unlinkat(at, name, AT_REMOVEDIR);
}

static int is_incident(const struct dirent *entry)
{
	return *entry->d_name >= '0' && *entry->d_name <= '9';
}

static int64_t folder_bytes(int at, const char *name)
{
	const int fd = openat(at, name, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
	DIR *folder = fd < 0 ? NULL : fdopendir(fd);
	struct dirent *entry;
	int64_t bytes = 0;
	struct stat st;

	while (folder && (entry = readdir(folder))) /* the settings are small */
		if (!fstatat(fd, entry->d_name, &st, AT_SYMLINK_NOFOLLOW) && S_ISREG(st.st_mode))
			bytes += st.st_size;
	if (folder)
		closedir(folder);
	return bytes;
}

static void remove_oldest(const struct freeze *f, int at)
{
	struct dirent **names;
	const int n = scandir(f->folder, &names, is_incident, alphasort);
	int64_t bytes = 0;

	for (int i = n; i-- > 0;) { /* from the newest on */
		bytes += folder_bytes(at, names[i]->d_name);
		if (n - i > f->keep || (n - i > 1 && bytes > f->total_bytes))
			remove_folder(at, names[i]->d_name);
		free(names[i]);
	}
	if (n >= 0)
		free(names);
}

/* Writes it, to the disk (fsync), and removes the oldest.  name: of the folder.  0 or -errno with a line in errors. */
static int write_folder(const struct freeze *f, char name[FREEZE_NAME_MAX], struct error_sink *errors)
{
	static const char hidden[] = FREEZE_INCOMPLETE;
	const int64_t real_ns = f->causes[0].t_ns + f->real_ns;
	const time_t seconds = (time_t)(real_ns / NS_PER_S);
	const int at = open(f->folder, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	int folder = -1, status = at < 0 ? -errno : 0;
	struct tm when;
	size_t len;

	len = strftime(name, FREEZE_NAME_MAX, "%Y%m%d-%H%M%S", gmtime_r(&seconds, &when));
	snprintf(name + len, FREEZE_NAME_MAX - len, ".%03d", (int)(real_ns / 1000000 % 1000));
	if (!status) {
		remove_folder(at, hidden); /* of a predecessor that was killed */
		if (mkdirat(at, hidden, 0750) || (folder = openat(at, hidden, O_RDONLY | O_DIRECTORY | O_CLOEXEC)) < 0)
			status = -errno;
	}
	if (!status)
		status = fill(f, folder);
	if (!status && renameat(at, hidden, at, name))
		status = -errno;
	if (!status)
		status = save(at);
	if (!status)
		remove_oldest(f, at);
	else if (at >= 0)
		remove_folder(at, hidden);
	if (folder >= 0)
		close(folder);
	if (at >= 0)
		close(at);
	if (status)
		error_add(errors, "unable to write an incident: %s: %s", strerror(-status), f->folder);
	return status;
}

int64_t freeze_newest(const char *folder)
{
	struct dirent **names;
	const int n = scandir(folder, &names, is_incident, alphasort);
	struct tm when = { 0 };
	int64_t newest_ns = 0;
	int ms = 0;

	for (int i = 0; i < n; i++) {
		const char *end = strptime(names[i]->d_name, "%Y%m%d-%H%M%S", &when);

		if (end && sscanf(end, ".%3d", &ms) == 1)
			newest_ns = (int64_t)timegm(&when) * NS_PER_S + (int64_t)ms * NS_PER_MS;
		free(names[i]);
	}
	if (n >= 0)
		free(names);
	return newest_ns;
}

/* ---- in a thread ---- */

/* On a virtual clock it has inherited the processor of the clock, which others would wait for. */
static void leave_clock(void)
{
	cpu_set_t any;

	memset(&any, 0xFF, sizeof(any));
	sched_setaffinity(0, sizeof(any), &any);
	realtime_schedule(0, SCHED_OTHER, 0);
	setpriority(PRIO_PROCESS, 0, 0); /* of this thread: a person waits for it */
}

static void write_all(struct freeze_job *job)
{
	writer_close(job->bus);
	writer_close(job->channels);
	job->status = write_folder(&job->freeze, job->name, lines_begin(&job->why));
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

void freeze_begin(struct freeze_job *job)
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

static void join(struct freeze_job *job)
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

bool freeze_ended(struct freeze_job *job, bool wait)
{
	if (!job->on || (!wait && !atomic_load(&job->ended)))
		return false;
	if (job->started)
		join(job);
	job->on = job->started = false;
	return true;
}

bool freeze_waits(void)
{
	const struct vt_end *end = vt_clock_end();

	return end && end->page->rate <= 0;
}
