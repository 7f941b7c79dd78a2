/* control_server_status.c: how the whole robot is, as achctl status gets it. */
#include <math.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "launch/achstart/control_server.h"
#include "launch/achstart/virtual.h"
#include "launch/view/status.h"

static void add_daemon(struct status *to, const struct supervised *from, int64_t now_ns)
{
	const bool runs = policy_has_process(&from->policy);
	struct status_daemon *d = status_add_daemon(to, from->daemon->name);

	if (!d)
		return;
	STATUS_COPY(d->state, policy_state_name(from->policy.state));
	d->ready = from->policy.state == POLICY_READY;
	d->pid = runs ? from->child.pid : 0;
	d->spare = from->spare.child.pid;
	d->incarnation = supervised_incarnation(from);
	d->uptime_s = runs ? (double)(now_ns - from->saved.spawned_ns) / 1e9 : NAN;
	d->restarts = from->policy.restarts;
	d->adopted = from->policy.adopted;
	d->wanted = from->daemon->wanted;
	virtual_over(from->daemon, d->status, sizeof(d->status));
	if (!*d->status)
		STATUS_COPY(d->status, from->status);
	STATUS_COPY(d->last_end, from->last_end);
	STATUS_COPY(d->why, supervised_why(from));
	if (runs && from->published.there) {
		status_take_state(d, &from->published.header, &from->published.common);
		d->age_ms = (double)daemon_state_age_ns(&from->published, now_ns) / 1e6;
		d->rate_hz = from->published.rate_hz;
	}
}

static void add_bus(struct status *to, const struct supervisor *s, const struct links_one *one)
{
	struct status_bus *b = to->buses_n < STATUS_BUSES_MAX ? &to->buses[to->buses_n++] : NULL;

	if (!b)
		return;
	*b = (struct status_bus){ .load = NAN, .resets = (int64_t)one->resets };
	STATUS_COPY(b->name, one->bus->name);
	STATUS_COPY(b->interface, one->bus->interface);
	for (size_t i = 0; i < s->n; i++) {
		const struct daemon_state *p = &s->supervised[i].published;

		for (size_t n = 0; p->there && n < p->common.bus_count && n < MSG_BUSES; n++)
			if (!strncmp(p->common.bus[n].name, one->bus->name, MSG_NAME_SIZE))
				status_take_bus(b, &p->common.bus[n]);
	}
	if (!*b->state)
		STATUS_COPY(b->state, "unknown");
}

void control_server_status(struct supervisor *s, struct json *j, int64_t now_ns)
{
	static struct status to;

	for (size_t i = 0; i < s->n; i++)
		if (s->supervised[i].daemon->alive == LAUNCH_ALIVE_STATE)
			daemon_state_update(&s->supervised[i].published, now_ns); /* as new as the level */
	estop_read(&s->estop, now_ns);
	to = (struct status){ .supervised = true,
			      .epoch = (int64_t)s->estop.epoch,
			      .pid = getpid(),
			      .uptime_s = (double)(now_ns - s->begun_ns) / 1e9,
			      .pace = virtual_pace(),
			      .behind_s = virtual_behind_s(),
			      .stopping = s->stop_ns != 0 };
	STATUS_COPY(to.robot, s->launch->name);
	STATUS_COPY(to.config, s->launch->config);
	STATUS_COPY(to.level, msg_level_word(s->estop.level));
	STATUS_COPY(to.who, s->estop.who);
	STATUS_COPY(to.why, s->estop.why);
	terminal_clean(to.who);
	terminal_clean(to.why);
	for (size_t i = 0; i < s->links.n; i++)
		add_bus(&to, s, &s->links.one[i]);
	for (size_t i = 0; i < s->n; i++) {
		const struct supervised *from = &s->supervised[i];

		add_daemon(&to, from, now_ns);
		if (from->published.there && to.channels_n < STATUS_DAEMONS_MAX) {
			struct status_channel *c = &to.channels[to.channels_n++];

			STATUS_COPY(c->name, from->daemon->channel);
			c->rate_hz = from->published.rate_hz;
			c->age_ms = (double)daemon_state_age_ns(&from->published, now_ns) / 1e6;
		}
		if (from->published.there && from->published.is_clock && !*to.clock.name) {
			status_take_clock(&to, from->daemon->name, &from->published.clock);
			to.clock.rate_hz = from->published.rate_hz;
		}
	}
	status_write(&to, j);
}
