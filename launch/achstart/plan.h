/* plan.h: which process gets which signal, at which instant of the virtual clock. */
#ifndef LAUNCH_ACHSTART_PLAN_H
#define LAUNCH_ACHSTART_PLAN_H

#include <stddef.h>
#include <stdint.h>

#include "config/settings/settings.h"

#define PLAN_NAME_MAX 48
#define PLAN_STEPS_MAX 1024

struct plan_step {
	char name[PLAN_NAME_MAX];
	int64_t at_ns; /* since the clock began */
	int signal;
	uint32_t after; /* at its Nth action from then on; 0: at once */
};

struct plan {
	size_t n, next;
	struct plan_step steps[PLAN_STEPS_MAX]; /* by time */
};

/* Adds each "NAME@TIME[+N]", or several with commas: the signal at TIME, or SIGKILL at the Nth message or write to a
 * bus or socket from then on.  0, or -EINVAL with a line in errors. */
int plan_read(struct plan *plan, const struct settings_strings *texts, int signal, struct error_sink *errors);
int plan_add(struct plan *plan, const struct plan_step *step, struct error_sink *errors); /* 0 or -ENOSPC */

const struct plan_step *plan_due(struct plan *plan, int64_t now_ns); /* the next one that is due, once; or NULL */
int64_t plan_next_ns(const struct plan *plan);			     /* CLOCK_NEVER: none is left */

#endif
