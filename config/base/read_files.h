/* read_files.h: the files that this process has read its settings from, and whether they are still the same.
 *
 * A process that waits before it begins to work (daemons/drv/standby.h) must not work with settings that have been
 * changed in the meantime. */
#pragma once

#include <stdbool.h>
#include <sys/stat.h>

#include "config/base/error.h"

/* The file path is about to be read from that descriptor. */
void read_files_note(const char *path, int fd);

/* The same file, unchanged?  By the time of its status, too: cp -p sets that of its data. */
bool read_files_same(const struct stat *a, const struct stat *b);

/* One of them was replaced, changed or removed since it was noted; or there were too many to keep. */
bool read_files_changed(void);

/* Reads a whole file of at most max bytes, and notes it.  *text, with a zero behind its *len bytes, is to be freed.
 * 0, or -errno with a line in errors. */
int read_files_take(const char *path, size_t max, char **text, size_t *len, struct error_sink *errors);

/* The path of a file that is named in another one, relative to that one (NULL: to the working directory).  0 or
 * -ENAMETOOLONG. */
int read_files_path(char *path, size_t size, const char *in, const char *name);
