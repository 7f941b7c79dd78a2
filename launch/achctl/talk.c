/* talk.c: one request to a driver, and its answer. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "channels/ach_file.h"
#include "channels/clock.h"
#include "config/nearest.h"
#include "config/text.h"
#include "daemons/drv/port.h"
#include "launch/common/ask.h"
#include "launch/achctl/talk.h"
#include "launch/common/status.h"
#include "launch/common/pulse.h"
#include "launch/common/request.h"

#define LOOK_NS 100000000 /* how often to look whether a channel was replaced */

struct talk {
	const struct ctl_line *line;
	const char *name;
	enum msg_verb verb;
	const char *key, *value;
	int64_t within_ns;
	int signals; /* that interrupt a motion's waiting; -1: they end the program, as usual */
};

static const char *moving(const struct talk *t)
{
	return request_moves(t->verb) ? "; a motion that has begun goes on: achctl hold ends it" : "";
}

static int interrupted(const struct talk *t)
{
	return ctl_fail(t->line, CTL_WORLD, "interrupted before %s has answered%s", t->name, moving(t));
}

static int no_answer(const struct talk *t)
{
	char channel[PORT_NAME_MAX];
	struct pulse pulse;
	int64_t age_ns;

	snprintf(channel, sizeof(channel), "%s-state", t->name);
	pulse_init(&pulse, channel);
	pulse_look(&pulse, clock_now_ns());
	age_ns = pulse_age_ns(&pulse, clock_now_ns());
	pulse_close(&pulse);
	if (age_ns == INT64_MAX)
		return ctl_fail(t->line, CTL_WORLD, "%s has not answered within %g s, and publishes nothing%s", t->name,
				(double)t->within_ns / 1e9, moving(t));
	return ctl_fail(t->line, CTL_WORLD, "%s has not answered within %g s; its last state is %.3g s old%s", t->name,
			(double)t->within_ns / 1e9, (double)age_ns / 1e9, moving(t));
}

/* 0: the descriptor may be ready; else the exit status after a line. */
static int wait_for(const struct talk *t, struct clock_fd fd, int64_t until_ns)
{
	struct clock_fd wait[] = { fd, { .fd = t->signals, .events = POLLIN } };
	const int64_t now_ns = clock_now_ns();

	if (now_ns >= until_ns)
		return no_answer(t);
	clock_wait(wait, 2, now_ns + LOOK_NS < until_ns ? now_ns + LOOK_NS : until_ns);
	return wait[1].ready ? interrupted(t) : 0;
}

static int show(const struct talk *t, struct msg_reply *reply)
{
	const struct ctl_line *line = t->line;
	char *members = NULL;
	size_t size;
	FILE *to;
	int status;

	status_clean(reply->value);
	status_clean(reply->error);
	if (reply->result)
		return ctl_fail(line, CTL_NO, "refused: %s: %s", t->name,
				*reply->error ? reply->error : strerror(-reply->result));
	to = open_memstream(&members, &size);
	if (!to)
		return ctl_fail(line, CTL_WORLD, "no memory left");
	fputs("\"value\":", to);
	ctl_json_text(to, reply->value);
	fclose(to);
	status = ctl_done(line, members, "%s", *reply->value ? reply->value : "done");
	free(members);
	return status;
}

/* ---- through achstart ---- */

static int show_answer(const struct talk *t, const struct ask *ask)
{
	struct msg_reply reply;

	if (!ask->ok)
		return ctl_fail(t->line, CTL_NO, "refused: %s", ask->error);
	ask_reply(ask, &reply);
	return show(t, &reply);
}

static int wait_achstart(const struct talk *t, struct ask *ask, int64_t until_ns)
{
	struct ctl_lines why;
	int status;

	for (;;) {
		status = ask_step(ask, ctl_lines(&why));
		if (status < 0)
			return ctl_fail(t->line, CTL_WORLD, "%s%s", why.text, moving(t));
		if (status)
			return show_answer(t, ask);
		status = wait_for(t, ask_fd(ask), until_ns);
		if (status)
			return status;
	}
}

/* The exit status; -ENOENT: no achstart runs this robot. */
static int through_achstart(const struct talk *t)
{
	const char *const words[] = { "request", t->name, request_verbs[t->verb], t->key, t->value, NULL };
	const int64_t now_ns = clock_now_ns();
	struct ctl_lines why;
	struct ask ask;
	int status = ask_begin(&ask, words, now_ns + ask_begin_ns(t->within_ns), ctl_lines(&why));

	if (status == -ENOENT)
		return status;
	if (status)
		return ctl_fail(t->line, CTL_WORLD, "%s", why.text);
	status = wait_achstart(t, &ask, now_ns + t->within_ns);
	ask_end(&ask);
	return status;
}

/* ---- without one: a driver that was started by hand ---- */

/* The driver whose request channel has nearly that name. */
static int no_driver(const struct ctl_line *line, const char *name)
{
	const char *prefix = getenv("ENDPLATE_PREFIX"), *found = NULL;
	char near[TEXT_NAME_MAX + 1], other[TEXT_NAME_MAX + 1];
	const size_t skip = prefix ? strlen(prefix) : 0;
	DIR *folder = ach_file_list();
	const char *full;

	while (folder && (full = ach_file_next(folder))) {
		const size_t len = strlen(full);
		const char *nearer = found;

		if ((skip && strncmp(full, prefix, skip) != 0) || len < skip + 4 || len - skip - 4 > TEXT_NAME_MAX ||
		    strcmp(full + len - 4, "-req") != 0)
			continue;
		snprintf(other, sizeof(other), "%.*s", (int)(len - skip - 4), full + skip);
		nearest_try(name, other, &nearer);
		if (nearer != found) {
			strcpy(near, other);
			found = near;
		}
	}
	if (folder)
		closedir(folder);
	if (found)
		return ctl_fail(line, CTL_NO, "there is no driver %s; did you mean %s?", name, found);
	return ctl_fail(line, CTL_WORLD, "there is no driver %s: nobody has made its channel %s-req", name, name);
}

static int wait_driver(const struct talk *t, struct request *r, int64_t until_ns)
{
	struct msg_reply reply;

	while (!request_step(r, clock_now_ns(), &reply)) {
		const struct clock_fd fd = { .fd = request_fd(r), .events = POLLIN };
		const int status = wait_for(t, fd, until_ns);

		if (status)
			return status;
	}
	return show(t, &reply);
}

static int by_channels(const struct talk *t)
{
	const int64_t until_ns = clock_now_ns() + t->within_ns;
	struct request r;
	struct ctl_lines why;
	int status;

	if (!request_is_possible(t->name))
		return no_driver(t->line, t->name);
	if (request_open(&r, t->name, t->verb, t->key, t->value, ctl_lines(&why)))
		return ctl_fail(t->line, CTL_WORLD, "%s", why.text);
	status = wait_driver(t, &r, until_ns);
	request_close(&r);
	return status;
}

int talk(const struct ctl_line *line, const char *name, enum msg_verb verb, const char *key, const char *value)
{
	const bool moves = request_moves(verb);
	const int64_t usual_ns = moves ? TALK_MOTION_NS : TALK_USUAL_NS;
	const struct talk t = { .line = line,
				.name = name,
				.verb = verb,
				.key = key,
				.value = value,
				.within_ns = line->within_ns >= 0 ? line->within_ns : usual_ns,
				.signals = moves ? ctl_signals() : -1 };
	int status = through_achstart(&t);

	if (status == -ENOENT)
		status = by_channels(&t);
	if (t.signals >= 0)
		close(t.signals);
	return status;
}
