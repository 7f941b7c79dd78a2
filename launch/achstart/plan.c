/* plan.c: which process gets which signal, and when. */
#include "launch/achstart/plan.h"

#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>

#include "channels/clock/clock.h"
#include "config/base/text.h"

int plan_add(struct plan *plan, const struct plan_step *step, struct error_sink *errors)
{
	size_t at = plan->n;

	if (plan->n == PLAN_STEPS_MAX)
		return error_refuse(errors, -ENOSPC, "%d is the most that a plan has", PLAN_STEPS_MAX);
	while (at && plan->steps[at - 1].at_ns > step->at_ns)
		at--;
	memmove(&plan->steps[at + 1], &plan->steps[at], (plan->n - at) * sizeof(*step));
	plan->steps[at] = *step;
	plan->n++;
	return 0;
}

static int read_one(struct plan *plan, const char *text, int signal, struct error_sink *errors)
{
	const char *at = strchr(text, '@'), *plus = at ? strchr(at, '+') : NULL;
	struct plan_step step = { .signal = signal };
	char time[TEXT_VALUE_MAX];
	int64_t after = 0;

	if (at && at > text && at - text < PLAN_NAME_MAX) {
		snprintf(step.name, sizeof(step.name), "%.*s", (int)(at - text), text);
		snprintf(time, sizeof(time), "%.*s", (int)(plus ? plus - at - 1 : (int)sizeof(time)), at + 1);
		if (!text_duration(time, &step.at_ns) && step.at_ns >= 0 &&
		    (!plus || (signal == SIGKILL && !text_int(plus + 1, &after) && after > 0 && after < INT32_MAX))) {
			step.after = (uint32_t)after;
			return plan_add(plan, &step, errors);
		}
	}
	return error_refuse(errors, -EINVAL, "%s: not a plan such as waist@1.25s%s", text,
			    signal == SIGKILL ? ", or waist@1.25s+3: at its third action then" : "");
}

/* Several with commas between them. */
static int read_all(struct plan *plan, const char *text, int signal, struct error_sink *errors)
{
	for (;;) {
		const size_t len = strcspn(text, ",");
		char one[PLAN_NAME_MAX + 2 * TEXT_VALUE_MAX];

		snprintf(one, sizeof(one), "%.*s", (int)len, text);
		if (read_one(plan, one, signal, errors))
			return -EINVAL;
		if (!text[len])
			return 0;
		text += len + 1;
	}
}

int plan_read(struct plan *plan, const struct settings_strings *texts, int signal, struct error_sink *errors)
{
	for (size_t i = 0; i < texts->n; i++)
		if (read_all(plan, texts->item[i], signal, errors))
			return -EINVAL;
	return 0;
}

const struct plan_step *plan_due(struct plan *plan, int64_t now_ns)
{
	return plan_next_ns(plan) <= now_ns ? &plan->steps[plan->next++] : NULL;
}

int64_t plan_next_ns(const struct plan *plan)
{
	return plan->next < plan->n ? plan->steps[plan->next].at_ns : CLOCK_NEVER;
}
