/* robot_view.c: the robot as this process sees it. */
#include "config/base/base.h"
#include "launch/achdoctor/prearm.h"
#include "launch/achweb/robot_view.h"

#define ASK_EVERY_NS 250000000
#define EXAMINE_EVERY_NS 10000000000

/* ---- messages ---- */

static struct robot_view_device *device_of(struct robot_view *v, const char *channel)
{
	struct robot_view_device *d;
	size_t len;

	for (size_t i = 0; i < v->devices_n; i++)
		if (!strcmp(v->devices[i]->channel, channel))
			return v->devices[i];
	d = v->devices_n < ROBOT_VIEW_DEVICES ? calloc(1, sizeof(*d)) : NULL;
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

static void take_event(struct robot_view *v, const struct msg_event *msg)
{
	struct robot_view_event *e = &v->events[v->events_n++ % ROBOT_VIEW_EVENTS];

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
	struct robot_view *v = to;
	struct robot_view_device *d;

	if (type->number == msg_event_number) {
		take_event(v, msg);
	} else if (shown && (d = device_of(v, one->name))) {
		d->type = type;
		d->number = ++v->messages;
		memcpy(d->msg.bytes, msg, type->body->size);
	}
}

/* Devices whose channel was removed go. */
static void sweep(struct robot_view *v)
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

void robot_view_read(struct robot_view *v)
{
	robot_channels_read(&v->channels);
	sweep(v);
}

/* ---- achstart ---- */

int robot_view_fd(const struct robot_view *v)
{
	return status_poll_fd(&v->achstart).fd;
}

void robot_view_answer(struct robot_view *v)
{
	v->answers += status_poll_answer(&v->achstart, &v->status);
}

/* ---- all ---- */

void robot_view_examine(struct robot_view *v, int64_t now_ns)
{
	v->doctor.n = 0;
	v->doctor_ns = now_ns;
	if (!v->achstart.away && prearm_is_needed(&v->status))
		prearm_examine(&v->status, &v->doctor);
}

void robot_view_update(struct robot_view *v, int64_t now_ns)
{
	status_poll_begin(&v->achstart, ASK_EVERY_NS, now_ns);
	robot_view_read(v);
	/* The robot, which may belong to another user, may have come after this process. */
	if (v->channels.owner != v->estop.options.owner) {
		estop_close(&v->estop);
		robot_level_open(&v->estop, false, &(struct error_sink){ 0 });
	}
	robot_level_read(&v->estop, &v->channels, clock_now_ns());
	status_poll_channels(&v->achstart, &v->status, &v->channels);
	observe_level(&v->status, &v->estop, &v->channels);
	observe_ages(&v->status, &v->channels);
	observe_clock(&v->status, false);
	if (!v->achstart.away && (!v->doctor_ns || now_ns - v->doctor_ns >= EXAMINE_EVERY_NS) &&
	    strcmp(v->status.level, "run") != 0)
		robot_view_examine(v, now_ns);
}

void robot_view_open(struct robot_view *v)
{
	memset(v, 0, sizeof(*v));
	v->achstart.away = true;
	v->channels.each = take;
	v->channels.to = v;
	robot_level_open(&v->estop, false, &(struct error_sink){ 0 });
}

void robot_view_close(struct robot_view *v)
{
	status_poll_end(&v->achstart);
	for (size_t i = 0; i < v->devices_n; i++)
		free(v->devices[i]);
	estop_close(&v->estop);
	robot_channels_close(&v->channels);
}
