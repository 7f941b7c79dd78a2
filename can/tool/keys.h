/* keys.h: one key at a time: of the terminal, or a line each of whatever standard input is. */
#ifndef CAN_TOOL_KEYS_H
#define CAN_TOOL_KEYS_H

#include <stdbool.h>
#include <termios.h>

struct keys {
	int fd;
	bool terminal;
	struct termios before;
};

enum keys_answer { KEYS_NOTHING, KEYS_NEXT, KEYS_END };

/* Standard input, or the terminal itself if that is something else's.  0 or -errno. */
int keys_open(struct keys *k, bool stdin_is_taken);
void keys_close(struct keys *k); /* the terminal is as it was */

/* Once fd is readable: q, or no more input, is the end; any other key, or a whole line, is the next. */
enum keys_answer keys_read(struct keys *k);

#endif
