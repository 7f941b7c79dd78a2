/* request_ask.c: a request to a driver and its reply: through achstart, which checks the right to make it; or, where no
 * achstart runs, by the driver's channels. */
#include "channels/client/control_call.h"
#include "channels/client/daemon_state.h"
#include "channels/port/request.h"

#define LOOK_NS 100000000    /* how often to look whether a channel was replaced */
#define GRACE_NS 500000000   /* beyond the deadline, for the driver to say that it has passed */
#define CANCEL_NS 2000000000 /* for the driver to say that it has ended a request that was cancelled */

struct asking {
	const struct request_ask *a;
	int64_t deadline_ns; /* of the driver; 0: none */
	int64_t until_ns;
	bool cancelled;
	struct error_sink *errors;
};

/* ---- waiting ---- */

static const char *goes_on(const struct request_ask *a)
{
	return request_moves(a->verb) ? "; a motion that has begun goes on: achctl hold ends it" : "";
}

static int no_answer(const struct asking *w)
{
	char channel[PORT_NAME_MAX], age[64] = ", and publishes nothing";
	const double within_s = (double)w->a->within_ns / 1e9;
	struct daemon_state published;
	int64_t age_ns;

	if (w->cancelled)
		return error_refuse(w->errors, -ETIMEDOUT, "cancelled, but %s has not said that it has ended%s",
				    w->a->device, goes_on(w->a));
	snprintf(channel, sizeof(channel), "%s-state", w->a->device);
	daemon_state_init(&published, channel);
	daemon_state_update(&published, clock_now_ns());
	age_ns = daemon_state_age_ns(&published, clock_now_ns());
	daemon_state_close(&published);
	if (age_ns != INT64_MAX)
		snprintf(age, sizeof(age), "; its last state is %.3g s old", (double)age_ns / 1e9);
	return error_refuse(w->errors, -ETIMEDOUT, "%s has not answered within %g s%s%s", w->a->device, within_s, age,
			    goes_on(w->a));
}

/* 0: look for the reply; 1: cancel the request, once; or -errno with a line. */
static int wait_for(struct asking *w, struct clock_fd fd)
{
	struct clock_fd fds[] = { fd, { .fd = w->cancelled ? -1 : w->a->cancel_fd, .events = POLLIN } };
	const int64_t now_ns = clock_now_ns();

	if (now_ns >= w->until_ns)
		return no_answer(w);
	clock_wait(fds, 2, now_ns + LOOK_NS < w->until_ns ? now_ns + LOOK_NS : w->until_ns);
	if (!fds[1].ready)
		return 0;
	w->cancelled = true;
	w->until_ns = clock_now_ns() + CANCEL_NS;
	return 1;
}

/* ---- through achstart ---- */

static int wait_achstart(struct asking *w, struct control_call *ask, struct msg_reply *reply)
{
	char why[ERROR_LINE_MAX] = "";
	struct error_sink last = { error_keep_last, why, 0 };
	int status;

	while (!(status = control_call_step(ask, &last))) {
		status = wait_for(w, control_call_fd(ask));
		if (status < 0)
			return status;
		if (status)
			control_call_cancel(ask);
	}
	if (status < 0)
		return error_refuse(w->errors, status, "%s%s", why, goes_on(w->a));
	if (!ask->ok)
		return error_refuse(w->errors, -EPERM, "%s", ask->error);
	control_call_reply(ask, reply);
	return 0;
}

/* -ENOENT without a line: no achstart runs this robot. */
static int through_achstart(struct asking *w, struct msg_reply *reply)
{
	const struct request_ask *a = w->a;
	char deadline[32], why[ERROR_LINE_MAX] = "";
	const char *const words[] = { "request", a->device, request_verbs[a->verb],
				      a->key,	 a->value,  w->deadline_ns ? deadline : NULL,
				      NULL };
	const int64_t most_ns = CONTROL_CALL_WITHIN_NS - CONTROL_CALL_GRACE_NS; /* later achstart does not pass it on */
	struct error_sink last = { error_keep_last, why, 0 };
	struct control_call ask;
	int status;

	snprintf(deadline, sizeof(deadline), "%lld", (long long)w->deadline_ns);
	status = control_call_begin(&ask, words, clock_now_ns() + (a->within_ns < most_ns ? a->within_ns : most_ns),
				    &last);
	if (status) {
		if (status != -ENOENT)
			error_add(w->errors, "%s", why);
		return status;
	}
	status = wait_achstart(w, &ask, reply);
	control_call_end(&ask);
	return status;
}

/* ---- by channels: a driver that was started by hand ---- */

static int by_channels(struct asking *w, struct msg_reply *reply)
{
	const struct request_ask *a = w->a;
	struct request r;
	int status;

	if (!request_is_possible(a->device))
		return error_refuse(w->errors, -ENOENT, "there is no driver %s: no program has made its channel %s-req",
				    a->device, a->device);
	status = request_open(&r, a->device, a->verb, a->key, a->value, w->errors);
	if (status)
		return status;
	r.msg.header.valid_until_ns = w->deadline_ns;
	while (status >= 0 && !request_step(&r, clock_now_ns(), reply)) {
		status = wait_for(w, (struct clock_fd){ .fd = request_fd(&r), .events = POLLIN });
		if (status > 0)
			request_cancel(&r);
	}
	request_close(&r);
	return status < 0 ? status : 0;
}

int request_ask(const struct request_ask *a, struct msg_reply *reply, struct error_sink *errors)
{
	const int64_t until_ns = clock_now_ns() + a->within_ns;
	struct asking w = { .a = a, .until_ns = until_ns, .errors = errors };
	int status;

	if (a->deadline) {
		w.deadline_ns = until_ns;
		w.until_ns += GRACE_NS;
	}
	status = through_achstart(&w, reply);
	return status == -ENOENT ? by_channels(&w, reply) : status;
}
