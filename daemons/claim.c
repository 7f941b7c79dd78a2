/* claim.c: one driver per device. */
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include "config/run.h"
#include "daemons/claim.h"

#define WIRE "wire:"
#define HOLDER_MAX 64

static int folder_path(char *path, size_t size, struct error_sink *errors)
{
	const char *runtime = getenv("XDG_RUNTIME_DIR");

	if (!geteuid()) {
		snprintf(path, size, "/run/endplate/dev");
	} else if (runtime && *runtime == '/') {
		snprintf(path, size, "%s/endplate/dev", runtime);
	} else {
		error_add(errors, "$XDG_RUNTIME_DIR is not set: where claims on devices are kept cannot be told");
		return -ENOENT;
	}
	return 0;
}

static int make_folders(char *path)
{
	for (char *slash = strchr(path + 1, '/');; slash = strchr(slash + 1, '/')) {
		if (slash)
			*slash = 0;
		if (mkdir(path, 0755) && errno != EEXIST)
			return -errno;
		if (!slash)
			return 0;
		*slash = '/';
	}
}

/* The interface itself, or where the wire is: two robots may have wires of one name.  As which controller of it
 * (after the @) does not matter. */
static int full_name(char *name, size_t size, const char *interface, const char *what, struct error_sink *errors)
{
	char wire[RUN_PATH_MAX], rest[RUN_PATH_MAX];

	if (!strncmp(interface, WIRE, strlen(WIRE))) {
		interface += strlen(WIRE);
		snprintf(rest, sizeof(rest), "wire/%.*s", (int)strcspn(interface, "@"), interface);
		if (run_path(wire, rest, errors))
			return -ENOENT;
		interface = wire;
	}
	if (snprintf(name, size, "%s.%s", interface, what) >= (int)size) {
		error_add(errors, "%s: the name is too long for a claim", interface);
		return -ENAMETOOLONG;
	}
	for (char *c = name; *c; c++)
		if (*c == '/')
			*c = '!';
	return 0;
}

static int taken(int fd, const char *interface, const char *what, struct error_sink *errors)
{
	char holder[HOLDER_MAX] = { 0 };
	ssize_t n = pread(fd, holder, sizeof(holder) - 1, 0);

	if (n > 0)
		holder[strcspn(holder, "\n")] = 0;
	error_add(errors, "%s of %s is taken by %s", what, interface, *holder ? holder : "another process");
	close(fd);
	return -EBUSY;
}

int claim(const char *interface, const char *what, const char *program, struct error_sink *errors)
{
	char path[RUN_PATH_MAX + NAME_MAX + 2], name[NAME_MAX + 1], line[HOLDER_MAX];
	int fd, len, status;

	status = folder_path(path, RUN_PATH_MAX, errors);
	if (!status)
		status = full_name(name, sizeof(name), interface, what, errors);
	if (status)
		return status;
	status = make_folders(path);
	if (!status) {
		snprintf(path + strlen(path), NAME_MAX + 2, "/%s", name);
		fd = open(path, O_RDWR | O_CREAT | O_CLOEXEC, 0644);
		status = fd < 0 ? -errno : 0;
	}
	if (status) {
		error_add(errors, "%s: %s", path, strerror(-status));
		return status;
	}
	if (flock(fd, LOCK_EX | LOCK_NB))
		return taken(fd, interface, what, errors);
	len = snprintf(line, sizeof(line), "%s, process %d\n", program, (int)getpid());
	/* Whoever reads it stops at the end of the line: to make the file empty first takes a disk a millisecond. */
	if (pwrite(fd, line, (size_t)len, 0) != len)
		error_add(errors, "%s: %s", path, strerror(errno)); /* the lock counts, not what it says */
	return fd;
}
