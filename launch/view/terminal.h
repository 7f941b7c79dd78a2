/* terminal.h: lines for the person who started achstart, on stderr.
 *
 * A terminal that was stopped with Ctrl-S, a pipe without a reader or a journal that hangs loses lines; achstart does
 * not wait.
 */
#pragma once

#include "config/base/base.h"

struct terminal {
	int fd;
	bool socket;
	bool shared;   /* with other processes, which block on it */
	uint64_t lost; /* lines */
};

void terminal_open(struct terminal *terminal);
void terminal_close(struct terminal *terminal);
void terminal_say(struct terminal *terminal, const char *line); /* without its newline */

/* Replaces control characters, except tabs, and invalid UTF-8 by '?'. */
void terminal_clean(char *text);
