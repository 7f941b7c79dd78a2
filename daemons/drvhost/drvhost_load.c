/* drvhost_load.c: a driver in a shared object: what is checked before its code runs. */
#include "config/base/base.h"
#include "daemons/drvhost/drvhost_load.h"

#include <dlfcn.h>
#include <fcntl.h>
#include <limits.h>
#include <link.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

/* ---- the file ---- */

/* Never the working directory: a name there could be any user's. */
static int open_file(const char *name)
{
	static const char *const folders[] = { "", "/../lib/endplate" };
	const int flags = O_RDONLY | O_CLOEXEC | O_NONBLOCK;
	char self[PATH_MAX], path[2 * PATH_MAX];
	const ssize_t len = readlink("/proc/self/exe", self, sizeof(self) - 1);
	char *slash;
	int fd = -1;

	if (strchr(name, '/')) {
		fd = open(name, flags);
		if (fd >= 0)
			read_files_note(name, fd);
		return fd;
	}
	self[len > 0 ? len : 0] = 0;
	slash = strrchr(self, '/');
	if (slash)
		*slash = 0;
	errno = ENOENT;
	for (size_t i = 0; i < sizeof(folders) / sizeof(*folders) && fd < 0 && errno == ENOENT; i++) {
		snprintf(path, sizeof(path), "%s%s/%s", self, folders[i], name);
		fd = open(path, flags);
		if (fd >= 0)
			read_files_note(path, fd);
	}
	return fd;
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
static unsigned long abi_of(const char *text, size_t size)
{
	static const char mark[] = DRV_ABI_MARK;
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

static int check_abi(const char *name, int fd, size_t size, struct error_sink *errors)
{
	void *text = size ? mmap(NULL, size, PROT_READ, MAP_PRIVATE, fd, 0) : MAP_FAILED;
	unsigned long abi = 0;
	bool whole = false;

	if (text != MAP_FAILED) {
		if (size > sizeof(ElfW(Ehdr)) && !memcmp(text, ELFMAG, SELFMAG)) {
			abi = abi_of(text, size);
			whole = is_whole(text, size);
		}
		munmap(text, size);
	}
	if (!abi)
		return error_refuse(errors, -EINVAL,
				    "%s: not an Endplate driver in a shared object: its source needs DRV_OBJECT, see "
				    "drvhost(1)",
				    name);
	if (abi != DRV_ABI)
		return error_refuse(errors, -EINVAL,
				    "%s: built for version %lu of the driver interface, this drvhost has version %d: "
				    "build it again from the tree of this drvhost",
				    name, abi, DRV_ABI);
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
static const struct drv_driver *load(const char *name, int fd, struct error_sink *errors)
{
	const struct drv_driver *driver = NULL;
	char path[32];
	void *object;

	snprintf(path, sizeof(path), "/proc/self/fd/%d", fd);
	object = dlopen(path, RTLD_NOW | RTLD_LOCAL);
	if (!object) {
		error_add(errors, "%s: unable to load it: %s", name, loader_error());
		return NULL;
	}
	if (dlsym(object, "drv_abi") && dlsym(object, "drv_object"))
		driver = *(const struct drv_driver *const *)dlsym(object, "drv_object");
	if (driver && driver->program && driver->declare && driver->fill)
		return driver;
	error_add(errors, "%s: it exports no %s: its source needs DRV_OBJECT, see drvhost(1)", name,
		  dlsym(object, "drv_abi") ? "drv_object" : "drv_abi");
	dlclose(object);
	return NULL;
}

const struct drv_driver *drvhost_load(const char *name, struct error_sink *errors)
{
	const struct drv_driver *driver = NULL;
	const int fd = open_file(name);
	struct stat st;

	if (fd < 0 || fstat(fd, &st))
		error_add(errors, "%s: %s", name, strerror(errno));
	else if (!check_file(name, &st, errors) && !check_abi(name, fd, (size_t)st.st_size, errors))
		driver = load(name, fd, errors);
	/* The descriptor of a driver stays open: the loader would take the next file under its number for the same
	 * one. */
	if (fd >= 0 && !driver)
		close(fd);
	return driver;
}
