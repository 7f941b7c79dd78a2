/* echo.h: what ach echo prints of a message, whether a channel or a recording has it. */
#ifndef CHANNELS_TOOL_ECHO_H
#define CHANNELS_TOOL_ECHO_H

#include "channels/tool/tool.h"
#include "config/json.h"

#define ECHO_BATCH 256 /* messages between two checks for a signal */

struct echo {
	bool last, follow, json;
	int64_t count;
	struct settings_strings only;
	bool colour;
};

/* A message and the facts for its title. */
struct echo_message {
	const uint8_t *bytes;
	size_t len;
	uint64_t number, missed;
	int64_t now_ns;	  /* for its age; 0: it is from a file */
	uint16_t version; /* that it was recorded in, if older; 0: the present version */
};

void echo_json(struct json *j, const char *name, const struct echo_message *m);
/* A title and its fields; the channel is named ("" otherwise) where there may be several. */
void echo_text(const struct echo *echo, const char *channel, const struct echo_message *m);

/* How many of the newest messages are asked for; UINT64_MAX: all. */
uint64_t echo_newest(const struct echo *echo);

/* Is that the name of a recording?  With a slash, or where there is no such channel. */
bool echo_is_file(const char *name);
int echo_file(const struct echo *echo, const char *path);

#endif
