/* view.c: the robot as this process sees it. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "config/utf8.h"
#include "launch/achdoctor/prearm.h"
#include "launch/achweb/view.h"
#include "launch/common/lines.h"

#define ASK_EVERY_NS 250000000
#define EXAMINE_EVERY_NS 10000000000

/* ---- messages ---- */

static struct view_device *device_of(struct view *v, const char *channel)
{
	struct view_device *d;
	size_t len;

	for (size_t i = 0; i < v->devices_n; i++)
		if (!strcmp(v->devices[i]->channel, channel))
			return v->devices[i];
	d = v->devices_n < VIEW_DEVICES ? calloc(1, sizeof(*d)) : NULL;
	if (!d)
		return NULL;
	snprintf(d->channel, sizeof(d->channel), "%s", channel);
	/* Parts of a device have channels of their own: hubo-power. */
	len = strcmp(channel, "clock") ? strlen(channel) : 0;
	if (lines_before(channel, "-state"))
		len = lines_before(channel, "-state");
	snprintf(d->name, sizeof(d->name), "%.*s", (int)len, channel);
	v->devices[v->devices_n++] = d;
	return d;
}

static void take_event(struct view *v, const struct msg_event *msg)
{
	struct view_event *e = &v->events[v->events_n++ % VIEW_EVENTS];

	e->msg = *msg;
	e->msg.text[MSG_TEXT_SIZE - 1] = e->msg.source[MSG_NAME_SIZE - 1] = e->msg.code[MSG_NAME_SIZE - 1] = 0;
	utf8_clean(e->msg.text);
	utf8_clean(e->msg.source);
	utf8_clean(e->msg.code);
	e->real_ns = clock_real_ns() - (clock_now_ns() - msg->header.t_publish_ns);
}

static void take(void *to, const struct robot_channel *one, const struct msg_type *type, const void *msg)
{
	const bool shown =
		msg_is_state(type) || type->number == msg_bus_stats_number || type->number == msg_body_number;
	struct view *v = to;
	struct view_device *d;

	if (type->number == msg_event_number) {
		take_event(v, msg);
	} else if (shown && (d = device_of(v, one->name))) {
		d->type = type;
		d->number = ++v->messages;
		memcpy(d->msg.bytes, msg, type->body->size);
	}
}

/* Devices whose channel was removed go. */
static void sweep(struct view *v)
{
	for (size_t i = v->devices_n; i-- > 0;) {
		bool there = false;

		for (size_t c = 0; c < v->channels.n && !there; c++)
			there = !strcmp(v->channels.at[c]->name, v->devices[i]->channel);
		if (there)
			continue;
		free(v->devices[i]);
		memmove(&v->devices[i], &v->devices[i + 1], (--v->devices_n - i) * sizeof(*v->devices));
	}
}

void view_read(struct view *v)
{
	robot_channels_read(&v->channels);
	sweep(v);
}

/* ---- achstart ---- */

static void is_away(struct view *v)
{
	if (v->asking)
		ask_end(&v->ask);
	v->asking = false;
	v->away = true;
}

static void begin_asking(struct view *v, int64_t now_ns)
{
	struct error_sink errors = { error_keep_last, v->why, 0 };

	if (v->asking && now_ns - v->ask_ns > ASK_WITHIN_NS) {
		snprintf(v->why, sizeof(v->why), "achstart, process %d, does not answer", (int)v->ask.pid);
		is_away(v);
	}
	if (v->asking || now_ns - v->ask_ns < ASK_EVERY_NS)
		return;
	v->ask_ns = now_ns;
	v->asking = !ask_begin(&v->ask, (const char *const[]){ "status", NULL }, 0, &errors);
	if (!v->asking)
		v->away = true;
}

int view_fd(const struct view *v)
{
	return v->asking ? ask_fd(&v->ask).fd : -1;
}

void view_answer(struct view *v)
{
	struct error_sink errors = { error_keep_last, v->why, 0 };
	const int status = v->asking ? ask_step(&v->ask, &errors) : 0;

	if (status < 0) {
		is_away(v);
	} else if (status) {
		v->away = !v->ask.ok;
		if (v->ask.ok)
			status_read(&v->status, yaml_root(v->ask.doc));
		else
			snprintf(v->why, sizeof(v->why), "%s", v->ask.error);
		snprintf(v->robot, sizeof(v->robot), "%s", v->status.robot);
		ask_end(&v->ask);
		v->asking = false;
		v->answers++;
	}
}

/* ---- all ---- */

void view_examine(struct view *v, int64_t now_ns)
{
	v->doctor.n = 0;
	v->doctor_ns = now_ns;
	if (!v->away && prearm_is_needed(&v->status))
		prearm_examine(&v->status, &v->doctor);
}

/* The robot, which may belong to another user, may have come after this process. */
static void follow_owner(struct view *v)
{
	if (v->channels.owner == v->estop.options.owner)
		return;
	estop_close(&v->estop);
	robot_level_open(&v->estop, false, &(struct error_sink){ 0 });
}

void view_update(struct view *v, int64_t now_ns)
{
	begin_asking(v, now_ns);
	view_read(v);
	follow_owner(v);
	robot_level_read(&v->estop, &v->channels, now_ns);
	if (v->away) {
		observe_robot(&v->status, &v->channels);
		if (*v->robot)
			STATUS_COPY(v->status.robot, v->robot);
	}
	observe_level(&v->status, &v->estop, &v->channels);
	observe_ages(&v->status, &v->channels);
	if (!v->away && (!v->doctor_ns || now_ns - v->doctor_ns >= EXAMINE_EVERY_NS) &&
	    strcmp(v->status.level, "run") != 0)
		view_examine(v, now_ns);
}

void view_open(struct view *v)
{
	memset(v, 0, sizeof(*v));
	v->away = true;
	v->channels.each = take;
	v->channels.to = v;
	robot_level_open(&v->estop, false, &(struct error_sink){ 0 });
}

void view_close(struct view *v)
{
	if (v->asking)
		ask_end(&v->ask);
	for (size_t i = 0; i < v->devices_n; i++)
		free(v->devices[i]);
	estop_close(&v->estop);
	robot_channels_close(&v->channels);
}
