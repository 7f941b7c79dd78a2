/* lines.h: the lines of standard input as they come; SIGINT and SIGTERM end the wait for the next one. */
#ifndef CHANNELS_TOOL_LINES_H
#define CHANNELS_TOOL_LINES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define LINES_MAX (1u << 20) /* bytes of one line */

struct lines {
	char *buf;
	size_t start, end; /* read and not yet given out */
	size_t searched;   /* bytes behind start that hold no newline */
	bool eof;
	uint64_t number; /* of the line given last, from 1 */
};

/* 1: *line, without its newline, good until the next call; 0: the end, or a signal came; -1: failed, after a line on
 * stderr.  A last line may lack its newline. */
int lines_next(struct lines *lines, char **line, size_t *len);
void lines_free(struct lines *lines);

#endif
