/* observe.c: the status of a robot without achstart. */
#include <dirent.h>
#include <fcntl.h>
#include <math.h>
#include <unistd.h>

#include "channels/client/folder.h"
#include "channels/clock/clock.h"
#include "channels/clock/vt_observe.h"
#include "channels/estop/estop_lower.h"
#include "launch/view/observe.h"

#define SILENT_MS 1000

/* ---- processes that achstart started, or another one before it ---- */

static void take_process(struct status *v, const char *name, int64_t now_ns)
{
	struct folder_state saved;
	struct status_daemon *d;

	if (!text_is_name(name) || folder_state_read(name, &saved) || !(d = status_add_daemon(v, name)))
		return;
	d->incarnation = saved.incarnation;
	d->restarts = (int64_t)saved.restarts;
	if (!folder_runs(&saved)) {
		snprintf(d->state, sizeof(d->state), "%s", folder_left_name(saved.left_as));
		return;
	}
	STATUS_COPY(d->state, "running");
	d->ready = saved.ready;
	d->pid = saved.pid;
	d->uptime_s = (double)(now_ns - saved.spawned_ns) / 1e9;
}

static void read_processes(struct status *v, int64_t now_ns)
{
	const int state = folder_enter("state", O_RDONLY);
	DIR *folder = state < 0 ? NULL : fdopendir(state);
	const struct dirent *file;

	while (folder && (file = readdir(folder)))
		take_process(v, file->d_name, now_ns);
	if (folder)
		closedir(folder);
	else if (state >= 0)
		close(state);
}

/* ---- what the channels say ---- */

static void take_bus(struct status *v, const struct msg_bus *bus)
{
	struct status_bus *b = NULL;

	for (size_t i = 0; i < v->buses_n && !b; i++)
		if (!strncmp(v->buses[i].name, bus->name, MSG_NAME_SIZE))
			b = &v->buses[i];
	if (!b && v->buses_n < STATUS_BUSES_MAX) {
		b = &v->buses[v->buses_n++];
		snprintf(b->name, sizeof(b->name), "%.*s", MSG_NAME_SIZE, bus->name);
		snprintf(b->interface, sizeof(b->interface), "%.*s", MSG_NAME_SIZE, bus->interface);
		b->load = NAN;
	}
	if (b)
		status_take_bus(b, bus);
}

static void take_ages(struct status_daemon *d, const struct robot_channel *one)
{
	d->age_ms = robot_channel_age_ms(one);
	d->rate_hz = one->rate_hz;
	d->phase_us = one->phase_us;
}

static void take_refusal(struct status *v, const struct robot_channel *one)
{
	const size_t len = lines_before(one->name, "-event");
	char name[STATUS_NAME_MAX];
	struct status_daemon *d;

	snprintf(name, sizeof(name), "%.*s", (int)len, one->name);
	d = len && *one->refusal ? status_find_daemon(v, name) : NULL;
	if (!d || d->incarnation != one->refused_by)
		return;
	STATUS_COPY(d->refusal, one->refusal);
	utf8_clean(d->refusal);
}

static void take_state(struct status *v, const struct robot_channel *one)
{
	char name[STATUS_NAME_MAX];
	struct status_daemon *d;

	if (!robot_channel_daemon(one, name, sizeof(name)) || !(d = status_add_daemon(v, name)))
		return;
	status_take_state(d, &one->header, &one->common);
	d->incarnation = one->header.incarnation;
	take_ages(d, one);
	if (!*d->state || !strcmp(d->state, "running")) {
		d->ready = d->age_ms < SILENT_MS && (!*d->state || d->ready);
		STATUS_COPY(d->state, d->age_ms < SILENT_MS ? "running" : "silent");
	}
	for (size_t i = 0; i < one->common.bus_count && i < MSG_BUSES; i++)
		take_bus(v, &one->common.bus[i]);
}

static void keep_first(void *to, const char *line)
{
	struct status *v = to;

	if (!*v->why)
		STATUS_COPY(v->why, line);
}

/* Is there a driver, or a channel of the e-stop? */
static bool exists(const struct estop *e, const struct robot_channels *channels)
{
	for (int c = 0; c < ESTOP_CHANNELS; c++)
		if (e->channel[c].open || e->channel[c].status != ACH_ENOENT)
			return true;
	for (size_t i = 0; i < channels->n; i++)
		if (channels->at[i]->state && estop_lower_is_driver(&channels->at[i]->common, e->boot))
			return true;
	return false;
}

void observe_level(struct status *v, const struct estop *e, const struct robot_channels *channels)
{
	*v->level = *v->who = *v->why = 0;
	v->epoch = 0;
	if (!exists(e, channels))
		return;
	if (!e->channel[0].open && !e->channel[1].open &&
	    (e->channel[0].status == ACH_EACCES || e->channel[1].status == ACH_EACCES)) {
		estop_why_closed(e, &(struct error_sink){ keep_first, v, 0 });
		return;
	}
	STATUS_COPY(v->level, msg_level_word(e->level));
	v->epoch = (int64_t)e->epoch;
	STATUS_COPY(v->who, e->who);
	STATUS_COPY(v->why, e->why);
	utf8_clean(v->who);
	utf8_clean(v->why);
}

void observe_ages(struct status *v, const struct robot_channels *channels)
{
	char name[STATUS_NAME_MAX];

	for (size_t i = 0; i < channels->n; i++) {
		const struct robot_channel *one = channels->at[i];
		struct status_daemon *d =
			robot_channel_daemon(one, name, sizeof(name)) ? status_find_daemon(v, name) : NULL;

		if (d && *d->life)
			take_ages(d, one);
	}
}

static int by_name(const void *a, const void *b)
{
	return strcmp(((const struct status_daemon *)a)->name, ((const struct status_daemon *)b)->name);
}

void observe_clock(struct status *v, bool wait)
{
	STATUS_COPY(v->clock_still, !vt_observe_stands(wait) ? ""
				    : vt_observe_is_kept()   ? "a process is stopped, or computes without an end"
							     : "achtime has ended");
}

size_t observe_robot(struct status *v, const struct robot_channels *channels)
{
	static struct estop estop;
	char path[RUN_PATH_MAX];

	memset(v, 0, sizeof(*v));
	v->uptime_s = v->pace = v->behind_s = NAN;
	if (!run_path(path, NULL, &(struct error_sink){ 0 }) && strrchr(path, '/'))
		STATUS_COPY(v->robot, strrchr(path, '/') + 1);
	robot_level_open(&estop, false, &(struct error_sink){ 0 });
	robot_level_read(&estop, channels, clock_now_ns());
	observe_level(v, &estop, channels);
	estop_close(&estop);
	read_processes(v, clock_now_ns());
	for (size_t i = 0; i < channels->n; i++)
		take_state(v, channels->at[i]);
	for (size_t i = 0; i < channels->n; i++)
		take_refusal(v, channels->at[i]);
	v->clock.rate_hz = NAN;
	if (channels->has_clock)
		status_take_clock(v, "clock", &channels->clock);
	qsort(v->daemons, v->daemons_n, sizeof(*v->daemons), by_name);
	return v->daemons_n;
}
