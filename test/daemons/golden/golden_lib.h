/* golden_lib.h: plays a log to a real driver, in this process, on a virtual clock; see README. */
#pragma once

#include <stdio.h>

#include "channels/msg/msg.h"

#define GOLDEN_LIB_SETTINGS_MAX 4

struct golden_lib_what {
	int (*main)(int argc, char **argv); /* of the driver */
	const char *driver, *device, *bus;
	const char *bus2; /* of a driver with two: its log and what is sent have the suffix -2; NULL: none */
	const char *settings[GOLDEN_LIB_SETTINGS_MAX]; /* KEY=VALUE; NULL behind the last */
	enum msg_number state;
	const char *const *further; /* channels of the driver beside those that all have, to be removed; NULL: none */
	void (*write)(const void *state); /* the rest of its line, behind time and lifecycle */
};

/* An exit status. */
int golden_lib_play(const struct golden_lib_what *what, const char *log, const char *sent, const char *states);

extern FILE *golden_lib_states;
/* A field of the state that has words. */
void golden_lib_word(enum msg_number state, const char *name, const void *value);
double golden_lib_ms(int64_t age_ns); /* infinite: it was never measured */
