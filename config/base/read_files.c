/* read_files.c: the files that this process has read its settings from. */
#include "config/base/read_files.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define SOURCES_MAX 16 /* a robot file, those that it is like, a table of boards, the program */
#define PATH_SIZE 256

static struct source {
	char path[PATH_SIZE];
	struct stat was;
} sources[SOURCES_MAX];
static size_t sources_n;
static bool unknown; /* some were not kept */

void read_files_note(const char *path, int fd)
{
	struct source *source = &sources[sources_n];

	if (sources_n == SOURCES_MAX || snprintf(source->path, PATH_SIZE, "%s", path) >= PATH_SIZE ||
	    fstat(fd, &source->was))
		unknown = true;
	else
		sources_n++;
}

bool read_files_same(const struct stat *a, const struct stat *b)
{
	return a->st_dev == b->st_dev && a->st_ino == b->st_ino && a->st_size == b->st_size &&
	       a->st_mtim.tv_sec == b->st_mtim.tv_sec && a->st_mtim.tv_nsec == b->st_mtim.tv_nsec &&
	       a->st_ctim.tv_sec == b->st_ctim.tv_sec && a->st_ctim.tv_nsec == b->st_ctim.tv_nsec;
}

bool read_files_changed(void)
{
	struct stat now;

	for (size_t i = 0; i < sources_n; i++)
		if (stat(sources[i].path, &now) || !read_files_same(&now, &sources[i].was))
			return true;
	return unknown;
}

static ssize_t read_all(int fd, char *buf, size_t size)
{
	size_t len = 0;
	ssize_t n = 1;

	while (n && len < size) {
		n = read(fd, buf + len, size - len);
		if (n < 0 && errno != EINTR)
			return -errno;
		len += n > 0 ? (size_t)n : 0;
	}
	return (ssize_t)len;
}

int read_files_take(const char *path, size_t max, char **text, size_t *len, struct error_sink *errors)
{
	char *bytes = malloc(max + 1);
	/* Do not wait for the writer of a FIFO. */
	const int fd = bytes ? open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK) : -1;
	ssize_t n = bytes ? -errno : -ENOMEM;

	if (fd >= 0) {
		read_files_note(path, fd);
		n = read_all(fd, bytes, max + 1); /* one byte more than allowed shows that it is too long */
		close(fd);
	}
	if (n >= 0 && (size_t)n <= max) {
		bytes[n] = '\0';
		*text = bytes;
		*len = (size_t)n;
		return 0;
	}
	free(bytes);
	return n < 0 ? error_refuse(errors, (int)n, "%s: %s", path, strerror((int)-n))
		     : error_refuse(errors, -EFBIG, "%s:1: larger than %zu bytes", path, max);
}

int read_files_path(char *path, size_t size, const char *in, const char *name)
{
	const char *slash = in ? strrchr(in, '/') : NULL;
	const int folder = *name != '/' && slash ? (int)(slash - in + 1) : 0;

	return snprintf(path, size, "%.*s%s", folder, folder ? in : "", name) < (int)size ? 0 : -ENAMETOOLONG;
}
