/* bus_socketcan_link.c: the socket, and the state of the link. */
#include <linux/can/raw.h>
#include <linux/net_tstamp.h>
#include <sys/epoll.h>
#include <unistd.h>

#include "can/bus/bus_interface.h"
#include "can/bus/bus_socketcan.h"
#include "can/bus/frame_error.h"

#define AT_ONCE_NS 1000000 /* between two checks just after the link went down: a reset takes 2 ms */
#define AT_ONCE_FOR_NS 50000000
#define SOON_NS 10000000     /* in the first second */
#define LATER_NS 100000000   /* and after it */
#define KERNEL_NS 1000000000 /* without CAN in the kernel: each check starts modprobe */
#define HASTE_NS 1000000000

/* Error frames that carry the controller's state; received even without bus_options.errors. */
#define STATE_CLASSES (CAN_ERR_CRTL | CAN_ERR_BUSOFF | CAN_ERR_RESTARTED)

/* ---- the socket ---- */

static int set(int fd, int level, int option, int value)
{
	return setsockopt(fd, level, option, &value, sizeof(value)) ? -errno : 0;
}

static int set_options(const struct bus_socketcan *s, int fd)
{
	int r = set(fd, SOL_CAN_RAW, CAN_RAW_ERR_FILTER, s->errors ? (int)CAN_ERR_MASK : (int)STATE_CLASSES);

	if (!r)
		r = set(fd, SOL_CAN_RAW, CAN_RAW_RECV_OWN_MSGS, s->echo);
	if (!r && s->bus.fd_frames)
		r = set(fd, SOL_CAN_RAW, CAN_RAW_FD_FRAMES, 1);
	if (!r)
		r = set(fd, SOL_SOCKET, SO_TIMESTAMPING, SOF_TIMESTAMPING_RX_SOFTWARE | SOF_TIMESTAMPING_SOFTWARE);
	if (!r)
		r = set(fd, SOL_SOCKET, SO_RXQ_OVFL, 1);
	/* Above the system's limit with CAP_NET_ADMIN, else up to it. */
	if (!r && s->receive_buffer && set(fd, SOL_SOCKET, SO_RCVBUFFORCE, s->receive_buffer))
		r = set(fd, SOL_SOCKET, SO_RCVBUF, s->receive_buffer);
	return r;
}

int bus_socketcan_make(struct bus_socketcan *s)
{
	int fd = socket(AF_CAN, SOCK_RAW | SOCK_NONBLOCK | SOCK_CLOEXEC, CAN_RAW);
	int r;

	if (fd < 0) /* the second: CAN, but without CAN_RAW */
		return errno == EPROTONOSUPPORT || errno == ESOCKTNOSUPPORT ? -EAFNOSUPPORT : -errno;
	r = set_options(s, fd);
	if (r)
		close(fd);
	else
		s->socket = fd;
	return r;
}

/* Also without filters: a socket that lost its interface lost its filters, too, and receives nothing. */
int bus_socketcan_set_filters(struct bus_socketcan *s)
{
	static const struct bus_filter everything;
	const struct bus_filters *f = &s->filters;
	const struct bus_filter *list = f->all ? &everything : f->kernel;
	size_t n = f->all ? 1 : f->kernel_n;

	return setsockopt(s->socket, SOL_CAN_RAW, CAN_RAW_FILTER, list, (socklen_t)(n * sizeof(*list))) ? -errno : 0;
}

/* ---- attaching ---- */

static void schedule_check(struct bus_socketcan *s, int64_t now_ns)
{
	int64_t gone_ns = now_ns - s->since_ns;
	int64_t gap_ns = gone_ns < AT_ONCE_FOR_NS ? AT_ONCE_NS : gone_ns < HASTE_NS ? SOON_NS : LATER_NS;

	s->bus.next_ns = now_ns + (s->socket < 0 ? KERNEL_NS : s->bus.state == BUS_OFF ? LATER_NS : gap_ns);
}

bool bus_socketcan_well(const struct bus_socketcan *s)
{
	return s->bus.state > BUS_STOPPED && s->bus.state < BUS_OFF;
}

void bus_socketcan_enter(struct bus_socketcan *s, enum bus_state state)
{
	if (s->bus.state == state)
		return;
	/* Also for a reader that did not see BUS_OFF: the frames in the controller are gone. */
	s->bus.stats.attached += s->bus.state == BUS_OFF && state > BUS_STOPPED;
	s->bus.state = state;
	s->bus.next_ns = CLOCK_NEVER;
	if (bus_socketcan_well(s))
		return;
	s->carrier_gone = false;
	s->since_ns = clock_now_ns();
	schedule_check(s, s->since_ns);
}

/* Binds the socket.  The interface counts as down until check_link. */
static int attach(struct bus_socketcan *s, int index)
{
	struct sockaddr_can to = { .can_family = AF_CAN, .can_ifindex = index };
	struct bus_interface link;
	socklen_t len = sizeof(int);
	int r = bus_socketcan_set_filters(s), old;

	if (r)
		return r;
	if (bind(s->socket, (struct sockaddr *)&to, sizeof(to)))
		return -errno;
	s->index = index;
	(void)getsockopt(s->socket, SOL_SOCKET, SO_ERROR, &old, &len); /* ENETDOWN: check_link reads the flags */
	s->bus.unconfirmed = !bus_interface_query(&link, index) && !bus_interface_confirms(&link);
	bus_socketcan_enter(s, BUS_STOPPED);
	return 0;
}

/* Is the link up, and still that of the interface which the socket is bound to?  IFF_RUNNING is set up to a second too
 * late. */
static void check_link(struct bus_socketcan *s)
{
	int index = bus_interface_find(s->socket, s->interface);
	int flags = index == s->index ? bus_interface_flags(s->socket, s->interface) : -ENODEV;

	if (flags < 0) {
		bus_socketcan_enter(s, BUS_ABSENT);
	} else if (!(flags & IFF_UP)) {
		bus_socketcan_enter(s, BUS_STOPPED);
	} else if (s->bus.state == BUS_STOPPED) {
		bus_socketcan_enter(s, BUS_ERROR_ACTIVE);
		s->bus.stats.attached++;
	} else if (!(flags & IFF_RUNNING)) {
		s->carrier_gone = true;
	} else if (s->carrier_gone) { /* restarted, and the error frame of the restart was lost */
		bus_socketcan_enter(s, BUS_ERROR_ACTIVE);
	}
}

static bool joined(struct bus_socketcan *s)
{
	struct epoll_event in = { .events = EPOLLIN };

	if (s->socket < 0 && !bus_socketcan_make(s) && epoll_ctl(s->bus.fd, EPOLL_CTL_ADD, s->socket, &in)) {
		close(s->socket);
		s->socket = -1;
	}
	return s->socket >= 0;
}

void bus_socketcan_check(struct bus_socketcan *s)
{
	if (joined(s) && s->bus.state == BUS_ABSENT) {
		int index = bus_interface_find(s->socket, s->interface);

		if (index > 0)
			(void)attach(s, index);
	}
	if (s->bus.state == BUS_STOPPED || s->bus.state == BUS_OFF)
		check_link(s);
	if (!bus_socketcan_well(s))
		schedule_check(s, clock_now_ns());
}

int bus_socketcan_take_error(struct bus_socketcan *s, int error)
{
	bool gone = error == ENODEV || error == ENXIO;

	if (!gone && error != ENETDOWN && error != ENETUNREACH)
		return -error;
	if (s->bus.state == BUS_ABSENT || (s->bus.state == BUS_STOPPED && !gone))
		return 0; /* known already */
	s->unreported = gone ? ENODEV : ENETDOWN;
	bus_socketcan_enter(s, gone ? BUS_ABSENT : BUS_STOPPED);
	bus_socketcan_check(s);
	s->bus.next_ns = clock_now_ns(); /* the socket's error is read, so the descriptor is not readable any more */
	return 0;
}

int bus_socketcan_attach_now(struct bus_socketcan *s)
{
	int index = bus_interface_index(s->socket, s->interface);
	struct bus_interface link;
	int r = index < 0 ? index : attach(s, index);

	if (r)
		return r;
	check_link(s);
	if (s->bus.state <= BUS_STOPPED)
		return s->bus.state == BUS_STOPPED ? -ENETDOWN : -ENODEV;
	/* Some drivers report BUS_STOPPED for a controller that is up. */
	if (!bus_interface_query(&link, index) && link.state > BUS_STOPPED)
		bus_socketcan_enter(s, link.state);
	return 0;
}
