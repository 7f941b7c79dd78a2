/* facts_robot.c: gathers owners and modes of the robot's files and channels, and the space on disks. */
#include <fcntl.h>
#include <sys/stat.h>
#include <sys/statvfs.h>
#include <unistd.h>

#include "channels/ach/ach_file.h"
#include "channels/clock/clock.h"
#include "launch/achdoctor/facts.h"

#define WRITE_BYTES (8 << 20)

static struct doctor_file *add_file(struct doctor_robot *r, const char *name, const struct stat *st, bool channel)
{
	struct doctor_file *f = &r->files[r->files_n];

	if (r->files_n == DOCTOR_FILES_MAX)
		return NULL;
	r->files_n++;
	*f = (struct doctor_file){ .channel = channel, .owner = st->st_uid, .mode = st->st_mode & 0777 };
	snprintf(f->name, sizeof(f->name), "%s", name);
	return f;
}

static void gather_files(struct doctor_robot *r)
{
	static const char *const names[] = { "log", "state", "chan", "control", "robot", "lock", "epoch", "notify" };
	char path[RUN_PATH_MAX];
	struct stat st;

	for (size_t i = 0; i < sizeof(names) / sizeof(*names); i++)
		if (!run_path(path, names[i], &(struct error_sink){ 0 }) && !lstat(path, &st))
			add_file(r, names[i], &st, false);
}

static void add_channel(struct doctor_robot *r, const char *full)
{
	char path[ACH_FILE_PATH_LEN];
	struct doctor_file *f;
	ach_channel_t chan;
	struct stat st;

	ach_file_channel_path(path, full);
	if (lstat(path, &st))
		return;
	f = add_file(r, full + strlen(r->prefix), &st, true);
	if (!f)
		return;
	f->mode = DOCTOR_UNKNOWN; /* that of its file is not the channel's */
	if (ach_open(&chan, full, NULL) != ACH_OK) {
		r->unseen++;
		return;
	}
	f->mode = ach_memory_mode(chan.handle);
	ach_close(&chan);
}

static bool begins(const char *name, const char *with)
{
	const size_t len = strlen(with);

	return !strncmp(name, with, len) && (name[len] == '-' || name[len] == '.');
}

/* Without a prefix any user's channels are beside the robot's: another user must not be able to fail a check. */
static bool is_ours(const struct facts_scope *scope, const char *name)
{
	const struct robot *robot = scope->robot;
	bool found = !strcmp(name, "estop") || !strcmp(name, "estop-b") || !strcmp(name, "clock") ||
		     begins(name, "achstart");

	for (size_t i = 0; robot && i < robot->devices_n && !found; i++)
		found = begins(name, robot->devices[i].name);
	for (size_t i = 0; robot && i < robot->buses_n && !found; i++)
		found = !strncmp(name, "bus-", 4) && !strcmp(name + 4, robot->buses[i].name);
	return found;
}

static void gather_channels(struct doctor_robot *r, const struct facts_scope *scope)
{
	const size_t len = strlen(r->prefix);
	DIR *folder = ach_file_list();
	const char *full;

	while (folder && (full = ach_file_next(folder)))
		if (!strncmp(full, r->prefix, len) && is_ours(scope, full + len))
			add_channel(r, full);
	if (folder)
		closedir(folder);
}

void facts_robot(struct doctor_robot *r, const struct facts_scope *scope)
{
	const char *prefix = getenv("ENDPLATE_PREFIX");
	char path[RUN_PATH_MAX];
	struct stat st;

	if (run_path(path, NULL, &(struct error_sink){ 0 }) || lstat(path, &st))
		return;
	r->there = true;
	r->owner = st.st_uid;
	/* Without the launch file the groups are not known: as if there were both. */
	r->operators = !scope->launch || scope->launch->operators != LAUNCH_NO_GROUP;
	r->moving = !scope->launch || scope->launch->moving != LAUNCH_NO_GROUP;
	snprintf(r->folder, sizeof(r->folder), "%.255s", path);
	snprintf(r->prefix, sizeof(r->prefix), "%.63s", prefix ? prefix : "");
	add_file(r, "", &st, false);
	gather_files(r);
	gather_channels(r, scope);
}

/* ---- disks ---- */

static int64_t write_rate(const char *path)
{
	static char block[1 << 20];
	const int fd = open(path, O_TMPFILE | O_WRONLY | O_CLOEXEC, 0600);
	const int64_t begun_ns = clock_now_ns();
	int64_t took_ns;
	bool failed = fd < 0;

	for (size_t done = 0; !failed && done < WRITE_BYTES; done += sizeof(block))
		failed = write(fd, block, sizeof(block)) != (ssize_t)sizeof(block);
	failed = failed || fdatasync(fd);
	if (fd >= 0)
		close(fd);
	took_ns = clock_now_ns() - begun_ns;
	return failed ? DOCTOR_UNKNOWN : (int64_t)((double)WRITE_BYTES * 1e9 / (double)(took_ns > 0 ? took_ns : 1));
}

void facts_disk(struct doctor_robot *r, const char *path, bool measure)
{
	struct doctor_disk *d = &r->disks[r->disks_n];
	struct statvfs fs;

	if (r->disks_n == DOCTOR_DISKS_MAX)
		return;
	r->disks_n++;
	*d = (struct doctor_disk){ .bytes_per_s = DOCTOR_UNKNOWN };
	snprintf(d->path, sizeof(d->path), "%.255s", path);
	if (statvfs(path, &fs)) {
		d->err = -errno;
		return;
	}
	d->free_bytes = (int64_t)(fs.f_bavail * fs.f_frsize);
	if (measure && d->free_bytes > 2 * WRITE_BYTES)
		d->bytes_per_s = write_rate(path);
}
