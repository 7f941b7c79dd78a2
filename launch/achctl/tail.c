/* tail.c: the last lines of a file that grows. */
#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include "launch/achctl/tail.h"

#define PIECE 4096

int tail_open(struct tail *t, const char *path)
{
	*t = (struct tail){ .fd = open(path, O_RDONLY | O_CLOEXEC) };
	if (t->fd < 0)
		return -errno;
	snprintf(t->path, sizeof(t->path), "%s", path);
	t->at = lseek(t->fd, 0, SEEK_END);
	return 0;
}

void tail_close(struct tail *t)
{
	if (t->fd >= 0)
		close(t->fd);
	t->fd = -1;
}

/* ---- onwards ---- */

static void take(struct tail *t, const char *bytes, size_t n, tail_line *line, void *to)
{
	for (size_t i = 0; i < n; i++) {
		if (bytes[i] != '\n') {
			if (t->len < sizeof(t->line) - 1)
				t->line[t->len++] = bytes[i];
			continue;
		}
		t->line[t->len] = 0;
		t->len = 0;
		line(to, t->line);
	}
}

static void read_on(struct tail *t, tail_line *line, void *to)
{
	char bytes[PIECE];
	ssize_t n;

	while ((n = pread(t->fd, bytes, sizeof(bytes), t->at)) > 0) {
		t->at += n;
		take(t, bytes, (size_t)n, line, to);
	}
}

void tail_more(struct tail *t, tail_line *line, void *to)
{
	struct stat mine, named;
	int fd;

	/* In this order: a file that has been renamed gets nothing more. */
	if (stat(t->path, &named))
		memset(&named, 0, sizeof(named));
	if (fstat(t->fd, &mine))
		return;
	if (mine.st_size < t->at)
		t->at = 0; /* the file was truncated */
	read_on(t, line, to);
	if (!named.st_ino || (mine.st_ino == named.st_ino && mine.st_dev == named.st_dev))
		return;
	fd = open(t->path, O_RDONLY | O_CLOEXEC);
	if (fd < 0)
		return;
	close(t->fd);
	t->fd = fd;
	t->at = 0;
	t->len = 0;
	read_on(t, line, to);
}

/* ---- backwards ---- */

/* Where the last n lines begin, and how many there are (n or fewer). */
static int64_t find_last(int fd, int64_t end, int64_t n, int64_t *found)
{
	char bytes[PIECE];
	int64_t at = end;

	*found = 0;
	if (n <= 0)
		return end;
	while (at > 0) {
		const size_t size = at < PIECE ? (size_t)at : PIECE;

		if (pread(fd, bytes, size, at - (int64_t)size) != (ssize_t)size)
			return at;
		for (size_t i = size; i-- > 0;) {
			/* The last newline does not begin another line. */
			if (bytes[i] != '\n' || at - (int64_t)(size - i) == end - 1)
				continue;
			if (++*found == n)
				return at - (int64_t)(size - i) + 1;
		}
		at -= (int64_t)size;
	}
	*found += end > 0;
	return 0;
}

/* The last n lines of another file, which does not change any more. */
static void older(const char *path, int64_t n, tail_line *line, void *to)
{
	struct tail t;
	int64_t found;

	if (tail_open(&t, path))
		return;
	t.at = find_last(t.fd, t.at, n, &found);
	read_on(&t, line, to);
	tail_close(&t);
}

void tail_last(struct tail *t, int64_t n, tail_line *line, void *to)
{
	char before[RUN_PATH_MAX + 4];
	int64_t found;
	const int64_t from = find_last(t->fd, t->at, n, &found);

	snprintf(before, sizeof(before), "%s.1", t->path);
	if (found < n)
		older(before, n - found, line, to);
	t->at = from;
	read_on(t, line, to);
}
