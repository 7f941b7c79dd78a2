/* endplate_ask.c: one request to a driver, and its reply. */
#include <errno.h>
#include <string.h>
#include <unistd.h>

#include "config/text.h"
#include "launch/common/request.h"
#include "launch/endplate/endplate_inside.h"

static int ask(struct endplate *robot, struct request_ask *a, struct msg_reply *reply)
{
	struct error_sink errors = endplate_errors();
	struct msg_reply own = { 0 };
	uint64_t before;
	int status;

	a->key = a->key ? a->key : "";
	a->value = a->value ? a->value : "";
	a->cancel_fd = robot->cancel_fd;
	if (!text_is_name(a->device) || a->verb <= MSG_VERB_NONE || a->verb > MSG_VERB_GET || a->within_ns <= 0 ||
	    strlen(a->key) >= MSG_NAME_SIZE || strlen(a->value) >= MSG_TEXT_SIZE)
		return -EINVAL;
	if (read(robot->cancel_fd, &before, sizeof(before)) < 0)
		before = 0; /* no request was cancelled after its reply had come */
	status = request_ask(a, &own, &errors);
	if (!status && own.result) {
		error_add(&errors, "%s", *own.error ? own.error : strerror(-own.result));
		status = own.result < 0 ? own.result : -EBADMSG;
	}
	if (reply)
		*reply = own;
	return status;
}

int endplate_ask(struct endplate *robot, const char *device, enum msg_verb verb, const char *key, const char *value,
		 int64_t within_ns, struct msg_reply *reply)
{
	struct request_ask a = { device, verb, key, value, within_ns, false, -1 };

	return ask(robot, &a, reply);
}

int endplate_ask_deadline(struct endplate *robot, const char *device, enum msg_verb verb, const char *key,
			  const char *value, int64_t within_ns, struct msg_reply *reply)
{
	struct request_ask a = { device, verb, key, value, within_ns, true, -1 };

	return ask(robot, &a, reply);
}

int endplate_cancel(struct endplate *robot)
{
	const uint64_t one = 1;

	return write(robot->cancel_fd, &one, sizeof(one)) < 0 ? -errno : 0;
}
