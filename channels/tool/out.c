/* out.c: standard output in large pieces, and always to be interrupted. */
#include <errno.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "channels/clock.h"
#include "channels/tool/out.h"
#include "channels/tool/tool.h"
#include "config/utf8.h"

#define OUT_START (1u << 16) /* bytes that are kept before they are written */
#define OUT_PIECE 4096u	     /* what a pipe that is ready takes without blocking (PIPE_BUF) */

static struct {
	char *text;
	size_t size, len;
	int error; /* the first, for good */
} out;

static size_t out_piece(void)
{
	struct stat st;

	return !fstat(STDOUT_FILENO, &st) && S_ISREG(st.st_mode) ? SIZE_MAX : OUT_PIECE;
}

static int out_write(const char *text, size_t len)
{
	size_t piece = out_piece();

	while (len) {
		struct clock_fd fds[] = { { .fd = STDOUT_FILENO, .events = POLLOUT },
					  { .fd = tool_stop_fd(), .events = POLLIN } };
		ssize_t n;

		if (clock_wait(fds, 2, CLOCK_NEVER) < 0)
			return -EIO;
		if (!fds[0].ready)
			return -ECANCELED;
		n = write(STDOUT_FILENO, text, len < piece ? len : piece);
		if (n < 0 && errno != EAGAIN && errno != EINTR)
			return -errno;
		if (n > 0) {
			text += n;
			len -= (size_t)n;
		}
	}
	return 0;
}

int out_flush(void)
{
	if (!out.error && out.len) {
		out.error = out_write(out.text, out.len);
		if (out.error && out.error != -ECANCELED)
			tool_fail("cannot write: %s", strerror(-out.error));
	}
	out.len = 0;
	return out.error;
}

char *out_room(size_t size)
{
	if (out.size - out.len < size)
		out_flush();
	if (out.size < size || !out.size) {
		size_t want = size > OUT_START ? size : OUT_START;
		char *text = realloc(out.text, want);

		if (!text)
			return NULL;
		out.text = text;
		out.size = want;
	}
	return out.text + out.len;
}

void out_done(size_t len)
{
	out.len += len;
}

void out_bytes(const void *bytes, size_t len)
{
	char *to = out_room(len);

	if (to) {
		memcpy(to, bytes, len);
		out_done(len);
	}
}

void out_text(const char *fmt, ...)
{
	char text[512];
	va_list args;
	int n;

	va_start(args, fmt);
	n = vsnprintf(text, sizeof(text), fmt, args);
	va_end(args);
	if (n > 0)
		out_bytes(text, (size_t)n < sizeof(text) ? (size_t)n : sizeof(text) - 1);
}

void out_json(const char *text)
{
	char json[UTF8_JSON_MAX];

	out_bytes("\"", 1);
	for (size_t left = strlen(text), n; left; text += n, left -= n) {
		n = utf8_json(json, text, left);
		out_bytes(json, strlen(json));
	}
	out_bytes("\"", 1);
}
