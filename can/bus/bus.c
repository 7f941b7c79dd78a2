/* bus.c: from a name to its back end; checks and counters common to all back ends. */
#include "can/bus/bus_backend.h"

/* ---- which back end ---- */

/* The first whose prefix a name has; the empty prefix comes last. */
static const struct bus_ops *const backends[] = {
	&bus_log_ops,  /* log:FILE */
	&bus_wire_ops, /* wire:NAME */
	&bus_socketcan_ops,
};
#define BACKENDS (sizeof(backends) / sizeof(backends[0]))

static const struct bus_ops *backend_of(const char *name)
{
	size_t i = 0;

	while (i < BACKENDS - 1 && strncmp(name, backends[i]->prefix, strlen(backends[i]->prefix)) != 0)
		i++;
	return backends[i];
}

const char *bus_name_wrong(const char *name)
{
	return backend_of(name)->name_wrong(name);
}

/* ---- opening ---- */

int bus_open(struct bus **bus, const char *name, const struct bus_options *options, struct error_sink *errors)
{
	static const struct bus_options usual;
	const struct bus_ops *ops = backend_of(name);
	const char *wrong = ops->name_wrong(name);
	char quoted[TEXT_QUOTED_MAX];
	char *copy;
	int r;

	*bus = NULL;
	options = options ? options : &usual;
	if (wrong)
		return error_refuse(errors, -EINVAL, "%s is not a bus: %s", text_quote(quoted, name), wrong);
	if (options->filters_n > (options->filters ? BUS_FILTERS_MAX : 0))
		return error_refuse(errors, -EINVAL,
				    "%s: %zu filters, but a bus takes at most %d: join some of them by a mask", name,
				    options->filters_n, BUS_FILTERS_MAX);
	copy = strdup(name);
	if (!copy)
		return error_refuse(errors, -ENOMEM, "%s: no memory left", name);
	r = ops->open(bus, name, options, errors);
	if (r) {
		*bus = NULL;
		free(copy);
		return r;
	}
	(*bus)->ops = ops;
	(*bus)->name = copy;
	(*bus)->fd_frames = options->fd;
	return 0;
}

void bus_close(struct bus *bus)
{
	char *name = bus ? bus->name : NULL;

	if (bus && bus->set && !bus->ops->join && bus->fd >= 0)
		clock_set_remove_fd(bus->set, bus->fd);
	if (bus)
		bus->ops->close(bus);
	free(name);
}

/* ---- the loop's half ---- */

int bus_fd(const struct bus *bus)
{
	return bus->fd;
}

int bus_settle(struct bus *bus, struct error_sink *errors)
{
	return bus->ops->settle ? bus->ops->settle(bus, errors) : 0;
}

int bus_join(struct bus *bus, struct clock_set *set, uint32_t tag)
{
	bus->set = set;
	if (bus->ops->join)
		return bus->ops->join(bus, set, tag);
	return bus->fd < 0 ? 0 : clock_set_add_fd(set, bus->fd, POLLIN, tag);
}

bool bus_wake_by(struct bus *bus, enum bus_wake wake)
{
	return bus->ops->wake_by && bus->ops->wake_by(bus, wake);
}

bool bus_pending(const struct bus *bus)
{
	return bus->ops->pending && bus->ops->pending(bus);
}

int64_t bus_paused_ns(const struct bus *bus, int64_t now_ns)
{
	return bus->ops->paused ? bus->ops->paused(bus, now_ns) : 0;
}

int64_t bus_next_ns(const struct bus *bus)
{
	return bus->next_ns;
}

static void count(struct bus_stats *stats, const struct bus_frame *f)
{
	stats->restamped += f->flags & BUS_RESTAMPED ? 1 : 0;
	if (f->frame.id & FRAME_ERR) {
		stats->errors++;
	} else if (f->flags & BUS_QUEUED) {
		return;
	} else if (f->flags & BUS_OWN) {
		stats->confirmed++;
		stats->confirmed_ns = f->t_ns;
	} else {
		stats->received++;
		stats->received_ns = f->t_ns;
	}
}

int bus_receive(struct bus *bus, struct bus_frame *frames, size_t n)
{
	int got = n ? bus->ops->receive(bus, frames, n) : 0;

	for (int i = 0; i < got; i++)
		count(&bus->stats, &frames[i]);
	return got;
}

int bus_queue(struct bus *bus, const struct frame *frame)
{
	int r = -EINVAL;

	if (frame_valid(frame) && !(frame->id & FRAME_ERR) && (bus->fd_frames || !(frame->flags & FRAME_FD)))
		r = bus->ops->send(bus, frame);
	bus->stats.sent += r == 0;
	bus->stats.refused += r == -ENOBUFS;
	return r;
}

void bus_flush(struct bus *bus)
{
	if (bus->ops->flush)
		bus->ops->flush(bus);
}

int bus_send(struct bus *bus, const struct frame *frame)
{
	const int r = bus_queue(bus, frame);

	bus_flush(bus);
	return r;
}

/* ---- state ---- */

enum bus_state bus_state(const struct bus *bus)
{
	return bus->state;
}

bool bus_confirms(const struct bus *bus)
{
	return !bus->unconfirmed;
}

const struct bus_stats *bus_stats(const struct bus *bus)
{
	return &bus->stats;
}

const char *bus_name(const struct bus *bus)
{
	return bus->name;
}
