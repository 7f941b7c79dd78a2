/* terminal.c: lines for the person who started achstart. */
#include <fcntl.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <unistd.h>

#include "channels/clock/clock.h"
#include "launch/view/terminal.h"

/* Other processes have the same terminal, and block on it: it is opened once more, so that O_NONBLOCK is ours alone.
 * A file is not: it never blocks, and its offset is shared.  After su(1) or sudo(8) the terminal, or the pipe, is
 * another user's, and cannot be opened: then it is shared. */
void terminal_open(struct terminal *t)
{
	struct stat st;

	*t = (struct terminal){ .fd = -1 };
	if (fstat(STDERR_FILENO, &st))
		return;
	t->socket = S_ISSOCK(st.st_mode);
	if (S_ISCHR(st.st_mode) || S_ISFIFO(st.st_mode))
		t->fd = open("/proc/self/fd/2", O_WRONLY | O_NONBLOCK | O_NOCTTY | O_CLOEXEC);
	if (t->fd >= 0)
		return;
	t->fd = fcntl(STDERR_FILENO, F_DUPFD_CLOEXEC, 0);
	t->shared = S_ISCHR(st.st_mode) || S_ISFIFO(st.st_mode);
}

void terminal_close(struct terminal *t)
{
	if (t->fd >= 0)
		close(t->fd);
	t->fd = -1;
}

void terminal_clean(char *text)
{
	size_t len = strlen(text);

	while (len) {
		uint32_t c;
		const size_t size = utf8_character(text, len, &c), bytes = size ? size : 1;

		if (!size || (!utf8_is_plain(c) && c != '\t'))
			memset(text, '?', bytes);
		text += bytes;
		len -= bytes;
	}
}

/* O_NONBLOCK is set for the others no longer than the write takes. */
static ssize_t write_shared(int fd, const char *text, size_t len)
{
	struct clock_fd room = { .fd = fd, .events = POLLOUT };
	const int flags = fcntl(fd, F_GETFL);
	ssize_t n;

	if (clock_wait(&room, 1, 0) <= 0 || flags < 0 || fcntl(fd, F_SETFL, flags | O_NONBLOCK))
		return -1;
	n = write(fd, text, len);
	fcntl(fd, F_SETFL, flags);
	return n;
}

void terminal_say(struct terminal *t, const char *line)
{
	char text[ERROR_LINE_MAX];
	size_t len = (size_t)snprintf(text, sizeof(text) - 1, "%s", line);
	ssize_t n;

	len = len < sizeof(text) - 1 ? len : sizeof(text) - 2;
	text[len++] = '\n';
	if (t->socket)
		n = send(t->fd, text, len, MSG_DONTWAIT | MSG_NOSIGNAL);
	else if (t->shared)
		n = write_shared(t->fd, text, len);
	else
		n = write(t->fd, text, len); /* SIGPIPE is ignored in this process */
	t->lost += n != (ssize_t)len;
}
