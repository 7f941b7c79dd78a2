/* robotsim_unit.h: the simulated devices of a robot file, without buses: frames as text, time as an argument. */
#pragma once

#include "daemons/robotsim/sim.h"

extern struct sim sim;
extern char said[8192]; /* errors, answers, or frames */
extern int64_t now_ns;

/* What sim_load answers for such a robot file; its lines are in said. */
int unit_load(const char *fmt, ...) __attribute__((format(printf, 1, 2)));
void unit_unload(void);
void unit_keep_line(void *unused, const char *line); /* of an error sink: into said */
void unit_start(int64_t at_ns);			     /* all of them; it is that time now */

/* The first one: it receives a frame; what it sends until then; a fault of its. */
void unit_hear(const char *text);
const char *unit_sends(int64_t until_ns);
void unit_fault(const char *word, bool clear);
