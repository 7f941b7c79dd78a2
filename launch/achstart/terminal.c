/* terminal.c: lines for the person who started achstart. */
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <unistd.h>

#include "config/error.h"
#include "config/utf8.h"
#include "launch/achstart/terminal.h"

/* Others have the same terminal, and want to wait for it: it is opened once more, for us alone, so that O_NONBLOCK is
 * ours alone.  A file is not: it never keeps anybody waiting, and its offset is shared. */
void terminal_open(struct terminal *t)
{
	struct stat st;

	*t = (struct terminal){ .fd = -1 };
	if (fstat(STDERR_FILENO, &st))
		return;
	t->socket = S_ISSOCK(st.st_mode);
	if (S_ISCHR(st.st_mode) || S_ISFIFO(st.st_mode))
		t->fd = open("/proc/self/fd/2", O_WRONLY | O_NONBLOCK | O_NOCTTY | O_CLOEXEC);
	else
		t->fd = fcntl(STDERR_FILENO, F_DUPFD_CLOEXEC, 0);
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

void terminal_say(struct terminal *t, const char *line)
{
	char text[ERROR_LINE_MAX];
	size_t len = (size_t)snprintf(text, sizeof(text) - 1, "%s", line);
	ssize_t n;

	len = len < sizeof(text) - 1 ? len : sizeof(text) - 2;
	text[len++] = '\n';
	if (t->socket)
		n = send(t->fd, text, len, MSG_DONTWAIT | MSG_NOSIGNAL);
	else
		n = write(t->fd, text, len); /* SIGPIPE is ignored in this process */
	t->lost += n != (ssize_t)len;
}
