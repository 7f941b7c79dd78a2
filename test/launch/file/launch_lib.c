/* launch_lib.c: for the tests of launch: a sink that keeps its lines, and a folder of its own. */
#include <ftw.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "unity.h"

#include "test/launch/file/launch_lib.h"

const struct policy_rules launch_lib_rules = {
	.settled_ns = 1000000000,
	.backoff_ns = 100000000,
	.backoff_max_ns = 5000000000,
	.budget = 10,
	.budget_within_ns = 60000000000,
	.ready_within_ns = 5000000000,
	.kill_within_ns = 2000000000,
};

static void keep(void *to, const char *line)
{
	struct launch_lib_lines *lines = to;
	size_t len = strlen(lines->text);

	snprintf(lines->text + len, sizeof(lines->text) - len, "%s\n", line);
}

struct error_sink *launch_lib_start(struct launch_lib_lines *lines)
{
	*lines->text = '\0';
	lines->sink = (struct error_sink){ keep, lines, 0 };
	return &lines->sink;
}

void launch_lib_folder(char path[LAUNCH_LIB_PATH])
{
	const char *tmp = getenv("TMPDIR");

	snprintf(path, LAUNCH_LIB_PATH, "%s/launch.XXXXXX", tmp ? tmp : "/tmp");
	TEST_ASSERT_NOT_NULL(mkdtemp(path));
}

static int remove_one(const char *path, const struct stat *stat, int flag, struct FTW *ftw)
{
	(void)stat;
	(void)flag;
	(void)ftw;
	return remove(path);
}

void launch_lib_remove(const char *folder)
{
	nftw(folder, remove_one, 8, FTW_DEPTH | FTW_PHYS);
}

const char *launch_lib_write(char path[LAUNCH_LIB_PATH], const char *folder, const char *name, int mode,
			     const char *text)
{
	FILE *file;

	snprintf(path, LAUNCH_LIB_PATH, "%s/%s", folder, name);
	file = fopen(path, "w");
	TEST_ASSERT_NOT_NULL_MESSAGE(file, path);
	fputs(text, file);
	TEST_ASSERT_EQUAL_INT_MESSAGE(0, fclose(file), path);
	TEST_ASSERT_EQUAL_INT_MESSAGE(0, chmod(path, (mode_t)mode), path);
	return path;
}

size_t launch_lib_read(const char *path, char *text, size_t size)
{
	FILE *file = fopen(path, "r");
	size_t len;

	TEST_ASSERT_NOT_NULL_MESSAGE(file, path);
	len = fread(text, 1, size - 1, file);
	text[len] = '\0';
	fclose(file);
	return len;
}
