/* notice.c: what daemons say through $RUN/notify. */
#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "config/owned.h"
#include "config/run.h"
#include "config/utf8.h"
#include "launch/achstart/notice.h"

int notice_open(struct error_sink *errors)
{
	const int folder = run_folder(NULL, errors);
	int fd, status;

	if (folder < 0)
		return folder;
	fd = owned_socket(folder, "notify", SOCK_DGRAM, 0600);
	close(folder);
	status = fd < 0 ? fd : setsockopt(fd, SOL_SOCKET, SO_PASSCRED, &(int){ 1 }, sizeof(int)) ? -errno : 0;
	if (!status)
		return fd;
	error_add(errors, "notify: unable to listen: %s", strerror(-status));
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
