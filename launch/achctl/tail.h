/* tail.h: the last lines of a file that grows, and is renamed when it has grown too much (launch/view/logs.h).
 *
 *	tail_open(&tail, path);
 *	tail_last(&tail, 100, print, to);
 *	for (;;) {
 *		...wait a little...
 *		tail_more(&tail, print, to);
 *	}
 */
#pragma once

#include "config/base/base.h"

#define TAIL_LINE_MAX 2048

struct tail {
	char path[RUN_PATH_MAX];
	int fd;
	int64_t at; /* read up to here */
	char line[TAIL_LINE_MAX];
	size_t len; /* of a line that is not ended yet */
};

typedef void tail_line(void *to, const char *line);

/* 0 or -errno; at its end. */
int tail_open(struct tail *tail, const char *path);
void tail_close(struct tail *tail);
/* The last n lines, also of the file that was the one before (path.1) if this one has fewer. */
void tail_last(struct tail *tail, int64_t n, tail_line *line, void *to);
/* Lines that have come since, also when the file was renamed meanwhile and a new one begun. */
void tail_more(struct tail *tail, tail_line *line, void *to);
