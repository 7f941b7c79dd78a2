/* endplate_ask.c: one request to a driver, and its reply: through achstart, else by the driver's channels. */
#include <errno.h>
#include <string.h>

#include "channels/clock.h"
#include "config/text.h"
#include "launch/common/ask.h"
#include "launch/common/request.h"
#include "launch/endplate/endplate_inside.h"

#define LOOK_NS 100000000 /* how often to look whether a channel was replaced */

struct asked {
	const char *device;
	enum msg_verb verb;
	const char *key, *value;
	int64_t until_ns;
};

static int no_reply(const struct asked *a, struct error_sink *errors)
{
	error_add(errors, "%s has not answered in time%s", a->device,
		  request_moves(a->verb) ? "; a motion that has begun goes on" : "");
	return -ETIMEDOUT;
}

/* -ENOENT without a line: no achstart runs this robot. */
static int by_achstart(const struct asked *a, struct msg_reply *reply, struct error_sink *errors)
{
	const char *const words[] = { "request", a->device, request_verbs[a->verb], a->key, a->value, NULL };
	const int64_t now_ns = clock_now_ns();
	struct error_sink quiet = { 0 };
	struct ask ask;
	int status = ask_begin(&ask, words, now_ns + ask_begin_ns(a->until_ns - now_ns), &quiet);

	if (status) {
		if (status != -ENOENT)
			error_add(errors, "unable to ask achstart: %s", strerror(-status));
		return status;
	}
	while (!(status = ask_step(&ask, errors)) && clock_now_ns() < a->until_ns) {
		struct clock_fd fd = ask_fd(&ask);

		clock_wait(&fd, 1, a->until_ns);
	}
	if (!status) {
		status = no_reply(a, errors);
	} else if (status > 0 && !ask.ok) {
		error_add(errors, "%s", ask.error);
		status = -EPERM;
	} else if (status > 0) {
		ask_reply(&ask, reply);
		status = 0;
	}
	ask_end(&ask);
	return status;
}

static int by_channels(const struct asked *a, struct msg_reply *reply, struct error_sink *errors)
{
	struct request r;
	bool done;
	int status;

	if (!request_is_possible(a->device)) {
		error_add(errors, "there is no driver %s, and no channel %s-req", a->device, a->device);
		return -ENOENT;
	}
	status = request_open(&r, a->device, a->verb, a->key, a->value, errors);
	if (status)
		return status;
	while (!(done = request_step(&r, clock_now_ns(), reply)) && clock_now_ns() < a->until_ns) {
		const int64_t look_ns = clock_now_ns() + LOOK_NS;
		struct clock_fd fd = { .fd = request_fd(&r), .events = POLLIN };

		clock_wait(&fd, 1, look_ns < a->until_ns ? look_ns : a->until_ns);
	}
	request_close(&r);
	return done ? 0 : no_reply(a, errors);
}

int endplate_ask(struct endplate *robot, const char *device, enum msg_verb verb, const char *key, const char *value,
		 int64_t within_ns, struct msg_reply *reply)
{
	struct error_sink errors = endplate_errors();
	const struct asked a = { device, verb, key ? key : "", value ? value : "", clock_now_ns() + within_ns };
	struct msg_reply own = { 0 };
	int status;

	(void)robot; /* its environment is the process's */
	if (!text_is_name(device) || verb <= MSG_VERB_NONE || verb > MSG_VERB_GET || within_ns <= 0 ||
	    strlen(a.key) >= MSG_NAME_SIZE || strlen(a.value) >= MSG_TEXT_SIZE)
		return -EINVAL;
	status = by_achstart(&a, &own, &errors);
	if (status == -ENOENT)
		status = by_channels(&a, &own, &errors);
	if (!status && own.result) {
		error_add(&errors, "%s", *own.error ? own.error : strerror(-own.result));
		status = own.result < 0 ? own.result : -EBADMSG;
	}
	if (reply)
		*reply = own;
	return status;
}
