/* wrap.h: text in columns, at most WRAP_COLUMNS wide.
 *
 *	int at = fprintf(to, "  --bus ROLE=BUS");
 *
 *	wrap_pad(to, &at, 24);
 *	wrap_text(to, "which bus plays which role", at, 24);
 */
#ifndef CONFIG_WRAP_H
#define CONFIG_WRAP_H

#include <stdio.h>

#define WRAP_COLUMNS 100
#define WRAP_GAP 2

/* Blanks from column *at up to column; on a new line if what stands there is too long. */
void wrap_pad(FILE *to, int *at, int column);

/* The words of text and a newline; the first stands at column at, further lines begin at column indent. */
void wrap_text(FILE *to, const char *text, int at, int indent);

#endif
