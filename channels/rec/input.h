/* input.h: a file that is read once, from its beginning to its end: the bytes that were read and not yet passed. */
#pragma once

#include <sys/types.h>

#include "config/base/base.h"

/* As read(2), but -errno. */
typedef ssize_t input_read(void *from, void *bytes, size_t room);

struct input {
	input_read *read;
	void *from;
	uint8_t *buf; /* to be freed */
	size_t room;
	size_t start, end; /* the bytes that are held: buf[start] to buf[end - 1] */
	uint64_t position; /* of buf[start] in the file */
	bool eof;
};

size_t input_held(const struct input *in);
/* Reads until len bytes are held, or the file has no more.  0 or -errno. */
int input_hold(struct input *in, size_t len);
void input_pass(struct input *in, size_t len);

/* An input_read; from is an int, the descriptor. */
ssize_t input_read_fd(void *from, void *bytes, size_t room);
