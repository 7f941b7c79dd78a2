/* tool.c: what the commands of ach(1) share. */
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "channels/tool/tool.h"

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
