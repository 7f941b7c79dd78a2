/* source.c: the files that this process has read its settings from. */
#include <stddef.h>
#include <stdio.h>
#include <sys/stat.h>

#include "config/source.h"

#define SOURCES_MAX 16 /* a robot file, those that it is like, a table of boards, the program */
#define PATH_SIZE 256

static struct source {
	char path[PATH_SIZE];
	struct stat was;
} sources[SOURCES_MAX];
static size_t sources_n;
static bool unknown; /* some were not kept */

void source_note(const char *path, int fd)
{
	struct source *source = &sources[sources_n];

	if (sources_n == SOURCES_MAX || snprintf(source->path, PATH_SIZE, "%s", path) >= PATH_SIZE ||
	    fstat(fd, &source->was))
		unknown = true;
	else
		sources_n++;
}

static bool is_same(const struct stat *a, const struct stat *b)
{
	return a->st_dev == b->st_dev && a->st_ino == b->st_ino && a->st_size == b->st_size &&
	       a->st_mtim.tv_sec == b->st_mtim.tv_sec && a->st_mtim.tv_nsec == b->st_mtim.tv_nsec &&
	       a->st_ctim.tv_sec == b->st_ctim.tv_sec && a->st_ctim.tv_nsec == b->st_ctim.tv_nsec; /* cp -p */
}

bool source_changed(void)
{
	struct stat now;

	for (size_t i = 0; i < sources_n; i++)
		if (stat(sources[i].path, &now) || !is_same(&now, &sources[i].was))
			return true;
	return unknown;
}
