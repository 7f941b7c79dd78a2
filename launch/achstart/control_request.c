/* control_request.c: requests to drivers that came through $RUN/control. */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "config/nearest.h"
#include "launch/achstart/control.h"

/* Channels have the name of the device, which may be driven by a daemon of another name. */
static const char *device_name(const struct watch *w)
{
	return w->daemon->device ? w->daemon->device->name : w->daemon->name;
}

static const struct watch *find_driver(const struct supervisor *s, const char *name, struct error_sink *errors)
{
	const char *best = NULL;

	for (size_t i = 0; i < s->n; i++) {
		const struct watch *w = &s->watches[i];

		if (w->daemon->alive != LAUNCH_ALIVE_STATE)
			continue;
		if (!strcmp(device_name(w), name) || !strcmp(w->daemon->name, name))
			return w;
		nearest_try(name, device_name(w), &best);
	}
	error_add(errors, "there is no driver %s%s%s%s", name, best ? "; did you mean " : "", best ? best : "",
		  best ? "?" : "");
	return NULL;
}

struct request *control_request_open(struct supervisor *s, const char *const *words, const char *user, int64_t now_ns,
				     struct error_sink *errors)
{
	const struct watch *w = find_driver(s, words[0], errors);
	struct request *r = NULL;
	enum msg_verb verb = MSG_VERB_NONE;

	if (!w)
		return NULL;
	if (!policy_has_process(&w->policy))
		error_add(errors, "%s does not run: it is %s", words[0], policy_state_name(w->policy.state));
	else if (!request_verb(words[1], &verb))
		error_add(errors, "%s is not a verb", words[1]);
	else if (!(r = malloc(sizeof(*r))))
		error_add(errors, "%s", strerror(ENOMEM));
	if (!r || request_open(r, device_name(w), verb, words[2], words[3], errors)) {
		free(r);
		return NULL;
	}
	if (verb != MSG_VERB_GET)
		watch_say(s, w, now_ns, INFO, "asked", "%s%s%s, asked by %s", words[1], *words[2] ? " " : "", words[2],
			  user);
	return r;
}

void control_request_close(struct request *r)
{
	if (r)
		request_close(r);
	free(r);
}

void control_request_reply(struct json *j, struct msg_reply *reply)
{
	if (reply->result && !*reply->error)
		snprintf(reply->error, sizeof(reply->error), "%s", strerror(-reply->result));
	terminal_clean(reply->value);
	terminal_clean(reply->error);
	json_int(j, "result", reply->result);
	json_text(j, "value", reply->value);
	json_text(j, "error", reply->error);
}
