/* notice.c: what daemons say through $RUN/notify. */
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <unistd.h>

#include "config/run.h"
#include "config/utf8.h"
#include "launch/achstart/notice.h"

int notice_open(struct error_sink *errors)
{
	struct sockaddr_un address = { .sun_family = AF_UNIX };
	char path[RUN_PATH_MAX];
	int fd, status, folder = run_folder("", errors);

	if (folder < 0)
		return folder;
	if (run_path(path, "notify", errors)) {
		close(folder);
		return -ENAMETOOLONG;
	}
	/* By its folder's descriptor, whatever the length of the path. */
	snprintf(address.sun_path, sizeof(address.sun_path), "/proc/self/fd/%d/notify", folder);
	unlink(path);
	fd = socket(AF_UNIX, SOCK_DGRAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
	status = fd < 0 || setsockopt(fd, SOL_SOCKET, SO_PASSCRED, &(int){ 1 }, sizeof(int)) ||
		 bind(fd, (struct sockaddr *)&address, sizeof(address)) || chmod(path, 0600);
	status = status ? -errno : 0;
	close(folder);
	if (!status)
		return fd;
	error_add(errors, "%s: %s", path, strerror(-status));
	if (fd >= 0)
		close(fd);
	return status;
}

static void take_line(struct notice *notice, const char *line)
{
	notice->ready |= !strcmp(line, "READY=1");
	notice->watchdog |= !strcmp(line, "WATCHDOG=1");
	notice->stopping |= !strcmp(line, "STOPPING=1");
	if (!strncmp(line, "STATUS=", 7)) {
		notice->has_status = true;
		snprintf(notice->status, sizeof(notice->status), "%s", line + 7);
		utf8_mend(notice->status);
	}
}

int notice_read(int fd, struct notice *notice)
{
	char text[1024], control[CMSG_SPACE(sizeof(struct ucred))];
	struct iovec part = { .iov_base = text, .iov_len = sizeof(text) - 1 };
	struct msghdr message = {
		.msg_iov = &part, .msg_iovlen = 1, .msg_control = control, .msg_controllen = sizeof(control)
	};
	const ssize_t len = recvmsg(fd, &message, MSG_DONTWAIT | MSG_CMSG_CLOEXEC);
	char *rest = text, *line;

	if (len < 0)
		return 0;
	text[len] = 0;
	memset(notice, 0, sizeof(*notice));
	for (struct cmsghdr *c = CMSG_FIRSTHDR(&message); c; c = CMSG_NXTHDR(&message, c))
		if (c->cmsg_level == SOL_SOCKET && c->cmsg_type == SCM_CREDENTIALS)
			notice->pid = ((const struct ucred *)(const void *)CMSG_DATA(c))->pid;
	while ((line = strsep(&rest, "\n")))
		take_line(notice, line);
	return 1;
}
