/* input.c: a file that is read once, from its beginning to its end. */
#include "channels/rec/input.h"

#include <unistd.h>

#define READ_BYTES ((size_t)256 << 10)

size_t input_held(const struct input *in)
{
	return in->end - in->start;
}

/* The room grows with the bytes read, not with the length that a record claims. */
static bool make_room(struct input *in)
{
	if (in->start) {
		memmove(in->buf, in->buf + in->start, input_held(in));
		in->end -= in->start;
		in->start = 0;
	}
	return grow(&in->buf, &in->room, in->end + READ_BYTES, 1);
}

int input_hold(struct input *in, size_t len)
{
	while (input_held(in) < len && !in->eof) {
		const ssize_t n = make_room(in) ? in->read(in->from, in->buf + in->end, in->room - in->end) : -ENOMEM;

		if (n < 0)
			return (int)n;
		in->end += (size_t)n;
		in->eof = !n;
	}
	return 0;
}

void input_pass(struct input *in, size_t len)
{
	in->start += len;
	in->position += len;
}

ssize_t input_read_fd(void *from, void *bytes, size_t room)
{
	ssize_t n;

	do
		n = read(*(const int *)from, bytes, room);
	while (n < 0 && errno == EINTR);
	return n < 0 ? -errno : n;
}
