/* status_poll.c: the status of the robot, again and again. */
#include "launch/view/status_poll.h"

void status_poll_end(struct status_poll *a)
{
	if (a->asking)
		control_call_end(&a->ask);
	a->asking = false;
}

void status_poll_begin(struct status_poll *a, int64_t every_ns, int64_t now_ns)
{
	struct error_sink errors = { error_keep_last, a->why, 0 };

	if (a->asking && now_ns - a->asked_ns > CONTROL_CALL_WITHIN_NS) {
		snprintf(a->why, sizeof(a->why), "achstart, process %d, does not answer", (int)a->ask.pid);
		status_poll_end(a);
		a->away = true;
	}
	if (a->asking || now_ns - a->asked_ns < every_ns)
		return;
	a->asked_ns = now_ns;
	a->asking = !control_call_begin(&a->ask, (const char *const[]){ "status", NULL }, 0, &errors);
	a->away |= !a->asking;
}

struct clock_fd status_poll_fd(const struct status_poll *a)
{
	return a->asking ? control_call_fd(&a->ask) : (struct clock_fd){ .fd = -1 };
}

bool status_poll_answer(struct status_poll *a, struct status *status)
{
	struct error_sink errors = { error_keep_last, a->why, 0 };
	const int answered = a->asking ? control_call_step(&a->ask, &errors) : 0;

	if (!answered)
		return false;
	a->away = answered < 0 || !a->ask.ok;
	if (!a->away)
		status_read(status, yaml_root(a->ask.doc));
	else if (answered > 0)
		snprintf(a->why, sizeof(a->why), "%s", a->ask.error);
	if (answered > 0)
		STATUS_COPY(a->robot, status->robot);
	status_poll_end(a);
	return answered > 0;
}

void status_poll_channels(const struct status_poll *a, struct status *status, const struct robot_channels *channels)
{
	if (!a->away)
		return;
	observe_robot(status, channels);
	if (*a->robot)
		STATUS_COPY(status->robot, a->robot);
}
