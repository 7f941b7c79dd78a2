/* tool.c: what the commands of ach(1) share. */
#include <signal.h>
#include <sys/stat.h>
#include <unistd.h>

#include "channels/clock/clock.h"
#include "channels/tool/tool.h"

#define STREAM_BATCH 1024 /* messages of a channel before the others are read */
#define OUT_BUFFER (1u << 16)
#define OUT_PIECE 4096u /* a pipe that is ready takes this much without blocking (PIPE_BUF) */

/* ---- the terminal ---- */

bool tool_is_terminal(FILE *to)
{
	return isatty(fileno(to));
}

bool tool_colour(FILE *to)
{
	const char *no = getenv("NO_COLOR"), *term = getenv("TERM");

	return tool_is_terminal(to) && !(no && *no) && term && strcmp(term, "dumb") != 0;
}

/* ---- the end ---- */

/* Looks without taking, so that the descriptor stays readable. */
bool tool_stopped(void)
{
	sigset_t pending;

	return !sigpending(&pending) && (sigismember(&pending, SIGINT) == 1 || sigismember(&pending, SIGTERM) == 1);
}

/* ---- standard output ---- */

static int first_error;

static int write_all(const char *text, size_t len)
{
	struct stat st;
	size_t piece = !fstat(STDOUT_FILENO, &st) && S_ISREG(st.st_mode) ? SIZE_MAX : OUT_PIECE;

	while (len) {
		struct clock_fd fds[] = { { .fd = STDOUT_FILENO, .events = POLLOUT },
					  { .fd = clock_stop_fd(), .events = POLLIN } };
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

/* After the first error everything is discarded. */
static ssize_t write_cookie(void *cookie, const char *text, size_t len)
{
	(void)cookie;
	if (!first_error) {
		first_error = write_all(text, len);
		if (first_error && first_error != -ECANCELED)
			tool_fail("cannot write: %s", strerror(-first_error));
	}
	return (ssize_t)len;
}

FILE *out_file(void)
{
	static FILE *file;

	if (!file) {
		file = fopencookie(NULL, "w", (cookie_io_functions_t){ .write = write_cookie });
		if (!file)
			return stdout; /* no memory */
		setvbuf(file, NULL, _IOFBF, OUT_BUFFER);
	}
	return file;
}

int out_flush(void)
{
	fflush(out_file());
	return first_error;
}

int out_end(void)
{
	int stop = out_flush();

	return stop && stop != -ECANCELED ? EXIT_RETRY : 0;
}

/* ---- the messages of some channels as they come ---- */

/* Passes on the messages that wait, at most a batch of each channel.  0, or negative: failed. */
static int read_batch(struct tool_stream *s)
{
	for (size_t i = 0; i < s->n; i++) {
		int r = 0;

		for (int k = 0; k < STREAM_BATCH && s->left && (r = follow_next(&s->f[i])) > 0; k++) {
			r = s->message(s->with, i);
			if (r < 0)
				break;
			s->left -= r;
		}
		if (r < 0)
			return r;
	}
	return 0;
}

static bool is_due(struct tool_stream *s, int64_t now_ns)
{
	if (!s->every || !clock_is_due(s->next_ns, now_ns, s->every_ns))
		return false;
	s->next_ns = num_min(s->next_ns, now_ns);
	s->next_ns += (now_ns - s->next_ns) / s->every_ns * s->every_ns + s->every_ns;
	return true;
}

int tool_stream(struct tool_stream *s)
{
	int64_t jumped_ns = clock_jumped_ns();
	int stop = 0;

	while (!stop) {
		int64_t now_ns;

		if (read_batch(s) < 0)
			return EXIT_RETRY;
		now_ns = clock_now_ns();
		s->until_ns = clock_moved(s->until_ns, clock_jumped_ns() - jumped_ns);
		jumped_ns = clock_jumped_ns();
		if (!s->left || now_ns >= s->until_ns || (is_due(s, now_ns) && s->every(s->with)) || out_flush())
			break;
		stop = follow_wait(s->f, s->n, s->every ? num_min(s->next_ns, s->until_ns) : s->until_ns);
	}
	return stop < 0 ? EXIT_RETRY : 0;
}
