/* settings_value.h: private to config: one value of one row, in and out of its place. */
#ifndef CONFIG_SETTINGS_VALUE_H
#define CONFIG_SETTINGS_VALUE_H

#include "config/settings.h"

#define SETTINGS_WHY_MAX 256
#define SETTINGS_TEXT_MAX 256

/* Text into its place in values.  0, or negative with why: "900 is above the maximum 49 A". */
int settings_value_set(const struct settings_row *row, void *values, const char *text, char why[SETTINGS_WHY_MAX]);
/* The same from a node of a file. */
int settings_value_read(const struct settings_row *row, void *values, const struct yaml_node *node,
			char why[SETTINGS_WHY_MAX]);
/* And back.  As snprintf. */
int settings_value_text(const struct settings_row *row, const void *values, char *text, size_t size);

/* Can it be the limit of such a value?  NULL: no limit. */
bool settings_value_is_limit(const struct settings_row *row, const char *text);

/* "1ms to 1s", "at least 0", "hold, coast", "" */
void settings_value_range(const struct settings_row *row, char *text, size_t size);

#endif
