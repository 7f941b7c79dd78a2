/* log_input.c: a chain of inputs. */
#include <unistd.h>

#include "can/log/log_input.h"

ssize_t log_input_fd(int fd, void *to, size_t room)
{
	ssize_t n;

	do
		n = read(fd, to, room);
	while (n < 0 && errno == EINTR);
	return n < 0 ? -errno : n;
}

void log_input_start(struct log_input *in, int fd, struct log_input *below, const void *bytes, size_t n)
{
	in->fd = fd;
	in->below = below;
	in->at = 0;
	in->n = n;
	memcpy(in->bytes, bytes, n);
}

int log_input_more(struct log_input *in)
{
	ssize_t n;

	if (in->at < in->n)
		return 1;
	if (in->ended)
		return 0;
	n = in->below ? in->below->read(in->below, in->bytes, sizeof(in->bytes))
		      : log_input_fd(in->fd, in->bytes, sizeof(in->bytes));
	if (n < 0) {
		if (in->below)
			in->wrong = in->below->wrong;
		return (int)n;
	}
	in->ended = n == 0;
	in->at = 0;
	in->n = (size_t)n;
	return n > 0;
}

int log_input_wrong(struct log_input *in, const char *text)
{
	in->wrong = text;
	return -EBADMSG;
}

void log_input_close(struct log_input *in)
{
	while (in) {
		struct log_input *below = in->below;

		in->close(in);
		free(in);
		in = below;
	}
}
