/* bus_socketcan.c: a bus that is a SocketCAN interface: opening, sending, closing. */
#include <errno.h>
#include <linux/can.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/epoll.h>
#include <unistd.h>

#include "can/bus_interface.h"
#include "can/bus_socketcan.h"
#include "channels/clock.h"

static struct bus_socketcan *of(struct bus *bus)
{
	return (struct bus_socketcan *)bus;
}

/* ---- sending ---- */

static int socketcan_send(struct bus *bus, const struct frame *frame)
{
	struct bus_socketcan *s = of(bus);
	size_t size = frame->flags & FRAME_FD ? CANFD_MTU : CAN_MTU;
	int error = 0;

	if (bus->state == BUS_ABSENT)
		return -ENODEV;
	if (s->echo && bus_filters_echo(&s->filters, frame->id))
		error = -bus_socketcan_set_filters(s);
	if (!error && send(s->socket, frame, size, MSG_DONTWAIT) < 0)
		error = errno;
	switch (error) {
	case 0:
		if (bus->state == BUS_STOPPED)
			bus_socketcan_check(s); /* it took the frame, so it is back */
		return 0;
	case EAGAIN: /* the socket's own limit, below a long queue */
	case ENOBUFS:
		return -ENOBUFS;
	case EMSGSIZE:
		return -EINVAL;
	}
	if (bus_socketcan_take_error(s, error))
		return -error;
	return error == ENODEV || error == ENXIO ? -ENODEV : -ENETDOWN;
}

/* ---- opening and closing ---- */

static void socketcan_close(struct bus *bus)
{
	struct bus_socketcan *s = of(bus);

	if (bus->fd >= 0 && bus->fd != s->socket)
		close(bus->fd);
	if (s->socket >= 0)
		close(s->socket);
	free(s);
}

static struct bus_socketcan *prepare(const char *name, const struct bus_options *options)
{
	struct bus_socketcan *s = calloc(1, sizeof(*s));

	if (!s)
		return NULL;
	snprintf(s->interface, sizeof(s->interface), "%s", name);
	s->bus.fd = s->socket = -1;
	s->bus.fd_frames = options->fd;
	s->errors = options->errors;
	s->echo = !options->no_echo;
	s->receive_buffer = options->receive_buffer;
	bus_filters_start(&s->filters, options);
	bus_socketcan_receive_start(s);
	s->since_ns = clock_now_ns();
	bus_stamp_start(&s->stamp, s->since_ns);
	s->bus.next_ns = s->since_ns;
	return s;
}

static int socketcan_open(struct bus **bus, const char *name, const struct bus_options *options,
			  struct error_sink *errors)
{
	struct bus_socketcan *s = prepare(name, options);
	int r = s ? bus_socketcan_make(s) : -ENOMEM;

	if (!r) {
		s->bus.fd = s->socket;
		r = bus_socketcan_attach_now(s);
	} else if (r == -EAFNOSUPPORT && options->later) {
		s->bus.fd = epoll_create1(EPOLL_CLOEXEC);
		if (s->bus.fd < 0)
			r = -errno;
	}
	if (options->later && (r == -ENODEV || r == -ENETDOWN || r == -EAFNOSUPPORT))
		r = 0;
	if (!r) {
		*bus = &s->bus;
		return 0;
	}
	bus_interface_explain(name, r, errors);
	if (s)
		socketcan_close(&s->bus);
	return r == -EMEDIUMTYPE ? -EINVAL : r;
}

const struct bus_ops bus_socketcan_ops = {
	.prefix = "",
	.name_wrong = bus_interface_name_wrong,
	.open = socketcan_open,
	.close = socketcan_close,
	.receive = bus_socketcan_receive,
	.send = socketcan_send,
};
