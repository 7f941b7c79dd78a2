/* rpc_call.c: asks a server of rpc.h. */
#include <sys/socket.h>
#include <unistd.h>

#include "channels/port/rpc.h"

#define RETRY_NS 1000000

int rpc_connect(const char *path, struct error_sink *errors)
{
	const char *slash = strrchr(path, '/');
	char folder_path[RUN_PATH_MAX];
	int folder, fd;

	if (!slash || slash == path || slash - path >= RUN_PATH_MAX)
		return -EINVAL;
	snprintf(folder_path, sizeof(folder_path), "%.*s", (int)(slash - path), path);
	folder = safe_path_open(folder_path, errors);
	if (folder < 0)
		return folder;
	clock_touch(0);
	fd = safe_path_connect(folder, slash + 1, SOCK_SEQPACKET);
	close(folder);
	return fd;
}

int rpc_connect_by(const char *path, int64_t deadline_ns)
{
	int fd;

	while ((fd = rpc_connect(path, &(struct error_sink){ 0 })) == -EAGAIN && clock_now_ns() < deadline_ns)
		clock_wait(NULL, 0, clock_now_ns() + RETRY_NS);
	return fd;
}

pid_t rpc_peer(int fd)
{
	socklen_t len = sizeof(struct ucred);
	struct ucred peer;

	return getsockopt(fd, SOL_SOCKET, SO_PEERCRED, &peer, &len) ? 0 : peer.pid;
}

int rpc_receive(int fd, char **text)
{
	const ssize_t size = recv(fd, NULL, 0, MSG_PEEK | MSG_TRUNC | MSG_DONTWAIT);

	if (size < 0 && errno == EAGAIN)
		return -EAGAIN;
	if (size <= 0)
		return -ECONNRESET;
	*text = malloc((size_t)size + 1);
	if (!*text)
		return -ENOMEM;
	(*text)[recv(fd, *text, (size_t)size, MSG_DONTWAIT) == size ? size : 0] = 0;
	return 0;
}

static int exchange(int fd, const char *question, char **text, int64_t deadline_ns)
{
	struct clock_fd wait = { .fd = fd, .events = POLLIN };

	clock_touch(0);
	if (send(fd, question, strlen(question), MSG_NOSIGNAL | MSG_DONTWAIT) < 0)
		return errno == EPIPE || errno == ECONNRESET ? -ECONNREFUSED : -errno;
	if (clock_wait(&wait, 1, deadline_ns) == 0)
		return -ETIMEDOUT;
	return rpc_receive(fd, text) ? -ECONNREFUSED : 0;
}

int rpc_call(const char *path, const char *question, char *answer, size_t size, int64_t deadline_ns,
	     struct error_sink *errors)
{
	const int fd = rpc_connect_by(path, deadline_ns);
	char *text = NULL;
	int status;

	if (fd < 0)
		return fd;
	status = exchange(fd, question, &text, deadline_ns);
	clock_touch(0); /* the server sees the end of the connection */
	close(fd);
	if (status)
		return status;
	if (!strncmp(text, "ok", 2)) {
		snprintf(answer, size, "%s", text + 2 + (text[2] == ' '));
	} else if (!strncmp(text, "error ", 6)) {
		error_add(errors, "%s", text + 6);
		status = -EINVAL;
	} else {
		status = -EPROTO;
	}
	free(text);
	return status;
}
