/* folder_robot.c: reads what achstart keeps of a robot in $RUN/robot. */
#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "config/owned.h"
#include "launch/common/folder.h"

#define TEXT_MAX (512 + RUN_PATH_MAX)

/* "KEY VALUE\n", VALUE shorter than size; the rest of text, or NULL. */
static const char *take_line(const char *text, const char *key, char *value, size_t size)
{
	const size_t skip = strlen(key), len = text ? strcspn(text, "\n") : 0;

	if (!text || strncmp(text, key, skip) != 0 || text[len] != '\n' || len - skip >= size)
		return NULL;
	snprintf(value, size, "%.*s", (int)(len - skip), text + skip);
	return text + len + 1;
}

int folder_robot_read(const char *path, struct folder_robot *robot, struct error_sink *errors)
{
	const int folder = owned_open(path, errors);
	char text[TEXT_MAX];
	const char *rest = text;
	int len;

	if (folder < 0)
		return folder;
	len = owned_read(folder, "robot", text, sizeof(text), errors);
	close(folder);
	if (len < 0)
		return len;
	rest = take_line(rest, "name ", robot->name, sizeof(robot->name));
	rest = take_line(rest, "prefix ", robot->prefix, sizeof(robot->prefix));
	rest = take_line(rest, "channels ", robot->channels, sizeof(robot->channels));
	return rest && !strcmp(rest, "end\n") && text_is_name(robot->name) ? 0 : -EBADMSG;
}
