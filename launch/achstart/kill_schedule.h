/* kill_schedule.h: which process gets which signal, at which instant of the virtual clock. */
#pragma once

#include "config/base/base.h"
#include "config/settings/settings.h"

#define KILL_SCHEDULE_NAME_MAX 48
#define KILL_SCHEDULE_STEPS_MAX 1024

struct kill_schedule_step {
	char name[KILL_SCHEDULE_NAME_MAX];
	int64_t at_ns; /* since the clock began */
	int signal;
	uint32_t after; /* at its Nth action from then on; 0: at once */
};

struct kill_schedule {
	size_t n, next;
	struct kill_schedule_step steps[KILL_SCHEDULE_STEPS_MAX]; /* by time */
};

/* Adds each "NAME@TIME[+N]", or several with commas: SIGKILL or SIGSTOP at TIME, or SIGKILL at the Nth message or write
 * to a bus or socket from then on.  0, or -EINVAL with a line in errors. */
int kill_schedule_read(struct kill_schedule *schedule, const struct settings_strings *kills,
		       const struct settings_strings *stops, struct error_sink *errors);
int kill_schedule_add(struct kill_schedule *schedule, const struct kill_schedule_step *step,
		      struct error_sink *errors); /* 0 or -ENOSPC */

const struct kill_schedule_step *kill_schedule_due(struct kill_schedule *schedule,
						   int64_t now_ns);  /* the next one that is due, once; or NULL */
int64_t kill_schedule_next_ns(const struct kill_schedule *schedule); /* CLOCK_NEVER: none is left */
