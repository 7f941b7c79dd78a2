/* console_run.h: carries out the calls of hubo-console. */
#pragma once

#include "channels/client/endplate.h"
#include "launch/hubo/console.h"

struct console {
	struct endplate *robot;
	struct endplate_device *device;
	const char *name;  /* of the device */
	int64_t within_ns; /* how long a line waits for a driver that is not there, or in a lifecycle that refuses it */
	FILE *out, *err;
};

enum console_end { CONSOLE_DONE, CONSOLE_FAILED, CONSOLE_ENDS };

/* A line: what it says goes to out, why it is refused to err. */
enum console_end console_run(struct console *console, const char *line);
