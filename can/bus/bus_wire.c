/* bus_wire.c: a bus of canwire, on the program's side.  See wire.h for the shared memory.
 *
 *	wire:torso		as the controller "host", which all drivers and tools of this robot share
 *	wire:torso@waist	as a controller of its own: a simulated device
 */
#include <sys/epoll.h>
#include <sys/eventfd.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <unistd.h>

#include "can/bus/attach.h"
#include "can/bus/bus_backend.h"
#include "channels/port/rpc.h"

#define RETRY_NS 10000000    /* between two attempts to attach */
#define ANSWER_NS 1000000000 /* canwire answers within that, or it is not well */
#define LATE_NS 500000	     /* canwire that is later than that is paused */

struct bus_wire {
	struct bus bus;
	char path[RUN_PATH_MAX];
	struct wire_attach attach;
	size_t attach_size;
	int epoll;    /* the descriptor we show: of event and socket, which come and go; empty with a set */
	uint32_t tag; /* in bus.set */
	int event;    /* canwire rings here */
	int socket;   /* -1: not attached, and not about to be */
	int bell;     /* of canwire */
	pid_t hub;    /* its process */
	struct wire_memory *memory; /* NULL: not attached */
	const struct wire_page *page;
	const struct wire_bus *wire;
	const struct wire_controller *controller;
	uint32_t tx_head, rx_tail, generation;
	uint64_t dropped;  /* by canwire, of this attachment, counted so far */
	int64_t handed_ns; /* a frame was handed over then, and canwire may sleep; 0: flushed */
	uint64_t arms;	   /* times it was armed */
	bool rests;	   /* it is not armed because it wants no ring */
	bool came;	   /* the last answer of wire_receive was frames */
};

static struct bus_wire *of(struct bus *bus)
{
	return (struct bus_wire *)bus;
}

/* ---- attaching ---- */

static int add_fd(struct bus_wire *w, int fd)
{
	struct epoll_event in = { .events = EPOLLIN };

	if (w->bus.set)
		return clock_set_add_fd(w->bus.set, fd, fd == w->event ? POLLIN | CLOCK_EDGE : POLLIN, w->tag);
	return epoll_ctl(w->epoll, EPOLL_CTL_ADD, fd, &in) ? -errno : 0;
}

static void remove_fd(struct bus_wire *w, int fd)
{
	if (w->bus.set)
		clock_set_remove_fd(w->bus.set, fd);
	else
		epoll_ctl(w->epoll, EPOLL_CTL_DEL, fd, NULL);
}

static void detach(struct bus_wire *w)
{
	if (w->memory)
		munmap(w->memory, sizeof(*w->memory));
	if (w->page)
		munmap((void *)w->page, sizeof(*w->page));
	w->memory = NULL;
	w->page = NULL;
	if (w->bell >= 0)
		close(w->bell);
	if (w->socket >= 0) {
		remove_fd(w, w->socket);
		clock_touch(0); /* canwire sees the end of the connection */
		close(w->socket);
	}
	w->bell = w->socket = -1;
	w->bus.state = BUS_ABSENT;
	w->bus.next_ns = clock_now_ns() + RETRY_NS;
}

/* Handles the reply of canwire.  1: attached, 0: not yet, or -errno. */
static int take_answer(struct bus_wire *w)
{
	struct wire_attached answer = { 0 };
	int fds[ATTACH_FDS_MAX], n = 0;
	int r = attach_receive(w->socket, &answer, sizeof(answer), fds, &n);

	if (r == -EAGAIN)
		return 0;
	if (r == sizeof(answer) && answer.magic == WIRE_MAGIC && answer.version == WIRE_VERSION)
		r = answer.error;
	else
		r = r == 0 ? -ECONNREFUSED : r < 0 ? r : -EPROTO;
	if (!r && (n != WIRE_ATTACHED_FDS || answer.bus >= WIRE_BUSES_MAX || answer.controller >= WIRE_CONTROLLERS_MAX))
		r = -EPROTO;
	if (!r) {
		void *memory = mmap(NULL, sizeof(*w->memory), PROT_READ | PROT_WRITE, MAP_SHARED, fds[0], 0);
		void *page = mmap(NULL, sizeof(*w->page), PROT_READ, MAP_SHARED, fds[1], 0);

		w->memory = memory == MAP_FAILED ? NULL : memory;
		w->page = page == MAP_FAILED ? NULL : page;
		r = w->memory && w->page ? 0 : -ENOMEM;
	}
	for (int i = 0; i < n; i++)
		if (r || i != 2)
			close(fds[i]);
	if (r)
		return r;
	w->bell = fds[2];
	w->hub = rpc_peer(w->socket);
	w->wire = &w->page->buses[answer.bus];
	w->controller = &w->wire->controllers[answer.controller];
	w->tx_head = w->rx_tail = 0;
	w->dropped = 0;
	w->generation = atomic_load_explicit(&w->controller->generation, memory_order_acquire);
	w->bus.state = (enum bus_state)atomic_load_explicit(&w->controller->state, memory_order_relaxed);
	w->bus.next_ns = w->bus.set ? INT64_MIN : CLOCK_NEVER; /* nothing is armed yet */
	w->bus.stats.attached++;
	return 1;
}

/* Connects and asks; waits for its turn until the deadline, if that is not over yet. */
static int ask(struct bus_wire *w, int64_t deadline_ns)
{
	int r;

	w->socket = rpc_connect_by(w->path, deadline_ns);
	if (w->socket < 0)
		return w->socket;
	r = add_fd(w, w->socket);
	if (r)
		return r;
	r = attach_send(w->socket, &w->attach, w->attach_size, &w->event, 1);
	if (r < 0)
		return r;
	w->bus.next_ns = clock_now_ns() + ANSWER_NS;
	return 0;
}

/* From bus_receive and bus_send while not attached: one step, when it is time. */
static bool attached(struct bus_wire *w)
{
	int r;

	if (w->memory)
		return true;
	if (w->socket >= 0) {
		r = take_answer(w);
		if (r > 0)
			return true;
		if (r == 0 && clock_now_ns() < w->bus.next_ns)
			return false;
		detach(w);
	} else if (clock_now_ns() >= w->bus.next_ns && ask(w, 0)) {
		detach(w);
	}
	return false;
}

/* ---- frames ---- */

static void read_page(struct bus_wire *w)
{
	w->bus.state = (enum bus_state)atomic_load_explicit(&w->controller->state, memory_order_relaxed);
	if (w->bus.state > BUS_OFF)
		w->bus.state = BUS_STOPPED; /* not our page any more */
}

/* Is it down, or was it since we last said so?  However short it was, also as bus-off or because canwire was not
 * there for a while: frames handed over are gone. */
static int down(struct bus_wire *w)
{
	uint32_t generation = atomic_load_explicit(&w->controller->generation, memory_order_acquire);

	read_page(w);
	if (generation == w->generation && w->bus.state > BUS_STOPPED)
		return 0;
	w->generation = generation;
	return -ENETDOWN;
}

static void ring(struct bus_wire *w, int64_t now_ns)
{
	static const uint64_t one = 1;

	if (wire_must_ring(w->page, w->wire, now_ns) && !clock_ring(w->hub))
		(void)!write(w->bell, &one, sizeof(one));
}

static int canwire_send(struct bus *bus, const struct frame *frame)
{
	struct bus_wire *w = of(bus);
	struct wire_tx *slot;
	uint32_t waiting;
	int64_t now_ns;
	int r;

	if (!attached(w))
		return -ENODEV;
	if (frame->flags & FRAME_FD && !w->wire->data_bitrate)
		return -EINVAL; /* this soft wire is a classic one */
	r = down(w);
	if (r)
		return r;
	waiting = w->tx_head - atomic_load_explicit(&w->memory->tx_tail, memory_order_acquire);
	if (w->bus.state == BUS_OFF || waiting >= WIRE_TX_SLOTS ||
	    waiting + atomic_load_explicit(&w->controller->queued, memory_order_relaxed) >=
		    atomic_load_explicit(&w->controller->room, memory_order_relaxed))
		return -ENOBUFS;
	now_ns = clock_now_ns();
	slot = &w->memory->tx[w->tx_head % WIRE_TX_SLOTS];
	slot->t_ns = now_ns;
	slot->generation = w->generation;
	slot->frame = *frame;
	/* seq_cst: the slot is complete, and the head is published before we check whether canwire sleeps */
	atomic_store_explicit(&w->memory->tx_head, ++w->tx_head, memory_order_seq_cst);
	w->handed_ns = now_ns;
	return 0;
}

static void wire_flush(struct bus *bus)
{
	struct bus_wire *w = of(bus);

	if (w->handed_ns && w->memory)
		ring(w, w->handed_ns);
	w->handed_ns = 0;
}

static size_t take(struct bus_wire *w, struct bus_frame *frames, size_t n)
{
	uint32_t there = atomic_load_explicit(&w->memory->rx_head, memory_order_seq_cst) - w->rx_tail;
	size_t got = 0;

	if (there > WIRE_RX_SLOTS)
		there = 0; /* not our memory any more */
	for (; got < n && got < there; got++, w->rx_tail++) {
		const struct wire_rx *slot = &w->memory->rx[w->rx_tail % WIRE_RX_SLOTS];

		frames[got] = (struct bus_frame){ slot->t_ns, slot->flags, slot->frame };
	}
	if (got) /* release: the slots are copied */
		atomic_store_explicit(&w->memory->rx_tail, w->rx_tail, memory_order_release);
	return got;
}

/* All frames are taken: canwire rings for the next one.  A set reports every ring, read or not. */
static size_t arm_and_take(struct bus_wire *w, struct bus_frame *frames, size_t n)
{
	uint64_t rung;

	if (atomic_load_explicit(&w->memory->armed, memory_order_acquire))
		return 0;
	if (!w->bus.set)
		(void)!read(w->event, &rung, sizeof(rung));
	/* before the last check, as in wire.h */
	atomic_store_explicit(&w->memory->armed, WIRE_ARMED, memory_order_seq_cst);
	w->arms++;
	w->rests = false;
	return take(w, frames, n);
}

/* Since it was armed for the last time. */
static uint64_t rung(const void *wire)
{
	const struct bus_wire *w = wire;

	if (!w->memory || w->rests || atomic_load_explicit(&w->memory->armed, memory_order_acquire) != WIRE_AWAKE)
		return 0;
	return 1 + w->arms;
}

/* canwire says nothing on the socket: if it is readable, this is its end. */
static bool hung_up(const struct bus_wire *w)
{
	char byte;

	return recv(w->socket, &byte, 1, MSG_DONTWAIT | MSG_PEEK) >= 0;
}

static bool wire_pending(const struct bus *bus)
{
	const struct bus_wire *w = (const struct bus_wire *)bus;

	return w->memory && atomic_load_explicit(&w->memory->rx_head, memory_order_seq_cst) != w->rx_tail;
}

/* canwire should be awake when its page says so, or when the first frame that it has not seen yet could have ended. */
static int64_t due_ns(const struct bus_wire *w)
{
	const int64_t wake_ns = atomic_load_explicit(&w->page->wake_ns, memory_order_seq_cst);
	const int64_t turn_ns = atomic_load_explicit(&w->page->turn_ns, memory_order_relaxed);
	const uint32_t tail = atomic_load_explicit(&w->memory->tx_tail, memory_order_acquire);
	const int64_t t_ns = w->memory->tx[tail % WIRE_TX_SLOTS].t_ns;
	int64_t end_ns;

	if (!wake_ns)
		return turn_ns; /* it is awake, and a turn is short */
	if (tail == w->tx_head || turn_ns >= t_ns)
		return wake_ns;
	end_ns = wire_end_ns(w->page, w->wire, t_ns);
	return end_ns < wake_ns ? end_ns : wake_ns;
}

static int64_t wire_paused(const struct bus *bus, int64_t now_ns)
{
	const struct bus_wire *w = (const struct bus_wire *)bus;
	int64_t asleep_ns, since_ns;

	if (!w->memory)
		return 0;
	since_ns = due_ns(w);
	asleep_ns = atomic_load_explicit(&w->wire->asleep_ns, memory_order_relaxed);
	if (now_ns - since_ns <= LATE_NS)
		return asleep_ns < now_ns ? asleep_ns : 0;
	return asleep_ns && asleep_ns < since_ns ? asleep_ns : since_ns;
}

/* If canwire has rung meanwhile, the program wakes anyway. */
static bool wire_wake_by(struct bus *bus, enum bus_wake wake)
{
	static const uint32_t armed[] = {
		[BUS_WAKE_ALL] = WIRE_ARMED, [BUS_WAKE_OTHERS] = WIRE_ARMED_FOR_OTHERS, [BUS_WAKE_NONE] = WIRE_AWAKE
	};
	struct bus_wire *w = of(bus);
	uint32_t before;

	if (!w->memory || !w->bus.set)
		return false;
	w->rests = wake == BUS_WAKE_NONE;
	before = atomic_load_explicit(&w->memory->armed, memory_order_relaxed);
	if (before == armed[wake])
		return true;
	atomic_store_explicit(&w->memory->armed, armed[wake], memory_order_seq_cst); /* before the look, as in wire.h */
	w->arms++;
	if ((wake == BUS_WAKE_ALL || before == WIRE_AWAKE) && wake != BUS_WAKE_NONE && wire_pending(bus))
		w->bus.next_ns = INT64_MIN; /* came before, and did not ring */
	return true;
}

static int wire_receive(struct bus *bus, struct bus_frame *frames, size_t n)
{
	struct bus_wire *w = of(bus);
	uint64_t dropped;
	size_t got;

	if (!attached(w))
		return -ENODEV;
	got = take(w, frames, n);
	if (!got)
		got = arm_and_take(w, frames, n);
	/* Frames are why the caller woke up.  If the socket is readable as well, it wakes the caller again. */
	if (!got && !w->came && hung_up(w)) {
		detach(w);
		return -ENODEV;
	}
	w->came = got;
	if (w->bus.set)
		w->bus.next_ns = got ? INT64_MIN : CLOCK_NEVER;
	dropped = atomic_load_explicit(&w->memory->dropped, memory_order_relaxed);
	w->bus.stats.dropped += dropped - w->dropped;
	w->dropped = dropped;
	if (got) {
		read_page(w);
		return (int)got;
	}
	return down(w);
}

/* ---- opening and closing ---- */

/* Descriptors move from the epoll to the set. */
static int wire_join(struct bus *bus, struct clock_set *set, uint32_t tag)
{
	struct bus_wire *w = of(bus);
	int r;

	w->bus.set = NULL;
	remove_fd(w, w->event);
	if (w->socket >= 0)
		remove_fd(w, w->socket);
	w->bus.set = set;
	w->tag = tag;
	r = add_fd(w, w->event);
	if (!r && w->socket >= 0)
		r = add_fd(w, w->socket);
	if (w->memory)
		w->bus.next_ns = INT64_MIN; /* earlier frames do not make the descriptor readable again */
	return r;
}

static void wire_close(struct bus *bus)
{
	struct bus_wire *w = of(bus);

	detach(w);
	clock_probe(w->epoll, NULL, NULL);
	if (w->event >= 0) {
		remove_fd(w, w->event);
		clock_probe(w->event, NULL, NULL);
		close(w->event);
	}
	if (w->epoll >= 0)
		close(w->epoll);
	free(w);
}

/* wire:BUS[@CONTROLLER] into the two names. */
static const char *wire_name_wrong(const char *name)
{
	char bus[TEXT_NAME_MAX + 1], controller[TEXT_NAME_MAX + 1];

	return attach_split(name, bus, controller);
}

static int open_parts(struct bus_wire *w, const struct bus_options *options)
{
	int err;

	w->epoll = epoll_create1(EPOLL_CLOEXEC);
	w->event = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
	if (w->epoll < 0 || w->event < 0)
		return -errno;
	clock_probe(w->epoll, rung, w);
	clock_probe(w->event, rung, w);
	err = add_fd(w, w->event);
	if (err)
		return err;
	w->bus.fd = w->epoll;
	w->attach.magic = WIRE_MAGIC;
	w->attach.version = WIRE_VERSION;
	w->attach.flags = (options->errors ? WIRE_ERRORS : 0) | (options->no_echo ? WIRE_NO_ECHO : 0) |
			  (options->fd ? WIRE_FD : 0);
	w->attach.filters_n = WIRE_EVERYTHING;
	w->attach_size = offsetof(struct wire_attach, filters);
	if (options->filters) {
		w->attach.filters_n = (uint32_t)options->filters_n;
		memcpy(w->attach.filters, options->filters, options->filters_n * sizeof(*options->filters));
		w->attach_size += options->filters_n * sizeof(*options->filters);
	}
	return 0;
}

/* Here, and only here, we wait for canwire's answer. */
static int await_answer(struct bus_wire *w)
{
	struct clock_fd fd = { .fd = w->socket, .events = POLLIN };
	int r = 0;

	while (!r) {
		if (clock_wait(&fd, 1, w->bus.next_ns) == 0)
			return -ETIMEDOUT;
		r = take_answer(w);
	}
	return r < 0 ? r : 0;
}

/* r: how it ended.  0 with a bus, which may be absent if that is not an error. */
static int end_attach(struct bus_wire *w, const char *name, int r, bool later, struct error_sink *errors)
{
	if (!r)
		return 0;
	detach(w);
	if (later && (r == -ENOENT || r == -ECONNREFUSED || r == -ETIMEDOUT || r == -EAGAIN))
		return 0;
	attach_explain(name, w->path, r, errors);
	return r == -ENOENT || r == -ECONNREFUSED ? -ENODEV : r;
}

static int wire_settle(struct bus *bus, struct error_sink *errors)
{
	struct bus_wire *w = of(bus);
	int r;

	if (w->memory || w->socket < 0)
		return 0;
	r = end_attach(w, bus->name, await_answer(w), true, errors);
	if (w->memory)
		(void)down(w);
	return r;
}

static int wire_open(struct bus **bus, const char *name, const struct bus_options *options, struct error_sink *errors)
{
	struct bus_wire *w = calloc(1, sizeof(*w));
	char bus_name[TEXT_NAME_MAX + 1], rest[TEXT_NAME_MAX + 8];
	int r;

	if (!w)
		return -ENOMEM;
	w->socket = w->bell = w->epoll = w->event = -1;
	*bus = &w->bus;
	attach_split(name, bus_name, w->attach.controller);
	snprintf(rest, sizeof(rest), "wire/%s", bus_name);
	r = run_path(w->path, rest, errors);
	if (!r) {
		r = open_parts(w, options);
		if (r) {
			error_add(errors, "%s: unable to open: %s", name, strerror(-r));
		} else {
			r = ask(w, clock_now_ns() + ANSWER_NS);
			if (!r && !options->ask_only)
				r = await_answer(w);
			r = end_attach(w, name, r, options->later, errors);
		}
	}
	if (r) {
		wire_close(&w->bus);
		return r;
	}
	if (!w->memory) {
		w->bus.state = BUS_ABSENT; /* for good, or until bus_settle */
		return 0;
	}
	r = down(w);
	if (r && !options->later) {
		error_add(errors, "%s: its controller is down: canwire link %s up", name, bus_name);
		wire_close(&w->bus);
		return r;
	}
	return 0;
}

const struct bus_ops bus_wire_ops = {
	.prefix = "wire:",
	.name_wrong = wire_name_wrong,
	.open = wire_open,
	.close = wire_close,
	.settle = wire_settle,
	.join = wire_join,
	.wake_by = wire_wake_by,
	.pending = wire_pending,
	.paused = wire_paused,
	.receive = wire_receive,
	.send = canwire_send,
	.flush = wire_flush,
};
