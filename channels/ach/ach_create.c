/* ach_create.c: channels appear complete or not at all, and disappear with their memory. */
#include <fcntl.h>
#include <sys/mman.h>
#include <sys/random.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "channels/ach/ach_file.h"

static enum ach_status create_anonymous(const struct ach_geometry *g, ach_create_attr_t *attr)
{
	const size_t once = ach_geometry_size(g), len = ach_file_map_len(g);
	void *m = ach_file_reserve(len);

	if (!m || mmap(m, once, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS | MAP_FIXED, -1, 0) == MAP_FAILED ||
	    ach_memory_twice(m, g) || ach_memory_populate(m, len, true)) {
		int err = errno;

		if (m)
			munmap(m, len);
		return ach_error(ACH_FAILED_SYSCALL, "creating " ACH_FILE_ANON ": %s", strerror(err));
	}
	memcpy(m, g, sizeof(*g));
	attr->shm = m;
	return ACH_OK;
}

/* ---- the group ---- */

/* The group that the creator of a segment acts for keeps the group's rights in it: changing its group later
 * adds one and takes none away.  So the calling thread acts for the channel's group while it creates; by the bare
 * system call, because that of the C library is for all threads.  A process that may not, but is a member, creates
 * under its own group and adds the channel's: its own group has to be a private one. */
struct acting {
	gid_t real, before, saved;
	bool changed;
};

static int group_set(gid_t effective, gid_t saved)
{
	return (int)syscall(SYS_setresgid, (gid_t)-1, effective, saved);
}

static int group_act(struct acting *a, gid_t group)
{
	a->changed = false;
	if (getresgid(&a->real, &a->before, &a->saved))
		return -1;
	if (group == (gid_t)-1 || group == a->before)
		return 0;
	/* Must be able to come back, without privileges too. */
	if (a->saved != a->real && a->saved != group && a->saved != a->before)
		return group_member(group) ? 0 : -1;
	if (!group_set(group, a->before))
		a->changed = true;
	else if (!group_member(group))
		return -1;
	return 0;
}

static void group_end(const struct acting *a)
{
	int err = errno;

	if (a->changed)
		(void)group_set(a->before, a->saved);
	errno = err;
}

/* ---- creating ---- */

/* A channel that has no name yet. */
struct parts {
	struct ach_plate plate;
	struct ach_header *shm;
	void *bell;
	struct stat st; /* of the plate */
	mode_t mode;
	int fd;
};

static int make_plate(struct parts *p, const ach_create_attr_t *attr, gid_t group)
{
	bool exact = attr && attr->set_mode;

	p->fd = ach_file_nameless(exact ? attr->mode : 0666);
	/* The folder may have given it a group of its own. */
	if (p->fd < 0 || fchown(p->fd, (uid_t)-1, group == (gid_t)-1 ? getegid() : group) || fstat(p->fd, &p->st))
		return -1;
	p->mode = exact ? attr->mode : p->st.st_mode & 0777;
	return fchmod(p->fd, ach_plate_mode(p->mode));
}

static int make_memory(struct parts *p)
{
	p->shm = ach_memory_make(ach_geometry_size(&p->plate.geo), &p->plate.shm);
	if (!p->shm)
		return -1;
	if (!ach_memory_readers(p->mode))
		return 0;
	p->bell = ach_memory_make(ach_file_page(), &p->plate.bell);
	return p->bell ? 0 : -1;
}

static int fill_memory(struct parts *p, const char *path)
{
	struct stat folder;

	if (stat(ach_file_dir(), &folder))
		return -1;
	p->shm->bell = p->plate.bell;
	p->shm->slices = ach_memory_readers(p->mode);
	p->shm->folder_dev = folder.st_dev;
	p->shm->folder_ino = folder.st_ino;
	snprintf(p->shm->path, sizeof(p->shm->path), "%s", path);
	p->shm->geo = p->plate.geo;
	if (ach_memory_chmod(p->plate.shm, &p->st, p->mode))
		return -1;
	return p->bell ? ach_memory_chmod(p->plate.bell, &p->st, ach_memory_bell_mode(p->mode)) : 0;
}

static void parts_leave(struct parts *p, bool failed)
{
	int err = errno;

	if (failed && p->plate.bell >= 0)
		shmctl(p->plate.bell, IPC_RMID, NULL);
	if (failed && p->plate.shm >= 0)
		shmctl(p->plate.shm, IPC_RMID, NULL);
	if (p->bell)
		shmdt(p->bell);
	if (p->shm)
		shmdt(p->shm);
	if (p->fd >= 0)
		close(p->fd);
	errno = err;
}

static enum ach_status create_once(const char *path, const struct ach_geometry *g, const ach_create_attr_t *attr)
{
	struct parts p = { .plate = { .geo = *g, .shm = -1, .bell = -1 }, .fd = -1 };
	gid_t group = attr && attr->set_mode ? attr->group : (gid_t)-1;
	enum ach_status r = ACH_OK;
	struct acting acting;

	if (group_act(&acting, group))
		return ach_error(ACH_EACCES,
				 "%s: this process is not in group %u and may not act for it: no channel of that group",
				 path, (unsigned)group);
	if (make_plate(&p, attr, group))
		r = ach_file_error(path, "creating");
	else if (make_memory(&p))
		r = ach_memory_error(path, "creating");
	group_end(&acting);
	if (r == ACH_OK && fill_memory(&p, path))
		r = ach_memory_error(path, "creating");
	if (r == ACH_OK && (ach_plate_write(p.fd, &p.plate) || ach_file_give_name(p.fd, path)))
		r = ach_file_error(path, "creating");
	parts_leave(&p, r != ACH_OK);
	return r;
}

static enum ach_status create_file(const char *name, const struct ach_geometry *g, const ach_create_attr_t *attr)
{
	char path[ACH_FILE_PATH_LEN];
	enum ach_status r;

	ach_file_channel_path(path, name);
	r = create_once(path, g, attr);
	if (r == ACH_FAILED_SYSCALL && errno == ENOSPC && ach_orphan_remove(ACH_ORPHAN_AGE_S, true))
		r = create_once(path, g, attr);
	return r;
}

enum ach_status ach_create(const char *name, size_t frame_cnt, size_t frame_size, ach_create_attr_t *attr)
{
	enum ach_map map = attr ? attr->map : ACH_MAP_DEFAULT;
	struct ach_geometry g;
	enum ach_status r;

	if (map == ACH_MAP_KERNEL)
		return ach_error(ACH_ENOTSUP, "channels in the kernel are not supported");
	if ((unsigned)map > ACH_MAP_KERNEL)
		return ach_error(ACH_EINVAL, "%d is not a mapping", (int)map);
	r = map == ACH_MAP_ANON ? ACH_OK : ach_file_check_name(name);
	if (r == ACH_OK)
		r = ach_geometry_make(&g, frame_cnt, frame_size, attr);
	if (r != ACH_OK)
		return r;
	if (map == ACH_MAP_ANON)
		return create_anonymous(&g, attr);
	r = create_file(name, &g, attr);
	for (int race = 0; r == ACH_EEXIST && attr && attr->truncate && race < ACH_FILE_RACES_MAX; race++) {
		r = ach_unlink(name);
		if (r != ACH_OK && r != ACH_ENOENT)
			return r;
		r = create_file(name, &g, attr);
	}
	return r;
}

/* ---- removing ---- */

/* To a name of its own first: what is removed is what was looked at. */
enum ach_status ach_unlink(const char *name)
{
	enum ach_status r = ach_file_check_name(name);
	char path[ACH_FILE_PATH_LEN], aside[ACH_FILE_PATH_LEN];
	struct stat st;
	uint64_t id;

	if (r != ACH_OK)
		return r;
	ach_file_channel_path(path, name);
	if (getrandom(&id, sizeof(id), 0) != sizeof(id))
		return ach_error(ACH_FAILED_SYSCALL, "getrandom: %s", strerror(errno));
	ach_file_gone_path(aside, name, id);
	if (!lstat(path, &st) && S_ISDIR(st.st_mode))
		return ach_error(ACH_BAD_SHM_FILE, "%s is not a channel", path);
	if (rename(path, aside))
		r = ach_file_error(path, "removing");
	else if (!ach_plate_remove(aside, name))
		r = ach_file_error(aside, "removing");
	if (r == ACH_OK || r == ACH_ENOENT)
		(void)ach_orphan_remove(ACH_ORPHAN_AGE_S, false);
	return r;
}
