/* claim.c: one driver per device, and one writer per channel. */
#include <fcntl.h>
#include <limits.h>
#include <sys/stat.h>
#include <unistd.h>

#include "channels/ach/ach_file.h"
#include "daemons/drv/claim.h"
#include "daemons/drv/claim_name.h"

#define WIRE "wire:"
#define PREFIX "endplate/dev/"
#define CLAIM_MAX (RUN_PATH_MAX + 128)
#define NAME_MAX_OLD (PATH_MAX + CLAIM_MAX)

/* ---- abstract names ---- */

/* 1: taken by another process. */
static int take_name(struct claim_set *set, const char *name, const char *label, struct claim_holder *holder,
		     struct error_sink *errors)
{
	int fd;

	if (set->names_n == set->names_room && !grow(&set->names, &set->names_room, set->names_n + 1, sizeof(int)))
		return error_refuse(errors, -ENOMEM, "%s: unable to claim it: no memory", label);
	fd = claim_name_take(name, holder);
	if (fd >= 0)
		set->names[set->names_n++] = fd;
	else if (fd != -EBUSY)
		return error_refuse(errors, fd, "%s: unable to claim it: %s", label, strerror(-fd));
	return fd < 0;
}

static int refuse(struct error_sink *errors, const char *label, const struct claim_holder *holder)
{
	char text[CLAIM_HOLDER_MAX];

	return error_refuse(errors, -EBUSY, "%s is taken by %s", label, claim_holder_text(text, holder));
}

/* The name that older versions take. */
static int take_old_name(struct claim_set *set, const struct claim_locks *locks, const char *name, const char *label,
			 struct error_sink *errors, struct error_sink *warnings)
{
	struct claim_holder holder = { .uid = CLAIM_HOLDER_UNKNOWN };
	const int status = take_name(set, name, label, &holder, errors);
	char text[CLAIM_HOLDER_MAX];
	struct stat st;

	if (status <= 0)
		return status;
	if (!holder.uid || holder.uid == geteuid() || (!fstat(locks->fd, &st) && holder.uid == st.st_uid))
		return refuse(errors, label, &holder);
	if (!set->warned)
		error_add(warnings,
			  "%s: %s has bound its old name, which holds nothing; if it is a robot, give one of them "
			  "another ENDPLATE_PREFIX",
			  label, claim_holder_text(text, &holder));
	set->warned = true;
	return 0;
}

/* ---- locks ---- */

/* A robot of ours, or, for root, another user's. */
static int open_run(struct error_sink *errors)
{
	const int run = run_open(errors);

	return run == -ENOENT || run == -EACCES ? run_folder(NULL, errors) : run;
}

static int open_channels(struct error_sink *errors)
{
	const char *path = ach_file_dir();
	const int folder = open(path, O_PATH | O_DIRECTORY | O_CLOEXEC);

	return folder < 0 ? error_refuse(errors, -errno, "folder of channels %s: %s", path, strerror(errno)) : folder;
}

static int open_place(enum claim_place place, char path[CLAIM_FILE_PATH_MAX], struct error_sink *errors)
{
	const int folder = place == CLAIM_WIRES ? open_run(errors) : open_channels(errors);
	int fd;

	if (folder < 0)
		return folder;
	fd = claim_file_open(folder, path, errors);
	close(folder);
	return fd;
}

static int lock_byte(int fd, off_t at, const char *label, struct error_sink *errors)
{
	const int status = claim_file_lock(fd, at);
	struct claim_holder holder;

	if (!status)
		return 0;
	if (status != -EBUSY)
		return error_refuse(errors, status, "%s: unable to claim it: %s", label, strerror(-status));
	holder = claim_holder_of_lock(fd, at);
	return refuse(errors, label, &holder);
}

static int reach(struct claim_locks *locks, enum claim_place place, struct error_sink *errors)
{
	if (!locks->open) {
		locks->fd = open_place(place, locks->path, errors);
		locks->open = locks->fd >= 0;
	}
	return locks->open ? 0 : locks->fd;
}

static int take_lock(struct claim_set *set, enum claim_place place, const char *name, const char *label,
		     struct error_sink *errors)
{
	struct claim_locks *locks = &set->locks[place];
	const off_t at = claim_file_byte(name);
	int status = reach(locks, place, errors);

	if (status)
		return status;
	if (locks->n == locks->room && !grow(&locks->bytes, &locks->room, locks->n + 1, sizeof(*locks->bytes)))
		return error_refuse(errors, -ENOMEM, "%s: unable to claim it: no memory", label);
	status = lock_byte(locks->fd, at, label, errors);
	if (status)
		return status;
	locks->bytes[locks->n++] = at;
	return claim_renew(set, errors) < 0 ? -EBUSY : 0; /* it may have been removed before it was locked */
}

/* All of them on another file.  It neither allocates nor looks for the holder: a driver calls it in its loop. */
static int move_locks(struct claim_locks *locks, enum claim_place place, struct error_sink *errors)
{
	struct error_sink quiet = { 0 };
	char path[CLAIM_FILE_PATH_MAX];
	const int fd = open_place(place, path, &quiet);
	const bool lost = locks->lost;
	int status = 0;

	if (fd < 0)
		return 1;
	for (size_t i = 0; i < locks->n && !status; i++)
		status = claim_file_lock(fd, locks->bytes[i]);
	close(status ? fd : locks->fd);
	locks->lost = status;
	if (status)
		return lost ? 1
			    : error_refuse(errors, -EBUSY,
					   "%s was removed, and another process has taken a claim of this one",
					   locks->path);
	locks->fd = fd;
	strcpy(locks->path, path);
	return 1;
}

int claim_renew(struct claim_set *set, struct error_sink *errors)
{
	int status = 0;

	for (int i = 0; i < CLAIM_PLACES && status >= 0; i++)
		if (set->locks[i].open && !claim_file_is_there(set->locks[i].fd, set->locks[i].path))
			status = move_locks(&set->locks[i], i, errors);
	return status;
}

/* ---- claims ---- */

/* The same folder under the same name, however it is written. */
static void real_folder(char real[PATH_MAX], const char *folder)
{
	if (!realpath(folder, real))
		snprintf(real, PATH_MAX, "%s", folder);
}

static int claim_wire(struct claim_set *set, const char *wire, const char *what, const char *label,
		      struct error_sink *errors, struct error_sink *warnings)
{
	const int len = (int)strcspn(wire, "@"); /* the controller does not matter */
	char run[RUN_PATH_MAX], real[PATH_MAX], name[CLAIM_MAX], old[NAME_MAX_OLD];
	int status = run_path(run, NULL, errors);

	if (status)
		return status;
	snprintf(name, sizeof(name), "wire/%.*s.%s", len, wire, what);
	status = take_lock(set, CLAIM_WIRES, name, label, errors);
	if (status)
		return status;
	real_folder(real, run);
	snprintf(old, sizeof(old), PREFIX "%s/wire/%.*s.%s", real, len, wire, what);
	return take_old_name(set, &set->locks[CLAIM_WIRES], old, label, errors, warnings);
}

int claim_interface(struct claim_set *set, const char *interface, const char *what, struct error_sink *errors,
		    struct error_sink *warnings)
{
	struct claim_holder holder = { .uid = CLAIM_HOLDER_UNKNOWN };
	char name[CLAIM_MAX], label[CLAIM_MAX];
	int status;

	if (snprintf(name, sizeof(name), PREFIX "%s.%s", interface, what) >= CLAIM_MAX)
		return error_refuse(errors, -ENAMETOOLONG, "%.80s...: the name is too long for a claim", interface);
	snprintf(label, sizeof(label), "%s of %s", what, interface);
	if (!strncmp(interface, WIRE, strlen(WIRE)))
		return claim_wire(set, interface + strlen(WIRE), what, label, errors, warnings);
	status = take_name(set, name, label, &holder, errors);
	return status > 0 ? refuse(errors, label, &holder) : status;
}

int claim_channel(struct claim_set *set, const char *channel, struct error_sink *errors, struct error_sink *warnings)
{
	const char *folder = getenv("ACH_DIR");
	char real[PATH_MAX] = "", name[CLAIM_MAX], old[NAME_MAX_OLD], label[CLAIM_MAX];
	int status;

	snprintf(name, sizeof(name), "channel:%s", channel);
	snprintf(label, sizeof(label), "channel %s", channel);
	status = take_lock(set, CLAIM_CHANNELS, name, label, errors);
	if (status)
		return status;
	if (folder && *folder)
		real_folder(real, folder);
	snprintf(old, sizeof(old), PREFIX "channel:%s%s%s", real, *real ? "/" : "", channel);
	return take_old_name(set, &set->locks[CLAIM_CHANNELS], old, label, errors, warnings);
}

void claim_release(struct claim_set *set)
{
	for (size_t i = 0; i < set->names_n; i++)
		close(set->names[i]);
	free(set->names);
	for (int i = 0; i < CLAIM_PLACES; i++) {
		if (set->locks[i].open)
			close(set->locks[i].fd);
		free(set->locks[i].bytes);
	}
	*set = (struct claim_set){ 0 };
}
