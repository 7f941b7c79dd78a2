/* settings_value.h: private to config: one value of one row, in and out of its place. */
#pragma once

#include "config/settings/settings.h"

#define SETTINGS_WHY_MAX 320
#define SETTINGS_TEXT_MAX 256

/* Text into its place in values.  0, or negative with why: "900 is above the maximum 49 A". */
int settings_value_set(const struct settings_row *row, void *values, const char *text, char why[SETTINGS_WHY_MAX]);
/* The same from a node of a file. */
int settings_value_read(const struct settings_row *row, void *values, const struct yaml_node *node,
			char why[SETTINGS_WHY_MAX]);
/* Prints a value; returns as snprintf. */
int settings_value_text(const struct settings_row *row, const void *values, char *text, size_t size);

/* Can it be the limit of such a value?  NULL: no limit. */
bool settings_value_is_limit(const struct settings_row *row, const char *text);

/* "1ms to 1s", "at least 0", "hold, coast", "" */
void settings_value_range(const struct settings_row *row, char *text, size_t size);

/* Text in columns, at most WRAP_COLUMNS wide.
 *
 *	int at = fprintf(to, "  --bus ROLE=BUS");
 *
 *	wrap_pad(to, &at, 24);
 *	wrap_text(to, "which bus plays which role", at, 24);
 */
#define WRAP_COLUMNS 100
#define WRAP_GAP 2

/* Blanks from column *at up to column; on a new line if what stands there is too long. */
void wrap_pad(FILE *to, int *at, int column);

/* The words of text and a newline; the first stands at column at, further lines begin at column indent. */
void wrap_text(FILE *to, const char *text, int at, int indent);
