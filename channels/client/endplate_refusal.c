/* endplate_refusal.c: what a driver says in its events: why it refused a reference, why it is in fault. */
#include "channels/client/endplate_inside.h"
#include "channels/clock/clock.h"

#define EVENTS_MAX 64		/* as many as the channel holds */
#define HELD_BACK_NS 1100000000 /* report.h holds back events of one code for a second */

static void keep(struct endplate_device *d, struct msg_event *event)
{
	const bool refusal = !strncmp(event->code, REF_REFUSED, sizeof(event->code));
	struct endplate_said *said = refusal ? &d->refusal : &d->fault;

	if (!refusal && event->severity < MSG_SEVERITY_ERROR)
		return;
	event->text[MSG_TEXT_SIZE - 1] = 0;
	memcpy(said->text, event->text, MSG_TEXT_SIZE);
	said->t_ns = event->header.t_publish_ns;
	said->incarnation = event->header.incarnation;
}

void endplate_read_events(struct endplate_device *d)
{
	const struct msg_type *type = msg_type_by_number(msg_event_number);
	enum ach_status status = ACH_OK;
	struct msg_event event;
	size_t len;

	d->event_end.look_ns = 0;
	if (endplate_end_reopen(&d->event_end, clock_now_ns()))
		return;
	for (int i = 0; i < EVENTS_MAX && (status == ACH_OK || status == ACH_MISSED_FRAME); i++) {
		status = ach_get(&d->event_end.chan, &event, sizeof(event), &len, NULL, 0);
		if ((status == ACH_OK || status == ACH_MISSED_FRAME) && msg_check(&event, len, type, NULL) == MSG_FINE)
			keep(d, &event);
	}
	if (status == ACH_CORRUPT)
		endplate_end_close(&d->event_end, -EIO);
}

/* The event names the reason; until it is there, or where events cannot be read, the counters do. */
const char *endplate_refusal(struct endplate_device *d)
{
	if (!d->refused_ns)
		return "";
	endplate_read_events(d);
	if (*d->refusal.text && d->refusal.incarnation == d->incarnation &&
	    d->refusal.t_ns >= d->refused_ns - HELD_BACK_NS)
		return d->refusal.text;
	return ref_reason_text(d->refused_why);
}
