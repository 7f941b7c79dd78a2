/* doctor_robot.c: checks of the robot's channels and files against endplate-security(7), and of disks. */
#include "launch/achdoctor/doctor.h"

#define FREE_FAIL (64LL << 20)
#define FREE_WARN (256LL << 20)
#define RATE_WARN (10LL << 20) /* bytes a second */

/* The table of endplate-security(7); the first row that matches counts.  A pattern begins with '*' or ends with it, or
 * is the whole name. */
struct rule {
	const char *pattern;
	int64_t mode, alone; /* at most: with operators, and without */
};

static const struct rule channels[] = {
	{ "estop", 0640, 0600 },   { "estop-b", 0660, 0600 },
	{ "clock", 0640, 0600 },   { "bus-*", 0640, 0600 },
	{ "*-state", 0640, 0600 }, { "*-rep", 0640, 0600 },
	{ "*-event", 0640, 0600 }, { "*-req", 0600, 0600 },
	{ "*-info", 0640, 0600 },  { NULL, 0, 0 },
};

/* systemd gives any user the right to enter, but not to list, the folder itself.  Without operators the folder is
 * closed to other users, and two of its files keep the group's rights. */
static const struct rule files[] = {
	{ "", 0751, 0711 },	   { "log", 0751, 0751 },   { "state", 0700, 0700 }, { "chan", 0751, 0711 },
	{ "control", 0660, 0600 }, { "robot", 0640, 0640 }, { "lock", 0600, 0600 },  { "epoch", 0600, 0600 },
	{ "notify", 0600, 0600 },  { NULL, 0, 0 },
};

static bool matches(const char *pattern, const char *name)
{
	const size_t len = strlen(pattern), name_len = strlen(name);

	if (*pattern == '*')
		return name_len >= len && !strcmp(name + name_len - (len - 1), pattern + 1);
	if (len && pattern[len - 1] == '*')
		return !strncmp(name, pattern, len - 1);
	return !strcmp(pattern, name);
}

/* The loosest mode that is allowed; -1: the page does not list it. */
static int64_t mode_max(const struct doctor_robot *r, const struct doctor_file *f)
{
	if (f->channel && matches("*-ref", f->name))
		return r->moving ? 0660 : 0600;
	for (const struct rule *rule = f->channel ? channels : files; rule->pattern; rule++)
		if (matches(rule->pattern, f->name))
			return r->operators ? rule->mode : rule->alone;
	return -1;
}

static bool is_wrong(const struct doctor_robot *r, const struct doctor_file *f, struct doctor_report *report)
{
	const char *check = f->channel ? "channels" : "files";
	const char *name = *f->name ? f->name : r->folder;
	const int64_t max = mode_max(r, f);

	if (max < 0)
		return false;
	if (f->owner != r->owner && f->owner) {
		doctor_add(report, DOCTOR_FAIL, check, "%s belongs to uid %u, not %u", name, (unsigned int)f->owner,
			   (unsigned int)r->owner);
		if (f->channel)
			doctor_mend(report, "ach rm %s%s, as its owner or root", r->prefix, f->name);
		else
			doctor_mend(report, "achctl stop; rm -r %s", r->folder);
		return true;
	}
	if (f->mode == DOCTOR_UNKNOWN || !(f->mode & ~max))
		return false;
	doctor_add(report, DOCTOR_FAIL, check, "%s has mode %04o, not %04o", name, (unsigned int)f->mode,
		   (unsigned int)max);
	if (f->channel)
		doctor_mend(report, "ach chmod %o %s%s", (unsigned int)max, r->prefix, f->name);
	else
		doctor_mend(report, "chmod %o %s%s%s", (unsigned int)max, r->folder, *f->name ? "/" : "", f->name);
	return true;
}

static void check_kind(const struct doctor_robot *r, bool channel, struct doctor_report *report)
{
	const char *check = channel ? "channels" : "files";
	size_t n = 0, wrong = 0;

	for (size_t i = 0; i < r->files_n; i++) {
		if (r->files[i].channel != channel)
			continue;
		n++;
		wrong += is_wrong(r, &r->files[i], report);
	}
	if (!wrong && n)
		doctor_add(report, DOCTOR_OK, check, "%zu, owners and modes as in endplate-security(7)", n);
	if (channel && r->unseen)
		doctor_add(report, DOCTOR_UNSEEN, check, "modes of %zu cannot be seen by this user", r->unseen);
}

void doctor_files(const struct doctor_robot *r, struct doctor_report *report)
{
	if (!r->there) {
		doctor_add(report, DOCTOR_SKIP, "files", "the robot does not run: it has no folder yet");
		return;
	}
	check_kind(r, false, report);
	check_kind(r, true, report);
}

static void check_disk(const struct doctor_disk *d, struct doctor_report *report)
{
	const enum doctor_verdict space = d->free_bytes < FREE_FAIL   ? DOCTOR_FAIL
					  : d->free_bytes < FREE_WARN ? DOCTOR_WARN
								      : DOCTOR_OK;

	if (d->err) {
		doctor_add(report, DOCTOR_UNSEEN, "disk", "%s: %s", d->path, strerror(-d->err));
		return;
	}
	doctor_add(report, space, "disk", "%s: %" PRId64 " MB free", d->path, d->free_bytes >> 20);
	doctor_mend(report, "remove old logs and recordings: du -ah %s | sort -h | tail", d->path);
	if (d->bytes_per_s == DOCTOR_UNKNOWN) {
		doctor_add(report, DOCTOR_UNSEEN, "write rate", "%s: cannot be measured: no file can be made there",
			   d->path);
		return;
	}
	doctor_add(report, d->bytes_per_s < RATE_WARN ? DOCTOR_WARN : DOCTOR_OK, "write rate", "%s: %" PRId64 " MB/s",
		   d->path, d->bytes_per_s >> 20);
	doctor_mend(report, "record to another disk");
}

void doctor_disks(const struct doctor_robot *r, struct doctor_report *report)
{
	for (size_t i = 0; i < r->disks_n; i++)
		check_disk(&r->disks[i], report);
}
