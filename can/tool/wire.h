/* wire.h: the commands of canwire. */
#ifndef CAN_TOOL_WIRE_H
#define CAN_TOOL_WIRE_H

#include <stdbool.h>
#include <stdint.h>

struct wire_options {
	const char *as, *robot;
	int64_t count; /* 0: not given */
	bool errors, json;
};

int wire_run(int argc, char **argv); /* argv[0] is its name, and it has options of its own */

/* Behind the options; argv[0] is the bus. */
int wire_send(const struct wire_options *w, int argc, char **argv);
int wire_dump(const struct wire_options *w, int argc, char **argv);
int wire_stats(const struct wire_options *w, int argc, char **argv);
int wire_fault(const struct wire_options *w, int argc, char **argv);
int wire_link(const struct wire_options *w, int argc, char **argv);

#endif
