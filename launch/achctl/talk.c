/* talk.c: one request to a driver, and its answer. */
#include <dirent.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "channels/ach_file.h"
#include "channels/clock.h"
#include "config/nearest.h"
#include "config/text.h"
#include "daemons/port.h"
#include "launch/achctl/talk.h"
#include "launch/achctl/view.h"
#include "launch/achstart/pulse.h"

#define LOOK_NS 500000000 /* how often it is asked whether the channel was replaced */

struct talk {
	const struct ctl_line *line;
	const char *name;
	bool moves;
	int signals; /* that interrupt a motion's waiting; -1: they end the program, as usual */
	ach_channel_t req, rep;
	bool req_open, rep_open;
	struct msg_request request;
};

/* ---- the channels ---- */

/* The driver whose request channel has nearly that name. */
static int no_driver(const struct ctl_line *line, const char *name)
{
	const char *prefix = getenv("ENDPLATE_PREFIX"), *found = NULL;
	char file_prefix[PORT_NAME_MAX + 8], near[TEXT_NAME_MAX + 1], other[TEXT_NAME_MAX + 1];
	DIR *folder = opendir(ACH_FILE_DIR);
	struct dirent *file;

	snprintf(file_prefix, sizeof(file_prefix), "achshm-%s", prefix ? prefix : "");
	while (folder && (file = readdir(folder))) {
		const size_t skip = strlen(file_prefix), len = strlen(file->d_name);
		const char *nearer = found;

		if (strncmp(file->d_name, file_prefix, skip) != 0 || len < skip + 4 || len - skip - 4 > TEXT_NAME_MAX ||
		    strcmp(file->d_name + len - 4, "-req") != 0)
			continue;
		snprintf(other, sizeof(other), "%.*s", (int)(len - skip - 4), file->d_name + skip);
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

static int open_one(const struct talk *t, ach_channel_t *chan, const char *suffix)
{
	char channel[PORT_NAME_MAX], name[PORT_NAME_MAX];
	enum ach_status status;

	snprintf(channel, sizeof(channel), "%s-%s", t->name, suffix);
	status = port_name(name, channel) ? ACH_INVALID_NAME : ach_open(chan, name, NULL);
	if (status == ACH_OK)
		return 0;
	if (status == ACH_ENOENT)
		return no_driver(t->line, t->name);
	return ctl_fail(t->line, CTL_WORLD, "channel %s: %s", name,
			status == ACH_EACCES ? "you are not in the robot's group" : ach_result_to_string(status));
}

static void close_talk(struct talk *t)
{
	if (t->req_open)
		ach_close(&t->req);
	if (t->rep_open)
		ach_close(&t->rep);
	t->req_open = t->rep_open = false;
}

/* 0, or the exit status after a line.  What has been answered so far is not for us. */
static int open_talk(struct talk *t)
{
	int status = open_one(t, &t->rep, "rep");

	t->rep_open = !status;
	if (!status) {
		ach_flush(&t->rep);
		status = open_one(t, &t->req, "req");
		t->req_open = !status;
	}
	return status;
}

/* ---- asking ---- */

static int put(struct talk *t)
{
	enum ach_status status;

	t->request.header.t_sample_ns = t->request.header.t_publish_ns = clock_now_ns();
	t->request.header.sequence++;
	status = ach_put(&t->req, &t->request, sizeof(t->request));
	if (status == ACH_OK)
		return 0;
	return ctl_fail(t->line, CTL_WORLD, "channel %s-req: %s", t->name,
			status == ACH_EACCES ? "you are not in the robot's group" : ach_result_to_string(status));
}

/* 1: *reply is ours; 0: not yet; 2: messages were missed, one of which may have been ours. */
static int take(struct talk *t, struct msg_reply *reply)
{
	const struct msg_type *type = msg_type_by_number(msg_reply_number);
	int result = 0;

	for (;;) {
		size_t len;
		const enum ach_status status = ach_get(&t->rep, reply, sizeof(*reply), &len, NULL, ACH_O_FIRST);

		if (status == ACH_MISSED_FRAME)
			result = 2;
		else if (status != ACH_OK)
			return result;
		if (msg_check(reply, len, type, NULL) == MSG_FINE && reply->id == t->request.id &&
		    reply->client_pid == t->request.client_pid)
			return 1;
	}
}

static bool replaced(struct talk *t)
{
	int req = 0, rep = 0;

	return ach_unlinked(&t->req, &req) != ACH_OK || ach_unlinked(&t->rep, &rep) != ACH_OK || req || rep;
}

static const char *moving(const struct talk *t)
{
	return t->moves ? "; a motion that has begun goes on: achctl hold ends it" : "";
}

static int interrupted(const struct talk *t)
{
	return ctl_fail(t->line, CTL_WORLD, "interrupted before %s has answered%s", t->name, moving(t));
}

static int no_answer(const struct talk *t, int64_t within_ns)
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
				(double)within_ns / 1e9, moving(t));
	return ctl_fail(t->line, CTL_WORLD, "%s has not answered within %g s; its last state is %.3g s old%s", t->name,
			(double)within_ns / 1e9, (double)age_ns / 1e9, moving(t));
}

/* 0 with the answer in *reply; else the exit status after a line. */
static int wait_reply(struct talk *t, int64_t within_ns, struct msg_reply *reply)
{
	const int64_t until_ns = clock_now_ns() + within_ns;
	int status, fd = -1;

	ach_channel_fd(&t->rep, &fd);
	for (;;) {
		struct clock_fd wait[] = { { .fd = fd, .events = POLLIN }, { .fd = t->signals, .events = POLLIN } };
		const int64_t now_ns = clock_now_ns();

		switch (take(t, reply)) {
		case 1:
			return 0;
		case 2:
			status = put(t);
			if (status)
				return status;
			break;
		}
		if (now_ns >= until_ns)
			return no_answer(t, within_ns);
		clock_wait(wait, 2, now_ns + LOOK_NS < until_ns ? now_ns + LOOK_NS : until_ns);
		if (wait[1].ready)
			return interrupted(t);
		if (!wait[0].ready && replaced(t)) {
			close_talk(t);
			status = open_talk(t);
			if (!status)
				status = put(t);
			if (status)
				return status;
			ach_channel_fd(&t->rep, &fd);
		}
	}
}

static int show(const struct ctl_line *line, const struct talk *t, struct msg_reply *reply)
{
	char *members = NULL;
	size_t size;
	FILE *to;
	int status;

	reply->value[MSG_TEXT_SIZE - 1] = reply->error[MSG_TEXT_SIZE - 1] = 0;
	view_clean(reply->value);
	view_clean(reply->error);
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

int talk(const struct ctl_line *line, const char *name, enum msg_verb verb, const char *key, const char *value)
{
	const bool moves = verb == MSG_VERB_HOME || verb == MSG_VERB_ACTIVATE;
	const int64_t within_ns = line->within_ns >= 0 ? line->within_ns : moves ? TALK_MOTION_NS : TALK_USUAL_NS;
	struct talk t = { .line = line, .name = name, .moves = moves, .signals = moves ? ctl_signals() : -1 };
	struct msg_reply reply;
	int status = open_talk(&t);

	msg_init(&t.request, msg_type_by_number(msg_request_number));
	t.request.client_pid = (uint32_t)getpid();
	t.request.id = (uint64_t)clock_real_ns() ^ (uint64_t)getpid() << 44;
	t.request.verb = verb;
	snprintf(t.request.key, sizeof(t.request.key), "%s", key);
	snprintf(t.request.value, sizeof(t.request.value), "%s", value);
	if (!status)
		status = put(&t);
	if (!status)
		status = wait_reply(&t, within_ns, &reply);
	if (!status)
		status = show(line, &t, &reply);
	close_talk(&t);
	if (t.signals >= 0)
		close(t.signals);
	return status;
}
