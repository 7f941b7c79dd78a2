/* object.c: code in a shared object: what is checked before it runs. */
#include "config/base/base.h"
#include "config/base/object.h"

#include <dlfcn.h>
#include <fcntl.h>
#include <link.h>
#include <sys/mman.h>
#include <unistd.h>

/* ---- the file ---- */

/* The folder of that file, with what stands behind it; empty: the folder is not known. */
static void folder_of(char folder[PATH_MAX], const char *file, const char *behind)
{
	const char *slash = strrchr(file, '/');
	const int len = slash ? (int)(slash - file) : 1;

	if (!*file || snprintf(folder, PATH_MAX, "%.*s%s", len, slash ? file : ".", behind) >= PATH_MAX)
		*folder = 0;
}

int object_open(char path[PATH_MAX], const char *name, const char *beside)
{
	const bool is_path = strchr(name, '/');
	char self[PATH_MAX], folders[3][PATH_MAX] = { "" }, looked[PATH_MAX] = "";
	const ssize_t len = readlink("/proc/self/exe", self, sizeof(self) - 1);
	int fd = -1;

	self[len > 0 ? len : 0] = 0;
	folder_of(folders[0], beside ? beside : "", "");
	folder_of(folders[1], self, "");
	folder_of(folders[2], self, "/../lib/endplate");
	errno = ENOENT;
	for (size_t i = 0; i < (is_path ? 1 : 3) && fd < 0 && errno == ENOENT; i++) {
		if (!is_path && !*folders[i])
			continue;
		if (snprintf(path, PATH_MAX, "%s%s%s", is_path ? "" : folders[i], is_path ? "" : "/", name) >= PATH_MAX)
			return -ENAMETOOLONG;
		lines_append(looked, sizeof(looked), i == 2 ? " or " : ", ", "%s", folders[i]);
		fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
	}
	if (fd >= 0)
		read_files_note(path, fd);
	else if (errno == ENOENT)
		memcpy(path, looked, sizeof(looked));
	return fd < 0 ? -errno : fd;
}

/* Whoever may write it decides what this process does.  0 or -errno. */
static int check_file(const char *name, const struct stat *st, struct error_sink *errors)
{
	if (!S_ISREG(st->st_mode))
		return error_refuse(errors, -EINVAL, "%s: not a regular file", name);
	if (st->st_uid && st->st_uid != geteuid())
		return error_refuse(errors, -EPERM,
				    "%s: it belongs to uid %u, which is neither root nor uid %u, which would run it: "
				    "install a copy",
				    name, (unsigned int)st->st_uid, (unsigned int)geteuid());
	if (st->st_mode & (S_IWGRP | S_IWOTH))
		return error_refuse(errors, -EPERM, "%s: other users may write it, mode %04o: chmod go-w %s", name,
				    (unsigned int)st->st_mode & 07777, name);
	return 0;
}

/* ---- its interface ---- */

/* The number behind the mark; 0: there is none. */
static unsigned long abi_of(const char *mark, const char *text, size_t size)
{
	const char *at = memmem(text, size, mark, strlen(mark)), *digit;
	unsigned long abi = 0;

	for (digit = at ? at + strlen(mark) : NULL; digit && digit < text + size && abi < UINT_MAX; digit++) {
		if (*digit < '0' || *digit > '9')
			break;
		abi = abi * 10 + (unsigned long)(*digit - '0');
	}
	return abi;
}

/* The loader does not look, and to touch what is missing kills the process. */
static bool is_whole(const char *text, size_t size)
{
	const ElfW(Ehdr) *elf = (const void *)text;
	const ElfW(Phdr) *parts = (const void *)(text + elf->e_phoff);

	if (elf->e_phoff > size || elf->e_phnum > (size - elf->e_phoff) / sizeof(*parts))
		return false;
	for (int i = 0; i < elf->e_phnum; i++)
		if (parts[i].p_offset > size || parts[i].p_filesz > size - parts[i].p_offset)
			return false;
	return true;
}

static int check_abi(const struct object_kind *kind, const char *name, int fd, size_t size, struct error_sink *errors)
{
	void *text = size ? mmap(NULL, size, PROT_READ, MAP_PRIVATE, fd, 0) : MAP_FAILED;
	unsigned long abi = 0;
	bool whole = false;

	if (text != MAP_FAILED) {
		if (size > sizeof(ElfW(Ehdr)) && !memcmp(text, ELFMAG, SELFMAG)) {
			abi = abi_of(kind->mark, text, size);
			whole = is_whole(text, size);
		}
		munmap(text, size);
	}
	if (!abi)
		return error_refuse(errors, -EINVAL, "%s: not an %s in a shared object: its source needs %s, see %s(1)",
				    name, kind->what, kind->macro, kind->host);
	if (abi != kind->abi)
		return error_refuse(errors, -EINVAL,
				    "%s: built for version %lu of %s, this %s has version %u: build it again from the "
				    "tree, or with the installed headers, of this %s",
				    name, abi, kind->interface, kind->host, kind->abi, kind->host);
	if (!whole)
		return error_refuse(errors, -EINVAL, "%s: it is incomplete: copy it again", name);
	return 0;
}

/* ---- loading ---- */

/* Without the path under which it was loaded. */
static const char *loader_error(void)
{
	const char *error = dlerror(), *end = error ? strstr(error, ": ") : NULL;

	if (!error)
		return "unknown error";
	return end && !strncmp(error, "/proc/self/fd/", 14) ? end + 2 : error;
}

/* By its descriptor: what was checked is what is loaded. */
static const void *load(const struct object_kind *kind, const char *name, int fd, struct error_sink *errors)
{
	const void *const *offered = NULL, *made = NULL;
	char path[32];
	void *object;

	snprintf(path, sizeof(path), "/proc/self/fd/%d", fd);
	object = dlopen(path, RTLD_NOW | RTLD_LOCAL);
	if (!object) {
		error_add(errors, "%s: unable to load it: %s", name, loader_error());
		return NULL;
	}
	if (dlsym(object, kind->abi_of))
		offered = dlsym(object, kind->made);
	if (offered)
		made = *offered;
	if (made)
		return made;
	error_add(errors, "%s: it exports no %s: its source needs %s, see %s(1)", name,
		  dlsym(object, kind->abi_of) ? kind->made : kind->abi_of, kind->macro, kind->host);
	dlclose(object);
	return NULL;
}

const void *object_load(const struct object_kind *kind, const char *name, int fd, struct error_sink *errors)
{
	const void *made = NULL;
	struct stat st;

	if (fstat(fd, &st))
		error_add(errors, "%s: %s", name, strerror(errno));
	else if (!check_file(name, &st, errors) && !check_abi(kind, name, fd, (size_t)st.st_size, errors))
		made = load(kind, name, fd, errors);
	/* The descriptor of an object stays open: the loader would take the next file under its number for the same
	 * one. */
	if (!made)
		close(fd);
	return made;
}
