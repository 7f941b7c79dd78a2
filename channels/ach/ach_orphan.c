/* ach_orphan.c: what creators and removers of channels leave behind when they are killed, and what a bare rm of a
 * plate leaves: segments without a plate, the files of a removal that was not finished, locks of channels long gone.
 */
#include <fcntl.h>
#include <unistd.h>

#include "channels/ach/ach_file.h"

struct segment {
	int id;
	size_t len;
	bool idle; /* old enough, and attached by no process */
	bool read; /* bell is that of its header */
	int bell;
};

struct segments {
	struct segment *at;
	size_t n;
};

static bool is_old(time_t changed, int age_s)
{
	time_t now = time(NULL);

	return now >= changed && now - changed >= age_s;
}

/* The segments of the caller's user; none if there is no memory for the list. */
static struct segments find_own(int age_s)
{
	struct segments own = { NULL, 0 };
	struct shm_info info;
	int last = shmctl(0, SHM_INFO, (struct shmid_ds *)&info);

	if (last >= 0)
		own.at = calloc((size_t)last + 1, sizeof(*own.at));
	for (int i = 0; own.at && i <= last; i++) {
		struct shmid_ds d;
		int id = shmctl(i, SHM_STAT, &d);

		if (id >= 0 && ((uint32_t)d.shm_perm.__key & ACH_MEMORY_KEY_MASK) == ACH_MEMORY_KEY &&
		    ach_memory_is_of(&d, geteuid()))
			own.at[own.n++] = (struct segment){ .id = id,
							    .len = d.shm_segsz,
							    .idle = !d.shm_nattch && is_old(d.shm_ctime, age_s),
							    .bell = -1 };
	}
	return own;
}

/* Its plate is gone, or is of another segment.  Any process that may write the channel can change the path, so it
 * is only compared. */
static bool has_no_plate(const struct ach_header *shm, int id, bool everywhere)
{
	char path[ACH_FILE_PATH_LEN], folder[ACH_FILE_PATH_LEN];
	struct stat st;
	char *slash;

	memcpy(path, shm->path, sizeof(path));
	path[sizeof(path) - 1] = '\0';
	memcpy(folder, path, sizeof(folder));
	slash = strrchr(folder, '/');
	if (*path != '/' || strncmp(slash, "/achshm-", 8))
		return false;
	*slash = '\0';
	if (lstat(slash == folder ? "/" : folder, &st))
		return everywhere && errno == ENOENT;
	/* Another folder under that path: it was replaced, or the plate is in another mount namespace. */
	if ((st.st_dev != shm->folder_dev || st.st_ino != shm->folder_ino) && !everywhere)
		return false;
	return !ach_plate_names(path, id);
}

/* The size says which it is: what is in a bell may be written by users who may only read the channel. */
static bool is_bell(const struct segment *s)
{
	return s->len == ach_file_page();
}

/* True: a channel without a plate, or one whose creator did not come far. */
static bool read_segment(struct segment *s, bool everywhere)
{
	struct shmid_ds d;
	struct ach_header *m = ach_memory_attach(s->id, s->len, false, &d);
	bool orphan;

	s->read = true;
	if (!m)
		return false;
	s->bell = m->bell;
	orphan = m->geo.magic != ACH_MAGIC || has_no_plate(m, s->id, everywhere);
	shmdt(m);
	return s->idle && orphan;
}

static bool is_named(struct segments *own, int bell)
{
	for (int unseen = 0; unseen < 2; unseen++)
		for (size_t i = 0; i < own->n; i++) {
			struct segment *s = &own->at[i];

			if (is_bell(s))
				continue;
			if (unseen && !s->read)
				(void)read_segment(s, false);
			if (s->read && s->bell == bell)
				return true;
		}
	return false;
}

static int remove_segments(int age_s, bool everywhere)
{
	struct segments own = find_own(age_s);
	int removed = 0;

	for (size_t i = 0; i < own.n; i++) {
		struct segment *s = &own.at[i];

		if (s->idle && !is_bell(s) && read_segment(s, everywhere) && !shmctl(s->id, IPC_RMID, NULL)) {
			s->bell = -1; /* it names none any more */
			removed++;
		}
	}
	for (size_t i = 0; i < own.n; i++)
		if (own.at[i].idle && is_bell(&own.at[i]) && !is_named(&own, own.at[i].id))
			removed += !shmctl(own.at[i].id, IPC_RMID, NULL);
	free(own.at);
	return removed;
}

/* The channel's name in "achlock-NAME-ID", "achgone-NAME-ID". */
static bool name_of(char name[ACH_CHAN_NAME_MAX], const char *file)
{
	const char *dash = strrchr(file, '-');

	if (dash < file + 8 || (size_t)(dash - file) - 8 >= ACH_CHAN_NAME_MAX)
		return false;
	snprintf(name, ACH_CHAN_NAME_MAX, "%.*s", (int)(dash - file) - 8, file + 8);
	return ach_file_check_name(name) == ACH_OK;
}

bool ach_plate_remove(const char *path, const char *name)
{
	char source[ACH_FILE_PATH_LEN];
	struct ach_plate plate;
	struct stat st;
	int fd = ach_file_open(path, O_RDONLY);

	if (fd >= 0 && ach_plate_read(fd, path, &plate, &st) == ACH_OK) {
		ach_memory_remove(&plate, st.st_uid);
		ach_file_source_path(source, name, plate.geo.id);
		(void)unlink(source);
	}
	if (fd >= 0)
		close(fd);
	return !unlink(path) || errno == ENOENT;
}

/* The process that put it aside is dead, or does the same at this moment. */
static bool finish_removal(const char *name, const char *file)
{
	char path[ACH_FILE_PATH_LEN];

	ach_file_gone_path(path, name, strtoull(strrchr(file, '-') + 1, NULL, 16));
	return !strcmp(strrchr(path, '/') + 1, file) && ach_plate_remove(path, name);
}

/* The lock of a channel that has another id now, or is gone. */
static bool lock_is_stale(const char *name, const char *file)
{
	char path[ACH_FILE_PATH_LEN], expected[ACH_FILE_PATH_LEN];
	struct ach_plate plate;
	struct stat st;
	int fd;

	ach_file_channel_path(path, name);
	fd = ach_file_open(path, O_RDONLY);
	if (fd < 0)
		return errno == ENOENT;
	if (ach_plate_read(fd, path, &plate, &st) == ACH_OK)
		ach_file_source_path(expected, name, plate.geo.id);
	else
		*expected = '\0';
	close(fd);
	return *expected && strcmp(strrchr(expected, '/') + 1, file) != 0;
}

static int remove_files(int age_s)
{
	char name[ACH_CHAN_NAME_MAX];
	DIR *folder = ach_file_list();
	struct dirent *d;
	struct stat st;
	int removed = 0;

	while (folder && (d = readdir(folder))) {
		bool gone = !strncmp(d->d_name, "achgone-", 8);

		if ((!gone && strncmp(d->d_name, "achlock-", 8) != 0) || !name_of(name, d->d_name) ||
		    fstatat(dirfd(folder), d->d_name, &st, AT_SYMLINK_NOFOLLOW) || !S_ISREG(st.st_mode) ||
		    st.st_uid != geteuid())
			continue;
		if (gone)
			removed += finish_removal(name, d->d_name);
		else if (is_old(st.st_ctime, age_s) && lock_is_stale(name, d->d_name))
			removed += !unlinkat(dirfd(folder), d->d_name, 0);
	}
	if (folder)
		closedir(folder);
	return removed;
}

int ach_orphan_remove(int age_s, bool everywhere)
{
	return remove_segments(age_s, everywhere) + remove_files(age_s);
}
