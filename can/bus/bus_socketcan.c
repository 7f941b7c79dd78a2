/* bus_socketcan.c: a bus that is a SocketCAN interface: opening, receiving, sending, closing. */
#include <linux/can.h>
#include <sys/epoll.h>
#include <unistd.h>

#include "can/bus/bus_interface.h"
#include "can/bus/bus_socketcan.h"

#define ROUNDS 8 /* calls in one bus_receive when all that comes is not wanted */

/* A frame goes to the kernel and comes from it as it is. */
_Static_assert(sizeof(struct frame) == CANFD_MTU && FRAME_SIZE_CLASSIC == CAN_MTU, "sizes");
_Static_assert(offsetof(struct frame, id) == offsetof(struct canfd_frame, can_id), "id");
_Static_assert(offsetof(struct frame, len) == offsetof(struct canfd_frame, len), "len");
_Static_assert(offsetof(struct frame, flags) == offsetof(struct canfd_frame, flags), "flags");
_Static_assert(offsetof(struct frame, dlc) == offsetof(struct can_frame, len8_dlc), "dlc");
_Static_assert(offsetof(struct frame, data) == offsetof(struct canfd_frame, data), "data");
_Static_assert(offsetof(struct frame, data) == offsetof(struct can_frame, data), "data of a classic one");
_Static_assert(FRAME_EXT == CAN_EFF_FLAG && FRAME_RTR == CAN_RTR_FLAG && FRAME_ERR == CAN_ERR_FLAG, "bits of id");
_Static_assert(FRAME_BRS == CANFD_BRS && FRAME_ESI == CANFD_ESI && FRAME_FD == CANFD_FDF, "bits of flags");

static struct bus_socketcan *of(struct bus *bus)
{
	return (struct bus_socketcan *)bus;
}

/* ---- receiving: frames and their times ---- */

static void receive_start(struct bus_socketcan *s)
{
	s->batch = 1;
	for (size_t i = 0; i < BUS_SOCKETCAN_BATCH; i++) {
		s->parts[i].iov_len = sizeof(struct frame);
		s->messages[i].msg_hdr.msg_iov = &s->parts[i];
		s->messages[i].msg_hdr.msg_iovlen = 1;
		s->messages[i].msg_hdr.msg_control = s->control[i].bytes;
	}
}

/* Asks for one frame first and for twice as many each time they were all there: the kernel is not asked for a frame
 * more than need be when, as on most buses, they come one by one, and a backlog goes in batches. */
static int fetch(struct bus_socketcan *s, struct bus_frame *frames, size_t n)
{
	int got;

	n = n < s->batch ? n : s->batch;
	for (size_t i = 0; i < n; i++) {
		s->parts[i].iov_base = &frames[i].frame;
		s->messages[i].msg_hdr.msg_controllen = sizeof(s->control[i].bytes);
	}
	do
		got = recvmmsg(s->socket, s->messages, (unsigned int)n, MSG_DONTWAIT, NULL);
	while (got < 0 && errno == EINTR);
	if (got < 0) {
		s->batch = 1;
		return -errno;
	}
	s->batch = s->batch * 2 < BUS_SOCKETCAN_BATCH ? s->batch * 2 : BUS_SOCKETCAN_BATCH;
	return got;
}

/* Both clocks, near one another: a pair that was interrupted is taken again, twice at most. */
static void sample_clocks(struct bus_socketcan *s)
{
	int64_t before_ns, real_ns, after_ns = clock_now_ns();
	int tries = 3;

	do {
		before_ns = after_ns;
		real_ns = clock_real_ns();
		after_ns = clock_now_ns();
	} while (after_ns - before_ns > BUS_STAMP_SAMPLE_NS && --tries);
	bus_stamp_batch(&s->stamp, before_ns, real_ns, after_ns);
}

/* Reads the stamps, and counts the frames lost before it. */
static bool stamp(struct bus_socketcan *s, struct msghdr *m, int64_t *t_ns)
{
	int64_t real_ns = 0;

	for (struct cmsghdr *c = CMSG_FIRSTHDR(m); c; c = CMSG_NXTHDR(m, c)) {
		if (c->cmsg_level != SOL_SOCKET)
			continue;
		if (c->cmsg_type == SO_TIMESTAMPING) {
			const struct scm_timestamping *t = (const void *)CMSG_DATA(c);

			real_ns = (int64_t)t->ts[0].tv_sec * NS_PER_S + t->ts[0].tv_nsec;
		} else if (c->cmsg_type == SO_RXQ_OVFL) {
			uint32_t lost;

			memcpy(&lost, CMSG_DATA(c), sizeof(lost));
			s->bus.stats.dropped += lost - s->lost;
			s->lost = lost;
		}
	}
	return bus_stamp_frame(&s->stamp, t_ns, real_ns);
}

/* Copies only the bytes that are sent: other programs on this machine may leave anything in the rest. */
static bool mend(struct frame *f, size_t size)
{
	unsigned int len;

	f->reserved = 0;
	if (size == CAN_MTU) {
		f->flags = 0;
		if (f->len < FRAME_DATA_MAX || f->dlc <= FRAME_DATA_MAX || f->dlc > CAN_MAX_RAW_DLC)
			f->dlc = 0;
		return f->len <= FRAME_DATA_MAX;
	}
	if (size != CANFD_MTU || f->len > FRAME_DATA_MAX_FD)
		return false;
	f->flags = FRAME_FD | (f->flags & (FRAME_BRS | FRAME_ESI));
	f->dlc = 0;
	len = frame_len_fd(f->len);
	memset(f->data + f->len, 0, len - f->len);
	f->len = (uint8_t)len;
	return true;
}

/* An error frame.  true: it is wanted. */
static bool take_error_frame(struct bus_socketcan *s, const struct frame *f)
{
	if (s->bus.state > BUS_STOPPED)
		bus_socketcan_enter(s, bus_state_after(s->bus.state, f));
	s->bus.stats.errors += !s->errors;
	return s->errors;
}

/* Drops frames that the filters do not pass.  Returns the number left. */
static size_t take(struct bus_socketcan *s, struct bus_frame *frames, size_t got)
{
	const uint32_t own = s->bus.unconfirmed ? BUS_QUEUED : BUS_OWN;
	size_t kept = 0;

	sample_clocks(s);
	for (size_t i = 0; i < got; i++) {
		struct msghdr *m = &s->messages[i].msg_hdr;
		struct bus_frame *f = &frames[i];

		f->flags = m->msg_flags & MSG_CONFIRM ? own : m->msg_flags & MSG_DONTROUTE ? BUS_LOCAL : 0;
		f->flags |= stamp(s, m, &f->t_ns) ? BUS_RESTAMPED : 0;
		if (!mend(&f->frame, s->messages[i].msg_len))
			continue;
		if (f->frame.id & FRAME_ERR
			    ? !take_error_frame(s, &f->frame)
			    : s->filters.more && !(f->flags & own) && !bus_filters_want(&s->filters, f->frame.id))
			continue;
		if (kept != i)
			frames[kept] = *f;
		kept++;
	}
	return kept;
}

static int answer_error(struct bus_socketcan *s)
{
	int error = s->bus.state == BUS_ABSENT ? ENODEV : s->bus.state == BUS_STOPPED ? ENETDOWN : s->unreported;

	s->unreported = 0;
	if (bus_socketcan_well(s))
		s->bus.next_ns = CLOCK_NEVER;
	return -error;
}

static int socketcan_receive(struct bus *bus, struct bus_frame *frames, size_t n)
{
	struct bus_socketcan *s = of(bus);

	for (int round = 0; round < ROUNDS && s->socket >= 0; round++) {
		int got = fetch(s, frames, n);
		size_t kept = got > 0 ? take(s, frames, (size_t)got) : 0;

		/* From before it went, or is it back? */
		if (got > 0 && bus->state == BUS_STOPPED)
			bus_socketcan_check(s);
		if (kept)
			return (int)kept;
		if (got == -EAGAIN)
			break;
		/* The kernel reports an error before the frames that came before it. */
		if (got < 0 && bus_socketcan_take_error(s, -got))
			return got;
	}
	if (bus->next_ns != CLOCK_NEVER && clock_now_ns() >= bus->next_ns)
		bus_socketcan_check(s);
	return answer_error(s);
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
	receive_start(s);
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
	.receive = socketcan_receive,
	.send = socketcan_send,
};
