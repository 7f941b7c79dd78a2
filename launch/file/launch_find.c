/* launch_find.c: where a program is. */
#include "launch/file/launch_file.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

/* 0: path is a file that may be executed. */
static int check_file(const char *path)
{
	struct stat s;

	if (stat(path, &s))
		return -errno;
	if (!S_ISREG(s.st_mode))
		return -EACCES;
	return access(path, X_OK) ? -errno : 0;
}

static int try(char path[LAUNCH_FIND_MAX], const char *folder, size_t len, const char *program)
{
	/* An empty entry of $PATH is the working directory. */
	int n = snprintf(path, LAUNCH_FIND_MAX, "%.*s/%s", len ? (int)len : 1, len ? folder : ".", program);

	return n < LAUNCH_FIND_MAX ? check_file(path) : -ENAMETOOLONG;
}

int launch_find_in(char path[LAUNCH_FIND_MAX], const char *program, const char *beside, const char *search)
{
	int err = -ENOENT, r;

	if (strchr(program, '/')) {
		if (snprintf(path, LAUNCH_FIND_MAX, "%s", program) >= LAUNCH_FIND_MAX)
			return -ENAMETOOLONG;
		return check_file(path);
	}
	if (beside && !try(path, beside, strlen(beside), program))
		return 0;
	for (; search && *program; search = strchr(search, ':') ? strchr(search, ':') + 1 : NULL) {
		r = try(path, search, strcspn(search, ":"), program);
		if (!r)
			return 0;
		/* A program that may not be executed is more to report than a missing one. */
		if (r == -EACCES)
			err = r;
	}
	return err;
}

int launch_find(char path[LAUNCH_FIND_MAX], const char *program)
{
	char self[LAUNCH_FIND_MAX];
	ssize_t len = readlink("/proc/self/exe", self, sizeof(self) - 1);
	char *slash;

	self[len > 0 ? len : 0] = '\0';
	slash = strrchr(self, '/');
	if (slash)
		*slash = '\0';
	return launch_find_in(path, program, slash ? self : NULL, getenv("PATH"));
}

/* In two parts, so that this program has no mark. */
static bool has_mark(const char *text, size_t len, const char *end)
{
	static const char begin[] = "@(#)endplate";
	const char *at = text;

	while ((at = memmem(at, len - (size_t)(at - text), begin, strlen(begin)))) {
		at += strlen(begin);
		if (len - (size_t)(at - text) >= strlen(end) && !memcmp(at, end, strlen(end)))
			return true;
	}
	return false;
}

static bool has_driver(const char *text, size_t len)
{
	return has_mark(text, len, "-driver");
}

static bool has_standby(const char *text, size_t len)
{
	return has_mark(text, len, "-standby");
}

static bool has_clock(const char *text, size_t len)
{
	static const char elf[] = "\177ELF", library[] = "libendplate.so";

	return len > strlen(elf) && !memcmp(text, elf, strlen(elf)) &&
	       (has_mark(text, len, "-clock") || memmem(text, len, library, strlen(library)));
}

/* Does the file contain it?  unread: what to say of a file that cannot be read. */
static bool contains(const char *path, bool (*has)(const char *text, size_t len), bool unread)
{
	const int fd = open(path, O_RDONLY | O_CLOEXEC);
	struct stat st;
	void *text = MAP_FAILED;
	bool is = unread;

	if (fd >= 0 && !fstat(fd, &st) && st.st_size > 0)
		text = mmap(NULL, (size_t)st.st_size, PROT_READ, MAP_PRIVATE, fd, 0);
	if (text != MAP_FAILED) {
		is = has(text, (size_t)st.st_size);
		munmap(text, (size_t)st.st_size);
	}
	if (fd >= 0)
		close(fd);
	return is;
}

bool launch_is_driver(const char *path)
{
	return contains(path, has_driver, true);
}

bool launch_stands_by(const char *path)
{
	return contains(path, has_standby, false);
}

bool launch_keeps_clock(const char *path)
{
	return contains(path, has_clock, false);
}
