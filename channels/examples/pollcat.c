/* pollcat.c: the messages of two channels and the bytes of standard input, echoed to standard output.
 *
 * One poll loop serves all three, because ach_channel_fd makes a channel
 * pollable.  Standard input may end; the channels go on.
 */
#include <err.h>
#include <errno.h>
#include <poll.h>
#include <stdlib.h>
#include <unistd.h>

#include "channels/ach/ach.h"

struct source {
	const char *name;
	struct ach_channel chan;
};

struct buffer {
	char *bytes;
	size_t size;
};

static void buffer_grow(struct buffer *buf, size_t size)
{
	buf->bytes = realloc(buf->bytes, size);
	if (!buf->bytes)
		err(1, "cannot hold %zu bytes", size);
	buf->size = size;
}

static int source_open(struct source *source, const char *name)
{
	enum ach_status status = ach_open(&source->chan, name, NULL);
	int fd = -1;

	if (status == ACH_OK)
		status = ach_channel_fd(&source->chan, &fd);
	if (status != ACH_OK)
		errx(1, "cannot open %s: %s", name, ach_result_to_string(status));
	source->name = name;
	return fd;
}

static void write_all(const char *bytes, size_t len)
{
	while (len > 0) {
		ssize_t n = write(STDOUT_FILENO, bytes, len);

		if (n < 0 && errno != EINTR)
			err(1, "cannot write");
		if (n > 0) {
			bytes += n;
			len -= (size_t)n;
		}
	}
}

/* Until ACH_EAGAIN: by then the descriptor is no longer readable. */
static void source_echo(struct source *source, struct buffer *buf)
{
	for (;;) {
		uint64_t seen = source->chan.seq_num;
		size_t size = 0;
		enum ach_status status = ach_get(&source->chan, buf->bytes, buf->size, &size, NULL, ACH_O_NONBLOCK);

		if (status == ACH_EAGAIN)
			return;
		if (status == ACH_OVERFLOW) { /* still unseen, and size says what it needs */
			buffer_grow(buf, size);
			continue;
		}
		if (status == ACH_MISSED_FRAME)
			warnx("%s: missed %ju", source->name, (uintmax_t)(source->chan.seq_num - seen - 1));
		else if (status != ACH_OK)
			errx(1, "cannot read %s: %s", source->name, ach_result_to_string(status));
		write_all(buf->bytes, size);
	}
}

/* 0 at the end of standard input, else 1. */
static int stdin_echo(void)
{
	char bytes[4096];
	ssize_t n = read(STDIN_FILENO, bytes, sizeof(bytes));

	if (n < 0 && errno != EINTR && errno != EAGAIN)
		err(1, "cannot read standard input");
	if (n > 0)
		write_all(bytes, (size_t)n);
	return n != 0;
}

int main(int argc, char **argv)
{
	struct source sources[2];
	struct pollfd fds[3] = { { .fd = STDIN_FILENO, .events = POLLIN } };
	struct buffer buf = { .size = 0 }; /* grows to the longest message met */

	if (argc != 3)
		errx(2, "usage: pollcat CHANNEL CHANNEL");
	for (int i = 0; i < 2; i++)
		fds[1 + i] = (struct pollfd){ .fd = source_open(&sources[i], argv[1 + i]), .events = POLLIN };

	for (;;) {
		if (poll(fds, 3, -1) < 0) {
			if (errno == EINTR)
				continue;
			err(1, "cannot poll");
		}
		if (fds[0].revents && !stdin_echo())
			fds[0].fd = -1; /* poll skips it from now on; an ended input is readable for ever */
		for (int i = 0; i < 2; i++)
			if (fds[1 + i].revents)
				source_echo(&sources[i], &buf);
	}
}
