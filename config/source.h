/* source.h: the files that this process has read its settings from, and whether they are still the same.
 *
 * A process that waits before it begins to work (daemons/drv/standby.h) must not work with settings that have been
 * changed in the meantime. */
#ifndef CONFIG_SOURCE_H
#define CONFIG_SOURCE_H

#include <stdbool.h>

/* The file path is about to be read from that descriptor. */
void source_note(const char *path, int fd);

/* One of them was replaced, changed or removed since it was noted; or there were too many to keep. */
bool source_changed(void);

#endif
