/* canwire.h: the commands of canwire. */
#pragma once

#include "config/base/base.h"

struct canwire_options {
	const char *as, *robot;
	int64_t count; /* 0: not given */
	bool errors, json;
};

int canwire_run(int argc, char **argv); /* argv[0] is its name, and it has options of its own */

/* Behind the options; argv[0] is the bus. */
int canwire_send(const struct canwire_options *w, int argc, char **argv);
int canwire_dump(const struct canwire_options *w, int argc, char **argv);
int canwire_stats(const struct canwire_options *w, int argc, char **argv);
int canwire_fault(const struct canwire_options *w, int argc, char **argv);
int canwire_link(const struct canwire_options *w, int argc, char **argv);
