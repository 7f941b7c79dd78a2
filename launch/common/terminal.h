/* terminal.h: lines for the person who started achstart, on stderr.
 *
 * A terminal that was stopped with Ctrl-S, a pipe that nobody reads or a journal that hangs loses lines; nobody
 * waits.
 */
#ifndef LAUNCH_COMMON_TERMINAL_H
#define LAUNCH_COMMON_TERMINAL_H

#include <stdbool.h>
#include <stdint.h>

struct terminal {
	int fd;
	bool socket;
	bool shared;   /* with others, who want to wait for it */
	uint64_t lost; /* lines */
};

void terminal_open(struct terminal *terminal);
void terminal_close(struct terminal *terminal);
void terminal_say(struct terminal *terminal, const char *line); /* without its newline */

/* What a terminal would take for a command, and what is no UTF-8, becomes '?'; tabs stay. */
void terminal_clean(char *text);

#endif
