/* epoch.c: $RUN/epoch. */
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "config/run.h"
#include "launch/common/epoch.h"

#define LINE_MAX_BYTES 64
#define ENDED_WELL " ended well\n"

/* A file that another user could have written says nothing. */
static bool is_trusted(int fd)
{
	struct stat st;

	return !fstat(fd, &st) && S_ISREG(st.st_mode) && (st.st_uid == geteuid() || !st.st_uid) && st.st_nlink == 1 &&
	       !(st.st_mode & 022);
}

struct epoch epoch_read(void)
{
	const struct epoch unknown = { 0, false };
	char path[RUN_PATH_MAX], line[LINE_MAX_BYTES], *end;
	struct epoch epoch;
	ssize_t n;
	int fd;

	if (run_path(path, "epoch", &(struct error_sink){ 0 }))
		return unknown;
	fd = open(path, O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC);
	if (fd < 0)
		return (struct epoch){ 0, errno == ENOENT };
	n = is_trusted(fd) ? read(fd, line, sizeof(line) - 1) : 0;
	close(fd);
	if (n <= 0 || line[0] < '0' || line[0] > '9')
		return unknown;
	line[n] = 0;
	errno = 0;
	epoch.last = strtoull(line, &end, 10);
	epoch.ended_well = !strcmp(end, ENDED_WELL);
	return errno || (!epoch.ended_well && strcmp(end, "\n") != 0) ? unknown : epoch;
}

static int write_in(int folder, const struct epoch *epoch)
{
	char line[LINE_MAX_BYTES];
	const int len = snprintf(line, sizeof(line), "%llu%s", (unsigned long long)epoch->last,
				 epoch->ended_well ? ENDED_WELL : "\n");
	int fd, status = 0;

	unlinkat(folder, "epoch.new", 0); /* of a process that was killed */
	fd = openat(folder, "epoch.new", O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0600);
	if (fd < 0)
		return -errno;
	errno = ENOSPC; /* unless write(2) says otherwise */
	if (write(fd, line, (size_t)len) != len)
		status = -errno;
	close(fd);
	if (!status && renameat(folder, "epoch.new", folder, "epoch"))
		status = -errno;
	return status;
}

int epoch_write(const struct epoch *epoch, struct error_sink *errors)
{
	const int folder = run_folder("", errors);
	char path[RUN_PATH_MAX] = "";
	int status;

	if (folder < 0)
		return folder;
	status = write_in(folder, epoch);
	close(folder);
	if (status) {
		run_path(path, "epoch", errors);
		error_add(errors, "%s: %s", path, strerror(-status));
	}
	return status;
}
