/* view_look.c: how a robot is without achstart: what its channels say, and what achstart left in $RUN/state. */
#include <dirent.h>
#include <fcntl.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "channels/clock.h"
#include "config/run.h"
#include "config/text.h"
#include "launch/achctl/chans.h"
#include "launch/achctl/judged.h"
#include "launch/achctl/view.h"
#include "launch/common/folder.h"

#define SILENT_MS 1000

#define COPY(to, text) snprintf(to, sizeof(to), "%s", text)

static struct view_daemon *add_daemon(struct view *v, const char *name)
{
	struct view_daemon *d;

	for (size_t i = 0; i < v->daemons_n; i++)
		if (!strcmp(v->daemons[i].name, name))
			return &v->daemons[i];
	if (v->daemons_n == VIEW_DAEMONS_MAX)
		return NULL;
	d = &v->daemons[v->daemons_n++];
	d->uptime_s = d->late_p99_us = d->late_max_us = d->age_ms = d->rate_hz = d->phase_us = NAN;
	d->wanted = true;
	COPY(d->name, name);
	return d;
}

/* ---- processes that achstart started, or another one before it ---- */

static void take_process(struct view *v, const char *name, int64_t now_ns)
{
	struct folder_state kept;
	struct view_daemon *d;

	if (!text_is_name(name) || folder_state_read(name, &kept) || !(d = add_daemon(v, name)))
		return;
	d->incarnation = kept.incarnation;
	d->restarts = (int64_t)kept.restarts;
	if (!folder_runs(&kept)) {
		snprintf(d->state, sizeof(d->state), "%s", folder_left_name(kept.left));
		return;
	}
	COPY(d->state, "running");
	d->ready = kept.ready;
	d->pid = kept.pid;
	d->uptime_s = (double)(now_ns - kept.spawned_ns) / 1e9;
}

static void look_at_processes(struct view *v, int64_t now_ns)
{
	const int run = run_look(&(struct error_sink){ 0 });
	const int state = openat(run, "state", O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
	DIR *folder = state < 0 ? NULL : fdopendir(state);
	const struct dirent *file;

	while (folder && (file = readdir(folder)))
		take_process(v, file->d_name, now_ns);
	if (folder)
		closedir(folder);
	else if (state >= 0)
		close(state);
	if (run >= 0)
		close(run);
}

/* ---- what the channels say ---- */

static void take_bus(struct view *v, const struct msg_bus *bus)
{
	struct view_bus *b = NULL;

	for (size_t i = 0; i < v->buses_n && !b; i++)
		if (!strncmp(v->buses[i].name, bus->name, MSG_NAME_SIZE))
			b = &v->buses[i];
	if (!b && v->buses_n < VIEW_BUSES_MAX) {
		b = &v->buses[v->buses_n++];
		snprintf(b->name, sizeof(b->name), "%.*s", MSG_NAME_SIZE, bus->name);
		snprintf(b->interface, sizeof(b->interface), "%.*s", MSG_NAME_SIZE, bus->interface);
		b->load = NAN;
		COPY(b->state, msg_link_word(bus->state));
	}
	if (!b)
		return;
	if (bus->state != MSG_LINK_ERROR_ACTIVE)
		COPY(b->state, msg_link_word(bus->state));
	b->stale += (int64_t)bus->stale;
	b->sent += (int64_t)bus->sent;
	b->replaced += (int64_t)bus->replaced;
	b->expired += (int64_t)bus->expired;
	b->lost += (int64_t)bus->lost;
	b->rx_dropped += (int64_t)bus->rx_dropped;
	if (b->errors < (int64_t)bus->errors) /* all see the same */
		b->errors = (int64_t)bus->errors;
	b->stalled |= bus->stalled_since_ns != 0;
}

static void take_state(struct view *v, const struct chans_one *one)
{
	const struct msg_refused *r = &one->common.refs_refused;
	const struct msg_common *c = &one->common;
	char name[VIEW_NAME_MAX];
	struct view_daemon *d;

	if (!chans_daemon(one, name, sizeof(name)) || !(d = add_daemon(v, name)))
		return;
	COPY(d->life, msg_life_word(c->lifecycle));
	COPY(d->level, msg_level_word(c->level));
	d->incarnation = one->header.incarnation;
	d->epoch = (int64_t)c->epoch;
	d->late_p99_us = (double)c->late_p99_ns / 1e3;
	d->late_max_us = (double)c->late_max_ns / 1e3;
	d->age_ms = chans_age_ms(one);
	d->rate_hz = one->rate_hz;
	d->phase_us = one->phase_us;
	d->freerun = one->header.flags & MSG_FLAG_FREERUN;
	d->refs_taken = (int64_t)c->refs_taken;
	d->refs_refused = (int64_t)r->no_validity + r->past + r->too_far + r->other_type + r->other_version +
			  r->other_size + r->not_finite + r->other_incarnation;
	d->ticks = (int64_t)c->ticks;
	d->skipped = (int64_t)c->skipped;
	if (!*d->state || !strcmp(d->state, "running")) {
		d->ready = d->age_ms < SILENT_MS && (!*d->state || d->ready);
		COPY(d->state, d->age_ms < SILENT_MS ? "running" : "silent");
	}
	for (size_t i = 0; i < c->bus_count && i < MSG_BUSES; i++)
		take_bus(v, &c->bus[i]);
}

static void take_clock(struct view *v, const struct chans *chans)
{
	const struct msg_clock *c = &chans->clock;

	v->clock.rate_hz = NAN;
	if (!chans->has_clock)
		return;
	COPY(v->clock.name, "clock");
	v->clock.period_us = (double)c->period_ns / 1e3;
	v->clock.late_us = (double)c->late_ns / 1e3;
	v->clock.cycle = (int64_t)c->cycle;
	for (size_t i = 0; i < c->bus_count && i < MSG_BUSES; i++)
		for (size_t j = 0; j < v->buses_n; j++)
			if (!strncmp(v->buses[j].name, c->bus[i].name, MSG_NAME_SIZE))
				v->buses[j].load = c->bus[i].load;
}

static void keep_first(void *to, const char *line)
{
	struct view *v = to;

	if (!*v->why)
		COPY(v->why, line);
}

/* Neither channel may be read by this user. */
static bool is_secret(const struct estop *e)
{
	return !e->channel[0].open && !e->channel[1].open &&
	       (e->channel[0].status == ACH_EACCES || e->channel[1].status == ACH_EACCES);
}

void view_level(struct view *v, const struct estop *e, const struct chans *chans)
{
	*v->level = *v->who = *v->why = 0;
	v->epoch = 0;
	if (!judged_is_there(e, chans))
		return;
	if (is_secret(e)) {
		estop_why_closed(e, &(struct error_sink){ keep_first, v, 0 });
		return;
	}
	COPY(v->level, msg_level_word(e->level));
	v->epoch = (int64_t)e->epoch;
	COPY(v->who, e->who);
	COPY(v->why, e->why);
	view_clean(v->who);
	view_clean(v->why);
}

static void take_level(struct view *v, const struct chans *chans)
{
	static struct estop estop;

	judged_open(&estop, false, &(struct error_sink){ 0 });
	judged_look(&estop, chans, clock_now_ns());
	view_level(v, &estop, chans);
	estop_close(&estop);
}

void view_fresh(struct view *v, const struct chans *chans)
{
	char name[VIEW_NAME_MAX];

	for (size_t i = 0; i < chans->n; i++) {
		const struct chans_one *one = chans->at[i];

		for (size_t j = 0; chans_daemon(one, name, sizeof(name)) && j < v->daemons_n; j++) {
			struct view_daemon *d = &v->daemons[j];

			if (strcmp(d->name, name) != 0 || !*d->life)
				continue;
			d->age_ms = chans_age_ms(one);
			d->rate_hz = one->rate_hz;
			d->phase_us = one->phase_us;
		}
	}
}

static int by_name(const void *a, const void *b)
{
	return strcmp(((const struct view_daemon *)a)->name, ((const struct view_daemon *)b)->name);
}

size_t view_look(struct view *v, const struct chans *chans)
{
	char path[RUN_PATH_MAX];

	memset(v, 0, sizeof(*v));
	v->uptime_s = NAN;
	if (!run_path(path, NULL, &(struct error_sink){ 0 }) && strrchr(path, '/'))
		COPY(v->robot, strrchr(path, '/') + 1);
	take_level(v, chans);
	look_at_processes(v, clock_now_ns());
	for (size_t i = 0; i < chans->n; i++)
		take_state(v, chans->at[i]);
	take_clock(v, chans);
	qsort(v->daemons, v->daemons_n, sizeof(*v->daemons), by_name);
	return v->daemons_n;
}
