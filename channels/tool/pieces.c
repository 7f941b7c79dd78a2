/* pieces.c: the names of a recording in several files. */
#include <dirent.h>
#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "channels/tool/pieces.h"

/* "drive.log" is "drive" and ".log"; the length of the first. */
static size_t stem_len(const char *path)
{
	const char *name = strrchr(path, '/'), *dot;

	name = name ? name + 1 : path;
	dot = strrchr(name, '.');
	return dot && dot != name ? (size_t)(dot - path) : strlen(path);
}

int pieces_path(char path[PATH_MAX], const char *whole, unsigned int piece)
{
	size_t stem = stem_len(whole);
	int n = snprintf(path, PATH_MAX, "%.*s-%04u%s", (int)stem, whole, piece, whole + stem);

	return n < PATH_MAX ? 0 : -ENAMETOOLONG;
}

/* The number of a piece; 0 if the file is not a piece. */
static unsigned int number_of(const char *whole, const char *file)
{
	const char *slash = strrchr(whole, '/'), *name = slash ? slash + 1 : whole;
	size_t stem = stem_len(name);
	unsigned int number = 0;
	const char *p;

	if (strncmp(file, name, stem) != 0 || file[stem] != '-')
		return 0;
	for (p = file + stem + 1; *p >= '0' && *p <= '9' && number < 100000000; p++)
		number = number * 10 + (unsigned int)(*p - '0');
	return p >= file + stem + 5 && !strcmp(p, name + stem) ? number : 0;
}

unsigned int pieces_highest(const char *whole, unsigned int remove_to)
{
	const char *slash = strrchr(whole, '/');
	char folder[PATH_MAX];
	unsigned int highest = 0;
	struct dirent *file;
	DIR *dir;

	snprintf(folder, sizeof(folder), "%.*s", slash ? (int)(slash - whole) + 1 : 1, slash ? whole : ".");
	dir = opendir(folder);
	while (dir && (file = readdir(dir))) {
		unsigned int number = number_of(whole, file->d_name);

		if (number && number <= remove_to)
			unlinkat(dirfd(dir), file->d_name, 0);
		else
			highest = number > highest ? number : highest;
	}
	if (dir)
		closedir(dir);
	return highest;
}
