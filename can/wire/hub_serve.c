/* hub_serve.c: the page and the buses of a hub. */
#include <fcntl.h>
#include <sys/epoll.h>
#include <sys/eventfd.h>
#include <sys/mman.h>
#include <unistd.h>

#include "can/bus/bits.h"
#include "can/wire/hub.h"
#include "channels/clock/clock.h"

#define BACKLOG 128
#define FRAME_MIN_BITS 44 /* from the start bit to the end of the frame: 11-bit identifier, no data, no stuff bits */

/* ---- locks and sockets in RUN/wire ---- */

/* 0, -EBUSY if another canwire has them, or another -errno, with a line in errors. */
static int take_place(struct hub *hub, struct hub_bus *bus, struct error_sink *errors)
{
	const int status = locked_socket_take(&bus->place, hub->folder, errors);

	if (!status)
		hub_add_door(hub, bus->place.listener, HUB_LISTENERS + (uint32_t)(bus - hub->buses));
	return status;
}

/* The folder may have been removed and created again. */
static void follow_folder(struct hub *hub)
{
	const int folder = run_folder("wire", &(struct error_sink){ 0 });

	if (folder < 0)
		return;
	close(hub->folder);
	hub->folder = folder;
}

void hub_check_places(struct hub *hub)
{
	struct error_sink quiet = { 0 }; /* the next check is in a second */

	follow_folder(hub);
	for (unsigned int i = 0; i < hub->buses_n; i++)
		if (!locked_socket_is_ours(&hub->buses[i].place, hub->folder))
			take_place(hub, &hub->buses[i], &quiet);
}

/* ---- buses ---- */

static int64_t frame_min_ns(const struct engine_settings *settings)
{
	const struct bits_rates rates = { settings->bitrate, settings->data_bitrate };
	const int64_t space_ns = BITS_INTERFRAME * NS_PER_S / settings->bitrate;
	const int64_t classic_ns = FRAME_MIN_BITS * NS_PER_S / settings->bitrate;
	const int64_t fd_ns = bits_frame_ns(&rates, 0, 0, FRAME_FD | FRAME_BRS, false) - space_ns - 2; /* rounding */

	return settings->data_bitrate && fd_ns < classic_ns ? fd_ns : classic_ns;
}

int hub_serve(struct hub *hub, const char *name, const struct engine_settings *settings, struct error_sink *errors)
{
	struct hub_bus *bus = &hub->buses[hub->buses_n];
	char quoted[TEXT_QUOTED_MAX], object[VT_NAME_MAX];
	int r;

	if (!text_is_name(name))
		return error_refuse(errors, -EINVAL, "%s: a bus is named by 1 to %d letters and digits, like torso",
				    text_quote(quoted, name), TEXT_NAME_MAX);
	for (unsigned int i = 0; i < hub->buses_n; i++)
		if (!strcmp(hub->buses[i].name, name))
			return error_refuse(errors, -EINVAL, "%s: named twice", name);
	if (hub->buses_n == WIRE_BUSES_MAX)
		return error_refuse(errors, -ENOSPC, "%s: %d buses is the most one canwire serves", name,
				    WIRE_BUSES_MAX);
	strcpy(bus->name, name);
	bus->place = (struct locked_socket){ .name = bus->name,
					     .who = bus->name,
					     .busy = "is served already",
					     .backlog = BACKLOG,
					     .lock = -1,
					     .listener = -1 };
	r = take_place(hub, bus, errors);
	if (r) {
		locked_socket_leave(&bus->place, hub->folder);
		return r;
	}
	bus->hub = hub;
	bus->settings = *settings;
	bus->settings.event = hub_event;
	bus->settings.to = bus;
	r = engine_init(&bus->engine, &bus->settings, clock_now_ns());
	if (r && settings->data_bitrate)
		return error_refuse(
			errors, r,
			"%s: %u and %u bit/s: a soft wire runs at 1000 to 1000000, and data of CAN FD at that to "
			"10000000, a multiple of it if nothing else works",
			name, settings->bitrate, settings->data_bitrate);
	if (r)
		return error_refuse(errors, r, "%s: %u bit/s: a soft wire runs at 1000 to 1000000", name,
				    settings->bitrate);
	hub->page->buses[hub->buses_n].frame_min_ns = frame_min_ns(settings);
	hub->page->buses[hub->buses_n].data_bitrate = settings->data_bitrate;
	snprintf(object, sizeof(object), "bus %s", name);
	bus->seen = vt_clock_object(object);
	hub->buses_n++;
	return 0;
}

/* ---- opening and closing ---- */

/* Programs get a second, read-only descriptor of the page. */
static int page_open(struct hub *hub)
{
	char path[64];
	int fd;

	hub->page = hub_memory("canwire-page", sizeof(*hub->page), &fd);
	if (!hub->page)
		return -errno;
	snprintf(path, sizeof(path), "/proc/self/fd/%d", fd);
	hub->page_fd = open(path, O_RDONLY | O_CLOEXEC);
	close(fd);
	hub->page->magic = WIRE_MAGIC;
	hub->page->version = WIRE_VERSION;
	return hub->page_fd < 0 ? -errno : 0;
}

int hub_open(struct hub *hub, struct error_sink *errors)
{
	int r;

	*hub = (struct hub){ .bell = -1, .doors = -1, .page_fd = -1 };
	for (int i = 0; i < HUB_ATTACHMENTS_MAX; i++)
		hub->attachments[i].socket = -1;
	hub->folder = run_folder("wire", errors);
	if (hub->folder < 0)
		return hub->folder;
	hub->bell = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
	hub->doors = epoll_create1(EPOLL_CLOEXEC);
	hub->buses = calloc(WIRE_BUSES_MAX, sizeof(*hub->buses));
	clock_probe(hub->bell, hub_rung, hub);
	r = hub->bell < 0 || hub->doors < 0 || !hub->buses ? -errno : page_open(hub);
	if (r)
		error_add(errors, "unable to start: %s", strerror(-r));
	return r;
}

void hub_close(struct hub *hub)
{
	for (unsigned int i = 0; i < hub->attachments_n; i++)
		if (hub->attachments[i].socket >= 0)
			hub_detach(hub, &hub->attachments[i]);
	for (unsigned int i = 0; i < hub->buses_n; i++)
		locked_socket_leave(&hub->buses[i].place, hub->folder);
	free(hub->buses);
	if (hub->page)
		munmap(hub->page, sizeof(*hub->page));
	if (hub->page_fd >= 0)
		close(hub->page_fd);
	if (hub->doors >= 0)
		close(hub->doors);
	clock_probe(hub->bell, NULL, NULL);
	if (hub->bell >= 0)
		close(hub->bell);
	if (hub->folder >= 0)
		close(hub->folder);
}
