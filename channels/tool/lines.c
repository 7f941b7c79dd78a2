/* lines.c: the lines of standard input as they come. */
#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "channels/clock.h"
#include "channels/tool/lines.h"
#include "channels/tool/tool.h"

/* Reads what is there, waiting for it.  1; 0: a signal came; -1: failed, after a line. */
static int more(struct lines *l)
{
	struct clock_fd fds[] = { { .fd = STDIN_FILENO, .events = POLLIN },
				  { .fd = tool_stop_fd(), .events = POLLIN } };
	ssize_t n;

	if (l->start) {
		memmove(l->buf, l->buf + l->start, l->end - l->start);
		l->end -= l->start;
		l->start = 0;
	}
	if (clock_wait(fds, 2, CLOCK_NEVER) < 0)
		return tool_report(-1, "cannot wait: %s", strerror(errno));
	if (fds[1].ready)
		return 0;
	n = read(STDIN_FILENO, l->buf + l->end, LINES_MAX - l->end);
	if (n < 0 && errno != EINTR && errno != EAGAIN)
		return tool_report(-1, "cannot read standard input: %s", strerror(errno));
	l->eof = !n;
	l->end += n > 0 ? (size_t)n : 0;
	return 1;
}

static int give(struct lines *l, size_t len, size_t skip, char **line, size_t *line_len)
{
	*line = l->buf + l->start;
	(*line)[len] = '\0';
	*line_len = len;
	l->start += len + skip;
	l->searched = 0;
	l->number++;
	return 1;
}

int lines_next(struct lines *l, char **line, size_t *len)
{
	if (!l->buf)
		l->buf = malloc(LINES_MAX + 1);
	if (!l->buf)
		return tool_report(-1, "no memory");
	for (;;) {
		size_t held = l->end - l->start;
		char *from = l->buf + l->start, *newline;
		int r;

		newline = memchr(from + l->searched, '\n', held - l->searched);
		if (newline)
			return give(l, (size_t)(newline - from), 1, line, len);
		l->searched = held;
		if (l->eof)
			return held ? give(l, held, 0, line, len) : 0;
		if (held == LINES_MAX)
			return tool_report(-1, "line %" PRIu64 " is longer than %u bytes", l->number + 1,
					   LINES_MAX - 1);
		r = more(l);
		if (r <= 0)
			return r;
	}
}

void lines_free(struct lines *l)
{
	free(l->buf);
	*l = (struct lines){ 0 };
}
