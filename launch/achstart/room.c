/* room.c: room in $RUN for the states of the daemons. */
#include <errno.h>
#include <fcntl.h>
#include <unistd.h>

#include "config/run.h"
#include "launch/achstart/room.h"

#define EACH 8192 /* the old state and the new one */

static int open_room(char path[RUN_PATH_MAX])
{
	if (run_path(path, "room", &(struct error_sink){ 0 }))
		return -ENAMETOOLONG;
	return open(path, O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0600);
}

int room_make(size_t daemons)
{
	char path[RUN_PATH_MAX];
	const int fd = open_room(path);
	int status;

	if (fd < 0)
		return errno == EEXIST ? 0 : -errno;
	status = -posix_fallocate(fd, 0, (off_t)(daemons * EACH));
	close(fd);
	if (status)
		unlink(path);
	return status;
}

bool room_give_up(void)
{
	char path[RUN_PATH_MAX];

	return !run_path(path, "room", &(struct error_sink){ 0 }) && !unlink(path);
}
