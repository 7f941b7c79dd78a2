/* kill_schedule.c: which process gets which signal, and when. */
#include "launch/achstart/kill_schedule.h"

#include <signal.h>

#include "channels/clock/clock.h"

int kill_schedule_add(struct kill_schedule *schedule, const struct kill_schedule_step *step, struct error_sink *errors)
{
	size_t at = schedule->n;

	if (schedule->n == KILL_SCHEDULE_STEPS_MAX)
		return error_refuse(errors, -ENOSPC, "%d is the most that a plan has", KILL_SCHEDULE_STEPS_MAX);
	while (at && schedule->steps[at - 1].at_ns > step->at_ns)
		at--;
	memmove(&schedule->steps[at + 1], &schedule->steps[at], (schedule->n - at) * sizeof(*step));
	schedule->steps[at] = *step;
	schedule->n++;
	return 0;
}

static int read_one(struct kill_schedule *schedule, const char *text, int signal, struct error_sink *errors)
{
	const char *at = strchr(text, '@'), *plus = at ? strchr(at, '+') : NULL;
	struct kill_schedule_step step = { .signal = signal };
	char time[TEXT_VALUE_MAX];
	int64_t after = 0;

	if (at && at > text && at - text < KILL_SCHEDULE_NAME_MAX) {
		snprintf(step.name, sizeof(step.name), "%.*s", (int)(at - text), text);
		snprintf(time, sizeof(time), "%.*s", (int)(plus ? plus - at - 1 : (int)sizeof(time)), at + 1);
		if (!text_duration(time, &step.at_ns) && step.at_ns >= 0 &&
		    (!plus || (signal == SIGKILL && !text_int(plus + 1, &after) && after > 0 && after < INT32_MAX))) {
			step.after = (uint32_t)after;
			return kill_schedule_add(schedule, &step, errors);
		}
	}
	return error_refuse(errors, -EINVAL, "%s: not a plan such as waist@1.25s%s", text,
			    signal == SIGKILL ? ", or waist@1.25s+3: at its third action then" : "");
}

/* Several with commas between them. */
static int read_all(struct kill_schedule *schedule, const char *text, int signal, struct error_sink *errors)
{
	for (;;) {
		const size_t len = strcspn(text, ",");
		char one[KILL_SCHEDULE_NAME_MAX + 2 * TEXT_VALUE_MAX];

		snprintf(one, sizeof(one), "%.*s", (int)len, text);
		if (read_one(schedule, one, signal, errors))
			return -EINVAL;
		if (!text[len])
			return 0;
		text += len + 1;
	}
}

int kill_schedule_read(struct kill_schedule *schedule, const struct settings_strings *kills,
		       const struct settings_strings *stops, struct error_sink *errors)
{
	for (size_t i = 0; i < kills->n; i++)
		if (read_all(schedule, kills->item[i], SIGKILL, errors))
			return -EINVAL;
	for (size_t i = 0; i < stops->n; i++)
		if (read_all(schedule, stops->item[i], SIGSTOP, errors))
			return -EINVAL;
	return 0;
}

const struct kill_schedule_step *kill_schedule_due(struct kill_schedule *schedule, int64_t now_ns)
{
	return kill_schedule_next_ns(schedule) <= now_ns ? &schedule->steps[schedule->next++] : NULL;
}

int64_t kill_schedule_next_ns(const struct kill_schedule *schedule)
{
	return schedule->next < schedule->n ? schedule->steps[schedule->next].at_ns : CLOCK_NEVER;
}
